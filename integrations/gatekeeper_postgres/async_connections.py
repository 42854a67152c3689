"""Runs the calls of a store on connections of psycopg without blocking the event loop; see ``connections``.

A task may be cancelled at any moment. What it has begun is undone and its connection goes back to the pool in a task of
its own, which nobody cancels.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg_pool import AsyncConnectionPool

from gatekeeper_core.errors import ConfigError, GatekeeperError, StorageError
from gatekeeper_postgres.connections import StaleError
from gatekeeper_postgres.errors import EXPECTED, typed
from gatekeeper_postgres.servers import Server
from gatekeeper_postgres.statements import Answer, Call, Calls, beginning, observed, qualified

__all__ = ["AsyncConnections"]

T = TypeVar("T")


class AsyncConnections:
    """Lends connections to calls of one event loop.

    Args:
        server: where to connect to.
        schema: where the tables lie.
        pool: a pool of the caller's, open, which is not closed here; None: one of our own.
    """

    def __init__(self, server: Server, schema: str, *, pool: AsyncConnectionPool[Any] | None = None) -> None:
        self.server = server
        self._schema = schema
        self._is_own = pool is None
        self._pool = pool
        self._is_open = False
        self._returning: set[asyncio.Task[None]] = set()

    async def open(self, calls: Calls[T]) -> T:
        """Run the first calls, on a connection of their own, so that it is said why there is none.

        Raises:
            ConfigError: it is open.
        """
        if self._is_open:
            calls.close()
            raise ConfigError("the store is open: close it first")
        if not self._is_own:
            self._is_open = True
            return await self.run(calls)
        try:
            connection = await psycopg.AsyncConnection.connect(self.server.conninfo, autocommit=True)
        except psycopg.Error as error:
            failure = typed(error, self.server.place)
        else:
            async with connection:
                result = await self._driven(calls, lambda call: self._alone(connection, call))
            pool: AsyncConnectionPool[Any] = AsyncConnectionPool(**self.server.pool_arguments)
            await pool.open()
            self._pool, self._is_open = pool, True
            return result
        raise failure

    async def run(self, calls: Calls[T]) -> T:
        """Run the calls of a method, and return its result."""
        return await self._driven(calls, self._lend)

    async def close(self) -> None:
        """Close the connections, when the calls that run are done."""
        self._is_open = False
        while self._returning:
            await asyncio.wait(set(self._returning))
        if self._is_own and self._pool is not None:
            await self._pool.close()

    async def _driven(self, calls: Calls[T], run: Callable[[Call[Any]], Awaitable[Any]]) -> T:
        failure: Exception | None = None
        result: Any = None
        try:
            while True:
                call = calls.throw(failure) if failure else calls.send(result)
                failure = None
                try:
                    with observed(call):
                        result = await run(call)
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

    async def _lend(self, call: Call[T]) -> T:
        if not self._is_open or self._pool is None:
            raise StorageError(f"{self.server.place}: the store is not open: use `async with`, or await open() first")
        for _ in range(self.server.max_connections + 1):  # all of them may have been closed
            connection = await self._pool.getconn()
            try:
                return await self._transact(connection, call)
            except StaleError:
                continue
            finally:
                await self._give_back(self._pool, connection)
        raise psycopg.OperationalError("all connections are closed")

    async def _alone(self, connection: psycopg.AsyncConnection[Any], call: Call[T]) -> T:
        try:
            return await self._transact(connection, call)
        finally:
            await _undo(connection)

    async def _transact(self, connection: psycopg.AsyncConnection[Any], call: Call[T]) -> T:
        if not connection.autocommit:
            await connection.set_autocommit(True)  # of a pool of the caller's
        cursor = psycopg.AsyncCursor(connection, row_factory=tuple_row)
        if call.kind != "bare":
            try:
                await cursor.execute(beginning(call, self.server.timeouts), prepare=False)
            except psycopg.OperationalError as error:
                if connection.closed:
                    raise StaleError from error
                raise
        result = await self._answered(cursor, call)
        if call.kind != "bare":
            await cursor.execute(b"COMMIT", prepare=False)
        return result

    async def _answered(self, cursor: psycopg.AsyncCursor[tuple[Any, ...]], call: Call[T]) -> T:
        try:
            statement = next(call.statements)
            while True:
                await cursor.execute(qualified(statement.sql, self._schema), statement.values or None, binary=True)
                rows = await cursor.fetchall() if cursor.description else ()
                statement = call.statements.send(Answer(rows, cursor.rowcount))
        except StopIteration as stop:
            result: T = stop.value
            return result

    async def _give_back(self, pool: AsyncConnectionPool[Any], connection: psycopg.AsyncConnection[Any]) -> None:
        task = asyncio.create_task(_returned(pool, connection, is_autocommit=self._is_own))
        self._returning.add(task)
        task.add_done_callback(self._returning.discard)
        await asyncio.shield(task)


async def _returned(
    pool: AsyncConnectionPool[Any], connection: psycopg.AsyncConnection[Any], *, is_autocommit: bool
) -> None:
    """Give a connection back as it came."""
    await _undo(connection)
    if not is_autocommit and not connection.closed:
        await connection.set_autocommit(False)
    await pool.putconn(connection)


async def _undo(connection: psycopg.AsyncConnection[Any]) -> None:
    """Undo what was begun and not ended."""
    status = connection.pgconn.transaction_status
    if status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        try:
            await connection.execute(b"ROLLBACK", prepare=False)
        except psycopg.Error:
            await connection.close()
    elif status != TransactionStatus.IDLE:
        await connection.close()  # which undoes the transaction as well
