"""Protocols of stores, which any class can implement, and the records that stores return.

::

    Store ── MessageStore   the messages of threads                       tenant, thread, seq
          ── RecordStore    data derived from a thread: summary, task     tenant, thread, kind
          ── MemoryStore    what is known about users                     tenant, user, id
          ── blobs_of       BlobStore of one thread                       tenant, thread, scope, id
          ── forget, begin_anew

A *message* is stored once and never changed; its sequence number (``seq``) counts the messages of its thread from 0
without gaps. A *derived record* names the last message it covers, so that its reader can catch up. A *memory* is one
thing worth knowing about a user; once another memory replaces it, it is *closed*: you can still get it by id, but no
search finds it. A *scope* of blobs is an opaque text derived from a secret
(``context/tool_results/working_memory.py``): without the secret you cannot name it.

Methods are safe to call from several threads, and from processes that share a file or server. A failed write raises and
stores nothing. A ``Store`` refuses an empty name of a tenant, thread or user.
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
    """A stored blob: its id within the scope, and its size."""

    id: str
    size_bytes: int


class BlobStore(Protocol):
    """Bytes by scope and id."""

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        """Store a blob as the newest of its scope; replace any blob with the same id."""

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        """Return bytes ``start`` to ``end`` (default: all), fewer past the end; an empty range tests existence.

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
    """Derived records by tenant, thread and kind. A save names the version it is based on, so no update is lost."""

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        """Return the newest record of a kind ("summary", "task"), or None."""

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        """Save a record over the version it is based on, and return the new version.

        ``expected_version`` is that of the loaded record, 0 if there was none; the rest is as in ``DerivedRecord``.

        Raises:
            ConflictError: a different version is stored; nothing was changed.
        """


@with_suggestions()
class MemoryScope(NamedTuple):
    """The owner of memories: a user of a tenant. Scopes share nothing."""

    tenant: str
    user: str


class EarlierText(NamedTuple):
    """An earlier text of a memory, with the fields of ``Memory``."""

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
        key: the question it answers ("name"); only the newest of a category and key is current. None replaces no other.
        thread: source conversation, or None.
        seq: sequence number of the source message, or None.
        valid_from: start of validity, in seconds of the clock used at its creation.
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
        vector_of: identifies the text and embedder of the vector; "" without a vector.
    """

    memory: Memory
    terms: tuple[str, ...] = ()
    vector: array[float] | None = None
    vector_of: str = ""


class TermCounts(NamedTuple):
    """The number of current memories in a scope, in all and with each term; a term with 0 may be missing."""

    memories: int
    by_term: Mapping[str, int]


class MemoryStore(Protocol):
    """Memories by scope and id; the caller ranks them. A put names the version that it makes, so no update is lost."""

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        """Store new memories and new versions, all or none; a version is one above the stored one, or 1 for a new id.

        Raises:
            ConflictError: another version of a memory is stored; nothing was changed.
        """

    def get_memory(self, scope: MemoryScope, memory_id: str, /) -> MemoryRecord | None:
        """Return the memory with an id, current or closed, or None."""

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> int:
        """Delete memories, or with None the whole scope, closed ones included; return how many."""

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

        First up to ``limit`` (1 or more) with any of the terms, preferring earlier terms, then the newest; terms come
        most telling first. Then up to ``limit`` nearest by cosine to the vector, which has length 1; vectors of another
        dimension never match. With neither, the newest. ``key`` and ``categories`` (empty: all) narrow the search.
        """

    def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> TermCounts:
        """Return the number of current memories, in all and with each term."""


class MessageStore(Protocol):
    """The messages of threads, returned exactly as stored: with lone surrogates, NUL, any character."""

    def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], /, *, expected_seq: int | None = None
    ) -> int:
        """Append messages to a thread, all or none, and return the sequence number of the last one.

        You may repeat an append whose answer was lost: a message whose id is stored with the same content is not stored
        again and keeps its number. Without an id a message cannot be recognised: if some of the messages are already
        stored and one has no id, all of them must be in the thread, adjacent and in the same order.

        Messages come oldest first; with none, the thread's last number is returned. ``expected_seq`` is the thread's
        last number before the new messages (-1: empty, None: any), not checked if all of them are already stored.

        Raises:
            ConfigError: a name is empty, or ``expected_seq`` is below -1.
            ConflictError: the thread ends differently, or an id is stored with other content; nothing was changed.
            ForgottenError: the thread was deleted for good.
        """

    def read_messages(
        self, tenant: str, thread: str, /, *, from_seq: int = 0, limit: int | None = None, min_seq: int | None = None
    ) -> tuple[Message, ...]:
        """Return a thread's messages from ``from_seq`` on, oldest first, up to ``limit`` (None: all); none if unknown.

        Raises:
            ConfigError: a name is empty, or a number is negative.
            StaleReadError: the thread is not stored up to ``min_seq``, which the reader knows to be written.
            CorruptionError: stored data is damaged.
        """

    def last_seq(self, tenant: str, thread: str, /) -> int:
        """Return the sequence number of the newest message of a thread, -1 for an empty thread."""


class Forgotten(NamedTuple):
    """Counts of the data that a store deleted for good.

    ``memories`` includes those that lost only an earlier text. If ``is_purged`` is False, the store no longer returns
    the data, but could not erase its bytes (another reader, or a full disk): forget again.
    """

    messages: int
    records: int
    memories: int
    blobs: int
    is_purged: bool = True


class Store(MessageStore, RecordStore, MemoryStore, Protocol):
    """A store of everything, so that one call can delete it for good.

    Deleted data leaves a tombstone without content: a late save of it raises ``ForgottenError``.
    """

    def blobs_of(self, tenant: str, thread: str, /) -> BlobStore:
        """Return the blob store of one thread, which is deleted with the thread."""

    def forget(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Forgotten:
        """Delete for good what belongs to a thread, a user, or (with none of them) the tenant.

        ================ ===============================================================================================
        argument         what is deleted, and can no longer be saved
        ================ ===============================================================================================
        only the tenant  everything of the tenant
        ``thread``       its messages, derived records and blobs (``blobs_of``), and all of ``source``
        ``user``         the memories of the user
        ``source``       the memories of all users whose text comes from this thread, and earlier texts that do
        ================ ===============================================================================================

        A name without data gets a tombstone, too: forgetting is idempotent.

        Raises:
            ConfigError: a name is empty, or more than one of thread, user and source is given.
        """

    def begin_anew(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> bool:
        """Remove a tombstone to make its name usable again; return whether there was one; errors as in ``forget``.

        Nothing is restored: a thread starts at sequence number 0. A thread's tombstone as a source is removed, too.
        """


def thread_blobs(store: BlobStore | Store, tenant: str, thread: str) -> BlobStore:
    """Return the blobs of one thread if a store separates threads (``Store.blobs_of``), else the store itself."""
    blobs_of: Callable[[str, str], BlobStore] | None = getattr(store, "blobs_of", None)
    return cast("BlobStore", store) if blobs_of is None else blobs_of(tenant, thread)
