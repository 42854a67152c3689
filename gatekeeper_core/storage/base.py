"""What a store has to do: protocols that any class fits, and the records that they give back.

A *scope* keeps the blobs of one conversation apart from those of all others. It is an opaque text that the caller
derives from a secret (see ``context/working_memory.py``): who does not hold the secret cannot name the scope.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

__all__ = ["BlobRecord", "BlobStore"]


class BlobRecord(NamedTuple):
    """One stored blob: its id within the scope, and its size."""

    id: str
    size_bytes: int


class BlobStore(Protocol):
    """Bytes by scope and id. Safe to call from several threads; a failure to store raises, and nothing is half stored.

    A put of an id that is there replaces its bytes and makes it the newest.
    """

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        """Store a blob under an id of a scope."""
        ...

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        """Return the bytes from ``start`` up to ``end`` (None: to the last); positions past the end give fewer or none.

        Args:
            scope: whose blob.
            blob_id: which of its blobs.
            start: first byte, at least 0.
            end: the byte after the last one, at least 0.

        Raises:
            KeyError: the scope has no such id.
        """
        ...

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        """Delete one blob, or with None everything of the scope. What is not there is no error."""
        ...

    def used_bytes(self, scope: str, /) -> int:
        """Return the sum of the sizes of the scope's blobs."""
        ...

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        """Return the blobs of a scope, the one that was put first standing first."""
        ...
