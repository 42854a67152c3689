"""Stores: how many messages a second, how long a read takes, and what is lost of a hundred writes at once?

``python -m benchmarks.stores [--rounds 7] [--postgres CONNINFO] [--json FILE]``. Our stores and those of the frameworks
hold the same threads of the seeded bilingual conversation and take turns: each round measures every store once, each
time in another order, so that a noisy machine is noisy for all. An append returns before the next one begins, and each
round checks that the threads hold what was written. Times are wall-clock medians, because a store waits for its disk.

Each competitor runs as its documentation shows, with its own settings. On the PostgreSQL server the benchmark creates a
database and drops it at the end; without a server, or without a competitor's package, the row says so.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import sys
import tempfile
import time
import uuid
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from itertools import count, islice
from typing import Any, NamedTuple, cast

from benchmarks.corpus import stream_turns
from benchmarks.report import SEED, Row, Tables, options, report
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore

POSTGRES = "PostgreSQL"
WRITES = {"one": "one a call", "ten": "10 a call", "end": "end of the long thread"}
READS = {"read": "whole thread, ms"}

_TENANT = "bench"
_BATCH = 10
_RUN = uuid.uuid4().hex[:8]
"""In the names of all threads, which must be UUIDs for one of the competitors."""


class Entry(NamedTuple):
    """A message; its id is unique within the thread."""

    id: str
    role: str
    text: str

    def of(self, kind: Any) -> Any:
        """Return the message in LlamaIndex's class, or one of LangChain's from the module of its messages."""
        if hasattr(kind, "HumanMessage"):
            return (kind.HumanMessage if self.role == "user" else kind.AIMessage)(content=self.text, id=self.id)
        return kind(role=self.role, content=self.text, additional_kwargs={"id": self.id})


class Place(NamedTuple):
    """A folder for files, and the conninfo of a PostgreSQL database."""

    folder: str
    postgres: str = ""


class Shelf:
    """One open store; ``overlaps``: whether several threads may call it at once."""

    overlaps = True

    def append(self, thread: str, messages: Sequence[Entry]) -> None:
        """Add messages to a thread; they are stored when this returns."""
        raise NotImplementedError

    def texts(self, thread: str) -> list[str]:
        raise NotImplementedError

    def close(self) -> None:
        """Close it."""


class Ours(Shelf):
    def __init__(self, store: Any) -> None:
        self._store = store

    def append(self, thread: str, messages: Sequence[Entry]) -> None:
        converted = [Message(cast(Any, each.role), each.text, id=each.id) for each in messages]
        self._store.append_messages(_TENANT, thread, converted)

    def texts(self, thread: str) -> list[str]:
        return [message.text for message in self._store.read_messages(_TENANT, thread)]

    def close(self) -> None:
        if hasattr(self._store, "close"):
            self._store.close()


class SqlAlchemyChatStore(Shelf):
    """LlamaIndex's ``SQLAlchemyChatStore`` on SQLite, which is asynchronous only: one loop runs its calls in turn."""

    overlaps = False

    def __init__(self, place: Place) -> None:
        self._loop = asyncio.new_event_loop()
        self._run = self._loop.run_until_complete
        create: Any = import_module("sqlalchemy.ext.asyncio").create_async_engine
        self._engine = create(f"sqlite+aiosqlite:///{place.folder}/chat-store.db")
        sql: Any = import_module("llama_index.core.storage.chat_store.sql")
        self._store = sql.SQLAlchemyChatStore("bench", async_engine=self._engine)
        self._kind = import_module("llama_index.core.llms").ChatMessage

    def append(self, thread: str, messages: Sequence[Entry]) -> None:
        self._run(self._store.add_messages(thread, [each.of(self._kind) for each in messages]))

    def texts(self, thread: str) -> list[str]:
        return [message.content for message in self._run(self._store.get_messages(thread))]

    def close(self) -> None:
        self._run(self._engine.dispose())
        self._loop.close()


class Histories(Shelf):
    """A message history of LangChain, one object for each call, as a server makes it.

    Args:
        opened: yields the history of a thread.
        close: closes the engine or the pool.
    """

    def __init__(self, opened: Callable[[str], Any], close: Callable[[], object]) -> None:
        self._opened, self.close = opened, close  # type: ignore[method-assign,assignment]
        self._kinds = import_module("langchain_core.messages")

    def append(self, thread: str, messages: Sequence[Entry]) -> None:
        with self._opened(thread) as history:
            history.add_messages([each.of(self._kinds) for each in messages])

    def texts(self, thread: str) -> list[str]:
        with self._opened(thread) as history:
            return [message.content for message in history.messages]


