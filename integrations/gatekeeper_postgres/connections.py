"""Transactions on connections of psycopg, each stored as a whole or not at all.

A connection that the server has closed fails when the transaction begins, before any other statement, and another one
replaces it. A pool never crosses a fork: each process opens its own.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal

import psycopg
from psycopg import conninfo as psycopg_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import ConnectionPool

from gatekeeper_core.errors import ConfigError, GatekeeperError, StorageError, check_str
from gatekeeper_core.events import STORE_CALL
from gatekeeper_core.observation import stage
from gatekeeper_core.storage.codec import encode_text
from gatekeeper_core.storage.tables import Transaction
from gatekeeper_core.tokens import check_tokens
from gatekeeper_postgres.errors import EXPECTED, NEWER, UnfitTablesError, place_of, typed

BACKEND = "postgres"
"""The name of the store in events."""

_MAX_MS = 2**31 - 1  # largest value of the server's settings
_GRACE_MS = 10_000
_IDLE_MS = 60_000
"""The server rolls back a transaction after this time without a statement, as from a worker that has stopped."""


def lock_on(*names: str | bytes, shared: bool = False) -> str:
    """Return the statement that locks names, alone or shared, until the transaction ends. Source: BLAKE2b, 64 bits."""
    running = blake2b(digest_size=8)
    for name in names:
        data = name if isinstance(name, bytes) else encode_text(name)
        running.update(b"%d:" % len(data) + data)
    number = int.from_bytes(running.digest(), "big", signed=True)
    return f"SELECT pg_advisory_xact_lock{'_shared' if shared else ''}({number:d})"


class PostgresTransaction(Transaction):
    """A ``Transaction`` on a cursor of psycopg."""

    connection: psycopg.Cursor[tuple[Any, ...]]

    def rows(self, sql: str, /, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Run a statement, and return its rows."""
        return self.connection.execute(_marked(sql), values or None, binary=True).fetchall()

    def execute(self, sql: str, /, *values: Any) -> int:
        """Run a statement, and return the number of changed rows."""
        return self.connection.execute(_marked(sql), values or None).rowcount

    def many(self, sql: str, rows: Iterable[tuple[Any, ...]], /) -> None:
        """Run a statement for each row of values, in one round trip."""
        self.connection.executemany(_marked(sql), rows)


