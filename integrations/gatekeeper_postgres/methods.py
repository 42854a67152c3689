"""What each method of a PostgreSQL store does, call by call, for both drivers.

The arguments are checked before a connection is asked for. See ``gatekeeper_core.storage.base`` for what the methods
promise.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence

from gatekeeper_core.errors import StorageError
from gatekeeper_core.events import (
    NO_VECTORS,
    PURGE_FAILED,
    STORE_CHECKED,
    STORE_FORGOT,
    STORE_OPENED,
    VECTORS_UNINDEXED,
)
from gatekeeper_core.messages import Message
from gatekeeper_core.observation import tell
from gatekeeper_core.storage.appending import EncodedMessage, check_name, encoded, reading_range
from gatekeeper_core.storage.base import (
    BlobRecord,
    DerivedRecord,
    Forgotten,
    MemoryRecord,
    MemoryScope,
    TermCounts,
)
from gatekeeper_core.storage.forgetting import TENANT, named_target, sources_of
from gatekeeper_core.storage.stored_rows import ScopeKey, ThreadKey, UserKey
from gatekeeper_core.tokens import check_tokens
from gatekeeper_postgres import blobs, forgetting, memories, schema, threads
from gatekeeper_postgres.check import StoreInfo, problems, store_info
from gatekeeper_postgres.schema import NEWEST, SchemaState, UnfitTablesError
from gatekeeper_postgres.statements import BACKEND, Call, Calls, Lock, Statements, execute, lock_on, name_key, one
from gatekeeper_postgres.vectors import VectorType

__all__ = ["Methods", "scope_key", "thread_key"]


_CLEARING_TRIES = 20
_CLEARING_PAUSE = "SELECT pg_sleep(0.05)"
_LARGEST = 2**62


class Methods:
    """The methods of one store.

    Args:
        schema: the PostgreSQL schema that holds its tables.

    Attributes:
        schema: the same.
        vectors: the type of vectors, where the server keeps them; known when the store is open.
        found_version: the version of the tables when the store was opened, before they were brought up to date.
    """

    def __init__(self, schema_name: str) -> None:
        self.schema = schema.check_schema_name(schema_name)
        self.vectors: VectorType | None = None
        self.found_version = 0
        self._dimensions: set[int] = set()

    def open(self, *, create: bool, migrate: bool) -> Calls[None]:
        """Look at the tables, and make them or bring them up to date where that is wanted."""
        state = yield Call(schema.schema_state(self.schema))
        self.found_version = state.version
        _refuse_unfit(state, create=create, migrate=migrate)
        alone = (lock_on(self.schema, "migrate"),)
        if state.version < NEWEST:
            yield Call(schema.migrate(self.schema), "write", alone, is_patient=True)
        if migrate and not state.has_embeddings:
            state = yield from self._make_room_for_vectors(create=create, alone=alone)
        self.vectors = state.vectors if state.has_embeddings else None
        tell(STORE_OPENED, backend=BACKEND, found_version=self.found_version, schema_version=NEWEST)

    def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], *, expected_seq: int | None
    ) -> Calls[int]:
        """Store messages at the end of a thread."""
        key = thread_key(tenant, thread)
        given = encoded(messages, expected_seq=expected_seq)
        return one(_append(tenant, thread, key, given, expected_seq), "write", (self._saving(tenant),))

    def read_messages(
        self, tenant: str, thread: str, *, from_seq: int, limit: int | None, min_seq: int | None
    ) -> Calls[tuple[Message, ...]]:
        """Return the messages of a thread from a sequence number on."""

        def statements() -> Statements[tuple[Message, ...]]:
            last = yield from threads.last_seq(key)
            wanted = reading_range(from_seq=from_seq, limit=limit, min_seq=min_seq, last_seq=last)
            return (yield from threads.read(key, wanted))

        key = thread_key(tenant, thread)
        return one(statements())

    def last_seq(self, tenant: str, thread: str) -> Calls[int]:
        """Return the sequence number of a thread's newest message."""
        return one(threads.last_seq(thread_key(tenant, thread)))

    def load_record(self, tenant: str, thread: str, kind: str) -> Calls[DerivedRecord | None]:
        """Return the newest record of a kind, or None."""
        key = thread_key(tenant, thread)
        return one(threads.load_record(key, check_name("kind", kind)))

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, *, upto_seq: int, expected_version: int
    ) -> Calls[int]:
        """Save a record in the place of the version that it was made from."""

        def statements() -> Statements[None]:
            yield from forgetting.admit(tenant, thread=thread)
            yield from threads.save_record(key, kind, record, expected_version=expected_version)

        key = thread_key(tenant, thread)
        check_name("kind", kind)
        if not isinstance(body, str):
            raise TypeError(f"body must be a str, got {type(body).__name__}")
        check_tokens("upto_seq", upto_seq, at_least=-1)
        record = DerivedRecord(body, upto_seq, expected_version + 1)
        yield Call(statements(), "write", (self._saving(tenant),))
        return record.version

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord]) -> Calls[None]:
        """Store memories, all or none."""

        def statements() -> Statements[None]:
            yield from forgetting.admit(scope.tenant, user=scope.user, sources=sources)
            yield from memories.put(key, records, self.vectors)

        key = user_key(scope)
        for record in records:
            if not isinstance(record, MemoryRecord):
                raise TypeError(f"records must be MemoryRecord, got {type(record).__name__}")
        sources = {source for record in records for source in sources_of(record)}
        yield from self._index_new_dimensions(records)
        yield Call(statements(), "write", (self._saving(scope.tenant), self._changing(key)))

    def get_memory(self, scope: MemoryScope, memory_id: str) -> Calls[MemoryRecord | None]:
        """Return the memory of an id, or None."""
        return one(memories.get(user_key(scope), memory_id))

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None) -> Calls[int]:
        """Delete memories or all of the scope."""

        def statements() -> Statements[int]:
            yield from forgetting.refuse_newer()
            if memory_ids is None:
                return (yield from memories.delete_all(key))
            return (yield from memories.delete(key, memory_ids))

        key = user_key(scope)
        return one(statements(), "write", (self._saving(scope.tenant), self._changing(key)))

    def find_memories(
        self,
        scope: MemoryScope,
        *,
        terms: Sequence[str],
        vector: array[float] | None,
        key: str | None,
        categories: Collection[str],
        limit: int,
    ) -> Calls[tuple[MemoryRecord, ...]]:
        """Return current memories by term, by nearness, or the newest put."""

        def statements() -> Statements[tuple[MemoryRecord, ...]]:
            found: list[MemoryRecord] = []
            if terms or vector is None:
                found += yield from memories.find(user, terms=terms, among=among, limit=most)
            if vector is not None:
                near = memories.nearest(user, vector, among=among, limit=most, vectors=self.vectors)
                found += yield from near
            return tuple({record.memory.id: record for record in found}.values())

        user, among, most = user_key(scope), memories.narrowing(key, categories), min(limit, _LARGEST)
        return one(statements())

    def count_memories(self, scope: MemoryScope, terms: Collection[str]) -> Calls[TermCounts]:
        """Return how many current memories there are, and how many hold each term."""
        return one(memories.count(user_key(scope), terms))

    def put_blob(self, tenant: str, thread: str, scope: str, blob_id: str, data: bytes) -> Calls[None]:
        """Store a blob of a thread."""

        def statements() -> Statements[None]:
            yield from forgetting.admit(tenant, thread=thread)
            yield from blobs.put(key, blob_id, data)

        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        key = scope_key(tenant, thread, scope)
        yield Call(statements(), "write", (self._saving(tenant), self._changing(key)))

    def get_blob(self, tenant: str, thread: str, scope: str, blob_id: str, start: int, end: int | None) -> Calls[bytes]:
        """Return a range of the bytes of a thread's blob."""
        return one(blobs.get(scope_key(tenant, thread, scope), blob_id, start, end))

    def delete_blob(self, tenant: str, thread: str, scope: str, blob_id: str | None) -> Calls[None]:
        """Delete one blob or a whole scope of a thread."""

        def statements() -> Statements[None]:
            yield from forgetting.refuse_newer()
            yield from blobs.delete(key, blob_id)

        key = scope_key(tenant, thread, scope)
        yield Call(statements(), "write", (self._saving(tenant), self._changing(key)))

    def blob_records(self, tenant: str, thread: str, scope: str) -> Calls[tuple[BlobRecord, ...]]:
        """Return the blobs of a scope of a thread, oldest first."""
        return one(blobs.records(scope_key(tenant, thread, scope)))

    def forget(self, tenant: str, *, thread: str | None, user: str | None, source: str | None) -> Calls[Forgotten]:
        """Delete for good what belongs to a thread, a user or the tenant."""

        def statements() -> Statements[Forgotten]:
            yield from forgetting.refuse_newer()
            return (yield from forgetting.forget(target, self.vectors))

        target = named_target(tenant, thread=thread, user=user, source=source)
        gone: Forgotten = yield Call(statements(), "write", (self._forgetting(tenant),))
        forgotten = gone._replace(is_purged=(yield from self.purge()))
        tell(STORE_FORGOT, backend=BACKEND, what=target.kind, **forgotten._asdict())
        return forgotten

    def purge(self) -> Calls[bool]:
        """Let the server clear what was deleted, when nobody can see it any more, and return whether it has."""
        try:
            if not (yield Call(forgetting.may_vacuum(self.schema))):
                return False
            transaction = yield Call(forgetting.newest_transaction())
            for _ in range(_CLEARING_TRIES):
                is_unseen: bool = yield Call(forgetting.is_unseen(transaction))
                if is_unseen:
                    break
                yield Call(execute(_CLEARING_PAUSE))
            yield Call(forgetting.vacuum(), "bare")
        except StorageError as error:
            tell(PURGE_FAILED, error=type(error).__name__)
            return False
        return is_unseen

    def begin_anew(self, tenant: str, *, thread: str | None, user: str | None, source: str | None) -> Calls[bool]:
        """Take a tombstone away."""

        def statements() -> Statements[bool]:
            yield from forgetting.refuse_newer()
            return (yield from forgetting.begin_anew(target))

        target = named_target(tenant, thread=thread, user=user, source=source)
        return one(statements(), "write", (self._forgetting(tenant),))

    def check(self) -> Calls[tuple[str, ...]]:
        """Return what is wrong with the tables."""
        found: tuple[str, ...] = yield Call(problems(), is_patient=True)
        tell(STORE_CHECKED, backend=BACKEND, problems=len(found), level="WARNING" if found else "INFO")
        return found

    def info(self, place: str) -> Calls[StoreInfo]:
        """Return how much lies in the store."""
        return one(store_info(place, self.schema, self.vectors), is_patient=True)

    def _make_room_for_vectors(self, *, create: bool, alone: tuple[Lock, ...]) -> Calls[SchemaState]:
        """Let pgvector keep the vectors, where it can be had; what was stored before gets its copy."""
        try:
            if create:
                yield Call(schema.install_pgvector(), "write", alone, is_patient=True)
        except StorageError:
            tell(NO_VECTORS)
        try:
            yield Call(schema.add_embeddings(self.schema), "write", alone, is_patient=True)
        except StorageError as error:
            tell(VECTORS_UNINDEXED, error=type(error).__name__)
        state: SchemaState = yield Call(schema.schema_state(self.schema))
        if state.vectors and state.has_embeddings:
            yield from self._copy_vectors(state.vectors)
        return state

    def _copy_vectors(self, vectors: VectorType) -> Calls[None]:
        after: tuple[bytes, bytes, bytes] | None = (b"", b"", b"")
        while after is not None:
            after = yield Call(schema.copy_vectors(after, vectors), "write", is_patient=True)

    def _index_new_dimensions(self, records: Sequence[MemoryRecord]) -> Calls[None]:
        """Make the indexes that the vectors of memories need, before and apart from what stores them."""
        if self.vectors is None:
            return
        for dimensions in {len(record.vector) for record in records if record.vector} - self._dimensions:
            if self.vectors.indexed(dimensions):
                index = schema.index_dimensions(self.schema, dimensions, self.vectors)
                yield Call(index, "write", (lock_on(self.schema, "migrate"),), is_patient=True)
            self._dimensions.add(dimensions)

    def _saving(self, tenant: str) -> Lock:
        return lock_on(self.schema, TENANT, tenant, shared=True)

    def _forgetting(self, tenant: str) -> Lock:
        return lock_on(self.schema, TENANT, tenant)

    def _changing(self, key: UserKey | ScopeKey) -> Lock:
        return lock_on(self.schema, type(key).__name__, *key)


def thread_key(tenant: str, thread: str) -> ThreadKey:
    """Return the keys of a thread, its names checked."""
    return ThreadKey.of(tenant, thread, name=name_key)


def user_key(scope: MemoryScope) -> UserKey:
    """Return the keys of a user, the names checked."""
    return UserKey.of(scope, name=name_key)


def scope_key(tenant: str, thread: str, scope: str) -> ScopeKey:
    """Return the keys of a scope of a thread."""
    return ScopeKey(*map(name_key, (tenant, thread, scope)))


def _append(
    tenant: str, thread: str, key: ThreadKey, given: Sequence[EncodedMessage], expected_seq: int | None
) -> Statements[int]:
    yield from forgetting.admit(tenant, thread=thread)
    return (yield from threads.append(key, given, expected_seq=expected_seq))


def _refuse_unfit(state: SchemaState, *, create: bool, migrate: bool) -> None:
    if state.version > NEWEST:
        raise schema.newer_schema()
    if state.version == 0 and not create:
        raise UnfitTablesError("there is no store")
    if 0 < state.version < NEWEST and not migrate:
        raise UnfitTablesError("its tables were written by an older version of this library; migrate them first")
