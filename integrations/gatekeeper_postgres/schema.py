"""The tables of a PostgreSQL store, as numbered migrations in a schema of their own.

::

    context_gatekeeper               one row: the version of the tables
    threads ── messages              tenant, thread, seq          one row of threads says how many there are
    records                          tenant, thread, kind
    memories ── memory_terms         tenant, user, term, serial   of current memories; a later put, a higher serial
             ── memory_sources       tenant, source, user, id     which threads a memory's texts come from
             ── embedding            with pgvector: a copy of the vector, an index for each dimension
    blobs ── blob_chunks             tenant, thread, scope, id    in pieces: a range is read and checked by itself
    tombstones                       tenant, stone                hashes, no names

Every table and every index begins with the tenant, but for those of vectors, which know no order of keys. Names and
texts are ``bytea``, because a ``text`` can hold neither a lone surrogate nor a NUL. Every row that holds content has a
checksum over itself and its keys.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.storage.codec import decode_vector
from gatekeeper_postgres.statements import Statements, execute, rows_of
from gatekeeper_postgres.vectors import MAX_INDEXED_DIMENSIONS, OLDEST_PGVECTOR, VectorType, as_text

__all__ = [
    "MIGRATIONS",
    "NEWEST",
    "TABLES",
    "SchemaState",
    "UnfitTablesError",
    "add_embeddings",
    "check_schema_name",
    "copy_vectors",
    "index_dimensions",
    "install_pgvector",
    "migrate",
    "newer_schema",
    "schema_state",
]

_FIRST = """
CREATE TABLE @context_gatekeeper (version integer NOT NULL);

CREATE UNIQUE INDEX context_gatekeeper_is_one ON @context_gatekeeper ((true));

CREATE TABLE @threads (
    tenant bytea NOT NULL, thread bytea NOT NULL, last_seq bigint NOT NULL, checksum bytea NOT NULL,
    PRIMARY KEY (tenant, thread)
);

CREATE TABLE @messages (
    tenant bytea NOT NULL, thread bytea NOT NULL, seq bigint NOT NULL, message_id bytea, body bytea NOT NULL,
    checksum bytea NOT NULL,
    PRIMARY KEY (tenant, thread, seq)
);

CREATE UNIQUE INDEX messages_by_id ON @messages (tenant, thread, message_id) WHERE message_id IS NOT NULL;

CREATE TABLE @records (
    tenant bytea NOT NULL, thread bytea NOT NULL, kind bytea NOT NULL, body bytea NOT NULL, upto_seq bigint NOT NULL,
    version bigint NOT NULL, checksum bytea NOT NULL,
    PRIMARY KEY (tenant, thread, kind)
);

CREATE TABLE @memories (
    tenant bytea NOT NULL, user_id bytea NOT NULL, id bytea NOT NULL, serial bigint NOT NULL,
    is_current boolean NOT NULL, key bytea, category bytea NOT NULL, body bytea NOT NULL, terms bytea NOT NULL,
    vector bytea, vector_of bytea NOT NULL, dimensions integer, checksum bytea NOT NULL,
    PRIMARY KEY (tenant, user_id, id)
);

CREATE UNIQUE INDEX memories_by_age ON @memories (tenant, user_id, serial) WHERE is_current;

CREATE INDEX memories_by_key ON @memories (tenant, user_id, key, serial) WHERE is_current AND key IS NOT NULL;

CREATE TABLE @memory_terms (
    tenant bytea NOT NULL, user_id bytea NOT NULL, term bytea NOT NULL, serial bigint NOT NULL, id bytea NOT NULL,
    PRIMARY KEY (tenant, user_id, term, serial)
);

CREATE TABLE @memory_sources (
    tenant bytea NOT NULL, source bytea NOT NULL, user_id bytea NOT NULL, id bytea NOT NULL,
    PRIMARY KEY (tenant, source, user_id, id)
);

CREATE INDEX memory_sources_by_user ON @memory_sources (tenant, user_id, id);

CREATE TABLE @blobs (
    tenant bytea NOT NULL, thread bytea NOT NULL, scope bytea NOT NULL, id bytea NOT NULL, name bytea NOT NULL,
    serial bigint NOT NULL, size bigint NOT NULL, checksum bytea NOT NULL,
    PRIMARY KEY (tenant, thread, scope, id)
);

CREATE UNIQUE INDEX blobs_by_age ON @blobs (tenant, thread, scope, serial);

CREATE TABLE @blob_chunks (
    tenant bytea NOT NULL, thread bytea NOT NULL, scope bytea NOT NULL, id bytea NOT NULL, number bigint NOT NULL,
    data bytea NOT NULL, checksum bytea NOT NULL,
    PRIMARY KEY (tenant, thread, scope, id, number)
);

