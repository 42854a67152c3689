"""Blobs with an owner, so that forgetting a thread takes what it put aside along."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from gatekeeper_core.storage.base import BlobRecord, BlobStore, is_in_process

__all__ = ["NOBODY", "OwnedBlobs", "Owner", "ThreadBlobs", "thread_blobs"]


class Owner(NamedTuple):
    """Whose blobs: a thread of a tenant."""

    tenant: str
    thread: str


NOBODY = Owner("", "")
"""Owns the blobs that are put without naming a thread. No tenant and no thread can have these names."""


class OwnedBlobs(Protocol):
    """Blobs by owner, scope and id: what a store offers to ``ThreadBlobs``. See ``BlobStore`` for each method."""

    def put_blob(self, owner: Owner, scope: str, blob_id: str, data: bytes, /) -> None:
        """Store a blob; for a forgotten owner ``ForgottenError``."""
        ...

    def get_blob(self, owner: Owner, scope: str, blob_id: str, start: int, end: int | None, /) -> bytes:
        """Return the bytes of a blob from ``start`` up to ``end``."""
        ...

    def delete_blob(self, owner: Owner, scope: str, blob_id: str | None, /) -> None:
        """Delete one blob, or with None everything of the scope."""
        ...

    def blob_records(self, owner: Owner, scope: str, /) -> tuple[BlobRecord, ...]:
        """Return the blobs of a scope, oldest first."""
        ...


class ThreadBlobs:
    """A ``BlobStore`` of one thread.

    Args:
        blobs: where the blobs of all threads lie.
        owner: the thread.
    """

    __slots__ = ("_blobs", "_owner")

    def __init__(self, blobs: OwnedBlobs, owner: Owner) -> None:
        self._blobs = blobs
        self._owner = owner

    @property
    def is_in_process(self) -> bool:
        """Whether no call waits for anybody: as the store says in which the blobs lie."""
        return is_in_process(self._blobs)

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        """Store a blob under an id of a scope; see ``BlobStore``."""
        self._blobs.put_blob(self._owner, scope, blob_id, data)

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        """Return a range of a blob's bytes; see ``BlobStore``."""
        return self._blobs.get_blob(self._owner, scope, blob_id, start, end)

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        """Delete one blob or the whole scope; see ``BlobStore``."""
        self._blobs.delete_blob(self._owner, scope, blob_id)

    def used_bytes(self, scope: str, /) -> int:
        """Return the sum of the sizes of the scope's blobs."""
        return sum(record.size_bytes for record in self._blobs.blob_records(self._owner, scope))

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        """Return the blobs of a scope, oldest first; see ``BlobStore``."""
        return self._blobs.blob_records(self._owner, scope)


def thread_blobs(store: BlobStore, tenant: str, thread: str) -> BlobStore:
    """Return the blobs of one thread where a store tells threads apart (``Store.blobs_of``), else the store itself.

    Raises:
        ConfigError: a name is empty.

    >>> from gatekeeper_core.storage.in_memory import InMemoryBlobStore
    >>> from gatekeeper_core.storage.in_memory_store import InMemoryStore
    >>> blobs, store = InMemoryBlobStore(), InMemoryStore()
    >>> thread_blobs(blobs, "acme", "t1") is blobs, thread_blobs(store, "acme", "t1") is store
    (True, False)
    """
    blobs_of = getattr(store, "blobs_of", None)
    if blobs_of is None:
        return store
    found: BlobStore = blobs_of(tenant, thread)
    return found
