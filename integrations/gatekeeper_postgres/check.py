"""Whether what a PostgreSQL store holds is whole, row by row, and how much it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

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
from gatekeeper_core.storage.codec import decode_vector
from gatekeeper_core.storage.stored_rows import MEMORY_COLUMNS, DamagedRowError
from gatekeeper_postgres.memories import stored_memory
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
_COUNT_UNEQUAL = {"threads": _UNEQUAL_THREADS, "blob_chunks": _UNEQUAL_BLOBS}
_ROWS = {
    "memories": f"SELECT tenant, user_id, dimensions, {MEMORY_COLUMNS} FROM @memories",  # noqa: S608 - no input
    "blob_chunks": _CHUNKS,
}


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
    counts: dict[str, int] = {}
    for table in COUNTED_TABLES:
        ((counts[table],),) = yield from rows_of(f"SELECT count(*) FROM @{table}")  # noqa: S608 - no input
    ((version,),) = yield from rows_of("SELECT version FROM @context_gatekeeper")
    query = (
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
        "WHERE relnamespace = %s::regnamespace AND relkind = 'r'"
    )
    ((size,),) = yield from rows_of(query, f'"{schema}"')
    kept = "pgvector" if vectors else "compared one by one"
    return StoreInfo(place=place, schema=schema, schema_version=version, size_bytes=size, vectors=kept, **counts)


def problems() -> Statements[tuple[str, ...]]:
    """Return what is wrong with the tables, in words that hold nothing of their content; linear in the tables.

    Every row against its checksum, and what rows of different tables say of each other. Pages are the server's to check
    (``pg_amcheck``).
    """
    found: list[str] = []
    sums = MemorySums(name_key)

    def check_memory(tenant: bytes, user: bytes, dimensions: int | None, *values: Any) -> None:
        vector = sums.check(tenant, user, *stored_memory(values)).vector
        if dimensions != (None if vector is None else len(decode_vector(vector))):
            raise DamagedRowError("memories")

    for table in CHECKED_TABLES:
        found += yield from _damaged(table, check_memory if table == "memories" else partial(check_row, table))
        for name, wanted in sums.by_table.items() if table == "memories" else ():
            stored = RowSum()
            yield from _damaged(name, stored.add)
            if stored.total != wanted.total:
                found.append(f"the table {name} does not belong to the memories")
        if table in UNEQUAL:
            ((unequal,),) = yield from rows_of(_COUNT_UNEQUAL[table])
            found += [f"{unequal} {UNEQUAL[table]}"] if unequal else []
    return tuple(found)


def _damaged(table: str, check: Callable[..., object]) -> Statements[list[str]]:
    """Read all rows of a table, some at once, and say how many of them a check refuses."""
    number = 0
    query = _ROWS.get(table, f"SELECT * FROM @{table}")  # noqa: S608 - no input
    yield from execute(f"DECLARE all_rows NO SCROLL CURSOR FOR {query}")
    while rows := (yield from rows_of(f"FETCH FORWARD {_AT_ONCE:d} FROM all_rows")):
        number += sum(is_damaged(check, row) for row in rows)
    yield from execute("CLOSE all_rows")
    return damaged(table, number)
