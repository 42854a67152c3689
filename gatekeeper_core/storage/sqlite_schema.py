"""The tables of a SQLite store, as numbered migrations; ``tables`` shows what each of them holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache

from gatekeeper_core.data_files import text

APPLICATION_ID = 0x6743_7478
"""The mark of our files ("gCtx"), at byte 68 of the file."""

TABLES_SQL = text("tables.sql")

MIGRATIONS: tuple[str, ...] = (TABLES_SQL,)
"""SQL from version n to n + 1; a released migration never changes. A file's schema version counts those applied."""


def schema_state(connection: sqlite3.Connection) -> tuple[int, bool, bool]:
    """Return a file's schema version, whether it is empty, and whether it is empty or a store."""
    application = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    is_empty = application == version == _number(connection, "SELECT count(*) FROM sqlite_master") == 0
    return version, is_empty, is_empty or application == APPLICATION_ID


def migrate(connection: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring a file up to date, each migration in one transaction; several processes may do so at once.

    Raises:
        sqlite3.Error: a migration failed; after the connection is closed, the file has the version before it.
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
