"""The methods of a PostgreSQL store, call by call, for both drivers.

The arguments are checked before a connection is asked for. ``gatekeeper_core.storage.base`` says what the methods
promise.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from typing import TypeVar

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
from gatekeeper_core.storage.appending import check_name, encoded, next_record, reading_range
from gatekeeper_core.storage.base import (
    BlobRecord,
    DerivedRecord,
    Forgotten,
    MemoryRecord,
    MemoryScope,
    TermCounts,
)
from gatekeeper_core.storage.forgetting import TENANT, named_target, sources_of_all
from gatekeeper_core.storage.stored_rows import ScopeKey, ThreadKey, UserKey
from gatekeeper_postgres import blobs, forgetting, memories, schema, threads
from gatekeeper_postgres.check import StoreInfo, problems, store_info
from gatekeeper_postgres.schema import NEWEST, SchemaState, UnfitTablesError
from gatekeeper_postgres.statements import BACKEND, Call, Calls, Lock, Statements, execute, lock_on, name_key, one
from gatekeeper_postgres.vectors import VectorType

__all__ = ["BlobMethods", "Methods"]

T = TypeVar("T")

_CLEARING_TRIES = 20
_CLEARING_PAUSE = "SELECT pg_sleep(0.05)"
_LARGEST = 2**62


class Methods:
    """The methods of one store.

    Args:
        schema_name: the PostgreSQL schema that holds its tables.
        place: names the server and the database.
        create: whether to make the tables where there are none.
        migrate: whether to bring older tables up to date.

    Attributes:
        schema: the PostgreSQL schema.
        vectors: the type of vectors, where the server keeps them; known when the store is open.
        found_version: the version of the tables when the store was opened, before they were brought up to date.
    """

    def __init__(self, schema_name: str, place: str, *, create: bool, migrate: bool) -> None:
        self.schema = schema.check_schema_name(schema_name)
        self.place = place
        self.vectors: VectorType | None = None
        self.found_version = 0
        self._create = create
        self._migrate = migrate
        self._dimensions: set[int] = set()

    def open(self) -> Calls[None]:
        """Look at the tables, and make them or bring them up to date where that is wanted."""
        state = yield Call(schema.schema_state(self.schema))
        self.found_version = state.version
        if state.version > NEWEST:
            raise schema.newer_schema()
        if state.version == 0 and not self._create:
            raise UnfitTablesError("there is no store")
        if 0 < state.version < NEWEST and not self._migrate:
            raise UnfitTablesError("its tables were written by an older version of this library; migrate them first")
        alone = (lock_on(self.schema, "migrate"),)
        if state.version < NEWEST:
            yield Call(schema.migrate(self.schema), "write", alone, is_patient=True)
        if self._migrate and not state.has_embeddings:
            state = yield from self._make_room_for_vectors(alone)
        self.vectors = state.vectors if state.has_embeddings else None
        tell(STORE_OPENED, backend=BACKEND, found_version=self.found_version, schema_version=NEWEST)

    def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], /, *, expected_seq: int | None = None
    ) -> Calls[int]:
        """Store messages at the end of a thread."""
        key = thread_key(tenant, thread)
        given = encoded(messages, expected_seq=expected_seq)
        return self._saved(tenant, threads.append(key, given, expected_seq=expected_seq), thread=thread)

    def read_messages(
        self, tenant: str, thread: str, /, *, from_seq: int = 0, limit: int | None = None, min_seq: int | None = None
    ) -> Calls[tuple[Message, ...]]:
        """Return the messages of a thread from a sequence number on."""

        def statements() -> Statements[tuple[Message, ...]]:
            last = yield from threads.last_seq(key)
            wanted = reading_range(from_seq=from_seq, limit=limit, min_seq=min_seq, last_seq=last)
            return (yield from threads.read(key, wanted))

        key = thread_key(tenant, thread)
        return one(statements())

    def last_seq(self, tenant: str, thread: str, /) -> Calls[int]:
        """Return the sequence number of a thread's newest message, -1 for none."""
        return one(threads.last_seq(thread_key(tenant, thread)))

    def load_record(self, tenant: str, thread: str, kind: str, /) -> Calls[DerivedRecord | None]:
        """Return the newest record of a kind, or None."""
        return one(threads.load_record(thread_key(tenant, thread), check_name("kind", kind)))

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> Calls[int]:
        """Save a record in the place of the version that it was made from, and return its version."""
        key = thread_key(tenant, thread)
        check_name("kind", kind)
        record = next_record(body, upto_seq=upto_seq, expected_version=expected_version)
        saving = threads.save_record(key, kind, record, expected_version=expected_version)
        yield from self._saved(tenant, saving, thread=thread)
        return record.version

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> Calls[None]:
        """Store memories, all or none.

        The first vector of a dimension makes its index, which other writers of memories wait for.
        """
        key = user_key(scope)
        sources = sources_of_all(records)
        yield from self._index_new_dimensions(records)
        putting = memories.put(key, records, self.vectors)
        yield from self._saved(scope.tenant, putting, self._changing(key), user=scope.user, sources=sources)

    def get_memory(self, scope: MemoryScope, memory_id: str, /) -> Calls[MemoryRecord | None]:
        """Return the memory of an id, or None."""
        return one(memories.get(user_key(scope), memory_id))

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> Calls[int]:
        """Delete memories or all of the scope, and return how many there were."""
        key = user_key(scope)
        deleting = memories.delete_all(key) if memory_ids is None else memories.delete(key, memory_ids)
        return self._deleted(deleting, self._saving(scope.tenant), self._changing(key))

    def find_memories(
        self,
        scope: MemoryScope,
        *,
        terms: Sequence[str] = (),
        vector: array[float] | None = None,
        key: str | None = None,
        categories: Collection[str] = (),
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

    def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> Calls[TermCounts]:
        """Return how many current memories there are, and how many hold each term."""
        return one(memories.count(user_key(scope), terms))

    def forget(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Calls[Forgotten]:
        """Delete for good what belongs to a thread, a user or the tenant.

        Other writers of the tenant wait for it. Then the server clears the deleted rows from the tables (``VACUUM``);
        where a transaction that can still see them, or the role's rights, keep it from that, ``is_purged`` is False:
        the rows are gone for every reader that comes, and ``purge`` does the rest.
        """
        target = named_target(tenant, thread=thread, user=user, source=source)
        gone = yield from self._deleted(forgetting.forget(target, self.vectors), lock_on(self.schema, TENANT, tenant))
        forgotten = gone._replace(is_purged=(yield from self.purge()))
        tell(STORE_FORGOT, backend=BACKEND, what=target.kind, **forgotten._asdict())
        return forgotten

    def purge(self) -> Calls[bool]:
        """Let the server clear what was deleted from the tables, and return whether it has.

        It waits up to a second for transactions that can still see it.
        """
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

    def begin_anew(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Calls[bool]:
        """Remove a tombstone, and return whether there was one."""
        target = named_target(tenant, thread=thread, user=user, source=source)
        return self._deleted(forgetting.begin_anew(target), lock_on(self.schema, TENANT, tenant))

    def check(self) -> Calls[tuple[str, ...]]:
        """Return what is wrong with the tables, in words that hold nothing of their content; nothing: they are whole.

        Every row against its checksum, and what the tables say of each other. Linear in the tables.
        """
        found: tuple[str, ...] = yield Call(problems(), is_patient=True)
        tell(STORE_CHECKED, backend=BACKEND, problems=len(found), level="WARNING" if found else "INFO")
        return found

    def info(self) -> Calls[StoreInfo]:
        """Return how much lies in the store; linear in its rows."""
        return one(store_info(self.place, self.schema, self.vectors), is_patient=True)

    def _make_room_for_vectors(self, alone: tuple[Lock, ...]) -> Calls[SchemaState]:
        """Let pgvector keep the vectors, where it can be had; what was stored before gets its copy."""
        try:
            if self._create:
                yield Call(schema.install_pgvector(), "write", alone, is_patient=True)
        except StorageError:
            tell(NO_VECTORS)
        try:
            yield Call(schema.add_embeddings(self.schema), "write", alone, is_patient=True)
        except StorageError as error:
            tell(VECTORS_UNINDEXED, error=type(error).__name__)
        state: SchemaState = yield Call(schema.schema_state(self.schema))
        if state.vectors and state.has_embeddings:
            after: tuple[bytes, bytes, bytes] | None = (b"", b"", b"")
            while after is not None:
                after = yield Call(schema.copy_vectors(after, state.vectors), "write", is_patient=True)
        return state

    def _index_new_dimensions(self, records: Sequence[MemoryRecord]) -> Calls[None]:
        """Make the indexes that the vectors of memories need, before and apart from what stores them."""
        if self.vectors is None:
            return
        for dimensions in {len(record.vector) for record in records if record.vector} - self._dimensions:
            if self.vectors.indexed(dimensions):
                index = schema.index_dimensions(self.schema, dimensions, self.vectors)
                yield Call(index, "write", (lock_on(self.schema, "migrate"),), is_patient=True)
            self._dimensions.add(dimensions)

    def _saved(
        self,
        tenant: str,
        saving: Statements[T],
        *locks: Lock,
        thread: str | None = None,
        user: str | None = None,
        sources: Collection[str] = (),
    ) -> Calls[T]:
        """Return the call that saves something, unless it is for what was forgotten."""

        def statements() -> Statements[T]:
            yield from forgetting.admit(tenant, thread=thread, user=user, sources=sources)
            return (yield from saving)

        return one(statements(), "write", (self._saving(tenant), *locks))

    def _deleted(self, deleting: Statements[T], *locks: Lock) -> Calls[T]:
        """Return the call that deletes something, unless the tables are of a newer version."""

        def statements() -> Statements[T]:
            yield from forgetting.refuse_newer()
            return (yield from deleting)

        return one(statements(), "write", locks)

    def _saving(self, tenant: str) -> Lock:
        return lock_on(self.schema, TENANT, tenant, shared=True)

    def _changing(self, key: UserKey | ScopeKey) -> Lock:
        return lock_on(self.schema, type(key).__name__, *key)


class BlobMethods:
    """The methods of the blobs of one thread."""

    def __init__(self, methods: Methods, tenant: str, thread: str) -> None:
        thread_key(tenant, thread)  # which checks the names
        self._methods = methods
        self._tenant = tenant
        self._thread = thread

    def put(self, scope: str, blob_id: str, data: bytes, /) -> Calls[None]:
        """Store a blob under an id of a scope, as its newest and in the place of one that has the id."""
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, got {type(data).__name__}")
        key = self._key(scope)
        putting, lock = blobs.put(key, blob_id, data), self._methods._changing(key)
        return self._methods._saved(self._tenant, putting, lock, thread=self._thread)

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> Calls[bytes]:
        """Return a range of a blob's bytes."""
        return one(blobs.get(self._key(scope), blob_id, start, end))

    def delete(self, scope: str, blob_id: str | None = None, /) -> Calls[None]:
        """Delete one blob, or with None all of the scope."""
        key, methods = self._key(scope), self._methods
        return methods._deleted(blobs.delete(key, blob_id), methods._saving(self._tenant), methods._changing(key))

    def used_bytes(self, scope: str, /) -> Calls[int]:
        """Return the sum of the sizes of the scope's blobs."""
        return sum(record.size_bytes for record in (yield from self.records(scope)))

    def records(self, scope: str, /) -> Calls[tuple[BlobRecord, ...]]:
        """Return the blobs of a scope, oldest first."""
        return one(blobs.records(self._key(scope)))

    def _key(self, scope: str) -> ScopeKey:
        return ScopeKey(*map(name_key, (self._tenant, self._thread, scope)))


def thread_key(tenant: str, thread: str) -> ThreadKey:
    """Return the keys of a thread, its names checked."""
    return ThreadKey.of(tenant, thread, name=name_key)


def user_key(scope: MemoryScope) -> UserKey:
    """Return the keys of a user, the names checked."""
    return UserKey.of(scope, name=name_key)