class Graph(Shelf):
    """A checkpointer of LangGraph under a compiled graph with ``MessagesState``.

    An append is ``update_state``: it reads the newest checkpoint, adds the messages, and puts one checkpoint with the
    whole list. That is the least that a graph does for a turn.
    """

    def __init__(self, saver: Any, close: Callable[[], object]) -> None:
        graph: Any = import_module("langgraph.graph")
        saver.setup()
        builder = graph.StateGraph(graph.MessagesState)
        builder.add_node("talk", lambda _state: {})
        builder.add_edge(graph.START, "talk")
        self._graph = builder.compile(checkpointer=saver)
        self.close = close  # type: ignore[method-assign,assignment]
        self._kinds = import_module("langchain_core.messages")

    def append(self, thread: str, messages: Sequence[Entry]) -> None:
        update = {"messages": [each.of(self._kinds) for each in messages]}
        self._graph.update_state({"configurable": {"thread_id": thread}}, update, as_node="talk")

    def texts(self, thread: str) -> list[str]:
        state = self._graph.get_state({"configurable": {"thread_id": thread}})
        return [message.content for message in state.values.get("messages", [])]


def _sql_history(place: Place) -> Shelf:
    engine = import_module("sqlalchemy").create_engine(f"sqlite:///{place.folder}/history.db")
    kind: Any = import_module("langchain_community.chat_message_histories").SQLChatMessageHistory

    @contextmanager
    def opened(thread: str) -> Iterator[Any]:
        yield kind(thread, connection=engine)

    return Histories(opened, engine.dispose)


def _postgres_history(place: Place) -> Shelf:
    pool: Any = import_module("psycopg_pool").ConnectionPool(place.postgres, open=True)
    kind: Any = import_module("langchain_postgres").PostgresChatMessageHistory
    with pool.connection() as connection:
        kind.create_tables(connection, "bench_history")

    @contextmanager
    def opened(thread: str) -> Iterator[Any]:
        with pool.connection() as connection:
            yield kind("bench_history", thread, sync_connection=connection)

    return Histories(opened, pool.close)


def _sqlite_saver(place: Place) -> Shelf:
    connection = sqlite3.connect(f"{place.folder}/checkpoints.db", check_same_thread=False)
    return Graph(import_module("langgraph.checkpoint.sqlite").SqliteSaver(connection), connection.close)


def _postgres_saver(place: Place) -> Shelf:
    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": import_module("psycopg.rows").dict_row}
    pool: Any = import_module("psycopg_pool").ConnectionPool(place.postgres, kwargs=settings, open=True)
    return Graph(import_module("langgraph.checkpoint.postgres").PostgresSaver(pool), pool.close)


class Kind(NamedTuple):
    """A store to measure; ``settings``: its log and how long a write waits for the disk, or its server."""

    open: Callable[[Place], Shelf]
    settings: str
    is_ours: bool = False


KINDS = {
    "InMemoryStore": Kind(lambda _: Ours(InMemoryStore()), "-", True),
    "SQLiteStore, normal": Kind(lambda at: Ours(SQLiteStore(f"{at.folder}/normal.db")), "WAL, normal", True),
    "SQLiteStore, full": Kind(
        lambda at: Ours(SQLiteStore(f"{at.folder}/full.db", synchronous="full")), "WAL, full", True
    ),
    "LlamaIndex SQLAlchemyChatStore, SQLite": Kind(SqlAlchemyChatStore, "rollback journal, full"),
    "LangChain SQLChatMessageHistory, SQLite": Kind(_sql_history, "rollback journal, full"),
    "LangGraph SqliteSaver": Kind(_sqlite_saver, "WAL, full"),
    "PostgresStore": Kind(
        lambda at: Ours(import_module("gatekeeper_postgres").PostgresStore(at.postgres)), POSTGRES, True
    ),
    "LangChain PostgresChatMessageHistory": Kind(_postgres_history, POSTGRES),
    "LangGraph PostgresSaver": Kind(_postgres_saver, POSTGRES),
}


def entries(size: int, *, first: int = 0) -> list[Entry]:
    """Return messages of the seeded conversation, numbered from ``first``."""
    texts = (text for turn in stream_turns(seed=SEED) for text in (turn.user, turn.assistant))
    return [
        Entry(f"m{at}", "assistant" if at % 2 else "user", f"{text} #{at}")
        for at, text in enumerate(islice(texts, size), first)
    ]


def names() -> Iterator[str]:
    return (f"{_RUN}-0000-4000-8000-{number:012x}" for number in count(1))


def _rate(shelf: Shelf, thread: str, messages: Sequence[Entry], batch: int) -> float:
    """Return the messages a second of appends of so many messages each."""
    begin = time.perf_counter()
    for at in range(0, len(messages), batch):
        shelf.append(thread, messages[at : at + batch])
    return len(messages) / (time.perf_counter() - begin)


