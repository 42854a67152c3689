"""A whole store in PostgreSQL, for any number of threads, processes and hosts: one that waits, one that is awaited.

::

    store ── methods                       what each method does, call by call
          ── connections, async_connections, servers, errors
    methods ── threads, memories (vectors), blobs, forgetting, check      statements of one transaction
            ── schema                                                     tables, migrations
    all of these ── statements             what is asked of the server, without a connection
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from psycopg_pool import AsyncConnectionPool, ConnectionPool

from gatekeeper_core.storage.base import BlobStore
from gatekeeper_postgres.async_connections import AsyncConnections
from gatekeeper_postgres.connections import Connections
from gatekeeper_postgres.methods import BlobMethods, Methods
from gatekeeper_postgres.servers import Server
from gatekeeper_postgres.statements import Calls

__all__ = ["AsyncPostgresStore", "AsyncThreadBlobs", "PostgresStore", "ThreadBlobs"]

M = TypeVar("M")
P = ParamSpec("P")
T = TypeVar("T")
Pool = TypeVar("Pool", bound="ConnectionPool[Any] | AsyncConnectionPool[Any]")


class _Waiting(Protocol[M]):
    _connections: Connections
    _methods: M


class _Awaited(Protocol[M]):
    _connections: AsyncConnections
    _methods: M


def _waiting(method: Callable[Concatenate[M, P], Calls[T]]) -> Callable[Concatenate[_Waiting[M], P], T]:
    """Return the method of a store that runs the calls of one of its ``methods`` and waits for the result."""

    @wraps(method)
    def run(self: _Waiting[M], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._connections.run(method(self._methods, *args, **kwargs))

    return run


def _awaited(
    method: Callable[Concatenate[M, P], Calls[T]],
) -> Callable[Concatenate[_Awaited[M], P], Coroutine[Any, Any, T]]:
    """Return the same for a store that is awaited."""

    @wraps(method)
    async def run(self: _Awaited[M], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._connections.run(method(self._methods, *args, **kwargs))

    return run


class _OnServer(Generic[Pool]):
    """The settings of both stores."""

    def __init__(
        self,
        conninfo: str | None = None,
        *,
        pool: Pool | None = None,
        schema: str = "gatekeeper",
        statement_timeout_ms: int = 30_000,
        lock_timeout_ms: int = 10_000,
        connect_timeout_ms: int = 10_000,
        min_connections: int = 1,
        max_connections: int = 10,
        create: bool = True,
        migrate: bool = True,
    ) -> None:
        server = Server.of(
            conninfo,
            pool,
            statement_timeout_ms=statement_timeout_ms,
            lock_timeout_ms=lock_timeout_ms,
            connect_timeout_ms=connect_timeout_ms,
            min_connections=min_connections,
            max_connections=max_connections,
        )
        self._methods = Methods(schema, server.place, create=create, migrate=migrate)
        self._connect(server, pool)

    def _connect(self, server: Server, pool: Pool | None) -> None:
        raise NotImplementedError

    @property
    def place(self) -> str:
        """The server and the database: ``host:port/database``."""
        return self._methods.place

    @property
    def found_schema_version(self) -> int:
        """The version of the tables when the store was opened, before they were brought up to date; 0: none."""
        return self._methods.found_version


class PostgresStore(_OnServer["ConnectionPool[Any]"]):
    """A ``Store`` in a PostgreSQL database.

    Every call is one transaction. A call that cannot be answered raises one of the ``StorageError`` family, which names
    the server and the database, and neither a user nor a password nor anything that is stored; nothing is half-written
    then, and the store can be used as before, also when the server was away for a while.

    Safe for any number of threads; a process that forks opens connections of its own. A call waits for the server, so
    ``is_in_process`` is not true of this store.

    Args:
        conninfo: where the server is, ``postgresql://host:port/database`` or ``key=value`` pairs; libpq's environment
            variables and password file hold for what it leaves out.
        pool: an open pool of your own instead, which is not closed with the store.
        schema: the PostgreSQL schema for the tables; two stores in one database differ in it.
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
        StorageError: the server cannot be reached, or the tables cannot be used: no rights, another program's, a newer
            version's.
    """

    def _connect(self, server: Server, pool: ConnectionPool[Any] | None) -> None:
        self._connections = Connections(server, self._methods.schema, pool=pool)
        self._connections.open(self._methods.open())

    def __enter__(self) -> PostgresStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections of this process, when the calls that run are done. Any later call is refused."""
        self._connections.close()

    def blobs_of(self, tenant: str, thread: str, /) -> BlobStore:
        """Return the blobs of one thread as a store of their own, which is deleted when the thread is forgotten."""
        return ThreadBlobs(self._connections, BlobMethods(self._methods, tenant, thread))

    append_messages = _waiting(Methods.append_messages)
    read_messages = _waiting(Methods.read_messages)
    last_seq = _waiting(Methods.last_seq)
    load_record = _waiting(Methods.load_record)
    save_record = _waiting(Methods.save_record)
    put_memories = _waiting(Methods.put_memories)
    get_memory = _waiting(Methods.get_memory)
    delete_memories = _waiting(Methods.delete_memories)
    find_memories = _waiting(Methods.find_memories)
    count_memories = _waiting(Methods.count_memories)
    forget = _waiting(Methods.forget)
    purge = _waiting(Methods.purge)
    begin_anew = _waiting(Methods.begin_anew)
    check = _waiting(Methods.check)
    info = _waiting(Methods.info)


