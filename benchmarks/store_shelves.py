"""Stores of conversations behind one interface: ours, and those of the frameworks, for the benchmark of stores.

A peer is used as its documentation shows it, with its own settings. One that leaves a SQLite file as SQLite makes it is
there a second time with the settings of ours. What has no way to write many messages or to read a part does it by the
way that it has.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from gatekeeper_core.messages import Message
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore

POSTGRES, REDIS = "PostgreSQL", "Redis"
_TENANT = "bench"
_POOL = 4


class Said(NamedTuple):
    """A message; its id is its own within the thread."""

    id: str
    role: str
    text: str


class Append(NamedTuple):
    """What one call adds to a thread."""

    thread: str
    messages: tuple[Said, ...]


class Outcome(NamedTuple):
    """Ids of the messages of a writer's calls that came back, and types of the errors of those that did not."""

    acknowledged: list[str]
    errors: list[str]

    @contextmanager
    def noting(self, append: Append) -> Iterator[None]:
        """Note what becomes of a call: whatever it raises, it is not acknowledged."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            self.errors.append(type(error).__name__)
        else:
            self.acknowledged.extend(message.id for message in append.messages)


class Place(NamedTuple):
    """Where stores lie: a folder for files, the conninfo of a PostgreSQL database, the URL of a Redis server."""

    folder: str
    postgres: str = ""
    redis: str = ""


class Shelf:
    """One store, opened in this process."""

    def __init__(self) -> None:
        self._pools: dict[int, ThreadPoolExecutor] = {}

    def prepare(self, thread: str) -> None:
        """Make what a framework makes once for a thread."""

    def append(self, thread: str, messages: Sequence[Said]) -> None:
        """Add messages to a thread; they are stored when this returns."""
        raise NotImplementedError

    def texts(self, thread: str) -> list[str]:
        """Return the texts of a thread."""
        raise NotImplementedError

    def newest(self, thread: str, count: int, start: int) -> list[str]:
        """Return the texts of its newest messages, the first of which stands at ``start``."""
        del start
        return self.texts(thread)[-count:]

    def close(self) -> None:
        """Close it."""
        for pool in self._pools.values():
            pool.shutdown()

    def write(self, appends: Sequence[Append]) -> None:
        """Make one append after the other."""
        for each in appends:
            self.append(*each)

    def at_once(self, writers: Sequence[Sequence[Append]]) -> list[Outcome]:
        """Let writers append at the same time, each one its own, one after the other."""
        gate = threading.Barrier(len(writers))

        def work(appends: Sequence[Append]) -> Outcome:
            outcome = Outcome([], [])
            gate.wait()
            for each in appends:
                with outcome.noting(each):
                    self.append(*each)
            return outcome

        if len(writers) not in self._pools:  # the threads of an application stay, and their connections with them
            self._pools[len(writers)] = ThreadPoolExecutor(len(writers))
        return list(self._pools[len(writers)].map(work, writers))


class AsyncShelf(Shelf):
    """A store that only knows ``await``: its calls in a row share one run of the loop."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()

    async def add(self, thread: str, messages: Sequence[Said]) -> None:
        raise NotImplementedError

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    def append(self, thread: str, messages: Sequence[Said]) -> None:
        self.run(self.add(thread, messages))

    def write(self, appends: Sequence[Append]) -> None:
        async def work() -> None:
            for each in appends:
                await self.add(*each)

        self.run(work())

    def at_once(self, writers: Sequence[Sequence[Append]]) -> list[Outcome]:
        async def work(appends: Sequence[Append]) -> Outcome:
            outcome = Outcome([], [])
            for each in appends:
                with outcome.noting(each):
                    await self.add(*each)
            return outcome

        async def together() -> list[Outcome]:
            return list(await asyncio.gather(*map(work, writers)))

        outcomes: list[Outcome] = self.run(together())
        return outcomes