@lru_cache(maxsize=512)
def _marked(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()


class Connections:
    """A pool of connections in each process, or the caller's pool, which keeps its own settings.

    Arguments and errors are those of ``PostgresStore``, with the minimum and maximum of connections as a pair.

    Attributes:
        place: name of the server and the database in errors.
        conninfo: connection string for psycopg, with our defaults; "" for the caller's pool.
    """

    def __init__(
        self,
        conninfo: str | None,
        pool: ConnectionPool[Any] | None,
        schema: str,
        *,
        statement_timeout_ms: int,
        lock_timeout_ms: int,
        connect_timeout_ms: int,
        connections: tuple[int, int],
    ) -> None:
        min_connections, max_connections = connections
        if (conninfo is None) == (pool is None):
            raise ConfigError("pass either conninfo or your own pool")
        if pool is not None:
            max_connections, connect_timeout_ms = max(1, pool.max_size), max(1, round(pool.timeout * 1000))
            min_connections = 0
        check_tokens("statement_timeout_ms", statement_timeout_ms)
        check_tokens("lock_timeout_ms", lock_timeout_ms)
        check_tokens("connect_timeout_ms", connect_timeout_ms, at_least=1)
        check_tokens("min_connections", min_connections)
        check_tokens("max_connections", max_connections, at_least=max(1, min_connections))
        self.conninfo = ""
        if conninfo is not None:
            self.place = place_of(check_str("conninfo", conninfo))
            added: dict[str, Any] = {  # without keepalives, a call to a vanished host would wait forever
                "application_name": "context-gatekeeper",
                "connect_timeout": max(1, -(-connect_timeout_ms // 1000)),
                "keepalives_idle": 30,
                "keepalives_interval": 10,
                "keepalives_count": 3,
            }
            if statement_timeout_ms:
                added["tcp_user_timeout"] = min(statement_timeout_ms + _GRACE_MS, _MAX_MS)
            named = psycopg_conninfo.conninfo_to_dict(conninfo)
            missing = {name: value for name, value in added.items() if name not in named}
            self.conninfo = psycopg_conninfo.make_conninfo(conninfo, **missing)
        else:
            self.place = "PostgreSQL"
            with suppress(ConfigError, TypeError):
                self.place = place_of(check_str("conninfo", pool.conninfo if pool else None))
        seconds = connect_timeout_ms / 1000
        self._pool_arguments: dict[str, Any] = {
            "conninfo": self.conninfo,
            "kwargs": {"autocommit": True},
            "min_size": min_connections,
            "max_size": max_connections,
            "timeout": seconds,
            # With longer and longer waits, the pool would not be ready when the server is back.
            "reconnect_timeout": seconds,
            "open": False,
        }
        self._timeouts = min(statement_timeout_ms, _MAX_MS), min(lock_timeout_ms, _MAX_MS)
        self._schema = schema
        self._process = os.getpid()
        self._pools: dict[int, ConnectionPool[Any]] = {}  # by process; a parent's stays untouched
        self._callers_pool = pool
        self._is_closed = False
        # Python 3.13 waits 20 seconds at exit for the threads of an open pool.
        weakref.finalize(self, _close_pool, self._pools)

    def check_reachable(self) -> None:
        """Connect once, for an error with the cause: a pool would only report a timeout."""
        if self._callers_pool is None:
            with _typed_errors(self.place), psycopg.connect(self.conninfo):
                pass

    def close(self) -> None:
        """Wait for running calls, then close the connections of this process."""
        self._is_closed = True
        _close_pool(self._pools)

    @contextmanager
    def transaction(
        self,
        access: Literal["read", "write"] = "read",
        *locks: str,
        is_patient: bool = False,
        version: int | None = None,
    ) -> Iterator[PostgresTransaction]:
        """Lend a connection for one transaction.

        Args:
            access: "read" sees one state of the tables and cannot write; "write" sees what others commit.
            locks: statements of :func:`lock_on`, in this order.
            is_patient: no time limit for statements and a minute for locks, as for a migration.
            version: version that the tables must have once the locks are held; None accepts any.
        """
        statement_ms, lock_ms = (0, _IDLE_MS) if is_patient else self._timeouts
        beginning = [  # all in one message to the server
            f"BEGIN ISOLATION LEVEL {'REPEATABLE READ READ ONLY' if access == 'read' else 'READ COMMITTED'}",
            # So that no other table, function or operator can shadow ours or the server's: ``pg_catalog`` comes
            # first, unnamed, and temporary tables last.
            f'SET LOCAL search_path = "{self._schema}", pg_temp',
            f"SET LOCAL statement_timeout = {statement_ms:d}",
            f"SET LOCAL lock_timeout = {lock_ms:d}",
            f"SET LOCAL idle_in_transaction_session_timeout = {_IDLE_MS:d}",
            *locks,
        ]
        with self._connection(access, "; ".join(beginning).encode()) as cursor:
            transaction = PostgresTransaction(cursor)
            if version is not None and transaction.rows("SELECT version FROM context_gatekeeper") != [(version,)]:
                raise UnfitTablesError(NEWER)
            yield transaction
            cursor.execute(b"COMMIT", prepare=False)

    def vacuum(self, tables: Iterable[str]) -> None:
        """Vacuum tables and their indexes, outside a transaction."""
        with self._connection("bare", b"SELECT 1") as cursor:
            for table in tables:
                cursor.execute(f'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) "{self._schema}".{table}'.encode())

    @contextmanager
    def _connection(self, access: str, beginning: bytes) -> Iterator[psycopg.Cursor[tuple[Any, ...]]]:
        with stage(STORE_CALL) as call, _typed_errors(self.place):
            call.tell(lambda: {"backend": BACKEND, "access": access})
            pool = self._pool()
            cursor = self._begun(pool, beginning)
            try:
                yield cursor
            except BaseException:
                _roll_back(cursor.connection)
                raise
            finally:
                self._give_back(pool, cursor.connection)

    def _begun(self, pool: ConnectionPool[Any], beginning: bytes) -> psycopg.Cursor[tuple[Any, ...]]:
        """Begin a transaction, and return its cursor."""
        for _ in range(max(1, pool.max_size) + 1):  # all connections may have been closed
            connection: psycopg.Connection[Any] = pool.getconn()
            try:
                if not connection.autocommit:
                    connection.autocommit = True  # from the caller's pool
                cursor = psycopg.Cursor(connection, row_factory=tuple_row)
                cursor.execute(beginning, prepare=False)
            except BaseException as error:
                is_stale = isinstance(error, psycopg.OperationalError) and connection.closed
                _roll_back(connection)
                self._give_back(pool, connection)
                if not is_stale:
                    raise
            else:
                return cursor
        raise psycopg.OperationalError("all connections are closed")

    def _give_back(self, pool: ConnectionPool[Any], connection: psycopg.Connection[Any]) -> None:
        if pool is self._callers_pool and not connection.closed:
            connection.autocommit = False
        pool.putconn(connection)

    def _pool(self) -> ConnectionPool[Any]:
        if self._is_closed:
            raise StorageError(f"{self.place}: the store is closed")
        if self._callers_pool is not None:
            if os.getpid() != self._process:
                raise StorageError(f"{self.place}: the pool belongs to the parent process: open one in this process")
            return self._callers_pool
        process = os.getpid()
        pool = self._pools.get(process)
        if pool is None:
            pool = self._pools.setdefault(process, ConnectionPool(**self._pool_arguments))
            pool.open()
        return pool


@contextmanager
def _typed_errors(place: str) -> Iterator[None]:
    """Convert errors of psycopg into ours, and drop theirs, even as cause or context: they may quote stored data."""
    failure: Exception | None = None
    try:
        yield
    except EXPECTED as error:
        failure = typed(error, place)
    if failure is not None:
        try:
            raise failure
        except GatekeeperError as error:
            error.__context__ = None  # Python sets it from the block that failed
            raise


def _close_pool(pools: dict[int, ConnectionPool[Any]]) -> None:
    """Close the pool of this process, if any; a parent's is not ours to close."""
    pool = pools.pop(os.getpid(), None)
    if pool is not None:
        pool.close()


def _roll_back(connection: psycopg.Connection[Any]) -> None:
    status = connection.pgconn.transaction_status
    if status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        try:
            connection.execute(b"ROLLBACK", prepare=False)
        except psycopg.Error:
            connection.close()
    elif status != TransactionStatus.IDLE:
        connection.close()  # rolls back, too
