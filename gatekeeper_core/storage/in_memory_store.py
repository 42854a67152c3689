"""A whole store that lives and dies with the process."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from threading import RLock
from typing import NamedTuple

from gatekeeper_core.errors import ForgottenError
from gatekeeper_core.events import STORE_FORGOT
from gatekeeper_core.messages import Message
from gatekeeper_core.observation import tell
from gatekeeper_core.storage.appending import StoredMessage, check_name, encoded, plan_append, reading_range
from gatekeeper_core.storage.base import (
    BlobRecord,
    BlobStore,
    DerivedRecord,
    Forgotten,
    MemoryRecord,
    MemoryScope,
    TermCounts,
    is_in_process,
)
from gatekeeper_core.storage.codec import decode_message
from gatekeeper_core.storage.forgetting import TENANT, named_target, sources_of, tombstone, tombstones_of
from gatekeeper_core.storage.in_memory import InMemoryBlobStore, InMemoryMemoryStore, InMemoryRecordStore

__all__ = ["InMemoryStore"]


class _Conversation(NamedTuple):
    """The messages of one thread as bytes, so that they come back as from any other store, and where an id stands."""

    bodies: list[bytes]
    seqs: dict[str, int]


class InMemoryStore:
    """A ``Store`` in dictionaries.

    >>> store = InMemoryStore()
    >>> store.append_messages("acme", "t1", [Message("user", "端口?", id="m1")])
    0
    >>> store.append_messages("acme", "t1", [Message("user", "端口?", id="m1"), Message("user", "6380", id="m2")])
    1
    >>> [message.text for message in store.read_messages("acme", "t1")], store.read_messages("other", "t1")
    (['端口?', '6380'], ())
    >>> store.forget("acme", thread="t1").messages
    2
    """

    __slots__ = ("_blobs", "_lock", "_memories", "_records", "_threads", "_tombstones")

    is_in_process = True
    """No call waits for anybody."""

    def __init__(self) -> None:
        self._lock = RLock()  # one for everything, so that nothing is saved while its thread is forgotten
        self._threads: dict[tuple[str, str], _Conversation] = {}
        self._records = InMemoryRecordStore()
        self._memories = InMemoryMemoryStore()
        self._blobs: dict[tuple[str, str], InMemoryBlobStore] = {}
        self._tombstones: set[bytes] = set()

    def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], /, *, expected_seq: int | None = None
    ) -> int:
        """Store messages at the end of a thread; see ``MessageStore``."""
        key = _thread_key(tenant, thread)
        given = encoded(messages, expected_seq=expected_seq)
        with self._lock:
            self._refuse_forgotten(tenant, thread=thread)
            bodies, seqs = self._threads.get(key) or _Conversation([], {})
            ids = [message.message_id for message in given if message.message_id]
            plan = plan_append(
                given,
                {found: StoredMessage(seqs[found], bodies[seqs[found]]) for found in ids if found in seqs},
                last_seq=len(bodies) - 1,
                expected_seq=expected_seq,
                bodies=lambda start, stop: bodies[start:stop],
            )
            for message in plan.new:
                if message.message_id:
                    seqs[message.message_id] = len(bodies)
                bodies.append(message.body)
            if plan.new:
                self._threads[key] = _Conversation(bodies, seqs)
        return plan.seq

    def read_messages(
        self, tenant: str, thread: str, /, *, from_seq: int = 0, limit: int | None = None, min_seq: int | None = None
    ) -> tuple[Message, ...]:
        """Return the messages of a thread from a sequence number on; see ``MessageStore``."""
        last = self.last_seq(tenant, thread)
        wanted = reading_range(from_seq=from_seq, limit=limit, min_seq=min_seq, last_seq=last)
        with self._lock:
            conversation = self._threads.get((tenant, thread))
            bodies = conversation.bodies[wanted.start : wanted.stop] if conversation else []
        return tuple(map(decode_message, bodies))

    def last_seq(self, tenant: str, thread: str, /) -> int:
        """Return the sequence number of a thread's newest message, -1 for none; see ``MessageStore``."""
        key = _thread_key(tenant, thread)
        with self._lock:
            conversation = self._threads.get(key)
            return len(conversation.bodies) - 1 if conversation else -1

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        """Return the newest record of a kind, or None; see ``RecordStore``."""
        _thread_key(tenant, thread)
        with self._lock:
            return self._records.load_record(tenant, thread, check_name("kind", kind))

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        """Save a record in the place of the version that it was made from; see ``RecordStore``."""
        _thread_key(tenant, thread)
        check_name("kind", kind)
        with self._lock:
            self._refuse_forgotten(tenant, thread=thread)
            return self._records.save_record(
                tenant, thread, kind, body, upto_seq=upto_seq, expected_version=expected_version
            )

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        """Store memories, all or none; see ``MemoryStore``."""
        _check_scope(scope)
        with self._lock:
            self._refuse_forgotten(scope.tenant, user=scope.user)
            for record in records:
                if isinstance(record, MemoryRecord):
                    self._refuse_forgotten(scope.tenant, source=sources_of(record))
            self._memories.put_memories(scope, records)

    def get_memory(self, scope: MemoryScope, memory_id: str, /) -> MemoryRecord | None:
        """Return the memory of an id, or None; see ``MemoryStore``."""
        return self._memories.get_memory(_check_scope(scope), memory_id)

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> int:
        """Delete memories or all of the scope; see ``MemoryStore``."""
        with self._lock:
            return self._memories.delete_memories(_check_scope(scope), memory_ids)

    def find_memories(
        self,
        scope: MemoryScope,
        *,
        terms: Sequence[str] = (),
        vector: array[float] | None = None,
        key: str | None = None,
        categories: Collection[str] = (),
        limit: int,
    ) -> tuple[MemoryRecord, ...]:
        """Return current memories by term, by nearness, or the newest put; see ``MemoryStore``."""
        _check_scope(scope)
        return self._memories.find_memories(
            scope, terms=terms, vector=vector, key=key, categories=categories, limit=limit
        )

    def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> TermCounts:
        """Return how many current memories there are, and how many hold each term; see ``MemoryStore``."""
        return self._memories.count_memories(_check_scope(scope), terms)

    def blobs_of(self, tenant: str, thread: str, /) -> BlobStore:
        """Return the blobs of one thread as a store of their own; see ``Store``."""
        return _ThreadBlobs(self, *_thread_key(tenant, thread))

    def forget(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Forgotten:
        """Delete for good what belongs to a thread, a user or the tenant; see ``Store``."""
        target = named_target(tenant, thread=thread, user=user, source=source)
        with self._lock:
            self._tombstones.update(tombstones_of(target))
            messages = records = blobs = 0
            if target.kind in (TENANT, "thread"):
                name = None if target.kind == TENANT else target.name
                mine = [key for key in (*self._threads, *self._blobs) if key[0] == tenant and name in (None, key[1])]
                messages = sum(len(self._threads.pop(key).bodies) for key in mine if key in self._threads)
                blobs = sum(self._blobs.pop(key).blob_count for key in mine if key in self._blobs)
                records = self._records.delete_records(tenant, name)
            if target.kind == TENANT:
                memories = sum(map(self._memories.delete_memories, self._memories.scopes_of(tenant)))
            elif target.kind == "user":
                memories = self._memories.delete_memories(MemoryScope(tenant, target.name))
            else:
                memories = self._memories.forget_source(tenant, target.name)
            gone = Forgotten(messages, records, memories, blobs)
        tell(STORE_FORGOT, backend="memory", what=target.kind, **gone._asdict())
        return gone

    def begin_anew(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> bool:
        """Take a tombstone away; see ``Store``."""
        stones = set(tombstones_of(named_target(tenant, thread=thread, user=user, source=source)))
        with self._lock:
            found = not stones.isdisjoint(self._tombstones)
            self._tombstones -= stones
        return found

    def _refuse_forgotten(
        self, tenant: str, *, thread: str | None = None, user: str | None = None, source: Collection[str] = ()
    ) -> None:
        if not self._tombstones:
            return
        named = [(TENANT, ""), ("thread", thread), ("user", user), *(("source", name) for name in source)]
        for kind, name in named:
            if name is not None and tombstone(tenant, kind, name) in self._tombstones:
                raise ForgottenError(kind)


class _ThreadBlobs:
    """The blobs of one thread; see ``BlobStore`` for each method."""

    __slots__ = ("_key", "_store")

    def __init__(self, store: InMemoryStore, tenant: str, thread: str) -> None:
        self._store = store
        self._key = (tenant, thread)

    @property
    def is_in_process(self) -> bool:
        return is_in_process(self._store)

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        tenant, thread = self._key
        with self._store._lock:
            self._store._refuse_forgotten(tenant, thread=thread)
            blobs = self._blobs()
            blobs.put(scope, blob_id, data)
            self._store._blobs[self._key] = blobs

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        with self._store._lock:
            return self._blobs().get(scope, blob_id, start, end)

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        with self._store._lock:
            self._blobs().delete(scope, blob_id)

    def used_bytes(self, scope: str, /) -> int:
        with self._store._lock:
            return self._blobs().used_bytes(scope)

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        with self._store._lock:
            return self._blobs().records(scope)

    def _blobs(self) -> InMemoryBlobStore:
        return self._store._blobs.get(self._key) or InMemoryBlobStore()


def _thread_key(tenant: str, thread: str) -> tuple[str, str]:
    return check_name(TENANT, tenant), check_name("thread", thread)


def _check_scope(scope: MemoryScope) -> MemoryScope:
    check_name(TENANT, scope.tenant)
    check_name("user", scope.user)
    return scope
