"""Blobs in the memory of the process, with an optional size limit."""

from __future__ import annotations

from threading import RLock

from gatekeeper_core.errors import check_type
from gatekeeper_core.storage.base import BlobRecord, BlobStore, Store
from gatekeeper_core.tokens import check_tokens


def in_memory_store() -> Store:
    """Return a new ``InMemoryStore``, imported on demand: Python in a browser may have no sqlite3."""
    from gatekeeper_core.storage.sqlite import InMemoryStore

    return InMemoryStore()


class InMemoryBlobStore(BlobStore):
    """A ``BlobStore`` in a dictionary.

    Args:
        max_bytes: size limit of all blobs, at least 1; the oldest make room, the newest always stays. None: no limit.

    >>> store = InMemoryBlobStore()
    >>> store.put("scope", "a", b"0123456789")
    >>> store.get("scope", "a", 2, 5), store.used_bytes("scope")
    (b'234', 10)
    """

    def __init__(self, *, max_bytes: int | None = None) -> None:
        if max_bytes is not None:
            check_tokens("max_bytes", max_bytes, at_least=1)
        self._max_bytes = max_bytes
        self._blobs: dict[str, dict[str, bytes]] = {}
        self._oldest: dict[tuple[str, str], int] = {}  # sizes, oldest first
        self._all_bytes = 0
        self._lock = RLock()

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        check_type("data", data, bytes)
        with self._lock:
            self.delete(scope, blob_id)  # a dict keeps the position of an existing key
            self._blobs.setdefault(scope, {})[blob_id] = data
            self._oldest[scope, blob_id] = len(data)
            self._all_bytes += len(data)
            while self._max_bytes is not None and self._all_bytes > self._max_bytes and len(self._oldest) > 1:
                self.delete(*next(iter(self._oldest)))

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        data = self._blobs.get(scope, {})[blob_id]
        return data[max(0, start) : None if end is None else max(0, end)]

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        with self._lock:
            blobs = self._blobs.get(scope, {})
            for name in list(blobs) if blob_id is None else [blob_id]:
                blobs.pop(name, None)
                self._all_bytes -= self._oldest.pop((scope, name), 0)
            if not blobs:
                self._blobs.pop(scope, None)

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        with self._lock:
            return tuple(BlobRecord(name, len(data)) for name, data in self._blobs.get(scope, {}).items())
