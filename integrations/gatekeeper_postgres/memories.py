"""The memories of users, in the tables of a PostgreSQL store.

Terms are looked up in a table of postings; vectors by pgvector, which holds a copy of each: what is given back are the
bytes that were put. Each function works within the transaction that its caller has begun, and checks every row that it
reads: one that is not as it was written is a ``DamagedRowError``. Who changes the memories of a user holds the lock on
them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from heapq import nlargest
from typing import Any, NamedTuple

from gatekeeper_core.storage.base import MemoryRecord, TermCounts
from gatekeeper_core.storage.codec import decode_vector, encode_text
from gatekeeper_core.storage.forgetting import sources_of, without_source
from gatekeeper_core.storage.stored_rows import (
    MEMORY_COLUMNS,
    DamagedRowError,
    StoredMemory,
    UserKey,
    check_next_versions,
)
from gatekeeper_core.vectors import cosine
from gatekeeper_postgres.statements import Statements, execute, name_key, rows_of
from gatekeeper_postgres.vectors import VectorType, as_text

__all__ = [
    "MAX_COMPARED_VECTORS",
    "Narrowing",
    "count",
    "delete",
    "delete_all",
    "find",
    "forget_source",
    "get",
    "narrowing",
    "nearest",
    "put",
    "stored_memory",
]

MAX_COMPARED_VECTORS = 10_000
"""Vectors without an index that one search compares with in this process at most: those of the newest memories.
Source: ours; about 0.6 s with 384 dimensions."""

EXACT_UP_TO = 1_000
"""Up to so many vectors of a user are compared one by one, by the server. Source: ours; some milliseconds, and none is
missed."""

_OF_USER = "FROM @memories WHERE tenant = %s AND user_id = %s"
_OF_USER_AS_M = "FROM @memories AS m WHERE tenant = %s AND user_id = %s"
_INSERT = """
INSERT INTO @memories (tenant, user_id, id, serial, is_current, key, category, body, terms, vector, vector_of, checksum,
    dimensions{column})
SELECT %s, %s, g.* FROM unnest(%s::bytea[], %s::bigint[], %s::boolean[], %s::bytea[], %s::bytea[], %s::bytea[],
    %s::bytea[], %s::bytea[], %s::bytea[], %s::bytea[], %s::integer[]{value}) AS g