class Ours(Shelf):
    """A ``MessageStore``."""

    def __init__(self, store: Any) -> None:
        super().__init__()
        self._store = store

    def append(self, thread: str, messages: Sequence[Said]) -> None:
        given = [Message("user" if each.role == "user" else "assistant", each.text, id=each.id) for each in messages]
        self._store.append_messages(_TENANT, thread, given)

    def texts(self, thread: str) -> list[str]:
        return [message.text for message in self._store.read_messages(_TENANT, thread)]

    def newest(self, thread: str, count: int, start: int) -> list[str]:
        del count
        return [message.text for message in self._store.read_messages(_TENANT, thread, from_seq=start)]

    def close(self) -> None:
        super().close()
        if hasattr(self._store, "close"):
            self._store.close()


class SqlAlchemyChatStore(AsyncShelf):
    """LlamaIndex's ``SQLAlchemyChatStore``."""

    def __init__(self, url: Any, *, like_ours: bool = False) -> None:
        super().__init__()
        self._engine = import_module("sqlalchemy.ext.asyncio").create_async_engine(url)
        if like_ours:
            _set_like_ours(self._engine.sync_engine)
        sql: Any = import_module("llama_index.core.storage.chat_store.sql")
        self._store = sql.SQLAlchemyChatStore("bench", async_engine=self._engine)
        self._message: Any = import_module("llama_index.core.llms").ChatMessage
        self.run(self._store.count_messages(""))  # it makes its table with its first call

    async def add(self, thread: str, messages: Sequence[Said]) -> None:
        made = [_chat_message(self._message, each) for each in messages]
        if len(made) == 1:
            await self._store.add_message(thread, made[0])
        else:
            await self._store.add_messages(thread, made)

    def texts(self, thread: str) -> list[str]:
        return [message.content for message in self.run(self._store.get_messages(thread))]

    def newest(self, thread: str, count: int, start: int) -> list[str]:
        found = self.run(self._store.get_messages(thread, limit=count, offset=start))
        return [message.content for message in found]

    def close(self) -> None:
        super().close()
        self.run(self._engine.dispose())
        self._loop.close()


class ChatStore(Shelf):
    """A chat store of LlamaIndex that is not only asynchronous: one message at a time."""

    def __init__(self, store: Any) -> None:
        super().__init__()
        self._store = store
        self._message: Any = import_module("llama_index.core.llms").ChatMessage

    def append(self, thread: str, messages: Sequence[Said]) -> None:
        for each in messages:
            self._store.add_message(thread, _chat_message(self._message, each))

    def texts(self, thread: str) -> list[str]:
        return [message.content for message in self._store.get_messages(thread)]


class Histories(Shelf):
    """Histories of LangChain: an object for each thread, kept."""

    def __init__(self, history: Callable[[str], Any], close: Callable[[], object] | None = None) -> None:
        super().__init__()
        self._history = history
        self._close = close
        self._kept: dict[str, Any] = {}
        self._messages: Any = import_module("langchain_core.messages")

    def prepare(self, thread: str) -> None:
        if thread not in self._kept:
            self._kept[thread] = self._history(thread)

    def append(self, thread: str, messages: Sequence[Said]) -> None:
        self.prepare(thread)
        self._kept[thread].add_messages([_langchain_message(self._messages, each) for each in messages])

    def texts(self, thread: str) -> list[str]:
        self.prepare(thread)
        return [message.content for message in self._kept[thread].messages]

    def close(self) -> None:
        super().close()
        if self._close:
            self._close()


class PooledHistories(Histories):
    """LangChain's ``PostgresChatMessageHistory`` over a pool: it is given a connection for each call."""

    def __init__(self, conninfo: str) -> None:
        self._pool: Any = import_module("psycopg_pool").ConnectionPool(conninfo, min_size=_POOL, open=True)
        self._class: Any = import_module("langchain_postgres").PostgresChatMessageHistory
        with self._pool.connection() as connection:
            self._class.create_tables(connection, "bench_history")
        super().__init__(lambda thread: thread, self._pool.close)

    def append(self, thread: str, messages: Sequence[Said]) -> None:
        made = [_langchain_message(self._messages, each) for each in messages]
        with self._pool.connection() as connection:
            self._class("bench_history", thread, sync_connection=connection).add_messages(made)

    def texts(self, thread: str) -> list[str]:
        with self._pool.connection() as connection:
            history = self._class("bench_history", thread, sync_connection=connection)
            return [message.content for message in history.get_messages()]


