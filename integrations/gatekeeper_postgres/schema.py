"""The tables of a PostgreSQL store, as numbered migrations in a schema of their own.

They are those of ``gatekeeper_core.storage.tables``, a row with their version and, with pgvector, indexed vectors.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import NamedTuple

from gatekeeper_core.errors import ConfigError, check_str
from gatekeeper_core.storage.sqlite_schema import TABLES_SQL
from gatekeeper_postgres.connections import PostgresTransaction
from gatekeeper_postgres.errors import NEWER, UnfitTablesError
from gatekeeper_postgres.vectors import MAX_INDEXED_DIMENSIONS, OLDEST_PGVECTOR, VectorType

_TYPES = (("BLOB", "bytea"), ("INTEGER", "bigint"), (" WITHOUT ROWID", ""))
_FIRST = """
CREATE TABLE context_gatekeeper (version integer NOT NULL);

CREATE UNIQUE INDEX context_gatekeeper_is_one ON context_gatekeeper ((true));
""" + reduce(lambda sql, type_: sql.replace(*type_), _TYPES, TABLES_SQL)

MIGRATIONS: tuple[str, ...] = (_FIRST,)
"""SQL from version n to version n + 1; a released migration never changes."""

NEWEST = len(MIGRATIONS)
"""The version that this library reads and writes."""

TABLES = tuple(re.findall(r"CREATE TABLE (\w+)", _FIRST))

_PGVECTOR = "SELECT extversion, extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
_RELATIONS = "SELECT relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = ?"
_COLUMN = """
SELECT 1 FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_namespace AS n ON n.oid = relnamespace
WHERE nspname = ? AND relname = 'memories' AND attname = 'embedding' AND NOT attisdropped
"""


class SchemaState(NamedTuple):
    """The state of a store's tables in a database."""

    version: int  # number of migrations applied to its tables; 0 without any
    exists: bool  # whether the PostgreSQL schema exists, with or without tables
    vectors: VectorType | None  # None unless pgvector is installed and new enough
    has_embeddings: bool  # whether the table of memories has a column for them


def check_schema_name(schema: object) -> str:
    """Check and return the name of a PostgreSQL schema."""
    name = check_str("schema", schema)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", name) or name.lower().startswith("pg_"):
        raise ConfigError("schema must be 1 to 63 letters, digits and underscores, and not start with pg_")
    return name


def schema_state(transaction: PostgresTransaction, schema: str) -> SchemaState:
    """Return the state of a store's tables in a database.

    Raises:
        UnfitTablesError: the schema holds tables of another program.
    """
    exists = bool(transaction.rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", schema))
    relations = {name for (name,) in transaction.rows(_RELATIONS, schema)}
    version = 0
    if relations:
        is_ours = "context_gatekeeper" in relations
        rows = transaction.rows(f'SELECT version FROM "{schema}".context_gatekeeper') if is_ours else []  # noqa: S608 - checked
        if len(rows) != 1:
            raise UnfitTablesError(
                f"the schema {schema} holds tables of another program; nothing was changed, use another schema"
            )
        version = rows[0][0]
    vectors = None
    for installed, place in transaction.rows(_PGVECTOR):
        if tuple(int(part) for part in re.findall(r"\d+", installed)[:2]) >= OLDEST_PGVECTOR:
            vectors = VectorType(place)
    return SchemaState(version, exists, vectors, bool(transaction.rows(_COLUMN, schema)))


def migrate(transaction: PostgresTransaction, schema: str, migrations: tuple[str, ...] = MIGRATIONS) -> int:
    """Bring the tables up to date, and return the number of migrations run.

    The transaction and its lock allow several processes to try at once, and a killed one leaves nothing behind.
    """
    state = schema_state(transaction, schema)
    if state.version > len(migrations):
        raise UnfitTablesError(NEWER)
    if not state.exists:
        transaction.execute(f'CREATE SCHEMA "{schema}"')
    for version in range(state.version, len(migrations)):
        for statement in filter(None, map(str.strip, migrations[version].split(";"))):
            transaction.execute(statement)
    transaction.execute("DELETE FROM context_gatekeeper")
    transaction.execute("INSERT INTO context_gatekeeper (version) VALUES (?)", len(migrations))
    return len(migrations) - state.version


def install_pgvector(transaction: PostgresTransaction) -> None:
    """Install pgvector if the server has it, in the schema where other programs look for it, too."""
    if transaction.rows("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
        transaction.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")


def add_embeddings(transaction: PostgresTransaction, schema: str) -> None:
    """Add a column for embeddings to the table of memories, if pgvector is installed."""
    state = schema_state(transaction, schema)
    if state.vectors and not state.has_embeddings:
        transaction.execute(f"ALTER TABLE memories ADD COLUMN embedding {state.vectors.name}")
        transaction.execute(
            "CREATE INDEX memories_without_embedding ON memories (tenant, user_id, serial) "
            "WHERE is_current = 1 AND vector IS NOT NULL AND embedding IS NULL"
        )


def index_dimensions(transaction: PostgresTransaction, schema: str, dimensions: int, vectors: VectorType) -> None:
    """Create the index for vectors of a dimension, unless it exists or there are too many others."""
    names = {name for (name,) in transaction.rows(_RELATIONS, schema)}
    others = sum(name.startswith("memories_near_") for name in names)
    if f"memories_near_{dimensions:d}" not in names and others < MAX_INDEXED_DIMENSIONS:
        transaction.execute(vectors.making_index(dimensions))
