"""Blobs with an owner, so that forgetting a thread takes what it put aside along."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from gatekeeper_core.storage.base import BlobRecord

__all__ = ["NOBODY", "OwnedBlobs", "Owner", "ThreadBlobs"]


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
