"""Whether what a PostgreSQL store holds is whole, row by row, and how much it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gatekeeper_core.storage.codec import decode_message, decode_text
from gatekeeper_core.storage.forgetting import sources_of
from gatekeeper_core.storage.stored_rows import (
    DamagedRowError,
    RowSum,
    ScopeKey,
    ThreadKey,
    UserKey,
    check_chunk,
    check_message,
    check_record,
    check_thread,
    verify,
)
from gatekeeper_postgres.blobs import check_blob
from gatekeeper_postgres.memories import COLUMNS, stored_memory
from gatekeeper_postgres.statements import Statements, execute, name_key, rows_of
from gatekeeper_postgres.vectors import VectorType

__all__ = ["StoreInfo", "problems", "store_info"]

_AT_ONCE = 500

_UNEQUAL_THREADS = """
SELECT count(*) FROM (
    SELECT tenant, thread, count(*) AS number, max(seq) AS last FROM @messages GROUP BY tenant, thread
) AS g FULL JOIN @threads AS t ON t.tenant = g.tenant AND t.thread = g.thread
WHERE t.last_seq IS DISTINCT FROM g.last OR g.number IS DISTINCT FROM g.last + 1
"""
_UNEQUAL_BLOBS = """
SELECT count(*) FROM @blobs AS b WHERE b.size <> (
    SELECT coalesce(sum(length(c.data)), 0) FROM @blob_chunks AS c
    WHERE c.tenant = b.tenant AND c.thread = b.thread AND c.scope = b.scope AND c.id = b.id)
