"""Threads whose messages are in a store of ours: appended there, and read back as the values that a builder takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gatekeeper_core.context.memory.thread import Thread

if TYPE_CHECKING:
    from gatekeeper_core.messages import Message
    from gatekeeper_core.storage.base import MessageStore

__all__ = ["StoredThreads"]


class StoredThreads:
    """The threads of a store as values. Nothing is kept here: each load reads the thread as it is stored.

    Safe to use from several threads, beside any number of other workers.

    Args:
        store: has the messages.

    >>> from gatekeeper_core.messages import Message
    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> threads = StoredThreads(InMemoryStore())
    >>> threads.append("t1", [Message("user", "端口?", id="m1"), Message("assistant", "6380", id="m2")], tenant="acme")
    1
    >>> thread = threads.load("t1", tenant="acme", user="ann", min_seq=1)
    >>> thread.last_seq, thread.user, threads.load("t1", tenant="other").last_seq
    (1, 'ann', -1)
    """

    def __init__(self, store: MessageStore) -> None:
        self._store = store

    def append(
        self, thread_id: str, messages: Sequence[Message], *, tenant: str = "default", expected_seq: int | None = None
    ) -> int:
        """Store messages at the end of a thread and return the sequence number of the last one given.

        Arguments and errors are those of ``MessageStore.append_messages``. Give the number to :meth:`load` as
        ``min_seq`` to read what you wrote, from a replica too.
        """
        return self._store.append_messages(tenant, thread_id, messages, expected_seq=expected_seq)

    def load(
        self, thread_id: str, *, tenant: str = "default", user: str | None = None, min_seq: int | None = None
    ) -> Thread:
        """Return a thread as it is stored now; an unknown or forgotten one has no messages.

        Args:
            thread_id: names the thread within its tenant.
            tenant: whose thread.
            user: whose long-term memories belong to it; None: nobody's.
            min_seq: number of a message that the reader knows to be written.

        Raises:
            ConfigError: a name is empty, or a number is out of range.
            StaleReadError: the thread is not stored up to ``min_seq``.
            CorruptionError: what is stored is damaged.
            StorageError: the store cannot be read.
        """
        return Thread(thread_id, self._store.read_messages(tenant, thread_id, min_seq=min_seq), tenant, user)
