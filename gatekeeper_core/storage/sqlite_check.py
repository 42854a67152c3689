"""Whether the file of a SQLite store is whole, row by row, and how much lies in it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from gatekeeper_core.storage.checking import (
    CHECKED_TABLES,
    COUNTED_TABLES,
    UNEQUAL,
    MemorySums,
    RowSum,
    check_row,
    damaged,
    is_damaged,
)
from gatekeeper_core.storage.sqlite_schema import schema_problems, schema_state
from gatekeeper_core.storage.stored_rows import MEMORY_COLUMNS, DamagedRowError

__all__ = ["StoreInfo", "problems", "store_info"]

_MAX_PROBLEMS = 100

_UNEQUAL_THREADS = """
SELECT (
    SELECT count(*) FROM (
        SELECT tenant, thread, count(*) AS number, max(seq) AS last FROM messages GROUP BY tenant, thread
    ) AS g LEFT JOIN threads AS t ON t.tenant = g.tenant AND t.thread = g.thread
    WHERE t.last_seq IS NOT g.last OR g.number != g.last + 1
) + (
    SELECT count(*) FROM threads AS t
    WHERE NOT EXISTS (SELECT 1 FROM messages AS m WHERE m.tenant = t.tenant AND m.thread = t.thread)
)
"""
_UNEQUAL_BLOBS = """
SELECT count(*) FROM blobs AS b WHERE b.size != (
    SELECT coalesce(sum(length(c.data)), 0) FROM blob_chunks AS c
    WHERE c.tenant = b.tenant AND c.thread = b.thread AND c.scope = b.scope AND c.id = b.id)
"""
_COUNT_UNEQUAL = {"threads": _UNEQUAL_THREADS, "blob_chunks": _UNEQUAL_BLOBS}
_CHUNKS = """
SELECT c.tenant, c.thread, c.scope, c.id, b.serial, c.number, c.data, c.checksum FROM blob_chunks AS c
LEFT JOIN blobs AS b ON b.tenant = c.tenant AND b.thread = c.thread AND b.scope = c.scope AND b.id = c.id
"""
_ROWS = {"memories": f"SELECT tenant, user, {MEMORY_COLUMNS} FROM memories", "blob_chunks": _CHUNKS}  # noqa: S608


class StoreInfo(NamedTuple):
    """How much lies in a store.

    Attributes:
        path: the file.
        schema_version: how many migrations it has behind it.
        size_bytes: the file with its write-ahead log.
        threads: how many threads have messages.
        messages: how many messages there are.
        records: how many derived records.
        memories: how many memories, closed ones too.
        blobs: how many blobs.
        tombstones: how many things were forgotten.
    """

    path: str
    schema_version: int
    size_bytes: int
    threads: int
    messages: int
    records: int
    memories: int
    blobs: int
    tombstones: int


def store_info(connection: sqlite3.Connection, path: str) -> StoreInfo:
    """Return how much lies in a store; linear in its rows."""
    query = "SELECT count(*) FROM {}"
    counts = [connection.execute(query.format(table)).fetchone()[0] for table in COUNTED_TABLES]
    size = 0
    for name in (path, f"{path}-wal"):
        with suppress(OSError):
            size += os.path.getsize(name)
    return StoreInfo(path, schema_state(connection).version, size, *counts)


def problems(connection: sqlite3.Connection, migrations: tuple[str, ...]) -> Iterator[str]:
    """Yield what is wrong with a file, in words that hold nothing of its content; linear in the file.

    SQLite's own check of the pages comes first, then the tables, every row against its checksum, and what rows of
    different tables say of each other.
    """
    yield from _readable(lambda: _pages(connection), "the pages")
    yield from _readable(lambda: schema_problems(connection, migrations), "the definitions of the tables")
    for table in CHECKED_TABLES:
        yield from _readable(partial(_rows, connection, table), f"the table {table}")


def _readable(check: Callable[[], Iterable[str]], what: str) -> Iterator[str]:
    try:
        yield from check()
    except (sqlite3.Error, DamagedRowError, ValueError):
        yield f"{what} cannot be read to the end"


def _pages(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({_MAX_PROBLEMS})"):
        text = line.decode("utf-8", "replace")
        if text != "ok":
            yield text


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    rows = connection.execute(_ROWS.get(table, f"SELECT * FROM {table}"))  # noqa: S608 - no input
    sums = MemorySums()
    check = sums.check if table == "memories" else partial(check_row, table)
    yield from damaged(table, sum(is_damaged(check, row) for row in rows))
    for name, wanted in sums.by_table.items() if table == "memories" else ():
        found = RowSum()
        for row in connection.execute(f"SELECT * FROM {name}"):  # noqa: S608 - no input
            found.add(*row)
        if found.total != wanted.total:
            yield f"the table {name} does not belong to the memories"
    if table in UNEQUAL:
        unequal = connection.execute(_COUNT_UNEQUAL[table]).fetchone()[0]
        if unequal:
            yield f"{unequal} {UNEQUAL[table]}"