class ThreadBlobs:
    """The blobs of one thread: a ``BlobStore``."""

    def __init__(self, connections: Connections, methods: BlobMethods) -> None:
        self._connections = connections
        self._methods = methods

    put = _waiting(BlobMethods.put)
    get = _waiting(BlobMethods.get)
    delete = _waiting(BlobMethods.delete)
    used_bytes = _waiting(BlobMethods.used_bytes)
    records = _waiting(BlobMethods.records)


class AsyncPostgresStore(_OnServer["AsyncConnectionPool[Any]"]):
    """A ``Store`` in a PostgreSQL database whose methods are awaited.

    Arguments, methods and errors are those of ``PostgresStore``; a server that cannot be reached is an error of
    ``open``. The store belongs to the event loop that it was opened in. A task that is cancelled in the middle of a
    call undoes the call, or has it done; the connection goes back in any case.
    """

    def _connect(self, server: Server, pool: AsyncConnectionPool[Any] | None) -> None:
        self._connections = AsyncConnections(server, self._methods.schema, pool=pool)

    async def open(self) -> AsyncPostgresStore:
        """Connect, make the tables or bring them up to date, and return the store itself.

        Raises:
            StorageError: the server cannot be reached, or the tables cannot be used.
        """
        await self._connections.open(self._methods.open())
        return self

    async def __aenter__(self) -> AsyncPostgresStore:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections, when the calls that run are done. Any later call is refused."""
        await self._connections.close()

    def blobs_of(self, tenant: str, thread: str, /) -> AsyncThreadBlobs:
        """Return the blobs of one thread as a store of their own, which is deleted when the thread is forgotten."""
        return AsyncThreadBlobs(self._connections, BlobMethods(self._methods, tenant, thread))

    append_messages = _awaited(Methods.append_messages)
    read_messages = _awaited(Methods.read_messages)
    last_seq = _awaited(Methods.last_seq)
    load_record = _awaited(Methods.load_record)
    save_record = _awaited(Methods.save_record)
    put_memories = _awaited(Methods.put_memories)
    get_memory = _awaited(Methods.get_memory)
    delete_memories = _awaited(Methods.delete_memories)
    find_memories = _awaited(Methods.find_memories)
    count_memories = _awaited(Methods.count_memories)
    forget = _awaited(Methods.forget)
    purge = _awaited(Methods.purge)
    begin_anew = _awaited(Methods.begin_anew)
    check = _awaited(Methods.check)
    info = _awaited(Methods.info)


class AsyncThreadBlobs:
    """The blobs of one thread; the methods of a ``BlobStore``, awaited."""

    def __init__(self, connections: AsyncConnections, methods: BlobMethods) -> None:
        self._connections = connections
        self._methods = methods

    put = _awaited(BlobMethods.put)
    get = _awaited(BlobMethods.get)
    delete = _awaited(BlobMethods.delete)
    used_bytes = _awaited(BlobMethods.used_bytes)
    records = _awaited(BlobMethods.records)
