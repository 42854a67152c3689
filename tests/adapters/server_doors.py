"""The doors of the adapters' contract on the frameworks' own Redis and PostgreSQL stores."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if os.environ.get("GATEKEEPER_REQUIRE_SERVERS") != "1":
    for package in ("langchain_postgres", "langgraph.checkpoint.postgres", "redis"):
        pytest.importorskip(package, reason=f"no {package}: pip install --group test-servers")

import psycopg
from langchain_community.chat_message_histories import RedisChatMessageHistory
from langchain_postgres import PostgresChatMessageHistory
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from llama_index.storage.chat_store.postgres import PostgresChatStore
from llama_index.storage.chat_store.redis import RedisChatStore

from tests.adapters.doors import (
    Buffer,
    BufferOfEngine,
    ClassicMemory,
    Middleware,
    SelectorInHistory,
    WholeMemory,
    now,
    sqlalchemy_store,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.adapters.doors import Place

TABLE = "messages"


def driven(place: Place, driver: str) -> str:
    """Return the database for SQLAlchemy."""
    return place.postgres.replace("postgresql://", f"postgresql+{driver}://", 1)


# --- the stores


@contextmanager
def redis_history(place: Place) -> Iterator[RedisChatMessageHistory]:
    history = RedisChatMessageHistory(place.thread, url=place.redis)
    yield history
    history.redis_client.close()


@contextmanager
def postgres_history(place: Place) -> Iterator[PostgresChatMessageHistory]:
    with psycopg.connect(place.postgres) as connection:
        PostgresChatMessageHistory.create_tables(connection, TABLE)
        yield PostgresChatMessageHistory(TABLE, place.thread, sync_connection=connection)


@contextmanager
def postgres_saver(place: Place) -> Iterator[PostgresSaver]:
    with PostgresSaver.from_conn_string(place.postgres) as saver:
        saver.setup()
        yield saver


@asynccontextmanager
async def async_postgres_saver(place: Place) -> AsyncIterator[AsyncPostgresSaver]:
    async with AsyncPostgresSaver.from_conn_string(place.postgres) as saver:
        await saver.setup()
        yield saver


@contextmanager
def redis_store(place: Place) -> Iterator[RedisChatStore]:
    store = RedisChatStore(redis_url=place.redis)
    yield store
    store._redis_client.close()
    now(store._aredis_client.aclose())


@contextmanager
def postgres_store(place: Place) -> Iterator[PostgresChatStore]:
    store = PostgresChatStore.from_params(
        table_name="chats",
        connection_string=driven(place, "psycopg"),
        async_connection_string=driven(place, "asyncpg"),
    )
    yield store
    store._session.kw["bind"].dispose()
    now(store._async_session.kw["bind"].dispose())


# --- the doors


class ClassicMemoryOnRedis(ClassicMemory):
    opens = staticmethod(redis_history)


class ClassicMemoryOnPostgres(ClassicMemory):
    opens = staticmethod(postgres_history)


class AsyncClassicMemoryOnPostgres(ClassicMemoryOnPostgres):
    def ask(self, query: str | None) -> list[int]:
        async def loaded() -> list[int]:
            async with await psycopg.AsyncConnection.connect(self.place.postgres) as connection:
                history = PostgresChatMessageHistory(TABLE, self.place.thread, async_connection=connection)
                self.memory.chat_memory = history
                inputs = {"input": query} if query else {}
                return self.noted((await self.memory.aload_memory_variables(inputs))["history"])

        return now(loaded())


class SelectorInRedis(SelectorInHistory):
    opens = staticmethod(redis_history)


class SelectorInPostgres(SelectorInHistory):
    opens = staticmethod(postgres_history)


class MiddlewareOnPostgres(Middleware):
    opens = staticmethod(postgres_saver)


class AsyncMiddlewareOnPostgres(Middleware):
    opens = staticmethod(async_postgres_saver)

    def enter(self) -> Any:
        return now(self.context.__aenter__())

    def remember(self, messages: list[Any], config: Any) -> None:
        now(self.agent.aupdate_state(config, {"messages": messages}, as_node="model"))

    def run(self, message: Any, config: Any) -> Any:
        return now(self.agent.ainvoke({"messages": [message]}, config))

    def close(self) -> None:
        now(self.context.__aexit__(None, None, None))


class BufferOnRedis(Buffer):
    opens = staticmethod(redis_store)
    key = ""


class BufferOnPostgres(Buffer):
    opens = staticmethod(postgres_store)
    key = ""


class BufferOfEngineOnRedis(BufferOfEngine, BufferOnRedis):
    pass


class BufferOfEngineOnPostgres(BufferOfEngine, BufferOnPostgres):
    pass


class WholeMemoryOnPostgres(WholeMemory):
    opens = staticmethod(lambda place: sqlalchemy_store("rows", driven(place, "asyncpg")))