"""
_INSERT_TERMS = """
INSERT INTO @memory_terms (tenant, user_id, term, serial, id)
SELECT %s, %s, g.* FROM unnest(%s::bytea[], %s::bigint[], %s::bytea[]) AS g
"""
_INSERT_SOURCES = """
INSERT INTO @memory_sources (tenant, source, user_id, id)
SELECT %s, g.source, %s, g.id FROM unnest(%s::bytea[], %s::bytea[]) AS g (source, id)
"""
_DELETE_TERMS = """
DELETE FROM @memory_terms AS t USING unnest(%s::bytea[], %s::bigint[]) AS g (term, serial)
WHERE t.tenant = %s AND t.user_id = %s AND t.term = g.term AND t.serial = g.serial
"""
_DELETE_SOURCES = """
DELETE FROM @memory_sources AS t USING unnest(%s::bytea[], %s::bytea[]) AS g (source, id)
WHERE t.tenant = %s AND t.user_id = %s AND t.source = g.source AND t.id = g.id
"""
_HOLDING = """
SELECT w.place, h.id, h.serial FROM unnest(%s::bytea[]) WITH ORDINALITY AS w (term, place) CROSS JOIN LATERAL (
    SELECT m.id, t.serial FROM @memory_terms AS t
    JOIN @memories AS m ON m.tenant = t.tenant AND m.user_id = t.user_id AND m.id = t.id
    WHERE t.tenant = %s AND t.user_id = %s AND t.term = w.term {narrowed} ORDER BY t.serial DESC LIMIT %s
) AS h ORDER BY w.place, h.serial DESC
"""


class Narrowing(NamedTuple):
    """Which memories a search is for: what its condition needs in addition, and the values of that."""

    sql: str
    values: tuple[Any, ...]


def put(key: UserKey, records: Sequence[MemoryRecord], vectors: VectorType | None) -> Statements[None]:
    """Store memories; see ``MemoryStore.put_memories``."""
    stored = yield from _rows(key, {name_key(record.memory.id) for record in records})
    check_next_versions(records, lambda memory_id: _record(stored.get(name_key(memory_id))))
    yield from _delete_rows(key, stored.values())
    newest: dict[str, MemoryRecord] = {}
    for record in records:  # of an id that stands there more than once the last one stays, in its place
        newest.pop(record.memory.id, None)
        newest[record.memory.id] = record
    query = f"SELECT max(serial) {_OF_USER} AND is_current"
    ((last,),) = yield from rows_of(query, *key)
    yield from _insert(key, list(enumerate(newest.values(), (last or 0) + 1)), vectors)


def get(key: UserKey, memory_id: str) -> Statements[MemoryRecord | None]:
    """Return the memory of an id, or None."""
    rows = yield from _rows(key, [name_key(memory_id)])
    return _record(rows.get(name_key(memory_id)))


def delete(key: UserKey, memory_ids: Iterable[str]) -> Statements[int]:
    """Delete memories with their postings, damaged ones as well, and return how many there were."""
    gone = 0
    for name in dict.fromkeys(map(name_key, memory_ids)):
        try:
            rows = yield from _rows(key, [name])
            yield from _delete_rows(key, rows.values())
            gone += len(rows)
        except DamagedRowError:  # noqa: PERF203 - one that is damaged keeps no other one
            gone += yield from _delete_damaged(key, name)
    return gone


def delete_all(key: UserKey) -> Statements[int]:
    """Delete all memories of a scope, and return how many there were."""
    for table in ("memory_terms", "memory_sources"):
        yield from execute(f"DELETE FROM @{table} WHERE tenant = %s AND user_id = %s", *key)  # noqa: S608 - no input
    return (yield from execute(f"DELETE {_OF_USER}", *key))


def find(key: UserKey, *, terms: Sequence[str], among: Narrowing, limit: int) -> Statements[tuple[MemoryRecord, ...]]:
    """Return current memories by term, or without terms the newest put; see ``MemoryStore.find_memories``."""
    if not terms:
        query = f"SELECT {MEMORY_COLUMNS} {_OF_USER_AS_M} AND is_current{among.sql} ORDER BY serial DESC LIMIT %s"
        rows = yield from rows_of(query, *key, *among.values, limit)
        return tuple(_checked(key, row).record() for row in rows)
    names = list(dict.fromkeys(map(name_key, terms)))
    query = _HOLDING.format(narrowed=among.sql)
    hits = yield from rows_of(query, names, *key, *among.values, limit)
    first: dict[bytes, tuple[bytes, int]] = {}
    for place, name, serial in hits:
        if name not in first and len(first) < limit:
            first[name] = (names[place - 1], serial)
    found = yield from _rows(key, first)
    for name, (term, serial) in first.items():
        row = found.get(name)
        if row is None or (row.serial, row.is_current) != (serial, 1) or term not in map(name_key, row.record().terms):
            raise DamagedRowError("memory_terms")
    return tuple(found[name].record() for name in first)


def nearest(
    key: UserKey, vector: array[float], *, among: Narrowing, limit: int, vectors: VectorType | None
) -> Statements[tuple[MemoryRecord, ...]]:
    """Return the current memories that are nearest to a vector, by the cosine.

    Those that pgvector holds are found by it; the others, of which there are none where it is installed and the vectors
    are not too long for it, are compared here.
    """
    asked = as_text(vector)
    names: list[bytes] = []
    if vectors and asked:
        names = yield from _nearest_in_server(key, vector, asked, among=among, limit=limit, vectors=vectors)
    names += yield from _nearest_here(key, vector, among=among, limit=limit, vectors=vectors)
    found = yield from _rows(key, names)
    size = 4 * len(vector)
    alike = [row for row in found.values() if row.is_current and row.vector and len(row.vector) == size]
    best = nlargest(limit, alike, key=lambda row: cosine(decode_vector(row.vector or b""), vector))
    return tuple(row.record() for row in best)


def count(key: UserKey, terms: Collection[str]) -> Statements[TermCounts]:
    """Return how many current memories there are, and how many of them hold each term."""
    names = {name_key(term): term for term in terms}
    held: Sequence[tuple[Any, ...]] = ()
    if names:
        query = (
            "SELECT term, count(*) FROM @memory_terms "
            "WHERE tenant = %s AND user_id = %s AND term = ANY(%s) GROUP BY term"
        )
        held = yield from rows_of(query, *key, list(names))
    ((memories,),) = yield from rows_of(f"SELECT count(*) {_OF_USER} AND is_current", *key)
    return TermCounts(memories, {names[name]: number for name, number in held})


def forget_source(tenant: bytes, source: str, vectors: VectorType | None) -> Statements[int]:
    """Delete what the memories of a tenant hold from a thread, and return how many were deleted or changed."""
    query = "SELECT user_id, id FROM @memory_sources WHERE tenant = %s AND source = %s"
    hits = yield from rows_of(query, tenant, name_key(source))
    for user, name in hits:
        key = UserKey(tenant, user)
        try:
            rows = yield from _rows(key, [name])
            left = [(row.serial, without_source(row.record(), source)) for row in rows.values()]
            yield from _delete_rows(key, rows.values())
        except DamagedRowError:
            yield from _delete_damaged(key, name)
            continue
        # No newer than they were.
        yield from _insert(key, [(serial, record) for serial, record in left if record], vectors)
    return len(hits)


def stored_memory(values: Sequence[Any]) -> StoredMemory:
    """Return a row of ``memories``, of which nothing is checked yet."""
    row = StoredMemory(*values)
    return row._replace(is_current=int(row.is_current))


def _nearest_in_server(
    key: UserKey, vector: array[float], asked: str, *, among: Narrowing, limit: int, vectors: VectorType
) -> Statements[list[bytes]]:
    """Return the ids of the nearest that pgvector holds.

    Few are compared one by one. Among many the index is asked, which goes on until there are enough of this user; where
    it gives up before that, they are compared one by one as well: whatever others have stored, nothing is lost.
    """
    dimensions = len(vector)
    where = f"{_OF_USER_AS_M} AND is_current AND dimensions = {dimensions:d}"
    where += f" AND embedding IS NOT NULL{among.sql}"
    values = (*key, *among.values)
    distance = f"(embedding {vectors.distance} %s::{vectors.name})"
    held = vectors.indexed(dimensions)
    ((many,),) = yield from rows_of(
        f"SELECT count(*) FROM (SELECT 1 {where} LIMIT %s) AS counted",  # noqa: S608 - no input
        *values,
        EXACT_UP_TO + 1,
    )
    if held and many > EXACT_UP_TO:
        yield from execute("SET LOCAL hnsw.iterative_scan = strict_order")
        near = f"{held} {vectors.distance} {vectors.asked(dimensions)}"
        wanted = limit if "halfvec" not in held else 2 * limit
        query = f"SELECT id {where} ORDER BY {near} LIMIT %s"
        rows = yield from rows_of(query, *values, asked, wanted)
        if len(rows) == wanted:
            return [row[0] for row in rows]
    # No index holds this expression.
    rows = yield from rows_of(f"SELECT id {where} ORDER BY {distance} LIMIT %s", *values, asked, limit)
    return [row[0] for row in rows]


def _nearest_here(
    key: UserKey, vector: array[float], *, among: Narrowing, limit: int, vectors: VectorType | None
) -> Statements[list[bytes]]:
    """Return the ids of the nearest of the newest that pgvector does not hold."""
    query = f"SELECT id, vector {_OF_USER_AS_M} AND is_current{among.sql}"
    query += " AND dimensions = %s" + (" AND embedding IS NULL" if vectors else "") + " ORDER BY serial DESC LIMIT %s"
    rows = yield from rows_of(query, *key, *among.values, len(vector), MAX_COMPARED_VECTORS)
    alike = [row for row in rows if len(row[1]) == 4 * len(vector)]
    return [row[0] for row in nlargest(limit, alike, key=lambda row: cosine(decode_vector(row[1]), vector))]


def _rows(key: UserKey, names: Collection[bytes]) -> Statements[dict[bytes, StoredMemory]]:
    """Return the rows of ids, as far as they are there, in the order of the ids."""
    if not names:
        return {}
    rows = yield from rows_of(f"SELECT {MEMORY_COLUMNS} {_OF_USER} AND id = ANY(%s)", *key, list(names))
    found = {row.id: row for row in (_checked(key, values) for values in rows)}
    return {name: found[name] for name in names if name in found}


def _checked(key: UserKey, values: Sequence[Any]) -> StoredMemory:
    row = stored_memory(values)
    row.check(key)
    return row


def _record(row: StoredMemory | None) -> MemoryRecord | None:
    return row.record() if row else None


def _insert(key: UserKey, records: Sequence[tuple[int, MemoryRecord]], vectors: VectorType | None) -> Statements[None]:
    """Store memories, each with its serial number."""
    if not records:
        return
    rows = [StoredMemory.of(key, record, serial, name=name_key) for serial, record in records]
    columns: list[list[Any]] = list(map(list, zip(*rows, strict=True)))
    columns[2] = [bool(row.is_current) for row in rows]
    columns.append([None if record.vector is None else len(record.vector) for _, record in records])
    if vectors:
        columns.append([as_text(record.vector) for _, record in records])
        insert = _INSERT.format(column=", embedding", value=f", %s::{vectors.name}[]")
    else:
        insert = _INSERT.format(column="", value="")
    yield from execute(insert, *key, *columns)
    terms = [
        (name, row.serial, row.id)
        for row, (_, record) in zip(rows, records, strict=True)
        if row.is_current
        for name in dict.fromkeys(map(name_key, record.terms))
    ]
    if terms:
        yield from execute(_INSERT_TERMS, *key, *map(list, zip(*terms, strict=True)))
    sources = [(source, row.id) for row, (_, record) in zip(rows, records, strict=True) for source in _sources(record)]
    if sources:
        yield from execute(_INSERT_SOURCES, *key, *map(list, zip(*sources, strict=True)))


def _delete_rows(key: UserKey, rows: Collection[StoredMemory]) -> Statements[None]:
    """Delete memories with what stands for them in the other tables."""
    if not rows:
        return
    # A closed memory has no postings, and its serial number may be another one's by now.
    terms = [(name_key(term), row.serial) for row in rows if row.is_current for term in row.record().terms]
    if terms:
        yield from execute(_DELETE_TERMS, *map(list, zip(*terms, strict=True)), *key)
    sources = [(source, row.id) for row in rows for source in _sources(row.record())]
    if sources:
        yield from execute(_DELETE_SOURCES, *map(list, zip(*sources, strict=True)), *key)
    yield from execute(f"DELETE {_OF_USER} AND id = ANY(%s)", *key, [row.id for row in rows])


def _delete_damaged(key: UserKey, name: bytes) -> Statements[int]:
    """Delete a memory of which nothing can be believed, wherever its id stands."""
    for table in ("memory_terms", "memory_sources"):
        where = f"DELETE FROM @{table} WHERE tenant = %s AND user_id = %s AND id = %s"  # noqa: S608 - no input
        yield from execute(where, *key, name)
    return (yield from execute(f"DELETE {_OF_USER} AND id = %s", *key, name))


def _sources(record: MemoryRecord) -> list[bytes]:
    return [name_key(source) for source in sources_of(record)]


def narrowing(key: str | None, categories: Collection[str]) -> Narrowing:
    """Return the narrowing to the memories of a key (None: of any) and of some categories (empty: of all)."""
    sql = ""
    values: list[Any] = []
    if key is not None:
        sql += " AND m.key = %s"
        values.append(name_key(key))
    if categories:
        sql += " AND m.category = ANY(%s)"
        values.append([encode_text(category) for category in categories])
    return Narrowing(sql, tuple(values))
