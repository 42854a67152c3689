"""The memories of users, in the tables of a SQLite store.

Terms are looked up in a table of postings; vectors lie beside their memory and are compared one by one. Each function
works within the transaction that its caller has begun, and checks every row that it reads: one that is not as it was
written is a ``DamagedRowError``.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from heapq import nlargest
from itertools import islice

from gatekeeper_core.storage.base import MemoryRecord, TermCounts
from gatekeeper_core.storage.codec import decode_terms, decode_text, decode_vector, encode_text, encode_vector
from gatekeeper_core.storage.forgetting import sources_of, without_source
from gatekeeper_core.storage.stored_rows import (
    MEMORY_COLUMNS,
    DamagedRowError,
    StoredMemory,
    UserKey,
    check_next_versions,
)
from gatekeeper_core.vectors import cosine

__all__ = [
    "MAX_COMPARED_VECTORS",
    "count",
    "delete",
    "delete_all",
    "find",
    "forget_source",
    "get",
    "put",
]

MAX_COMPARED_VECTORS = 10_000
"""Vectors that one search compares with at most: those of the newest memories. Source: ours; about 0.6 s with 384
dimensions. Who has more needs a store with an index of vectors."""

_CURRENT = f"SELECT {MEMORY_COLUMNS} FROM memories WHERE tenant = ? AND user = ? AND is_current = 1"  # noqa: S608 - no input
_JOINED = ", ".join(f"m.{name}" for name in MEMORY_COLUMNS.split(", "))
_HOLDING = f"""
SELECT {_JOINED}, t.id, t.serial FROM memory_terms AS t
JOIN memories AS m ON m.tenant = t.tenant AND m.user = t.user AND m.id = t.id
WHERE t.tenant = ? AND t.user = ? AND t.term = ? ORDER BY t.serial DESC
"""  # noqa: S608 - no input


def put(connection: sqlite3.Connection, key: UserKey, records: Sequence[MemoryRecord]) -> None:
    """Store memories; see ``MemoryStore.put_memories``."""
    check_next_versions(records, lambda memory_id: get(connection, key, memory_id))
    for record in records:
        delete(connection, key, record.memory.id)
        query = "SELECT max(serial) FROM memories WHERE tenant = ? AND user = ? AND is_current = 1"
        serial = int(connection.execute(query, key).fetchone()[0] or 0) + 1
        _insert(connection, key, record, serial)


def get(connection: sqlite3.Connection, key: UserKey, memory_id: str) -> MemoryRecord | None:
    """Return the memory of an id, or None."""
    row = _row(connection, key, encode_text(memory_id))
    return row.record() if row else None


def delete(connection: sqlite3.Connection, key: UserKey, memory_id: str) -> bool:
    """Delete a memory with its postings, and return whether it was there; a damaged one as well."""
    name = encode_text(memory_id)
    try:
        row = _row(connection, key, name)
        if row is None:
            return False
        record = row.record()
    except DamagedRowError:
        connection.execute("DELETE FROM memory_terms WHERE tenant = ? AND user = ? AND id = ?", (*key, name))
        connection.execute("DELETE FROM memory_sources WHERE tenant = ? AND user = ? AND id = ?", (*key, name))
    else:
        # A closed memory has no postings, and its serial number may be another one's by now.
        terms = [(*key, encode_text(term), row.serial) for term in record.terms if row.is_current]
        connection.executemany(
            "DELETE FROM memory_terms WHERE tenant = ? AND user = ? AND term = ? AND serial = ?", terms
        )
        sources = [(key.tenant, encode_text(source), key.user, name) for source in sources_of(record)]
        connection.executemany(
            "DELETE FROM memory_sources WHERE tenant = ? AND source = ? AND user = ? AND id = ?", sources
        )
    connection.execute("DELETE FROM memories WHERE tenant = ? AND user = ? AND id = ?", (*key, name))
    return True


def delete_all(connection: sqlite3.Connection, key: UserKey) -> int:
    """Delete all memories of a scope, and return how many there were."""
    connection.execute("DELETE FROM memory_terms WHERE tenant = ? AND user = ?", key)
    connection.execute("DELETE FROM memory_sources WHERE tenant = ? AND user = ?", key)
    return connection.execute("DELETE FROM memories WHERE tenant = ? AND user = ?", key).rowcount


def find(
    connection: sqlite3.Connection,
    key: UserKey,
    *,
    terms: Sequence[str],
    vector: array[float] | None,
    memory_key: str | None,
    categories: Collection[str],
    limit: int,
) -> tuple[MemoryRecord, ...]:
    """Return current memories by term, by nearness, or the newest put; see ``MemoryStore.find_memories``.

    Of more than ``MAX_COMPARED_VECTORS`` memories the newest are compared with a vector.
    """
    wanted = None if memory_key is None else encode_text(memory_key)
    among = {encode_text(category) for category in categories}

    def fits(row: StoredMemory) -> bool:
        return (wanted is None or row.key == wanted) and (not among or row.category in among)

    found: dict[bytes, MemoryRecord] = {}
    if terms or vector is None:
        held = _holding(connection, key, terms) if terms else _newest(connection, key, wanted)
        found.update((row.id, row.record()) for row in islice(filter(fits, held), limit))
    if vector is not None:
        size = len(encode_vector(vector))
        compared = islice(filter(fits, _newest(connection, key, wanted)), MAX_COMPARED_VECTORS)
        near = nlargest(
            limit,
            (row for row in compared if row.vector and len(row.vector) == size),
            key=lambda row: cosine(decode_vector(row.vector or b""), vector),
        )
        found.update((row.id, row.record()) for row in near)
    return tuple(found.values())


def count(connection: sqlite3.Connection, key: UserKey, terms: Collection[str]) -> TermCounts:
    """Return how many current memories there are, and how many of them hold each term."""
    query = "SELECT count(*) FROM memory_terms WHERE tenant = ? AND user = ? AND term = ?"
    held = {term: connection.execute(query, (*key, encode_text(term))).fetchone()[0] for term in set(terms)}
    # The index by name: SQLite would count in the table, with all of its texts and vectors.
    query = "SELECT count(*) FROM memories INDEXED BY memories_by_age WHERE tenant = ? AND user = ? AND is_current = 1"
    memories = connection.execute(query, key).fetchone()[0]
    return TermCounts(memories, {term: number for term, number in held.items() if number})


def forget_source(connection: sqlite3.Connection, tenant: bytes, source: str) -> int:
    """Delete what the memories of a tenant hold from a thread, and return how many were deleted or changed."""
    query = "SELECT user, id FROM memory_sources WHERE tenant = ? AND source = ?"
    rows = connection.execute(query, (tenant, encode_text(source))).fetchall()
    for user, name in rows:
        key = UserKey(tenant, user)
        left = None  # of a damaged memory nothing is left
        with suppress(DamagedRowError):
            row = _row(connection, key, name)
            left = (without_source(row.record(), source), row.serial) if row else None
        delete(connection, key, decode_text(name))
        if left and left[0]:
            _insert(connection, key, left[0], left[1])  # no newer than it was
    return len(rows)


def _insert(connection: sqlite3.Connection, key: UserKey, record: MemoryRecord, serial: int) -> None:
    row = StoredMemory.of(key, record, serial)
    connection.execute("INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*key, *row))
    if row.is_current:
        terms = [(*key, encode_text(term), serial, row.id) for term in dict.fromkeys(record.terms)]
        connection.executemany("INSERT INTO memory_terms VALUES (?, ?, ?, ?, ?)", terms)
    sources = [(key.tenant, encode_text(source), key.user, row.id) for source in sources_of(record)]
    connection.executemany("INSERT INTO memory_sources VALUES (?, ?, ?, ?)", sources)


def _row(connection: sqlite3.Connection, key: UserKey, name: bytes) -> StoredMemory | None:
    query = f"SELECT {MEMORY_COLUMNS} FROM memories WHERE tenant = ? AND user = ? AND id = ?"  # noqa: S608 - no input
    values = connection.execute(query, (*key, name)).fetchone()
    row = None if values is None else _checked(key, values)
    if row and row.id != name:
        raise DamagedRowError("memories")  # on a damaged page a search can end at another row
    return row


def _newest(connection: sqlite3.Connection, key: UserKey, memory_key: bytes | None) -> Iterator[StoredMemory]:
    query = _CURRENT if memory_key is None else f"{_CURRENT} AND key = ?"
    keys = key if memory_key is None else (*key, memory_key)
    for values in connection.execute(f"{query} ORDER BY serial DESC", keys):
        row = _checked(key, values)
        if not row.is_current:
            raise DamagedRowError("memories")
        yield row


def _holding(connection: sqlite3.Connection, key: UserKey, terms: Sequence[str]) -> Iterator[StoredMemory]:
    """Yield the current memories that hold a term, each once, by the first of their terms, newest first."""
    seen: set[bytes] = set()
    for term in dict.fromkeys(terms):
        for *values, name, serial in connection.execute(_HOLDING, (*key, encode_text(term))):
            row = _checked(key, values)
            if (name, serial, 1) != (row.id, row.serial, row.is_current) or term not in decode_terms(row.terms):
                raise DamagedRowError("memory_terms")
            if row.id not in seen:
                seen.add(row.id)
                yield row


def _checked(key: UserKey, values: Iterable[object]) -> StoredMemory:
    row = StoredMemory(*values)  # type: ignore[arg-type]  # the checksum says whether they are what they should be
    row.check(key)
    return row
