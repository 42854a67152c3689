"""Blobs in the tables of a SQLite store, in pieces of one size, so that a range is read and checked by itself.

Each function works within the transaction that its caller has begun, and checks every row that it reads.
"""

from __future__ import annotations

import sqlite3

from gatekeeper_core.storage.base import BlobRecord
from gatekeeper_core.storage.codec import checksum, decode_text, encode_text
from gatekeeper_core.storage.stored_rows import CHUNK_BYTES, DamagedRowError, ScopeKey, check_blob, check_chunk

__all__ = ["delete", "get", "put", "records"]

_OF_BLOB = "tenant = ? AND thread = ? AND scope = ? AND id = ?"


def put(connection: sqlite3.Connection, key: ScopeKey, blob_id: str, data: bytes) -> None:
    """Store a blob in the place of the one that has its id, as the newest of its scope."""
    delete(connection, key, blob_id)
    query = "SELECT max(serial) FROM blobs WHERE tenant = ? AND thread = ? AND scope = ?"
    serial = int(connection.execute(query, key).fetchone()[0] or 0) + 1
    name = encode_text(blob_id)
    fields = (*key, name, serial, len(data))
    row = (*fields, checksum(b"blobs", *fields))
    connection.execute("INSERT INTO blobs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    for number in range(-(-len(data) // CHUNK_BYTES)):
        chunk = data[number * CHUNK_BYTES : (number + 1) * CHUNK_BYTES]
        stored = checksum(b"blob_chunks", *key, name, serial, number, chunk)
        piece = (*key, name, number, chunk, stored)
        connection.execute("INSERT INTO blob_chunks VALUES (?, ?, ?, ?, ?, ?, ?)", piece)


def get(connection: sqlite3.Connection, key: ScopeKey, blob_id: str, start: int, end: int | None) -> bytes:
    """Return the bytes of a blob from ``start`` up to ``end``; see ``BlobStore.get``.

    Raises:
        KeyError: there is none.
        DamagedRowError: it is not as it was written.
    """
    name = encode_text(blob_id)
    query = f"SELECT serial, size, checksum FROM blobs WHERE {_OF_BLOB}"  # noqa: S608 - no input
    row = connection.execute(query, (*key, name)).fetchone()
    if row is None:
        raise KeyError(blob_id)
    check_blob(key, name, *row)
    serial, size = row[:2]
    start, end = max(0, start), size if end is None else min(max(0, end), size)
    if start >= end:
        return b""
    wanted = range(start // CHUNK_BYTES, (end - 1) // CHUNK_BYTES + 1)
    data = b"".join(_chunks(connection, key, name, serial, wanted))
    begin = wanted.start * CHUNK_BYTES
    return data[start - begin : end - begin]


def delete(connection: sqlite3.Connection, key: ScopeKey, blob_id: str | None) -> None:
    """Delete one blob, or with None all of the scope."""
    for table in ("blob_chunks", "blobs"):
        if blob_id is None:
            connection.execute(f"DELETE FROM {table} WHERE tenant = ? AND thread = ? AND scope = ?", key)  # noqa: S608
        else:
            connection.execute(f"DELETE FROM {table} WHERE {_OF_BLOB}", (*key, encode_text(blob_id)))  # noqa: S608


def records(connection: sqlite3.Connection, key: ScopeKey) -> tuple[BlobRecord, ...]:
    """Return the blobs of a scope, the one that was put first standing first.

    Raises:
        DamagedRowError: one is not as it was written.
    """
    query = "SELECT id, serial, size, checksum FROM blobs WHERE tenant = ? AND thread = ? AND scope = ? ORDER BY serial"
    found = []
    for name, *row in connection.execute(query, key):
        check_blob(key, name, *row)
        found.append(BlobRecord(decode_text(name), row[1]))
    return tuple(found)


def _chunks(connection: sqlite3.Connection, key: ScopeKey, name: bytes, serial: int, numbers: range) -> list[bytes]:
    query = (
        f"SELECT number, data, checksum FROM blob_chunks WHERE {_OF_BLOB} "  # noqa: S608 - no input
        "AND number >= ? AND number < ? ORDER BY number"
    )
    rows = connection.execute(query, (*key, name, numbers.start, numbers.stop)).fetchall()
    if [row[0] for row in rows] != list(numbers):
        raise DamagedRowError("blob_chunks")
    for row in rows:
        check_chunk(key, name, serial, *row)
    return [row[1] for row in rows]
