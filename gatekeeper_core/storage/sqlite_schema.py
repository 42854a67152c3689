"""The tables of a SQLite store, as numbered migrations; ``tables`` shows what each of them holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from typing import NamedTuple

APPLICATION_ID = 0x6743_7478
"""What tells our files from those of other programs ("gCtx"), at byte 68 of the file."""

TABLES_SQL = """
CREATE TABLE messages (
    tenant BLOB NOT NULL, thread BLOB NOT NULL, seq INTEGER NOT NULL, message_id BLOB, body BLOB NOT NULL,
    PRIMARY KEY (tenant, thread, seq)
) WITHOUT ROWID;

CREATE UNIQUE INDEX messages_by_id ON messages (tenant, thread, message_id) WHERE message_id IS NOT NULL;

CREATE TABLE records (
    tenant BLOB NOT NULL, thread BLOB NOT NULL, kind BLOB NOT NULL, body BLOB NOT NULL, upto_seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, kind)
) WITHOUT ROWID;

CREATE TABLE memories (
    tenant BLOB NOT NULL, user_id BLOB NOT NULL, id BLOB NOT NULL, serial INTEGER NOT NULL,
    is_current INTEGER NOT NULL, key BLOB, category BLOB NOT NULL, body BLOB NOT NULL, terms BLOB NOT NULL, vector BLOB,
    vector_of BLOB NOT NULL,
    PRIMARY KEY (tenant, user_id, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX memories_by_age ON memories (tenant, user_id, serial) WHERE is_current = 1;

CREATE INDEX memories_by_key ON memories (tenant, user_id, key, serial) WHERE is_current = 1 AND key IS NOT NULL;

CREATE TABLE memory_terms (
    tenant BLOB NOT NULL, user_id BLOB NOT NULL, term BLOB NOT NULL, serial INTEGER NOT NULL, id BLOB NOT NULL,
    PRIMARY KEY (tenant, user_id, term, serial)
) WITHOUT ROWID;

CREATE INDEX memory_terms_by_id ON memory_terms (tenant, user_id, id);

CREATE TABLE memory_sources (
    tenant BLOB NOT NULL, source BLOB NOT NULL, user_id BLOB NOT NULL, id BLOB NOT NULL,
    PRIMARY KEY (tenant, source, user_id, id)
) WITHOUT ROWID;

CREATE INDEX memory_sources_by_id ON memory_sources (tenant, user_id, id);

CREATE TABLE blobs (
    tenant BLOB NOT NULL, thread BLOB NOT NULL, scope BLOB NOT NULL, id BLOB NOT NULL, name BLOB NOT NULL,
    serial INTEGER NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, scope, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX blobs_by_age ON blobs (tenant, thread, scope, serial);

CREATE TABLE blob_chunks (
    tenant BLOB NOT NULL, thread BLOB NOT NULL, scope BLOB NOT NULL, id BLOB NOT NULL, number INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (tenant, thread, scope, id, number)
) WITHOUT ROWID;

CREATE TABLE tombstones (tenant BLOB NOT NULL, stone BLOB NOT NULL, PRIMARY KEY (tenant, stone)) WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (TABLES_SQL,)
"""What leads from version n to version n + 1, in SQL; a released one is never changed. The schema's version is how many
of them a file has behind it."""


class Foreign(Exception):  # noqa: N818 - it never leaves the room; the callers name the file
    """The file is a database of another program."""


class SchemaState(NamedTuple):
    """The number of migrations that a file has behind it, and whether nothing has been written to it yet."""

    version: int
    is_empty: bool


def schema_state(connection: sqlite3.Connection) -> SchemaState:
    """Return the schema state recorded in a file.

    Raises:
        Foreign: it is a database of another program.
        sqlite3.Error: it cannot be read.
    """
    application = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    is_empty = application == version == _number(connection, "SELECT count(*) FROM sqlite_master") == 0
    if not is_empty and application != APPLICATION_ID:
        raise Foreign
    return SchemaState(version, is_empty)


def migrate(connection: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring a file up to date, each migration in one transaction.

    Several processes may do so at once: each looks at the version again when it holds the lock.

    Raises:
        sqlite3.Error: one failed; the file has the version of the last one that did not when the connection is closed.
    """
    while _number(connection, "PRAGMA user_version") < len(migrations):
        connection.execute("BEGIN IMMEDIATE")
        version = _number(connection, "PRAGMA user_version")
        if version < len(migrations):
            for statement in filter(None, map(str.strip, migrations[version].split(";"))):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")


def has_only_our_tables(connection: sqlite3.Connection, migrations: tuple[str, ...] = MIGRATIONS) -> bool:
    """Return whether tables, indexes, views and triggers are those of the migrations: others could change a write."""
    return _definitions(connection) == _migrated(migrations)


@cache
def _migrated(migrations: tuple[str, ...]) -> set[tuple[bytes, bytes]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, migrations)
        return _definitions(connection)


def _definitions(connection: sqlite3.Connection) -> set[tuple[bytes, bytes]]:
    query = "SELECT CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL"
    return set(connection.execute(query))


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
