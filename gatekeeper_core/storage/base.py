"""Protocols of stores, which any class can implement, and the records that stores return.

::

    Store ── MessageStore   the messages of threads                       tenant, thread, seq
          ── RecordStore    what a thread comes to: summary, task ...     tenant, thread, kind
          ── MemoryStore    what is known about users                     tenant, user, id
          ── blobs_of       BlobStore of one thread                       tenant, thread, scope, id
          ── forget, begin_anew

A *message* is stored once and never changed; its sequence number (``seq``) counts the messages of its thread from 0,
without a gap. A *derived record* says up to which message it has read, so that its reader can catch up. A *memory* is
one thing worth knowing about a user; one that another memory replaced is *closed*: its id still reads it, but no search
finds it. A *scope* of blobs is an opaque text that the caller derives from a secret (see
``context/tool_results/working_memory.py``): who does not hold the secret cannot name the scope.

The methods are safe to call from several threads and, behind one file or server, processes. A failure to store raises,
and nothing is half stored. A ``Store`` refuses an empty name of a tenant, thread or user.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast

from gatekeeper_core.arguments import with_suggestions

if TYPE_CHECKING:
    from array import array

    from gatekeeper_core.messages import Message

MemoryCategory = Literal["user_preference", "project_context", "skill", "fact"]
MEMORY_CATEGORIES: tuple[MemoryCategory, ...] = ("user_preference", "project_context", "skill", "fact")
"""Categories of memories. Source: specification 004, long-term memory."""


class BlobRecord(NamedTuple):
    """One stored blob: its id within the scope, and its size."""

    id: str
    size_bytes: int


class BlobStore(Protocol):
    """Bytes by scope and id."""

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        """Store a blob under an id in a scope, as its newest; replace any blob with the same id."""

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        """Return the bytes from ``start`` to ``end`` (default: all); positions past the end return less or nothing.

        An empty range of a blob that is there is ``b""``, so asking whether it is there costs nothing.

        Raises:
            KeyError: the scope has no such id.
        """

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        """Delete one blob, or with None the whole scope; a missing blob is not an error."""

    def used_bytes(self, scope: str, /) -> int:
        """Return the total size of the blobs in a scope."""
        return sum(record.size_bytes for record in self.records(scope))

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        """Return the blobs of a scope, oldest first."""


class DerivedRecord(NamedTuple):
    """A record derived from a conversation: its summary, its active task ...

    Attributes:
        body: JSON text, which only its writer interprets.
        upto_seq: sequence number of the newest covered message, -1 for none.
        version: 1 at the first save, one more with each save.
    """

    body: str
    upto_seq: int
    version: int


class RecordStore(Protocol):
    """Derived records by tenant, thread and kind.

    Two writers of one record cannot undo each other: a save names the version it is based on.
    """

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        """Return the newest record of a kind ("summary", "task"), or None."""

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        """Save a record over the version it is based on, and return the new version.

        The arguments are those of a ``DerivedRecord``; ``expected_version`` is that of the record that was loaded, 0
        if there was none.

        Raises:
            ConflictError: a different version is stored; nothing was changed.
        """


@with_suggestions()
class MemoryScope(NamedTuple):
    """The owner of memories: a user of a tenant. Scopes share nothing."""

    tenant: str
    user: str


class EarlierText(NamedTuple):
    """An earlier text of a memory; the fields are those of ``Memory``."""

    text: str
    valid_from: float
    thread: str | None
    seq: int | None


class Memory(NamedTuple):
    """A fact worth knowing about a user.

    Attributes:
        id: unique name within its scope.
        text: the remembered text.
        category: kind of memory.
        key: the question it answers ("name", "residence"); of one category and key only the newest memory is current.
            With None it replaces no other.
        thread: source conversation, or None.
        seq: sequence number of the source message, or None.
        valid_from: start of validity, in seconds of the clock used when it was created.
        valid_to: end of validity; None if it is still valid.
        supersedes: id of the memory that it replaced, or None.
        superseded_by: id of the memory that replaced it, or None if it is current.
        earlier: its earlier texts, oldest first.
        version: 1 at first, one more with each change.
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
    """A memory with its search terms and vector.

    Attributes:
        terms: the indexed terms of its text, each once.
        vector: the embedding of its text, of length 1, or None.
        vector_of: mark of the text and embedder of the vector, "" without a vector.
    """

    memory: Memory
    terms: tuple[str, ...] = ()
    vector: array[float] | None = None
    vector_of: str = ""