class Graph(Shelf):
    """A checkpointer of LangGraph under a compiled graph with ``MessagesState``.

    An append is ``update_state``: it reads the newest checkpoint, adds the messages, and puts one checkpoint with the
    whole list. That is the least that a graph does for a turn; ``invoke`` puts one for its input and for each step.
    """

    def __init__(self, saver: Any, close: Callable[[], object]) -> None:
        super().__init__()
        graph: Any = import_module("langgraph.graph")
        builder = graph.StateGraph(graph.MessagesState)
        builder.add_node("talk", lambda _state: {})
        builder.add_edge(graph.START, "talk")
        self._graph = builder.compile(checkpointer=saver)
        self._close = close
        self._messages: Any = import_module("langchain_core.messages")

    def append(self, thread: str, messages: Sequence[Said]) -> None:
        made = [_langchain_message(self._messages, each) for each in messages]
        self._graph.update_state(_config(thread), {"messages": made}, as_node="talk")

    def texts(self, thread: str) -> list[str]:
        return [message.content for message in self._graph.get_state(_config(thread)).values.get("messages", [])]

    def close(self) -> None:
        super().close()
        self._close()


class ShelfKind(NamedTuple):
    """A store that can be measured.

    ``settings``: the kind of log and how long a write waits for the disk, or the server.
    """

    name: str
    open: Callable[[Place], Shelf]
    settings: str
    needs: tuple[str, ...] = ()
    is_ours: bool = False
    is_shared: bool = True

    @property
    def server(self) -> str:
        """What must run for it: a server's name, or ""."""
        return self.settings if self.settings in (POSTGRES, REDIS) else ""

    def why_not(self, place: Place) -> str:
        """Return why it cannot be measured there, or "" where it can."""
        if any(not _is_there(package) for package in self.needs):
            return "not installed"
        given = {POSTGRES: place.postgres, REDIS: place.redis, "": "here"}
        return "" if given[self.server] else "not given"


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package that it lies in
        return False


def _chat_message(kind: Any, said: Said) -> Any:
    return kind(role=said.role, content=said.text, additional_kwargs={"id": said.id})


def _langchain_message(messages: Any, said: Said) -> Any:
    kind = messages.HumanMessage if said.role == "user" else messages.AIMessage
    return kind(content=said.text, id=said.id)


def _config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}}


