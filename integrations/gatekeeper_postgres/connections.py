"""Transactions on connections of psycopg: all of each is stored, or nothing.

A connection that the server has closed in the meantime is noticed when the transaction begins, before anything was
asked: another one takes its place. A pool never crosses a fork: each process opens its own.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import ConnectionPool

from gatekeeper_core.errors import GatekeeperError, StorageError
from gatekeeper_core.events import STORE_CALL
from gatekeeper_core.observation import stage
from gatekeeper_core.storage.codec import encode_text
from gatekeeper_postgres.errors import EXPECTED, UnfitTablesError, typed
from gatekeeper_postgres.servers import Server

__all__ = ["BACKEND", "Connections", "Lock", "PostgresTransaction", "lock_on"]

BACKEND = "postgres"
"""What the store is called in what it tells."""

_IDLE_MS = 60_000
"""After so long without a word from a worker that has stopped in the middle of a call, the server undoes the call."""


class Lock(NamedTuple):
    """A lock that the transaction holds to its end: a number of 64 bits; shared with others that share it, or alone."""

    number: int
    is_shared: bool = False


def lock_on(*names: str | bytes, shared: bool = False) -> Lock:
    """Return the lock on something by its names; two things have the same one in one case of 2 to the power of 64."""
    running = blake2b(digest_size=8)
    for name in names:
        data = name if isinstance(name, bytes) else encode_text(name)
        running.update(b"%d:" % len(data))
        running.update(data)
    return Lock(int.from_bytes(running.digest(), "big", signed=True), shared)


class PostgresTransaction:
    """A ``Transaction`` on a connection, which its lender begins and ends."""

    def __init__(self, cursor: psycopg.Cursor[tuple[Any, ...]]) -> None:
        self._cursor = cursor

    def rows(self, sql: str, /, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Run a statement, and return its rows."""
        self._cursor.execute(_marked(sql), values or None, binary=True)
        return self._cursor.fetchall()

    def execute(self, sql: str, /, *values: Any) -> int:
        """Run a statement, and return how many rows it changed."""
        return self._cursor.execute(_marked(sql), values or None).rowcount

    def many(self, sql: str, rows: Iterable[tuple[Any, ...]], /) -> None:
        """Run a statement for each row of values, all of them in one trip to the server and back."""
        self._cursor.executemany(_marked(sql), rows)


