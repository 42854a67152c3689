"""What a store has to do: protocols that any class fits, and the records that they give back.

A *scope* keeps the blobs of one conversation apart from those of all others. It is an opaque text that the caller
derives from a secret (see ``context/working_memory.py``): who does not hold the secret cannot name the scope.

A *derived record* is what a conversation is boiled down to: its summary, its active task. It says up to which message
it has read (``upto_seq``: the 0-based sequence number of that message, -1 for none), so that whoever loads it can catch
up.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

__all__ = ["BlobRecord", "BlobStore", "DerivedRecord", "RecordStore"]


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

        An empty range of a blob that is there is ``b""``: so one can ask whether it is, at no cost.

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


class DerivedRecord(NamedTuple):
    """What is kept of a conversation's derived state.

    Attributes:
        body: JSON text; whoever wrote it reads it.
        upto_seq: sequence number of the newest message that it has read, -1 for none.
        version: 1 for the first one saved, one more with each save.
    """

    body: str
    upto_seq: int
    version: int


class RecordStore(Protocol):
    """Derived records by tenant, thread and kind. Safe to call from several threads.

    Two writers of one record cannot undo each other: a save names the version that it was made from.
    """

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        """Return the newest record of a kind ("summary", "task"), or None where there is none."""
        ...

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        """Save a record in the place of the version that it was made from, and return its own version.

        Args:
            tenant: whose conversation.
            thread: which of its conversations.
            kind: which of the conversation's records.
            body: JSON text.
            upto_seq: sequence number of the newest message that it has read, at least -1.
            expected_version: version of the record that was loaded, 0 where there was none.

        Raises:
            ConflictError: another version is stored by now; nothing was changed.
        """
        ...
