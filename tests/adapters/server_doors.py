"""The doors of the adapters' contract on the frameworks' own Redis and PostgreSQL stores."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from langchain_community.chat_message_histories import RedisChatMessageHistory
from langchain_postgres import PostgresChatMessageHistory
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from llama_index.storage.chat_store.postgres import PostgresChatStore
from llama_index.storage.chat_store.redis import RedisChatStore

from tests.adapters.doors import Buffer, ClassicMemory, Middleware, SelectorInHistory, WholeMemory
from tests.adapters.histories import positions

if TYPE_CHECKING:
    from collections.abc import Coroutine

TABLE = "messages"


@dataclass(frozen=True)
class Servers:
    """Where the stores of a test are.

    Attributes:
        postgres: a database, as a URL.
        redis: a database, as a URL.
        thread: names the thread; a UUID, because langchain-postgres takes nothing else.
    """

    postgres: str
    redis: str
    thread: str

    def sqlalchemy(self, driver: str) -> str:
        """Return the database for SQLAlchemy."""
        return self.postgres.replace("postgresql://", f"postgresql+{driver}://", 1)


# --- the stores


def redis_history(place: Servers) -> RedisChatMessageHistory:
    return RedisChatMessageHistory(place.thread, url=place.redis)


def postgres_history(place: Servers) -> PostgresChatMessageHistory:
    connection = psycopg.connect(place.postgres)
    PostgresChatMessageHistory.create_tables(connection, TABLE)
    return PostgresChatMessageHistory(TABLE, place.thread, sync_connection=connection)


def redis_store(place: Servers) -> RedisChatStore:
    return RedisChatStore(redis_url=place.redis)


def postgres_store(place: Servers) -> PostgresChatStore:
    return PostgresChatStore.from_params(
        table_name="chats",
        connection_string=place.sqlalchemy("psycopg"),
        async_connection_string=place.sqlalchemy("asyncpg"),
    )


def sqlalchemy_store(place: Servers) -> SQLAlchemyChatStore:
    return SQLAlchemyChatStore(table_name="rows", async_database_uri=place.sqlalchemy("asyncpg"))


def now(work: Coroutine[Any, Any, Any]) -> Any:
    """Return what comes of it, in the loop of the test: connections of asynchronous clients belong to a loop."""
    return asyncio.get_event_loop().run_until_complete(work)


def close(store: Any) -> None:
    """Close the connections of a store; the frameworks' own classes have no way to do that."""
    if isinstance(store, RedisChatMessageHistory):
        store.redis_client.close()
    elif isinstance(store, PostgresChatMessageHistory):
        store._connection.close()
    elif isinstance(store, RedisChatStore):
        store._redis_client.close()
        now(store._aredis_client.aclose())
    elif isinstance(store, PostgresChatStore):
        store._session.kw["bind"].dispose()
        now(store._async_session.kw["bind"].dispose())
    elif isinstance(store, SQLAlchemyChatStore) and store._async_engine is not None:
        now(store._async_engine.dispose())


# --- the doors


class ClassicMemoryOnRedis(ClassicMemory):
    def store(self) -> RedisChatMessageHistory:
        return redis_history(self.place)

    def close(self) -> None:
        close(self.history)


class ClassicMemoryOnPostgres(ClassicMemory):
    def store(self) -> PostgresChatMessageHistory:
        return postgres_history(self.place)

    def close(self) -> None:
        close(self.history)


class AsyncClassicMemoryOnPostgres(ClassicMemoryOnPostgres):
    def ask(self, query: str | None) -> list[int]:
        async def loaded() -> list[int]:
            async with await psycopg.AsyncConnection.connect(self.place.postgres) as connection:
                history = PostgresChatMessageHistory(TABLE, self.place.thread, async_connection=connection)
                self.memory.chat_memory = history
                inputs = {"input": query} if query else {}
                return positions((await self.memory.aload_memory_variables(inputs))["history"])

        return now(loaded())


class SelectorInRedis(SelectorInHistory):
    def store(self) -> RedisChatMessageHistory:
        return redis_history(self.place)

    def close(self) -> None:
        close(self.history)


class SelectorInPostgres(SelectorInHistory):
    def store(self) -> PostgresChatMessageHistory:
        return postgres_history(self.place)

    def close(self) -> None:
        close(self.history)


class MiddlewareOnPostgres(Middleware):
    def checkpointer(self) -> PostgresSaver:
        self.context = PostgresSaver.from_conn_string(self.place.postgres)
        saver = self.context.__enter__()
        saver.setup()
        return saver

    def close(self) -> None:
        self.context.__exit__(None, None, None)


class AsyncMiddlewareOnPostgres(Middleware):
    def checkpointer(self) -> AsyncPostgresSaver:
        async def opened() -> AsyncPostgresSaver:
            saver = await self.context.__aenter__()
            await saver.setup()
            return saver

        self.context = AsyncPostgresSaver.from_conn_string(self.place.postgres)
        return now(opened())

    def remember(self, messages: list[Any], config: Any) -> None:
        now(self.agent.aupdate_state(config, {"messages": messages}, as_node="model"))

    def run(self, message: Any, config: Any) -> Any:
        return now(self.agent.ainvoke({"messages": [message]}, config))

    def close(self) -> None:
        now(self.context.__aexit__(None, None, None))


class BufferOnRedis(Buffer):
    def store(self) -> RedisChatStore:
        return redis_store(self.place)

    def key(self) -> str:
        return self.place.thread

    def close(self) -> None:
        close(self.memory.chat_store)


class BufferOnPostgres(Buffer):
    def store(self) -> PostgresChatStore:
        return postgres_store(self.place)

    def key(self) -> str:
        return self.place.thread

    def close(self) -> None:
        close(self.memory.chat_store)


class BufferOfEngineOnRedis(BufferOnRedis):
    asks_inside = False

    def ask(self, query: str | None) -> list[int]:
        return positions(now(self.memory.aget(input=query or " ")))


class BufferOfEngineOnPostgres(BufferOnPostgres):
    asks_inside = False

    def ask(self, query: str | None) -> list[int]:
        return positions(now(self.memory.aget(input=query or " ")))


class WholeMemoryOnPostgres(WholeMemory):
    def store(self) -> SQLAlchemyChatStore:
        return sqlalchemy_store(self.place)

    def key(self) -> str:
        return self.place.thread

    def close(self) -> None:
        close(self.memory.sql_store)
