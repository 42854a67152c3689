"""A whole store that lives and dies with the process."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, TypeVar

from gatekeeper_core.errors import ForgottenError
from gatekeeper_core.events import STORE_FORGOT
from gatekeeper_core.messages import Message
from gatekeeper_core.observation import tell
from gatekeeper_core.storage.appending import StoredMessage, check_name, encoded, plan_append, reading_range
from gatekeeper_core.storage.base import (
    BlobStore,
    DerivedRecord,
    Forgotten,
    MemoryRecord,
    MemoryScope,
    Store,
    is_in_process,
)
from gatekeeper_core.storage.codec import decode_message
from gatekeeper_core.storage.forgetting import TENANT, named_target, sources_of_all, tombstones_against, tombstones_of
from gatekeeper_core.storage.in_memory import InMemoryBlobStore, InMemoryMemoryStore, InMemoryRecordStore, Shelf

__all__ = ["InMemoryStore"]

V = TypeVar("V")


class _Conversation(NamedTuple):
    """The messages of one thread as bytes, so that they come back as from any other store, and where an id stands."""

    bodies: list[bytes]
    seqs: dict[str, int]


class InMemoryStore(InMemoryRecordStore, InMemoryMemoryStore, Store):
    """A ``Store`` in dictionaries, with one lock for everything: nothing is saved while its thread is forgotten.

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

    def __init__(self) -> None:
        InMemoryRecordStore.__init__(self)
        InMemoryMemoryStore.__init__(self)
        self._threads: dict[tuple[str, str], _Conversation] = {}
        self._blobs: dict[tuple[str, str], dict[str, dict[str, bytes]]] = {}
        self._tombstones: set[bytes] = set()

    def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], /, *, expected_seq: int | None = None
    ) -> int:
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
        last = self.last_seq(tenant, thread)
        wanted = reading_range(from_seq=from_seq, limit=limit, min_seq=min_seq, last_seq=last)
        with self._lock:
            conversation = self._threads.get((tenant, thread))
            bodies = conversation.bodies[wanted.start : wanted.stop] if conversation else []
        return tuple(map(decode_message, bodies))

    def last_seq(self, tenant: str, thread: str, /) -> int:
        key = _thread_key(tenant, thread)
        with self._lock:
            conversation = self._threads.get(key)
            return len(conversation.bodies) - 1 if conversation else -1

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        _thread_key(tenant, thread)
        return super().load_record(tenant, thread, check_name("kind", kind))

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        _thread_key(tenant, thread)
        check_name("kind", kind)
        with self._lock:
            self._refuse_forgotten(tenant, thread=thread)
            return super().save_record(tenant, thread, kind, body, upto_seq=upto_seq, expected_version=expected_version)

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        self._shelf(scope)  # which checks the names
        with self._lock:
            self._refuse_forgotten(scope.tenant, user=scope.user, sources=sources_of_all(records))
            super().put_memories(scope, records)

    def _shelf(self, scope: MemoryScope) -> Shelf:
        check_name(TENANT, scope.tenant)
        check_name("user", scope.user)
        return super()._shelf(scope)

    def blobs_of(self, tenant: str, thread: str, /) -> BlobStore:
        return _ThreadBlobs(self, *_thread_key(tenant, thread))

    def forget(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Forgotten:
        target = named_target(tenant, thread=thread, user=user, source=source)
        with self._lock:
            self._tombstones.update(tombstones_of(target))
            messages = records = blobs = memories = 0
            name = None if target.kind == TENANT else target.name
            if target.kind in (TENANT, "thread"):
                messages = sum(len(conversation.bodies) for conversation in _taken(self._threads, tenant, name))
                blobs = sum(sum(map(len, scopes.values())) for scopes in _taken(self._blobs, tenant, name))
                records = len(_taken(self._records, tenant, name))
            if target.kind in (TENANT, "user"):
                memories = sum(map(len, _taken(self._shelves, tenant, name)))
            else:
                for scope in [scope for scope in self._shelves if scope.tenant == tenant]:
                    memories += self._shelves[scope].forget_source(target.name)
                    if not len(self._shelves[scope]):
                        del self._shelves[scope]
            gone = Forgotten(messages, records, memories, blobs)
        tell(STORE_FORGOT, backend="memory", what=target.kind, **gone._asdict())
        return gone

    def begin_anew(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> bool:
        stones = set(tombstones_of(named_target(tenant, thread=thread, user=user, source=source)))
        with self._lock:
            found = not stones.isdisjoint(self._tombstones)
            self._tombstones -= stones
        return found

    def _refuse_forgotten(
        self, tenant: str, *, thread: str | None = None, user: str | None = None, sources: Collection[str] = ()
    ) -> None:
        if not self._tombstones:
            return
        for stone, kind in tombstones_against(tenant, thread=thread, user=user, sources=sources).items():
            if stone in self._tombstones:
                raise ForgottenError(kind)


class _ThreadBlobs(InMemoryBlobStore):
    """The blobs of one thread."""

    def __init__(self, store: InMemoryStore, tenant: str, thread: str) -> None:
        self._store = store
        self._key = (tenant, thread)
        self._lock = store._lock
        self.is_in_process = is_in_process(store)

    def _scopes(self) -> dict[str, dict[str, bytes]]:
        return self._store._blobs.get(self._key, {})

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        tenant, thread = self._key
        with self._lock:
            self._store._refuse_forgotten(tenant, thread=thread)
            self._store._blobs.setdefault(self._key, {})
            super().put(scope, blob_id, data)


def _thread_key(tenant: str, thread: str) -> tuple[str, str]:
    return check_name(TENANT, tenant), check_name("thread", thread)


def _taken(rows: dict[Any, V], tenant: str, name: str | None) -> list[V]:
    """Take the rows whose keys begin with a tenant and a name, or with None any name, out of a dictionary."""
    keys = [key for key in rows if key[0] == tenant and name in (None, key[1])]
    return [rows.pop(key) for key in keys]