"""
_CHUNKS = """
SELECT c.tenant, c.thread, c.scope, c.id, b.serial, c.number, c.data, c.checksum FROM @blob_chunks AS c
LEFT JOIN @blobs AS b ON b.tenant = c.tenant AND b.thread = c.thread AND b.scope = c.scope AND b.id = c.id
"""
_COUNTED = ("threads", "messages", "records", "memories", "blobs", "tombstones")


class StoreInfo(NamedTuple):
    """How much lies in a store.

    Attributes:
        place: the server and the database.
        schema: the PostgreSQL schema.
        schema_version: how many migrations the tables have behind them.
        size_bytes: the tables with their indexes.
        threads: how many threads have messages.
        messages: how many messages there are.
        records: how many derived records.
        memories: how many memories, closed ones too.
        blobs: how many blobs.
        tombstones: how many things were forgotten.
        vectors: "pgvector", or "compared one by one" where the server does not have it.
    """

    place: str
    schema: str
    schema_version: int
    size_bytes: int
    threads: int
    messages: int
    records: int
    memories: int
    blobs: int
    tombstones: int
    vectors: str


def store_info(place: str, schema: str, vectors: VectorType | None) -> Statements[StoreInfo]:
    """Return how much lies in a store; linear in its rows."""
    counts: list[int] = []
    for table in _COUNTED:
        ((number,),) = yield from rows_of(f"SELECT count(*) FROM @{table}")  # noqa: S608 - no input
        counts.append(number)
    ((version,),) = yield from rows_of("SELECT version FROM @context_gatekeeper")
    query = (
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
        "WHERE relnamespace = %s::regnamespace AND relkind = 'r'"
    )
    ((size,),) = yield from rows_of(query, f'"{schema}"')
    threads, messages, records, memories, blobs, tombstones = counts
    return StoreInfo(
        place=place,
        schema=schema,
        schema_version=version,
        size_bytes=size,
        threads=threads,
        messages=messages,
        records=records,
        memories=memories,
        blobs=blobs,
        tombstones=tombstones,
        vectors="pgvector" if vectors else "compared one by one",
    )


def problems() -> Statements[tuple[str, ...]]:
    """Return what is wrong with the tables, in words that hold nothing of their content; linear in them.

    Every row is checked against its checksum, and what rows of different tables say of each other. The pages are the
    server's to check (``pg_amcheck``, data checksums).
    """
    found: list[str] = []
    for check in (_threads, _messages, _records, _memories, _blobs, _tombstones):
        found += yield from check()
    return tuple(found)


def _threads() -> Statements[list[str]]:
    def check(tenant: bytes, thread: bytes, last: int, stored: bytes) -> None:
        check_thread(ThreadKey(tenant, thread), last, stored)

    found = yield from _damaged("threads", "SELECT tenant, thread, last_seq, checksum FROM @threads", check)
    ((unequal,),) = yield from rows_of(_UNEQUAL_THREADS)
    return found + ([f"{unequal} threads have other messages than they are said to have"] if unequal else [])


def _messages() -> Statements[list[str]]:
    def check(tenant: bytes, thread: bytes, seq: int, message_id: bytes | None, body: bytes, stored: bytes) -> None:
        check_message(ThreadKey(tenant, thread), seq, message_id, body, stored)
        decode_message(body)

    query = "SELECT tenant, thread, seq, message_id, body, checksum FROM @messages"
    return (yield from _damaged("messages", query, check))


def _records() -> Statements[list[str]]:
    def check(tenant: bytes, thread: bytes, kind: bytes, body: bytes, *rest: object) -> None:
        check_record(ThreadKey(tenant, thread), kind, body, *rest)
        decode_text(body)

    query = "SELECT tenant, thread, kind, body, upto_seq, version, checksum FROM @records"
    return (yield from _damaged("records", query, check))


def _memories() -> Statements[list[str]]:
    terms, sources = RowSum(), RowSum()

    def check(tenant: bytes, user: bytes, dimensions: int | None, *values: Any) -> None:
        row = stored_memory(values)
        row.check(UserKey(tenant, user))
        record = row.record()
        for source in sources_of(record):
            sources.add(tenant, name_key(source), user, row.id)
        for term in {name_key(term) for term in record.terms} if row.is_current else ():
            terms.add(tenant, user, term, row.serial, row.id)
        if dimensions != (None if record.vector is None else len(record.vector)):
            raise DamagedRowError("memories")

    query = f"SELECT tenant, user_id, dimensions, {COLUMNS} FROM @memories"  # noqa: S608 - no input
    found = yield from _damaged("memories", query, check)
    for table, columns, wanted in (
        ("memory_terms", "tenant, user_id, term, serial, id", terms),
        ("memory_sources", "tenant, source, user_id, id", sources),
    ):
        stored = RowSum()
        yield from _damaged(table, f"SELECT {columns} FROM @{table}", stored.add)  # noqa: S608 - no input
        if stored.total != wanted.total:
            found.append(f"the table {table} does not belong to the memories")
    return found


def _blobs() -> Statements[list[str]]:
    def blob(tenant: bytes, thread: bytes, scope: bytes, *row: Any) -> None:
        check_blob(ScopeKey(tenant, thread, scope), *row)

    def chunk(tenant: bytes, thread: bytes, scope: bytes, *row: Any) -> None:
        check_chunk(ScopeKey(tenant, thread, scope), *row)

    query = "SELECT tenant, thread, scope, id, name, serial, size, checksum FROM @blobs"
    found = yield from _damaged("blobs", query, blob)
    found += yield from _damaged("blob_chunks", _CHUNKS, chunk)
    ((unequal,),) = yield from rows_of(_UNEQUAL_BLOBS)
    return found + ([f"{unequal} blobs have another size than their pieces together"] if unequal else [])


def _tombstones() -> Statements[list[str]]:
    def check(tenant: bytes, stone: bytes, stored: bytes) -> None:
        verify(b"tombstones", stored, tenant, stone)

    return (yield from _damaged("tombstones", "SELECT tenant, stone, checksum FROM @tombstones", check))


def _damaged(table: str, query: str, check: Callable[..., object]) -> Statements[list[str]]:
    """Read all rows of a query, some at once, and say how many of them a check refuses."""
    number = 0
    yield from execute(f"DECLARE all_rows NO SCROLL CURSOR FOR {query}")
    while rows := (yield from rows_of(f"FETCH FORWARD {_AT_ONCE:d} FROM all_rows")):
        number += sum(_fails(check, row) for row in rows)
    yield from execute("CLOSE all_rows")
    return [f"{number} rows of the table {table} are damaged"] if number else []


def _fails(check: Callable[..., object], row: Sequence[Any]) -> bool:
    try:
        check(*row)
    except (DamagedRowError, ValueError, TypeError):
        return True
    return False