@lru_cache(maxsize=512)
def _marked(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()


class Connections:
    """Lends connections to calls.

    Args:
        server: where to connect to.
        schema: where the tables lie.
        pool: a pool of the caller's, open, which is not closed here; None: one of our own.
    """

    def __init__(self, server: Server, schema: str, *, pool: ConnectionPool[Any] | None = None) -> None:
        self.server = server
        self._schema = schema
        self._given = pool
        self._process = os.getpid()
        self._pools: dict[int, ConnectionPool[Any]] = {}  # by process; that of a parent stays, and is not touched
        self._is_closed = False
        # Where nobody closes a pool, Python 3.13 waits 20 seconds at its end for the pool's threads.
        weakref.finalize(self, _close_pool, self._pools)

    def check_reachable(self) -> None:
        """Connect once, so that an error says why there is no connection: a pool would say that it took too long."""
        if self._given is None:
            with _typed_errors(self.server.place), psycopg.connect(self.server.conninfo):
                pass

    def close(self) -> None:
        """Close the connections of this process, when the calls that run are done."""
        self._is_closed = True
        _close_pool(self._pools)

    @contextmanager
    def transaction(
        self,
        access: Literal["read", "write"] = "read",
        *locks: Lock,
        is_patient: bool = False,
        version: int | None = None,
    ) -> Iterator[PostgresTransaction]:
        """Lend a connection for one transaction.

        Args:
            access: "read": one state of the tables, nothing written; "write": sees what others have committed.
            locks: what it holds from its beginning, in this order.
            is_patient: whether it may take as long as it takes, as a migration does.
            version: the version that the tables must have now that the locks are held; None: any.
        """
        beginning = self._beginning(access, locks, is_patient=is_patient)
        with self._called(access), self._lent(beginning) as cursor:
            transaction = PostgresTransaction(cursor)
            if version is not None and transaction.rows("SELECT version FROM context_gatekeeper") != [(version,)]:
                raise UnfitTablesError.newer()
            yield transaction
            cursor.execute(b"COMMIT", prepare=False)

    def vacuum(self, tables: Iterable[str]) -> None:
        """Let the server clear the deleted rows from tables and indexes, in no transaction."""
        with self._called("bare"), self._lent(b"SELECT 1") as cursor:
            for table in tables:
                cursor.execute(f'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) "{self._schema}".{table}'.encode())

    @contextmanager
    def _called(self, access: str) -> Iterator[None]:
        with stage(STORE_CALL) as call, _typed_errors(self.server.place):
            call.tell(lambda: {"backend": BACKEND, "access": access})
            yield

    @contextmanager
    def _lent(self, beginning: bytes) -> Iterator[psycopg.Cursor[tuple[Any, ...]]]:
        pool = self._pool()
        cursor = self._begun(pool, beginning)
        connection = cursor.connection
        try:
            yield cursor
        except BaseException:
            _roll_back(connection)
            raise
        finally:
            _give_back(pool, connection, is_ours=self._given is None)

    def _begun(self, pool: ConnectionPool[Any], beginning: bytes) -> psycopg.Cursor[tuple[Any, ...]]:
        """Return a cursor of a connection on which the transaction has begun."""
        for _ in range(self.server.max_connections + 1):  # all of them may have been closed
            connection: psycopg.Connection[Any] = pool.getconn()
            try:
                if not connection.autocommit:
                    connection.autocommit = True  # of a pool of the caller's
                cursor = psycopg.Cursor(connection, row_factory=tuple_row)
                cursor.execute(beginning, prepare=False)
            except BaseException as error:
                is_stale = isinstance(error, psycopg.OperationalError) and connection.closed
                _roll_back(connection)
                _give_back(pool, connection, is_ours=self._given is None)
                if not is_stale:
                    raise
            else:
                return cursor
        raise psycopg.OperationalError("all connections are closed")

    def _beginning(self, access: str, locks: Iterable[Lock], *, is_patient: bool) -> bytes:
        """Return what begins a transaction: all in one message to the server.

        The search path is fixed, so that nobody can put another table, function or operator in the place of ours and
        of the server's: ``pg_catalog`` comes first by itself, temporary tables last.
        """
        statement_ms, lock_ms = (0, _IDLE_MS) if is_patient else self.server.timeouts
        level = "REPEATABLE READ READ ONLY" if access == "read" else "READ COMMITTED"
        parts = [
            f"BEGIN ISOLATION LEVEL {level}",
            f'SET LOCAL search_path = "{self._schema}", pg_temp',
            f"SET LOCAL statement_timeout = {statement_ms:d}",
            f"SET LOCAL lock_timeout = {lock_ms:d}",
            f"SET LOCAL idle_in_transaction_session_timeout = {_IDLE_MS:d}",
        ]
        for lock in locks:
            how = "pg_advisory_xact_lock_shared" if lock.is_shared else "pg_advisory_xact_lock"
            parts.append(f"SELECT {how}({lock.number:d})")
        return "; ".join(parts).encode()

    def _pool(self) -> ConnectionPool[Any]:
        if self._is_closed:
            raise StorageError(f"{self.server.place}: the store was closed")
        if self._given is not None:
            if os.getpid() != self._process:
                raise StorageError(f"{self.server.place}: the pool belongs to the parent process: open one in this one")
            return self._given
        process = os.getpid()
        pool = self._pools.get(process)
        if pool is None:
            pool = self._pools.setdefault(process, ConnectionPool(**self.server.pool_arguments))
            pool.open()
        return pool


@contextmanager
def _typed_errors(place: str) -> Iterator[None]:
    """Make errors of psycopg into ours.

    Theirs may quote what is stored, and is no part of ours: neither its cause nor its context.
    """
    failure: Exception | None = None
    try:
        yield
    except EXPECTED as error:
        failure = typed(error, place)
    if failure is not None:
        try:
            raise failure
        except GatekeeperError as error:
            error.__context__ = None  # which Python takes from the block that failed
            raise


def _close_pool(pools: dict[int, ConnectionPool[Any]]) -> None:
    """Close the pool of this process, if it has one: that of a parent is not ours to close."""
    pool = pools.pop(os.getpid(), None)
    if pool is not None:
        pool.close()


def _give_back(pool: ConnectionPool[Any], connection: psycopg.Connection[Any], *, is_ours: bool) -> None:
    if not is_ours and not connection.closed:
        connection.autocommit = False
    pool.putconn(connection)


def _roll_back(connection: psycopg.Connection[Any]) -> None:
    status = connection.pgconn.transaction_status
    if status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        try:
            connection.execute(b"ROLLBACK", prepare=False)
        except psycopg.Error:
            connection.close()
    elif status != TransactionStatus.IDLE:
        connection.close()  # which undoes the transaction as well
