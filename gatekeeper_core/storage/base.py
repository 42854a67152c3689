"""What a store has to do: protocols that any class fits, and the records that they give back.

::

    Store ── MessageStore   the messages of threads            tenant, thread, seq
          ── RecordStore    what a thread is boiled down to    tenant, thread, kind
          ── MemoryStore    what is known about users          tenant, user, id
          ── blobs_of       BlobStore of one thread            tenant, thread, scope, id
          ── forget, begin_anew

A *message* is stored once and never changed. Its sequence number (``seq``) counts the messages of its thread from 0,
without a gap.

A *scope* keeps the blobs of one conversation apart from those of all others. It is an opaque text that the caller
derives from a secret (see ``context/tool_results/working_memory.py``): who does not hold the secret cannot name the
scope.

A *derived record* is what a conversation is boiled down to: its summary, its active task. It says up to which message
it has read (``upto_seq``: the 0-based sequence number of that message, -1 for none), so that whoever loads it can catch
up.

A *memory* is one thing worth knowing about a user, across conversations. One that another memory took the place of is
*closed*: it stays where it is, to be read by its id, and is found no more. A store finds memories; others rank them.

The methods of the protocols have names of their own, so that one class can be all of them: a ``Store``. There the
tenant is the first key of everything, and an empty name of a tenant, thread or user is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from array import array

    from gatekeeper_core.messages import Message

__all__ = [
    "MEMORY_CATEGORIES",
    "BlobRecord",
    "BlobStore",
    "DerivedRecord",
    "EarlierText",
    "Forgotten",
    "Memory",
    "MemoryCategory",
    "MemoryRecord",
    "MemoryScope",
    "MemoryStore",
    "MessageStore",
    "RecordStore",
    "Store",
    "TermCounts",
    "is_in_process",
    "thread_blobs",
]

MemoryCategory = Literal["user_preference", "project_context", "skill", "fact"]
MEMORY_CATEGORIES: tuple[MemoryCategory, ...] = ("user_preference", "project_context", "skill", "fact")
"""What a memory can be about. Source: specification 004, long-term memory."""


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


class MemoryScope(NamedTuple):
    """Whose memories; nothing is shared between two scopes.

    Attributes:
        tenant: whose system it is.
        user: who is remembered.
    """

    tenant: str
    user: str


class EarlierText(NamedTuple):
    """How a memory read before it was reworded.

    Attributes:
        text: what it said.
        valid_from: since when, in seconds of the clock that the memory was made with.
        thread: the conversation that it came from, or None.
        seq: the message that it came from, or None.
    """

    text: str
    valid_from: float
    thread: str | None
    seq: int | None


class Memory(NamedTuple):
    """One thing worth knowing about a user.

    Attributes:
        id: names it within its scope.
        text: what is remembered.
        category: what it is about.
        key: the question that it answers ("name", "residence"): of one category and key only the newest memory is
            current; None: no other memory takes its place by that.
        thread: the conversation that the text came from, or None.
        seq: sequence number of the message that it came from, or None.
        valid_from: since when, in seconds of the clock that it was made with.
        valid_to: until when; None: until further notice.
        supersedes: id of the memory whose place it took, or None.
        superseded_by: id of the memory that took its place, or None: it is current.
        earlier: how it read before, oldest first.
        version: 1 for the first one put, one more with each change.
    """

    id: str
    text: str
    category: MemoryCategory
    key: str | None = None
    thread: str | None = None
    seq: int | None = None
    valid_from: float = 0.0
    valid_to: float | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    earlier: tuple[EarlierText, ...] = ()
    version: int = 1


class MemoryRecord(NamedTuple):
    """A memory with what it is found by.

    Attributes:
        memory: what is remembered.
        terms: the indexed terms of its text, each once.
        vector: the embedding of its text, of length 1, or None.
        vector_of: which text and embedder the vector is of, "" without one; whoever wrote it reads it.
    """

    memory: Memory
    terms: tuple[str, ...] = ()
    vector: array[float] | None = None
    vector_of: str = ""


class TermCounts(NamedTuple):
    """How common terms are among the memories of a scope.

    Attributes:
        memories: how many memories are current.
        by_term: in how many of them each term stands; a term that none holds may be missing.
    """

    memories: int
    by_term: Mapping[str, int]


class MemoryStore(Protocol):
    """Memories by scope and id. Safe to call from several threads; a failure to store raises.

    Two writers of one memory cannot undo each other: a put names the version that it makes.
    """

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        """Store memories, new ones and new versions of stored ones: all of them or none.

        Args:
            scope: whose memories.
            records: each with a version one above the stored one's, 1 where nothing is stored under its id.

        Raises:
            ConflictError: a memory is stored in another version by now; nothing was changed.
        """
        ...

    def get_memory(self, scope: MemoryScope, memory_id: str, /) -> MemoryRecord | None:
        """Return the memory of an id, current or closed, or None."""
        ...

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> int:
        """Delete memories, or with None all of the scope, closed ones too; return how many there were.

        What is not there is no error.
        """
        ...

    def find_memories(
        self,
        scope: MemoryScope,
        *,
        terms: Sequence[str] = (),
        vector: array[float] | None = None,
        key: str | None = None,
        categories: Collection[str] = (),
        limit: int,
    ) -> Sequence[MemoryRecord]:
        """Return current memories, each once, in any order.

        Those that hold a term: of more than ``limit`` the ones that hold a term that stands earlier, of one term the
        newest put. Then those nearest to the vector (by the cosine), again at most ``limit``; one of another dimension
        is near to none. With neither, the newest put.

        Args:
            scope: whose memories.
            terms: what they are looked up by, the most telling first.
            vector: an embedding of length 1.
            key: only memories of this key.
            categories: only memories of these categories; empty: of all.
            limit: how many for the terms and how many for the vector, at least 1.
        """
        ...

    def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> TermCounts:
        """Return how many current memories there are, and how many of them hold each term."""
        ...


class MessageStore(Protocol):
    """The messages of threads. Safe to call from several threads and, behind one file or server, processes.

    Messages come back equal to what was given, whatever their texts hold: lone surrogates, NUL, any character.
    """

    def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], /, *, expected_seq: int | None = None
    ) -> int:
        """Store messages at the end of a thread, all or none, and return the sequence number of the last one given.

        The sequence numbers are assigned in the transaction that stores the messages. An append may be repeated when
        its answer was lost: a message whose id is stored with the same content is not stored again, and keeps its
        number. One without an id cannot be recognised by itself: where a part of the messages is stored already and
        one has no id, all of them must stand in the thread as they are given, side by side.

        Args:
            tenant: whose thread.
            thread: which of the tenant's threads.
            messages: oldest first; none: nothing is stored, the thread's last number is returned.
            expected_seq: number of the thread's last message that the new ones follow, -1 for none; None: whatever it
                is. Not looked at where all messages are stored already.

        Raises:
            TypeError: one is no ``Message``.
            ConfigError: a name is empty, or ``expected_seq`` is below -1.
            ConflictError: the thread ends with another message than the expected one, or a message id is stored with
                other content; nothing was changed.
            ForgottenError: the thread was forgotten, and not begun anew.
        """
        ...

    def read_messages(
        self, tenant: str, thread: str, /, *, from_seq: int = 0, limit: int | None = None, min_seq: int | None = None
    ) -> tuple[Message, ...]:
        """Return the messages of a thread from a sequence number on, oldest first; of an unknown thread none.

        Args:
            tenant: whose thread.
            thread: which of the tenant's threads.
            from_seq: number of the first one, at least 0.
            limit: how many at most, at least 0; None: all.
            min_seq: number of a message that the reader knows to be written; at least 0.

        Raises:
            ConfigError: a name is empty, or a number is out of range.
            StaleReadError: the thread is not stored up to ``min_seq``.
            CorruptionError: what is stored is damaged.
        """
        ...

    def last_seq(self, tenant: str, thread: str, /) -> int:
        """Return the sequence number of the newest message of a thread, -1 where there is none.

        Raises:
            ConfigError: a name is empty.
        """
        ...


class Forgotten(NamedTuple):
    """What a store deleted for good.

    Attributes:
        messages: how many messages.
        records: how many derived records.
        memories: how many memories were deleted or lost an earlier text.
        blobs: how many blobs.
        is_purged: whether the bytes are gone from where they lay, too. False: they can be found no more, but another
            reader kept the store from clearing its file; forget once more.
    """

    messages: int
    records: int
    memories: int
    blobs: int
    is_purged: bool = True


class Store(MessageStore, RecordStore, MemoryStore, Protocol):
    """Everything that is kept, in one place, so that it can be forgotten in one call.

    What is forgotten leaves a tombstone without content. With it, a job that is late cannot bring back what was
    deleted: its save raises ``ForgottenError``.
    """

    def blobs_of(self, tenant: str, thread: str, /) -> BlobStore:
        """Return the blobs of one thread as a store of their own, which is deleted when the thread is forgotten.

        Raises:
            ConfigError: a name is empty.
        """
        ...

    def forget(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Forgotten:
        """Delete for good what belongs to a thread, a user, or (with none of them) the tenant.

        ================ ===============================================================================================
        named            what goes, and what cannot be saved any more
        ================ ===============================================================================================
        only the tenant  everything of the tenant
        ``thread``       its messages, derived records and blobs (``blobs_of``), and all of ``source``
        ``user``         the memories of the user
        ``source``       the memories of all users whose text comes from this thread; of the others the earlier texts
                         that do
        ================ ===============================================================================================

        What is not there is no error: it leaves its tombstone as well. Forgetting is idempotent.

        Raises:
            ConfigError: a name is empty, or more than one of thread, user and source is named.
        """
        ...

    def begin_anew(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> bool:
        """Take a tombstone away, so that what bears the name can be saved again; return whether there was one.

        It brings nothing back: a thread begins with sequence number 0. A thread takes its tombstone as a source along.

        Raises:
            ConfigError: a name is empty, or more than one of thread, user and source is named.
        """
        ...


def is_in_process(store: object) -> bool:
    """Return whether asking a store waits for nobody: it says so itself, by an ``is_in_process`` that is True."""
    return getattr(store, "is_in_process", False) is True


def thread_blobs(store: BlobStore | Store, tenant: str, thread: str) -> BlobStore:
    """Return the blobs of one thread where a store tells threads apart (``Store.blobs_of``), else the store itself.

    Raises:
        ConfigError: a name is empty.

    >>> from gatekeeper_core.storage.in_memory import InMemoryBlobStore
    >>> from gatekeeper_core.storage.in_memory_store import InMemoryStore
    >>> blobs, store = InMemoryBlobStore(), InMemoryStore()
    >>> thread_blobs(blobs, "acme", "t1") is blobs, thread_blobs(store, "acme", "t1").records("scope")
    (True, ())
    """
    blobs_of: Callable[[str, str], BlobStore] | None = getattr(store, "blobs_of", None)
    return cast("BlobStore", store) if blobs_of is None else blobs_of(tenant, thread)
