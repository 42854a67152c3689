"""Conversations as plain values, in memory or from a store, and the records derived from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.errors import ConfigError, ConflictError, check_type
from gatekeeper_core.messages import Message, checked_messages, digests_of
from gatekeeper_core.storage.base import DerivedRecord, MessageStore, RecordStore

WRITE_ATTEMPTS = 64
"""Attempts to write a change. Source: ours; with four busy writers, 1 change in 10 loses 8 times, 1 in 10^8 64."""

Result = TypeVar("Result")


@with_suggestions()
@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation with its id and its owner.

    Attributes:
        id: name of the conversation, unique within its tenant.
        messages: all messages, oldest first; any iterable is accepted. A sequence number is a 0-based position.
        tenant: the customer who owns it; tenants share nothing.
        user: the user whose long-term memories are used; None uses no memories.

    Raises:
        TypeError: a value has another type.
        ConfigError: id, tenant or user is empty.

    >>> Thread("t1", [Message("user", "hello")]).last_seq
    0
    """

    id: str
    messages: tuple[Message, ...] = ()
    tenant: str = "default"
    user: str | None = None
    _digests: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("id", "tenant", "user"):
            value = getattr(self, name)
            check_type(f"Thread.{name}", value, str, *[None] * (name == "user"))
            if value == "":
                raise ConfigError(f"Thread.{name} must not be empty")
        object.__setattr__(self, "messages", checked_messages(self.messages, argument="Thread.messages"))

    def continued(self, messages: Iterable[Message]) -> Thread:
        """Return the conversation with more messages appended; nothing is hashed twice."""
        longer = replace(self, messages=(*self.messages, *messages))
        object.__setattr__(longer, "_digests", self._digests)
        return longer

    @property
    def last_seq(self) -> int:
        """Sequence number of the newest message, -1 for an empty thread."""
        return len(self.messages) - 1

    def digests(self, seqs: Collection[int]) -> dict[int, str]:
        """Return the digest of the messages up to each of these sequence numbers: 32 hexadecimal digits.

        Derived data is valid while the digest is the same; ids and marks of messages do not count. -1 means no message;
        numbers past the end are omitted. Source: BLAKE2b, 128 bits, over the previous digest and the message's text.

        >>> thread = Thread("t1", (Message("user", "hello"), Message("assistant", "hi")))
        >>> thread.digests([0])[0] == Thread("t2", thread.messages[:1]).digests([0])[0] != thread.digests([1])[1]
        True
        """
        if len(self._digests) <= len(self.messages):
            new = digests_of(self.messages[max(0, len(self._digests) - 1) :], after="".join(self._digests[-1:]))
            object.__setattr__(self, "_digests", (*self._digests[:-1], *new))
        return {seq: self._digests[seq + 1] for seq in seqs if -1 <= seq <= self.last_seq}


class StoredThreads:
    """The threads of a store as values; each load reads the stored state. Thread-safe.

    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> threads = StoredThreads(InMemoryStore())
    >>> threads.append("t1", [Message("user", "端口?", id="m1"), Message("assistant", "6380", id="m2")], tenant="acme")
    1
    >>> threads.load("t1", tenant="acme", min_seq=1).last_seq, threads.load("t1", tenant="other").last_seq
    (1, -1)
    """

    def __init__(self, store: MessageStore) -> None:
        self._store = store

    def append(
        self, thread_id: str, messages: Sequence[Message], *, tenant: str = "default", expected_seq: int | None = None
    ) -> int:
        """Store messages at a thread's end, like ``MessageStore.append_messages``; return the last sequence number.

        With the result as ``min_seq``, :meth:`load` reads your own writes, even from a replica.
        """
        return self._store.append_messages(tenant, thread_id, messages, expected_seq=expected_seq)

    def load(
        self, thread_id: str, *, tenant: str = "default", user: str | None = None, min_seq: int | None = None
    ) -> Thread:
        """Return a thread as currently stored; an unknown or forgotten one has no messages.

        Raises:
            StaleReadError: the stored thread ends before ``min_seq``, a message known to be written.
        """
        return Thread(thread_id, self._store.read_messages(tenant, thread_id, min_seq=min_seq), tenant, user)


def load_record(store: RecordStore, thread: Thread, kind: str) -> DerivedRecord | None:
    """Return the newest record of a kind for a thread, or None; errors of the store pass through."""
    check_type("thread", thread, Thread)
    return store.load_record(thread.tenant, thread.id, kind)


def update_record(
    store: RecordStore,
    thread: Thread,
    kind: str,
    change: Callable[[DerivedRecord | None], tuple[Result, tuple[str, int] | None]],
) -> Result:
    """Change a record of a thread and return the result; concurrent writers never undo each other's changes.

    ``change`` takes the stored record or None. It returns the result, and the body and ``upto_seq`` to save (None:
    leave the record). It is called again whenever another writer was faster.

    Raises:
        ConflictError: other writers were faster 64 times in a row.
        StorageError: the store failed.

    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> store, thread = InMemoryStore(), Thread("t1")
    >>> for _ in range(2):
    ...     update_record(store, thread, "tally", lambda old: ("done", ("I" + (old.body if old else ""), -1)))
    'done'
    'done'
    >>> load_record(store, thread, "tally")
    DerivedRecord(body='II', upto_seq=-1, version=2)
    """

    def write() -> Result:
        record = load_record(store, thread, kind)
        result, new = change(record)
        if new:
            body, upto_seq = new
            version = record.version if record else 0
            store.save_record(thread.tenant, thread.id, kind, body, upto_seq=upto_seq, expected_version=version)
        return result

    return retry_conflicts(write)


def retry_conflicts(write: Callable[[], Result]) -> Result:
    """Return the result of a write, repeated after a ``ConflictError``; the last of 64 attempts raises it."""
    for _ in range(WRITE_ATTEMPTS - 1):
        with suppress(ConflictError):
            return write()
    return write()
