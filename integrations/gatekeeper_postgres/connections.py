"""Runs the calls of a store on connections of psycopg: each in a transaction, all of it stored or nothing.

A connection that the server has closed in the meantime is noticed when the transaction begins, before anything was
asked: another one takes its place. A pool never crosses a fork: each process opens its own.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import ConnectionPool

from gatekeeper_core.errors import GatekeeperError, StorageError
from gatekeeper_postgres.errors import EXPECTED, typed
from gatekeeper_postgres.servers import Server
from gatekeeper_postgres.statements import Answer, Call, Calls, beginning, observed, qualified

__all__ = ["Connections", "StaleError"]

T = TypeVar("T")


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

    def open(self, calls: Calls[T]) -> T:
        """Run the first calls, on a connection of their own, so that it is said why there is none."""
        if self._given is not None:
            return self.run(calls)
        try:
            connection = psycopg.connect(self.server.conninfo, autocommit=True)
        except psycopg.Error as error:
            failure = typed(error, self.server.place)
        else:
            with connection:
                return self._driven(calls, lambda call: self._transact(connection, call))
        raise failure

    def run(self, calls: Calls[T]) -> T:
        """Run the calls of a method, and return its result."""
        return self._driven(calls, self._lend)

    def close(self) -> None:
        """Close the connections of this process, when the calls that run are done."""
        self._is_closed = True
        _close_pool(self._pools)

    def _driven(self, calls: Calls[T], run: Callable[[Call[Any]], Any]) -> T:
        failure: Exception | None = None
        result: Any = None
        try:
            while True:
                call = calls.throw(failure) if failure else calls.send(result)
                failure = None
                try:
                    with observed(call):
                        result = run(call)
                except EXPECTED as error:
                    failure = typed(error, self.server.place)
                except GatekeeperError as error:
                    failure = error
        except StopIteration as stop:
            done: T = stop.value
            return done
        except EXPECTED as error:
            failure = typed(error, self.server.place)
        raise failure  # not in the handler: the error of psycopg may quote what is stored, and is no part of ours

    def _lend(self, call: Call[T]) -> T:
        pool = self._pool()
        for _ in range(self.server.max_connections + 1):  # all of them may have been closed
            connection = pool.getconn()
            try:
                return self._transact(connection, call)
            except StaleError:
                continue
            finally:
                pool.putconn(connection)
        raise psycopg.OperationalError("all connections are closed")

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

    def _transact(self, connection: psycopg.Connection[Any], call: Call[T]) -> T:
        was_autocommit = connection.autocommit
        if not was_autocommit:
            connection.autocommit = True  # of a pool of the caller's
        try:
            return self._transacted(connection, call)
        except BaseException:
            _roll_back(connection)
            raise
        finally:
            if not was_autocommit and not connection.closed:
                connection.autocommit = False

    def _transacted(self, connection: psycopg.Connection[Any], call: Call[T]) -> T:
        cursor = psycopg.Cursor(connection, row_factory=tuple_row)
        if call.kind != "bare":
            try:
                cursor.execute(beginning(call, self.server.timeouts), prepare=False)
            except psycopg.OperationalError as error:
                if connection.closed:
                    raise StaleError from error
                raise
        result = self._answered(cursor, call)
        if call.kind != "bare":
            cursor.execute(b"COMMIT", prepare=False)
        return result

    def _answered(self, cursor: psycopg.Cursor[tuple[Any, ...]], call: Call[T]) -> T:
        try:
            statement = next(call.statements)
            while True:
                cursor.execute(qualified(statement.sql, self._schema), statement.values or None, binary=True)
                rows = cursor.fetchall() if cursor.description else ()
                statement = call.statements.send(Answer(rows, cursor.rowcount))
        except StopIteration as stop:
            result: T = stop.value
            return result


class StaleError(psycopg.OperationalError):
    """The server had closed the connection before the transaction began."""


def _close_pool(pools: dict[int, ConnectionPool[Any]]) -> None:
    """Close the pool of this process, if it has one: that of a parent is not ours to close."""
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
        connection.close()  # which undoes the transaction as well
