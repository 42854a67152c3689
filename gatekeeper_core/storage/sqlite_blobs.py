"""Blobs in the tables of a SQLite store, in pieces of one size, so that a range is read and checked by itself.

Each call is one transaction, and checks every row that it reads: one that is not as it was written is a
``CorruptionError``.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from gatekeeper_core.storage import sqlite_forgetting
from gatekeeper_core.storage.base import BlobRecord, BlobStore
from gatekeeper_core.storage.codec import checksum, decode_text, encode_text
from gatekeeper_core.storage.stored_rows import CHUNK_BYTES, DamagedRowError, ScopeKey, sealed, verify

if TYPE_CHECKING:
    from gatekeeper_core.storage.sqlite_connections import Connections

__all__ = ["SQLiteThreadBlobs"]

_OF_SCOPE = "tenant = ? AND thread = ? AND scope = ?"
_OF_BLOB = f"{_OF_SCOPE} AND id = ?"


class SQLiteThreadBlobs(BlobStore):
    """The blobs of one thread."""

    def __init__(self, connections: Connections, tenant: str, thread: str) -> None:
        self._connections = connections
        self._tenant = tenant
        self._thread = thread

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        key, name = self._key(scope), encode_text(blob_id)
        with self._connections.writing() as connection:
            sqlite_forgetting.refuse_forgotten(connection, self._tenant, thread=self._thread)
            _delete(connection, key, name)
            query = f"SELECT max(serial) FROM blobs WHERE {_OF_SCOPE}"  # noqa: S608 - no input
            serial = int(connection.execute(query, key).fetchone()[0] or 0) + 1
            row = sealed(b"blobs", *key, name, serial, len(data))
            connection.execute("INSERT INTO blobs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            for number in range(-(-len(data) // CHUNK_BYTES)):
                chunk = data[number * CHUNK_BYTES : (number + 1) * CHUNK_BYTES]
                stored = checksum(b"blob_chunks", *key, name, serial, number, chunk)
                piece = (*key, name, number, chunk, stored)
                connection.execute("INSERT INTO blob_chunks VALUES (?, ?, ?, ?, ?, ?, ?)", piece)

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        key, name = self._key(scope), encode_text(blob_id)
        with self._connections.reading() as connection:
            query = f"SELECT serial, size, checksum FROM blobs WHERE {_OF_BLOB}"  # noqa: S608 - no input
            row = connection.execute(query, (*key, name)).fetchone()
            if row is None:
                raise KeyError(blob_id)
            verify(b"blobs", *key, name, *row)
            serial, size = row[:2]
            start, end = max(0, start), size if end is None else min(max(0, end), size)
            if start >= end:
                return b""
            numbers = range(start // CHUNK_BYTES, (end - 1) // CHUNK_BYTES + 1)
            query = (
                f"SELECT number, data, checksum FROM blob_chunks WHERE {_OF_BLOB} "  # noqa: S608 - no input
                "AND number >= ? AND number < ? ORDER BY number"
            )
            rows = connection.execute(query, (*key, name, numbers.start, numbers.stop)).fetchall()
            if [row[0] for row in rows] != list(numbers):
                raise DamagedRowError("blob_chunks")
            for row in rows:
                verify(b"blob_chunks", *key, name, serial, *row)
        begin = numbers.start * CHUNK_BYTES
        return b"".join(row[1] for row in rows)[start - begin : end - begin]

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        with self._connections.writing() as connection:
            _delete(connection, self._key(scope), None if blob_id is None else encode_text(blob_id))

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        key, found = self._key(scope), []
        query = f"SELECT id, serial, size, checksum FROM blobs WHERE {_OF_SCOPE} ORDER BY serial"  # noqa: S608
        with self._connections.reading() as connection:
            for name, *row in connection.execute(query, key):
                verify(b"blobs", *key, name, *row)
                found.append(BlobRecord(decode_text(name), row[1]))
        return tuple(found)

    def _key(self, scope: str) -> ScopeKey:
        return ScopeKey(*map(encode_text, (self._tenant, self._thread, scope)))


def _delete(connection: sqlite3.Connection, key: ScopeKey, name: bytes | None) -> None:
    for table in ("blob_chunks", "blobs"):
        if name is None:
            connection.execute(f"DELETE FROM {table} WHERE {_OF_SCOPE}", key)  # noqa: S608 - no input
        else:
            connection.execute(f"DELETE FROM {table} WHERE {_OF_BLOB}", (*key, name))  # noqa: S608 - no input