class TermCounts(NamedTuple):
    """The number of current memories in a scope, and of those that hold each term; a term with 0 may be missing."""

    memories: int
    by_term: Mapping[str, int]


class MemoryStore(Protocol):
    """Memories by scope and id. A store finds memories; others rank them.

    Two writers of one memory cannot undo each other: a put names the version that it makes.
    """

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        """Store memories, new ones and new versions of stored ones: all of them or none.

        The version of each is one above the stored one's, 1 where nothing is stored under its id.

        Raises:
            ConflictError: a memory is stored in another version by now; nothing was changed.
        """

    def get_memory(self, scope: MemoryScope, memory_id: str, /) -> MemoryRecord | None:
        """Return the memory with an id, current or closed, or None."""

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> int:
        """Delete memories, or with None the whole scope, including closed ones; return how many."""

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

        Those that hold a term: of more than ``limit`` the ones that hold a term named earlier, of one term the newest
        put. Then those nearest to the vector (by the cosine), again at most ``limit``; one of another dimension is near
        to none. With neither, the newest put.

        The terms come the most telling first, the vector has length 1. ``key`` and ``categories`` (empty: all) narrow
        what is found; ``limit`` is how many for the terms and how many for the vector, at least 1.
        """

    def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> TermCounts:
        """Return the number of current memories, and how many contain each term."""


class MessageStore(Protocol):
    """The messages of threads.

    Messages are returned exactly as stored, whatever their texts contain: lone surrogates, NUL, any character.
    """

    def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], /, *, expected_seq: int | None = None
    ) -> int:
        """Append messages to a thread, all or none, and return the sequence number of the last one.

        An append may be repeated when its answer was lost: a message whose id is stored with the same content is not
        stored again, and keeps its number. One without an id cannot be recognised: if some of the messages are stored
        already and one has no id, all of them must be in the thread in the same order, side by side.

        The messages come oldest first; of none the thread's last number is returned. ``expected_seq`` is the number of
        the thread's last message that the new ones follow, -1 for none; None: whatever it is. It is not looked at where
        all messages are stored already.

        Raises:
            ConfigError: a name is empty, or ``expected_seq`` is below -1.
            ConflictError: the thread does not end with the expected message, or a message id is stored with other
                content; nothing was changed.
            ForgottenError: the thread was deleted for good.
        """

    def read_messages(
        self, tenant: str, thread: str, /, *, from_seq: int = 0, limit: int | None = None, min_seq: int | None = None
    ) -> tuple[Message, ...]:
        """Return the messages of a thread from a sequence number on, oldest first; none for an unknown thread.

        At most ``limit`` messages (None: all); ``min_seq`` is the number of a message that the reader knows to be
        written.

        Raises:
            ConfigError: a name is empty, or a number is negative.
            StaleReadError: the thread is not stored up to ``min_seq``.
            CorruptionError: stored data is damaged.
        """

    def last_seq(self, tenant: str, thread: str, /) -> int:
        """Return the sequence number of the newest message of a thread, -1 for an empty thread."""


class Forgotten(NamedTuple):
    """Counts of the data that a store deleted for good.

    ``memories`` includes those that lost only an earlier text. ``is_purged`` says whether the bytes are erased. If
    False, nobody can read them through the store, but another reader kept it from clearing its file; forget again.
    """

    messages: int
    records: int
    memories: int
    blobs: int
    is_purged: bool = True


class Store(MessageStore, RecordStore, MemoryStore, Protocol):
    """A store of everything, so that one call can delete it for good.

    Deleted data leaves a tombstone without content, so that a late job cannot bring it back: its save raises
    ``ForgottenError``.
    """

    def blobs_of(self, tenant: str, thread: str, /) -> BlobStore:
        """Return the blob store of one thread, which is deleted with the thread."""

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

        A name without data gets a tombstone, too: forgetting is idempotent.

        Raises:
            ConfigError: a name is empty, or more than one of thread, user and source is given.
        """

    def begin_anew(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> bool:
        """Remove a tombstone, so that its name can be used again; return whether there was one; errors as ``forget``.

        It restores nothing: a thread begins with sequence number 0. A thread's tombstone as a source goes with it.
        """


def thread_blobs(store: BlobStore | Store, tenant: str, thread: str) -> BlobStore:
    """Return the blobs of one thread where a store keeps threads apart (``Store.blobs_of``), else the store itself."""
    blobs_of: Callable[[str, str], BlobStore] | None = getattr(store, "blobs_of", None)
    return cast("BlobStore", store) if blobs_of is None else blobs_of(tenant, thread)