def _set_like_ours(engine: Any) -> None:
    def prepare(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = normal")
        cursor.close()

    import_module("sqlalchemy").event.listen(engine, "connect", prepare)


def _postgres_url(driver: str, conninfo: str) -> Any:
    parts: dict[str, Any] = import_module("psycopg.conninfo").conninfo_to_dict(conninfo)
    user, password, host, port, name = map(parts.get, ("user", "password", "host", "port", "dbname"))
    url: Any = import_module("sqlalchemy").URL
    return url.create(f"postgresql+{driver}", user, password, host, int(port) if port else None, name)


def _sql_chat_store(place: Place, *, like_ours: bool = False) -> Shelf:
    name = f"{place.folder}/chat-store-{like_ours}.db"
    return SqlAlchemyChatStore(f"sqlite+aiosqlite:///{name}", like_ours=like_ours)


def _sql_history(place: Place, *, like_ours: bool = False) -> Shelf:
    engine = import_module("sqlalchemy").create_engine(f"sqlite:///{place.folder}/history-{like_ours}.db")
    if like_ours:
        _set_like_ours(engine)
    histories: Any = import_module("langchain_community.chat_message_histories")
    return Histories(lambda thread: histories.SQLChatMessageHistory(thread, connection=engine), engine.dispose)


def _sqlite_saver(place: Place) -> Shelf:
    connection = sqlite3.connect(f"{place.folder}/checkpoints.db", check_same_thread=False)
    saver: Any = import_module("langgraph.checkpoint.sqlite").SqliteSaver(connection)
    saver.setup()
    return Graph(saver, connection.close)


def _postgres_saver(place: Place) -> Shelf:
    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": import_module("psycopg.rows").dict_row}
    pool: Any = import_module("psycopg_pool").ConnectionPool(place.postgres, min_size=_POOL, kwargs=settings, open=True)
    saver: Any = import_module("langgraph.checkpoint.postgres").PostgresSaver(pool)
    saver.setup()
    return Graph(saver, pool.close)


def _postgres_chat_store(place: Place) -> Shelf:
    urls = [
        _postgres_url(driver, place.postgres).render_as_string(hide_password=False) for driver in ("psycopg", "asyncpg")
    ]
    stores: Any = import_module("llama_index.storage.chat_store.postgres")
    return ChatStore(
        stores.PostgresChatStore.from_params(
            connection_string=urls[0], async_connection_string=urls[1], table_name="bench_chats"
        )
    )


def _postgres_store(place: Place) -> Shelf:
    return Ours(import_module("gatekeeper_postgres").PostgresStore(place.postgres))


def _redis_history(place: Place) -> Shelf:
    histories: Any = import_module("langchain_community.chat_message_histories")
    return Histories(lambda thread: histories.RedisChatMessageHistory(thread, url=place.redis))


def _redis_chat_store(place: Place) -> Shelf:
    return ChatStore(import_module("llama_index.storage.chat_store.redis").RedisChatStore(redis_url=place.redis))


_SQL = ("sqlalchemy", "greenlet")
_CHAT_STORE, _HISTORY = ("llama_index.core", "aiosqlite", *_SQL), ("langchain_community", *_SQL)
_ROLLBACK, _WAL, _WAL_FULL = "rollback journal, full", "WAL, normal", "WAL, full"
_SERVER, _CLIENT = ("psycopg", "psycopg_pool"), ("redis",)

_KINDS = (
    ShelfKind("InMemoryStore", lambda _: Ours(InMemoryStore()), "-", is_ours=True, is_shared=False),
    ShelfKind("SQLiteStore, normal", lambda at: Ours(SQLiteStore(f"{at.folder}/normal.db")), _WAL, is_ours=True),
    ShelfKind(
        "SQLiteStore, full",
        lambda at: Ours(SQLiteStore(f"{at.folder}/full.db", synchronous="full")),
        _WAL_FULL,
        is_ours=True,
    ),
    ShelfKind("LlamaIndex SQLAlchemyChatStore, SQLite", _sql_chat_store, _ROLLBACK, _CHAT_STORE),
    ShelfKind(
        "LlamaIndex SQLAlchemyChatStore, SQLite, WAL", partial(_sql_chat_store, like_ours=True), _WAL, _CHAT_STORE
    ),
    ShelfKind("LangChain SQLChatMessageHistory, SQLite", _sql_history, _ROLLBACK, _HISTORY),
    ShelfKind("LangChain SQLChatMessageHistory, SQLite, WAL", partial(_sql_history, like_ours=True), _WAL, _HISTORY),
    ShelfKind("LangGraph SqliteSaver", _sqlite_saver, _WAL_FULL, ("langgraph.checkpoint.sqlite",)),
    ShelfKind("PostgresStore", _postgres_store, POSTGRES, ("gatekeeper_postgres", *_SERVER), is_ours=True),
    ShelfKind(
        "LlamaIndex SQLAlchemyChatStore, PostgreSQL",
        lambda at: SqlAlchemyChatStore(_postgres_url("asyncpg", at.postgres)),
        POSTGRES,
        ("llama_index.core", "asyncpg", *_SQL, *_SERVER),
    ),
    ShelfKind(
        "LlamaIndex PostgresChatStore",
        _postgres_chat_store,
        POSTGRES,
        ("llama_index.storage.chat_store.postgres", "asyncpg", *_SERVER),
    ),
    ShelfKind(
        "LangChain PostgresChatMessageHistory",
        lambda at: PooledHistories(at.postgres),
        POSTGRES,
        ("langchain_postgres", *_SERVER),
    ),
    ShelfKind("LangGraph PostgresSaver", _postgres_saver, POSTGRES, ("langgraph.checkpoint.postgres", *_SERVER)),
    ShelfKind("LangChain RedisChatMessageHistory", _redis_history, REDIS, ("langchain_community", *_CLIENT)),
    ShelfKind(
        "LlamaIndex RedisChatStore", _redis_chat_store, REDIS, ("llama_index.storage.chat_store.redis", *_CLIENT)
    ),
)

SHELVES: dict[str, ShelfKind] = {kind.name: kind for kind in _KINDS}
"""By name what can be measured, in the order of the tables."""
