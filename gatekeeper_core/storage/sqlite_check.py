"""Whether the file of a SQLite store is whole, row by row, and how much lies in it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from gatekeeper_core.storage import sqlite_memories
from gatekeeper_core.storage.codec import decode_message, decode_text, encode_text
from gatekeeper_core.storage.forgetting import sources_of
from gatekeeper_core.storage.sqlite_schema import schema_problems, schema_state
from gatekeeper_core.storage.stored_rows import (
    DamagedRowError,
    RowSum,
    ScopeKey,
    StoredMemory,
    ThreadKey,
    UserKey,
    check_blob,
    check_chunk,
    check_message,
    check_record,
    verify,
)

__all__ = ["StoreInfo", "problems", "store_info"]

_MAX_PROBLEMS = 100

_UNEQUAL_THREADS = """
SELECT count(*) FROM (SELECT tenant, thread, count(*) AS number, max(seq) AS last FROM messages GROUP BY tenant, thread)
AS g LEFT JOIN threads AS t ON t.tenant = g.tenant AND t.thread = g.thread
WHERE t.last_seq IS NOT g.last OR g.number != g.last + 1
"""
_EMPTY_THREADS = """
SELECT count(*) FROM threads AS t
WHERE NOT EXISTS (SELECT 1 FROM messages AS m WHERE m.tenant = t.tenant AND m.thread = t.thread)
"""
_UNEQUAL_BLOBS = """
SELECT count(*) FROM blobs AS b WHERE b.size != (
    SELECT coalesce(sum(length(c.data)), 0) FROM blob_chunks AS c
    WHERE c.tenant = b.tenant AND c.thread = b.thread AND c.scope = b.scope AND c.id = b.id)
"""
_CHUNKS = """
SELECT c.tenant, c.thread, c.scope, c.id, b.serial, c.number, c.data, c.checksum FROM blob_chunks AS c
LEFT JOIN blobs AS b ON b.tenant = c.tenant AND b.thread = c.thread AND b.scope = c.scope AND b.id = c.id
"""


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
    tables = ("threads", "messages", "records", "memories", "blobs", "tombstones")
    query = "SELECT count(*) FROM {}"
    counts = [connection.execute(query.format(table)).fetchone()[0] for table in tables]
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
    yield from _of(lambda: _pages(connection), "the pages")
    yield from _of(lambda: schema_problems(connection, migrations), "the definitions of the tables")
    for table, check in _CHECKS.items():
        yield from _of(lambda check=check: check(connection), f"the table {table}")  # type: ignore[misc]


def _of(check: Callable[[], Iterable[str]], what: str) -> Iterator[str]:
    try:
        yield from check()
    except (sqlite3.Error, DamagedRowError, ValueError):
        yield f"{what} cannot be read to the end"


def _pages(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({_MAX_PROBLEMS})"):
        text = line.decode("utf-8", "replace")
        if text != "ok":
            yield text


def _damaged(table: str, rows: Iterable[tuple[object, ...]], check: Callable[..., object]) -> Iterator[str]:
    number = sum(_fails(check, row) for row in rows)
    if number:
        yield f"{number} rows of the table {table} are damaged"


def _fails(check: Callable[..., object], row: tuple[object, ...]) -> bool:
    try:
        check(*row)
    except (DamagedRowError, ValueError, TypeError):
        return True
    return False


def _threads(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute("SELECT * FROM threads")
    yield from _damaged(
        "threads", rows, lambda tenant, thread, *row: verify(b"threads", row[-1], tenant, thread, row[0])
    )
    unequal = sum(connection.execute(query).fetchone()[0] for query in (_UNEQUAL_THREADS, _EMPTY_THREADS))
    if unequal:
        yield f"{unequal} threads have other messages than they are said to have"


def _messages(connection: sqlite3.Connection) -> Iterator[str]:
    def check(tenant: bytes, thread: bytes, seq: int, message_id: bytes | None, body: bytes, stored: bytes) -> None:
        check_message(ThreadKey(tenant, thread), seq, message_id, body, stored)
        decode_message(body)

    yield from _damaged("messages", connection.execute("SELECT * FROM messages"), check)


def _records(connection: sqlite3.Connection) -> Iterator[str]:
    def check(tenant: bytes, thread: bytes, kind: bytes, body: bytes, *rest: object) -> None:
        check_record(ThreadKey(tenant, thread), kind, body, *rest)
        decode_text(body)

    yield from _damaged("records", connection.execute("SELECT * FROM records"), check)


def _memories(connection: sqlite3.Connection) -> Iterator[str]:
    terms, sources = RowSum(), RowSum()

    def check(tenant: bytes, user: bytes, *values: object) -> None:
        row = StoredMemory(*values)  # type: ignore[arg-type]  # that is what is checked
        row.check(UserKey(tenant, user))
        record = row.record()
        for source in sources_of(record):
            sources.add(tenant, encode_text(source), user, row.id)
        for term in set(record.terms) if row.is_current else ():
            terms.add(tenant, user, encode_text(term), row.serial, row.id)

    query = f"SELECT tenant, user, {sqlite_memories.COLUMNS} FROM memories"  # noqa: S608 - no input
    yield from _damaged("memories", connection.execute(query), check)
    for table, wanted in (("memory_terms", terms), ("memory_sources", sources)):
        found = RowSum()
        for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - no input
            found.add(*row)
        if found.total != wanted.total:
            yield f"the table {table} does not belong to the memories"


def _blobs(connection: sqlite3.Connection) -> Iterator[str]:
    def blob(tenant: bytes, thread: bytes, scope: bytes, *row: object) -> None:
        check_blob(ScopeKey(tenant, thread, scope), *row)

    def chunk(tenant: bytes, thread: bytes, scope: bytes, *row: object) -> None:
        check_chunk(ScopeKey(tenant, thread, scope), *row)

    yield from _damaged("blobs", connection.execute("SELECT * FROM blobs"), blob)
    yield from _damaged("blob_chunks", connection.execute(_CHUNKS), chunk)
    unequal = connection.execute(_UNEQUAL_BLOBS).fetchone()[0]
    if unequal:
        yield f"{unequal} blobs have another size than their pieces together"


def _tombstones(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute("SELECT * FROM tombstones")
    yield from _damaged("tombstones", rows, lambda tenant, stone, stored: verify(b"tombstones", stored, tenant, stone))


_CHECKS: dict[str, Callable[[sqlite3.Connection], Iterator[str]]] = {
    "threads": _threads,
    "messages": _messages,
    "records": _records,
    "memories": _memories,
    "blobs": _blobs,
    "tombstones": _tombstones,
}