CREATE TABLE @tombstones (
    tenant bytea NOT NULL, stone bytea NOT NULL, checksum bytea NOT NULL,
    PRIMARY KEY (tenant, stone)
)
"""

MIGRATIONS: tuple[str, ...] = (_FIRST,)
"""What leads from version n to version n + 1, in SQL; a released one is never changed."""

NEWEST = len(MIGRATIONS)
"""The version that this library reads and writes."""

TABLES = (
    "context_gatekeeper",
    "threads",
    "messages",
    "records",
    "memories",
    "memory_terms",
    "memory_sources",
    "blobs",
    "blob_chunks",
    "tombstones",
)

_COPIED_AT_ONCE = 500
_PGVECTOR = "SELECT extversion, extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
_RELATIONS = "SELECT relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = %s"
_COLUMN = """
SELECT 1 FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_namespace AS n ON n.oid = relnamespace
WHERE nspname = %s AND relname = 'memories' AND attname = 'embedding' AND NOT attisdropped
"""
_UNCOPIED = """
SELECT tenant, user_id, id, vector FROM @memories
WHERE is_current AND embedding IS NULL AND dimensions <= 16000 AND (tenant, user_id, id) > (%s, %s, %s)
ORDER BY tenant, user_id, id LIMIT %s FOR UPDATE
"""


class UnfitTablesError(Exception):
    """The tables cannot be used, for the reason given; the driver names the server."""


class SchemaState(NamedTuple):
    """What a database says of a store in it.

    Attributes:
        version: how many migrations its tables have behind them; 0: there are none.
        exists: whether the PostgreSQL schema is there, with tables or without.
        vectors: the type of vectors, where pgvector is installed and new enough.
        has_embeddings: whether the table of memories has room for them.
    """

    version: int
    exists: bool
    vectors: VectorType | None
    has_embeddings: bool


def check_schema_name(schema: object) -> str:
    """Return the name of a PostgreSQL schema.

    Raises:
        TypeError: it is no text.
        ConfigError: it is no plain name.
    """
    if not isinstance(schema, str):
        raise TypeError(f"schema must be a str, got {type(schema).__name__}")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", schema) or schema.lower().startswith("pg_"):
        raise ConfigError("schema must be a name of letters, digits and underscores, 63 at most, and none of pg_…")
    return schema


def newer_schema() -> UnfitTablesError:
    """Return the error for tables of a newer version."""
    return UnfitTablesError("its tables were written by a newer version of this library; install that one")


def schema_state(schema: str) -> Statements[SchemaState]:
    """Return what a database says of a store in it.

    Raises:
        UnfitTablesError: the schema holds tables of another program.
    """
    exists = bool((yield from rows_of("SELECT 1 FROM pg_namespace WHERE nspname = %s", schema)))
    relations = {name for (name,) in (yield from rows_of(_RELATIONS, schema))}
    version = 0
    if relations:
        rows = (
            (yield from rows_of("SELECT version FROM @context_gatekeeper")) if "context_gatekeeper" in relations else []
        )
        if len(rows) != 1:
            raise UnfitTablesError(
                f"the schema {schema} holds tables of another program; nothing was changed, give another schema"
            )
        version = rows[0][0]
    column = bool((yield from rows_of(_COLUMN, schema)))
    vectors = None
    for installed, place in (yield from rows_of(_PGVECTOR)):
        if tuple(int(part) for part in re.findall(r"\d+", installed)[:2]) >= OLDEST_PGVECTOR:
            vectors = VectorType(place)
    return SchemaState(version, exists, vectors, column)


def migrate(schema: str, migrations: tuple[str, ...] = MIGRATIONS) -> Statements[int]:
    """Bring the tables up to date, and return how many migrations were run.

    All in one transaction, under a lock: several processes may do so at once, and one that is killed leaves nothing.

    Raises:
        UnfitTablesError: the schema holds tables of another program, or a newer version of ours.
    """
    state = yield from schema_state(schema)
    if state.version > len(migrations):
        raise newer_schema()
    if not state.exists:
        yield from execute(f'CREATE SCHEMA "{schema}"')
    for version in range(state.version, len(migrations)):
        for statement in migrations[version].split(";"):
            yield from execute(statement.strip())
    if state.version == 0:
        yield from execute("INSERT INTO @context_gatekeeper (version) VALUES (%s)", len(migrations))
    else:
        yield from execute("UPDATE @context_gatekeeper SET version = %s", len(migrations))
    return len(migrations) - state.version


def install_pgvector() -> Statements[None]:
    """Install pgvector where the server has it and the role may; in the schema where others look for it, too."""
    if (yield from rows_of("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")):
        yield from execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")


def add_embeddings(schema: str) -> Statements[None]:
    """Make room for embeddings in the table of memories, where pgvector is installed."""
    state = yield from schema_state(schema)
    if state.vectors and not state.has_embeddings:
        yield from execute(f"ALTER TABLE @memories ADD COLUMN embedding {state.vectors.name}")
        yield from execute(
            "CREATE INDEX memories_without_embedding ON @memories (tenant, user_id, serial) "
            "WHERE is_current AND dimensions IS NOT NULL AND embedding IS NULL"
        )


def copy_vectors(
    after: tuple[bytes, bytes, bytes], vectors: VectorType
) -> Statements[tuple[bytes, bytes, bytes] | None]:
    """Give some memories that were stored before pgvector was there their embedding; return the last one's keys."""
    rows = yield from rows_of(_UNCOPIED, *after, _COPIED_AT_ONCE)
    for tenant, user, name, vector in rows:
        text = as_text(decode_vector(vector))
        where = f"UPDATE @memories SET embedding = %s::{vectors.name} WHERE tenant = %s AND user_id = %s AND id = %s"  # noqa: S608
        yield from execute(where, text, tenant, user, name)
    return rows[-1][:3] if rows else None


def index_dimensions(schema: str, dimensions: int, vectors: VectorType) -> Statements[None]:
    """Make the index of vectors of a dimension, where there is none yet and there are not too many of others."""
    names = {name for (name,) in (yield from rows_of(_RELATIONS, schema))}
    others = sum(name.startswith("memories_near_") for name in names)
    if f"memories_near_{dimensions:d}" not in names and others < MAX_INDEXED_DIMENSIONS:
        yield from execute(vectors.making_index(dimensions))
