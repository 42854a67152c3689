"""Threads whose messages are in a store of ours: appended there, and read back as the values that a builder takes.

::

    append ──> MessageStore                                       load ──> Thread
                    │ messages from the sure part on                 ▲
                    ▼                                                │ joined
    sure part, remembered here ──its digest is still the mark's?──> yes: only what follows was read
                    ▲                    no: all of it is read
                    └── mark: a derived record, so forgetting the thread takes it along

What is remembered may be of a thread that another worker has forgotten since, and begun anew under the same name. So
the store keeps a mark beside the thread: how far some worker has read it, and the digest of what it read. A thread that
was begun anew has no mark, or one of other messages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

from gatekeeper_core.caching import LruCache, estimated_bytes
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.errors import StorageError
from gatekeeper_core.messages import common_beginning
from gatekeeper_core.tokens import check_tokens

if TYPE_CHECKING:
    from hashlib import blake2b

    from gatekeeper_core.messages import Message
    from gatekeeper_core.storage.base import MessageStore, RecordStore

__all__ = ["MARK_KIND", "StoredThreads"]

MARK_KIND = "read"
"""The kind of the derived record that holds the mark."""

_FORMAT = 1

_UNMARKED = 64
"""Messages behind the mark from which on a new one is made. Source: ours; reading so many again takes a millisecond."""


class _Sure(NamedTuple):
    """A thread as it was read last.

    Attributes:
        thread: all of it.
        upto_seq: message up to which a mark in the store vouched for it, -1 for none.
        details: running hash over the details of the messages up to there; copied, never changed.
        estimated_bytes: of all messages.
    """

    thread: Thread
    upto_seq: int
    details: blake2b
    estimated_bytes: int


class StoredThreads:
    """The threads of a store as values; thread-safe, beside any number of other workers.

    Long threads that were used last are remembered and compared with the store at each load: only what is new, and at
    most 64 messages before it, is read again.

    Args:
        store: has the messages. Where it keeps no derived records (``RecordStore``), nothing is remembered.
        max_bytes: what is remembered may take, by an estimate from the texts, at least 0. Source: ours; some 50,000
            messages of everyday chat.

    Raises:
        ConfigError: ``max_bytes`` is negative.
        TypeError: it is no whole number.

    >>> from gatekeeper_core.messages import Message
    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> threads = StoredThreads(InMemoryStore())
    >>> threads.append("t1", [Message("user", "端口?", id="m1"), Message("assistant", "6380", id="m2")], tenant="acme")
    1
    >>> thread = threads.load("t1", tenant="acme", user="ann", min_seq=1)
    >>> thread.last_seq, thread.user, threads.load("t1", tenant="other").last_seq
    (1, 'ann', -1)
    """

    def __init__(self, store: MessageStore, *, max_bytes: int = 32 * 2**20) -> None:
        check_tokens("max_bytes", max_bytes)
        self._store = store
        marks = callable(getattr(store, "load_record", None)) and callable(getattr(store, "save_record", None))
        self._marks = cast("RecordStore", store) if marks else None
        self._sure: LruCache[tuple[str, str], _Sure] = LruCache(max_bytes=max_bytes)

    @property
    def estimated_bytes(self) -> int:
        """The estimated size of what is remembered."""
        return self._sure.used_bytes

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
        key = (tenant, thread_id)
        known = self._sure.get(key)
        found = self._caught_up(known, min_seq) if known else None
        if found is None:
            from hashlib import blake2b  # here, because it is a tenth of the import of the library

            messages = self._store.read_messages(tenant, thread_id, min_seq=min_seq)
            thread, takes = Thread(thread_id, (), tenant, user), sum(map(estimated_bytes, messages))
            found = self._marked(_Sure(thread.continued(messages), -1, blake2b(digest_size=16), takes))
        if found.thread.user != user:
            found = found._replace(thread=replace(found.thread, user=user))
        if found.upto_seq < 0:
            self._sure.pop(key)
        else:
            self._sure.put(key, found, found.estimated_bytes)
        return found.thread

    def _caught_up(self, known: _Sure, min_seq: int | None) -> _Sure | None:
        """Return a thread as it is now, or None if what is known may be of another one."""
        thread, upto_seq = known.thread, known.upto_seq
        read = self._store.read_messages(thread.tenant, thread.id, from_seq=upto_seq, min_seq=min_seq)
        before = thread.messages[upto_seq:]
        if common_beginning(before, read) < len(before):
            return None
        if len(read) > len(before):
            new = read[len(before) :]
            takes = known.estimated_bytes + sum(map(estimated_bytes, new))
            known = known._replace(thread=thread.continued(new), estimated_bytes=takes)
        # Asked after the messages were read: a mark that is still there vouches for what was read before it.
        sure = self._marked(known)
        return None if sure.upto_seq < upto_seq else sure

    def _marked(self, read: _Sure) -> _Sure:
        """Return what was read, as much of it sure as a mark vouches for (-1: nothing); make a mark if it is due."""
        thread, nothing = read.thread, read._replace(upto_seq=-1)
        if self._marks is None or thread.last_seq < _UNMARKED:
            return nothing
        try:
            record = self._marks.load_record(thread.tenant, thread.id, MARK_KIND)
        except StorageError:
            return nothing
        if record and record.upto_seq > thread.last_seq:
            return nothing  # somebody has read more than we, or something else: not ours to replace
        sure = nothing
        if record and record.upto_seq >= read.upto_seq:
            upto = _with_details(read, record.upto_seq)
            sure = upto if record.body == _body(upto) else nothing
        if sure is nothing and read.upto_seq >= 0:
            return nothing
        if thread.last_seq - sure.upto_seq < _UNMARKED:
            return sure
        upto = _with_details(read if sure is nothing else sure, thread.last_seq)
        version = record.version if record else 0
        try:
            self._marks.save_record(
                thread.tenant, thread.id, MARK_KIND, _body(upto), upto_seq=upto.upto_seq, expected_version=version
            )
        except StorageError:  # another worker was faster, or it was forgotten: the next load sees to it
            return sure
        return upto


def _with_details(read: _Sure, upto_seq: int) -> _Sure:
    """Return what was read as sure up to a message, with the details of the messages up to there hashed."""
    details = read.details.copy()
    for message in read.thread.messages[read.upto_seq + 1 : upto_seq + 1]:
        parts = None if isinstance(message.content, str) else message.content
        # What ``Thread.digests`` does not tell apart. ASCII: two versions of Python must write it alike.
        written = message.created_at and message.created_at.isoformat()
        details.update(ascii((message.id, sorted(message.metadata.items()), parts, written)).encode("ascii"))
    return read._replace(upto_seq=upto_seq, details=details)


def _body(sure: _Sure) -> str:
    """Return the mark of what was read up to ``upto_seq``."""
    digest = sure.thread.digests([sure.upto_seq])[sure.upto_seq]
    return json.dumps({"format": _FORMAT, "digest": digest + sure.details.hexdigest()})
