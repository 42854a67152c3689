"""Blobs in the tables of a PostgreSQL store, in pieces of one size, so that a range is read and checked by itself.

Each function works within the transaction that its caller has begun, and checks every row that it reads: one that is
missing, or not as it was written, is a ``DamagedRowError``. Who puts a blob holds the lock on its scope.
"""

from __future__ import annotations

from gatekeeper_core.storage.base import BlobRecord
from gatekeeper_core.storage.codec import checksum, decode_text, encode_text
from gatekeeper_core.storage.stored_rows import CHUNK_BYTES, DamagedRowError, ScopeKey, sealed, verify
from gatekeeper_postgres.statements import Statements, execute, name_key, rows_of

__all__ = ["delete", "get", "put", "records"]

_CHUNKS_AT_ONCE = 256

_OF_SCOPE = "tenant = %s AND thread = %s AND scope = %s"
_OF_BLOB = f"{_OF_SCOPE} AND id = %s"
_INSERT_CHUNKS = """
INSERT INTO @blob_chunks (tenant, thread, scope, id, number, data, checksum)
SELECT %s, %s, %s, %s, g.* FROM unnest(%s::bigint[], %s::bytea[], %s::bytea[]) AS g
"""


def put(key: ScopeKey, blob_id: str, data: bytes) -> Statements[None]:
    """Store a blob in the place of the one that has its id, as the newest of its scope."""
    yield from delete(key, blob_id)
    ((last,),) = yield from rows_of(f"SELECT max(serial) FROM @blobs WHERE {_OF_SCOPE}", *key)  # noqa: S608 - no input
    name, serial = name_key(blob_id), (last or 0) + 1
    insert = (
        "INSERT INTO @blobs (tenant, thread, scope, id, name, serial, size, checksum) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
    )
    yield from execute(insert, *sealed(b"blobs", *key, name, encode_text(blob_id), serial, len(data)))
    numbers = range(-(-len(data) // CHUNK_BYTES))
    for start in range(0, len(numbers), _CHUNKS_AT_ONCE):
        some = numbers[start : start + _CHUNKS_AT_ONCE]
        chunks = [data[number * CHUNK_BYTES : (number + 1) * CHUNK_BYTES] for number in some]
        sums = [checksum(b"blob_chunks", *key, name, serial, *piece) for piece in zip(some, chunks, strict=True)]
        yield from execute(_INSERT_CHUNKS, *key, name, list(some), chunks, sums)


def get(key: ScopeKey, blob_id: str, start: int, end: int | None) -> Statements[bytes]:
    """Return the bytes of a blob from ``start`` up to ``end``; see ``BlobStore.get``.

    Raises:
        KeyError: there is none.
    """
    name = name_key(blob_id)
    query = f"SELECT name, serial, size, checksum FROM @blobs WHERE {_OF_BLOB}"  # noqa: S608 - no input
    rows = yield from rows_of(query, *key, name)
    if not rows:
        raise KeyError(blob_id)
    verify(b"blobs", *key, name, *rows[0])
    _, serial, size, _ = rows[0]
    start, end = max(0, start), size if end is None else min(max(0, end), size)
    if start >= end:
        return b""
    numbers = range(start // CHUNK_BYTES, (end - 1) // CHUNK_BYTES + 1)
    query = (
        f"SELECT number, data, checksum FROM @blob_chunks WHERE {_OF_BLOB} "  # noqa: S608 - no input
        "AND number >= %s AND number < %s ORDER BY number"
    )
    chunks = yield from rows_of(query, *key, name, numbers.start, numbers.stop)
    if [chunk[0] for chunk in chunks] != list(numbers):
        raise DamagedRowError("blob_chunks")
    for chunk in chunks:
        verify(b"blob_chunks", *key, name, serial, *chunk)
    begin = numbers.start * CHUNK_BYTES
    return b"".join(chunk[1] for chunk in chunks)[start - begin : end - begin]


def delete(key: ScopeKey, blob_id: str | None) -> Statements[None]:
    """Delete one blob, or with None all of the scope."""
    for table in ("blob_chunks", "blobs"):
        if blob_id is None:
            yield from execute(f"DELETE FROM @{table} WHERE {_OF_SCOPE}", *key)  # noqa: S608 - no input
        else:
            yield from execute(f"DELETE FROM @{table} WHERE {_OF_BLOB}", *key, name_key(blob_id))  # noqa: S608


def records(key: ScopeKey) -> Statements[tuple[BlobRecord, ...]]:
    """Return the blobs of a scope, oldest first."""
    query = f"SELECT id, name, serial, size, checksum FROM @blobs WHERE {_OF_SCOPE} ORDER BY serial"  # noqa: S608
    found = []
    for name, *row in (yield from rows_of(query, *key)):
        verify(b"blobs", *key, name, *row)
        found.append(BlobRecord(decode_text(row[0]), row[2]))
    return tuple(found)
