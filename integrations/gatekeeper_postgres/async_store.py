"""The store in PostgreSQL for programs that await: the methods of ``PostgresStore``, and the same code behind them."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from types import TracebackType
from typing import Any

from psycopg_pool import AsyncConnectionPool

from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import BlobRecord, DerivedRecord, Forgotten, MemoryRecord, MemoryScope, TermCounts
from gatekeeper_postgres.async_connections import AsyncConnections
from gatekeeper_postgres.check import StoreInfo
from gatekeeper_postgres.methods import Methods, thread_key
from gatekeeper_postgres.servers import Server

__all__ = ["AsyncPostgresStore", "AsyncThreadBlobs"]


class AsyncPostgresStore:
    """A ``Store`` in a PostgreSQL database whose methods are awaited; see ``PostgresStore`` for all that they promise.

    It belongs to the event loop that it was opened in. A task that is cancelled in the middle of a call undoes the
    call, or has it done; the connection goes back in any case.

    Args:
        conninfo: where the server is; see ``PostgresStore``.
        pool: an open pool of your own instead, which is not closed with the store.
        schema: the PostgreSQL schema for the tables.
        statement_timeout_ms: how long the server works on one statement; 0: without end.
        lock_timeout_ms: how long a call waits for another writer of the same; 0: without end.
        connect_timeout_ms: how long a call waits for a connection.
        min_connections: connections that are held open.
        max_connections: connections at most; more calls at once wait for one another.
        create: whether to make the tables where there are none, and to install pgvector where the role may.
        migrate: whether to bring older tables up to date; False: they are refused.

    Raises:
        TypeError: an argument has the wrong type.
        ConfigError: an argument is impossible.
    """

    __slots__ = ("_connections", "_create", "_methods", "_migrate")

    def __init__(
        self,
        conninfo: str | None = None,
        *,
        pool: AsyncConnectionPool[Any] | None = None,
        schema: str = "gatekeeper",
        statement_timeout_ms: int = 30_000,
        lock_timeout_ms: int = 10_000,
        connect_timeout_ms: int = 10_000,
        min_connections: int = 1,
        max_connections: int = 10,
        create: bool = True,
        migrate: bool = True,
    ) -> None:
        self._methods = Methods(schema)
        self._create = create
        self._migrate = migrate
        server = Server.of(
            conninfo,
            pool,
            statement_timeout_ms=statement_timeout_ms,
            lock_timeout_ms=lock_timeout_ms,
            connect_timeout_ms=connect_timeout_ms,
            min_connections=min_connections,
            max_connections=max_connections,
        )
        self._connections = AsyncConnections(server, schema, pool=pool)

    async def open(self) -> AsyncPostgresStore:
        """Connect, make the tables or bring them up to date, and return the store itself.

        Raises:
            StorageError: the server cannot be reached, or the tables cannot be used.
        """
        await self._connections.open(self._methods.open(create=self._create, migrate=self._migrate))
        return self

    async def __aenter__(self) -> AsyncPostgresStore:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def place(self) -> str:
        """The server and the database: ``host:port/database``."""
        return self._connections.server.place

    @property
    def found_schema_version(self) -> int:
        """The version of the tables when the store was opened, before they were brought up to date; 0: none."""
        return self._methods.found_version

    async def close(self) -> None:
        """Close the connections, when the calls that run are done. Any later call is refused."""
        await self._connections.close()

    async def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], /, *, expected_seq: int | None = None
    ) -> int:
        """Store messages at the end of a thread; see ``MessageStore``."""
        return await self._connections.run(
            self._methods.append_messages(tenant, thread, messages, expected_seq=expected_seq)
        )

    async def read_messages(
        self, tenant: str, thread: str, /, *, from_seq: int = 0, limit: int | None = None, min_seq: int | None = None
    ) -> tuple[Message, ...]:
        """Return the messages of a thread from a sequence number on; see ``MessageStore``."""
        return await self._connections.run(
            self._methods.read_messages(tenant, thread, from_seq=from_seq, limit=limit, min_seq=min_seq)
        )

    async def last_seq(self, tenant: str, thread: str, /) -> int:
        """Return the sequence number of a thread's newest message, -1 for none; see ``MessageStore``."""
        return await self._connections.run(self._methods.last_seq(tenant, thread))

    async def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        """Return the newest record of a kind, or None; see ``RecordStore``."""
        return await self._connections.run(self._methods.load_record(tenant, thread, kind))

    async def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        """Save a record in the place of the version that it was made from; see ``RecordStore``.

        Raises:
            TypeError: the body is no text.
            ConflictError: another version is stored by now.
            ForgottenError: the thread was forgotten.
        """
        return await self._connections.run(
            self._methods.save_record(tenant, thread, kind, body, upto_seq=upto_seq, expected_version=expected_version)
        )

    async def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        """Store memories, all or none; see ``MemoryStore``.

        The first vector of a dimension makes its index, which other writers of memories wait for.

        Raises:
            TypeError: one is no ``MemoryRecord``.
            ConflictError: one is stored in another version by now.
            ForgottenError: the user, or a thread that a text comes from, was forgotten.
        """
        await self._connections.run(self._methods.put_memories(scope, records))

    async def get_memory(self, scope: MemoryScope, memory_id: str, /) -> MemoryRecord | None:
        """Return the memory of an id, or None; see ``MemoryStore``."""
        return await self._connections.run(self._methods.get_memory(scope, memory_id))

    async def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> int:
        """Delete memories or all of the scope; see ``MemoryStore``."""
        return await self._connections.run(self._methods.delete_memories(scope, memory_ids))

    async def find_memories(
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
        return await self._connections.run(
            self._methods.find_memories(scope, terms=terms, vector=vector, key=key, categories=categories, limit=limit)
        )

    async def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> TermCounts:
        """Return how many current memories there are, and how many hold each term; see ``MemoryStore``."""
        return await self._connections.run(self._methods.count_memories(scope, terms))

    def blobs_of(self, tenant: str, thread: str, /) -> AsyncThreadBlobs:
        """Return the blobs of one thread as a store of their own; see ``Store``."""
        thread_key(tenant, thread)
        return AsyncThreadBlobs(self._connections, self._methods, tenant, thread)

    async def forget(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Forgotten:
        """Delete for good what belongs to a thread, a user or the tenant; see ``Store``.

        Other writers of the tenant wait for it. Then the server clears the deleted rows from the tables (``VACUUM``);
        where a transaction that can still see them, or the role's rights, keep it from that, ``is_purged`` is False:
        the rows are gone for every reader that comes, and ``purge`` does the rest.
        """
        return await self._connections.run(self._methods.forget(tenant, thread=thread, user=user, source=source))

    async def purge(self) -> bool:
        """Let the server clear what was deleted from the tables, and return whether it has.

        It waits up to a second for transactions that can still see it.
        """
        return await self._connections.run(self._methods.purge())

    async def begin_anew(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> bool:
        """Take a tombstone away; see ``Store``."""
        return await self._connections.run(self._methods.begin_anew(tenant, thread=thread, user=user, source=source))

    async def check(self) -> tuple[str, ...]:
        """Return what is wrong with the tables, in words that hold nothing of their content; nothing: they are whole.

        Every row against its checksum, and what the tables say of each other. Linear in the tables.
        """
        return await self._connections.run(self._methods.check())

    async def info(self) -> StoreInfo:
        """Return how much lies in the store; linear in its rows."""
        return await self._connections.run(self._methods.info(self.place))


class AsyncThreadBlobs:
    """The blobs of one thread; the methods of a ``BlobStore``, awaited.

    Args:
        connections: those of the store.
        methods: those of the store.
        tenant: whose thread.
        thread: which of its threads.
    """

    __slots__ = ("_connections", "_methods", "_owner")

    def __init__(self, connections: AsyncConnections, methods: Methods, tenant: str, thread: str) -> None:
        self._connections = connections
        self._methods = methods
        self._owner = (tenant, thread)

    async def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        """Store a blob under an id of a scope; see ``BlobStore``.

        Raises:
            TypeError: ``data`` is no bytes.
            ForgottenError: the thread was forgotten.
        """
        await self._connections.run(self._methods.put_blob(*self._owner, scope, blob_id, data))

    async def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        """Return a range of a blob's bytes; see ``BlobStore``."""
        return await self._connections.run(self._methods.get_blob(*self._owner, scope, blob_id, start, end))

    async def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        """Delete one blob or the whole scope; see ``BlobStore``."""
        await self._connections.run(self._methods.delete_blob(*self._owner, scope, blob_id))

    async def used_bytes(self, scope: str, /) -> int:
        """Return the sum of the sizes of the scope's blobs."""
        return sum(record.size_bytes for record in await self.records(scope))

    async def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        """Return the blobs of a scope, oldest first; see ``BlobStore``."""
        return await self._connections.run(self._methods.blob_records(*self._owner, scope))
