"""Stores that live and die with the process."""

from __future__ import annotations

from threading import Lock

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.storage.base import BlobRecord, DerivedRecord

__all__ = ["InMemoryBlobStore", "InMemoryRecordStore"]


class InMemoryBlobStore:
    """A ``BlobStore`` in a dictionary.

    >>> store = InMemoryBlobStore()
    >>> store.put("scope", "a", b"0123456789")
    >>> store.get("scope", "a", 2, 5), store.used_bytes("scope")
    (b'234', 10)
    """

    __slots__ = ("_blobs", "_lock")

    def __init__(self) -> None:
        self._blobs: dict[str, dict[str, bytes]] = {}
        self._lock = Lock()

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        """Store a blob under an id of a scope; see ``BlobStore``.

        Raises:
            TypeError: ``data`` is no bytes.
        """
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        with self._lock:
            blobs = self._blobs.setdefault(scope, {})
            blobs.pop(blob_id, None)  # a dictionary keeps the place of a key that is there
            blobs[blob_id] = data

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        """Return a range of a blob's bytes; see ``BlobStore``."""
        with self._lock:
            data = self._blobs.get(scope, {})[blob_id]
        return data if start == 0 and end is None else data[max(0, start) : None if end is None else max(0, end)]

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        """Delete one blob or the whole scope; see ``BlobStore``."""
        with self._lock:
            if blob_id is None:
                self._blobs.pop(scope, None)
                return
            blobs = self._blobs.get(scope, {})
            blobs.pop(blob_id, None)
            if not blobs:
                self._blobs.pop(scope, None)

    def used_bytes(self, scope: str, /) -> int:
        """Return the sum of the sizes of the scope's blobs."""
        with self._lock:
            return sum(map(len, self._blobs.get(scope, {}).values()))

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        """Return the blobs of a scope, oldest first; see ``BlobStore``."""
        with self._lock:
            return tuple(BlobRecord(blob_id, len(data)) for blob_id, data in self._blobs.get(scope, {}).items())


class InMemoryRecordStore:
    """A ``RecordStore`` in a dictionary.

    >>> store = InMemoryRecordStore()
    >>> store.save_record("default", "t1", "summary", "{}", upto_seq=9, expected_version=0)
    1
    >>> store.load_record("default", "t1", "summary")
    DerivedRecord(body='{}', upto_seq=9, version=1)
    """

    __slots__ = ("_lock", "_records")

    def __init__(self) -> None:
        self._records: dict[tuple[str, str, str], DerivedRecord] = {}
        self._lock = Lock()

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        """Return the newest record of a kind, or None; see ``RecordStore``."""
        with self._lock:
            return self._records.get((tenant, thread, kind))

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        """Save a record in the place of the version that it was made from; see ``RecordStore``.

        Raises:
            TypeError: the body is no text.
            ConflictError: another version is stored by now.
        """
        if not isinstance(body, str):
            raise TypeError(f"body must be a str, got {type(body).__name__}")
        key = (tenant, thread, kind)
        with self._lock:
            stored = self._records.get(key)
            version = stored.version if stored else 0
            if version != expected_version:
                raise ConflictError(kind, expected_version=expected_version, stored_version=version)
            self._records[key] = DerivedRecord(body, upto_seq, version + 1)
        return version + 1