def measure(shelf: Shelf, threads: Iterator[str], appends: int, long_size: int) -> dict[str, float]:
    """Return the messages a second of each kind of append, and the milliseconds of a read of the long thread."""
    figures, messages, long = {}, entries(appends), entries(long_size)
    for what, batch in (("one", 1), ("ten", _BATCH)):
        thread = next(threads)
        figures[what] = _rate(shelf, thread, messages, batch)
        assert shelf.texts(thread) == [each.text for each in messages]
    thread, more = next(threads), entries(max(1, appends // 10), first=long_size)
    shelf.append(thread, long)
    begin = time.perf_counter()
    shelf.texts(thread)
    figures["read"] = 1000 * (time.perf_counter() - begin)
    figures["end"] = _rate(shelf, thread, more, 1)
    assert shelf.texts(thread) == [each.text for each in (*long, *more)]
    return figures


class Tally(NamedTuple):
    """Writes by what became of them: stored once, refused with an error, lost in silence, stored twice."""

    kept: int
    refused: int
    lost: int
    twice: int


def write_at_once(shelf: Shelf, thread: str, messages: Sequence[Entry]) -> Tally:
    """Append each message from a worker of its own, all at once, and count what became of them."""

    def write(message: Entry) -> bool:
        try:
            shelf.append(thread, [message])
        except Exception:  # noqa: BLE001 - whatever a store raises, the write is not acknowledged
            return False
        return True

    with ThreadPoolExecutor(len(messages) if shelf.overlaps else 1) as pool:
        acknowledged = list(pool.map(write, messages))
    times = Counter(shelf.texts(thread))
    found = [times[each.text] for each in messages]
    return Tally(
        kept=found.count(1),
        refused=sum(not ok and not number for ok, number in zip(acknowledged, found, strict=True)),
        lost=sum(ok and not number for ok, number in zip(acknowledged, found, strict=True)),
        twice=sum(number > 1 for number in found),
    )


def figure_row(name: str, rounds: Sequence[Mapping[str, float]], heads: Mapping[str, str], digits: int) -> Row:
    """Return the figures of a store as a row: medians, with the lowest and the highest."""
    row: Row = {"store": name, "settings": KINDS[name].settings}
    for what, head in heads.items():
        values = [each[what] for each in rounds]
        middle, low, high = (f"{each:.{digits}f}" for each in (statistics.median(values), min(values), max(values)))
        row[head] = f"{middle} ({low} to {high})"
    return row


def tables(place: Place, chosen: Namespace) -> Tables:
    """Return the tables of writes, reads and writes at once."""
    shelves: dict[str, Shelf] = {}
    missing: list[Row] = []
    for name, kind in KINDS.items():
        if kind.settings == POSTGRES and not place.postgres:
            missing.append({"store": name, "settings": "no server given"})
        elif kind.is_ours or not chosen.ours_only:
            try:
                shelves[name] = kind.open(place)
            except ModuleNotFoundError as error:
                missing.append({"store": name, "settings": f"{error.name} is not installed"})
    threads = names()
    figures: dict[str, list[dict[str, float]]] = {name: [] for name in shelves}
    for number in range(chosen.rounds + 1):
        print(f"round {number} of {chosen.rounds}", file=sys.stderr, flush=True)
        first = number % len(shelves)
        for name in ([*shelves] * 2)[first : first + len(shelves)]:
            figures[name].append(measure(shelves[name], threads, chosen.appends, chosen.long))
    together, kept = entries(chosen.at_once), []
    for name, shelf in shelves.items():
        counts = [write_at_once(shelf, next(threads), together) for _ in range(chosen.contests)]
        kept.append({"store": name, **dict(zip(Tally._fields, map(sum, zip(*counts, strict=True)), strict=True))})
        shelf.close()
    writes, reads = (
        [figure_row(name, rounds[1:], heads, digits) for name, rounds in figures.items()]
        + missing  # the first warms up
        for heads, digits in ((WRITES, 0), (READS, 2))
    )
    return {
        f"Messages a second, {chosen.rounds} rounds": writes,
        f"Reading a thread of {chosen.long:,} messages": reads,
        f"{chosen.at_once} writes at once, {chosen.contests} times": kept,
    }


@contextmanager
def postgres_database(conninfo: str) -> Iterator[str]:
    """Yield the conninfo of a new database of a PostgreSQL server, dropped at the end; "" for none."""
    if not conninfo:
        yield ""
        return
    psycopg: Any = import_module("psycopg")
    name = f"gatekeeper_bench_{_RUN}"
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield psycopg.conninfo.make_conninfo(conninfo, dbname=name)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured (7)")
    parser.add_argument("--appends", type=int, default=100, help="messages written in a round, each way (100)")
    parser.add_argument("--long", type=int, default=1_000, help="messages of the thread that is read (1000)")
    parser.add_argument("--at-once", type=int, default=100, help="writes at once (100)")
    parser.add_argument("--contests", type=int, default=5, help="how often they are made (5)")
    parser.add_argument("--postgres", default="", metavar="CONNINFO", help="a PostgreSQL server")
    parser.add_argument("--ours-only", action="store_true", help="leave the competitors out")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, postgres_database(chosen.postgres) as postgres:
        load = os.getloadavg()[0]
        found = tables(Place(folder, postgres), chosen)
    chosen.postgres = bool(chosen.postgres)  # no secrets in a file
    report(chosen, "stores", found, load=f"{load:.1f} to {os.getloadavg()[0]:.1f}", cores=os.cpu_count())


if __name__ == "__main__":
    main(sys.argv[1:])
