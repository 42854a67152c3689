"""The index in PostgreSQL keeps the contract, ranks as SQLite does, and needs one index of the server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_mcp import UserThreads, index_of
from gatekeeper_mcp.postgres import PARTITIONS, PostgresIndex
from gatekeeper_postgres import PostgresStore
from tests.chat_search_contract import CHATS, ChatSearchContract, places, turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper_core.storage.tables import TableStore
    from gatekeeper_mcp.search import ChatIndex
    from tests.servers import PostgresServer

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def conninfo(postgres_server: PostgresServer) -> str:
    return postgres_server.database()


@pytest.fixture
def store(conninfo: str) -> Iterator[PostgresStore]:
    """An empty store; what its user searches is gone after the test."""
    with PostgresStore(conninfo) as store:
        yield store
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("DROP SCHEMA gatekeeper CASCADE")


class TestOnAServer(ChatSearchContract):
    @pytest.fixture(autouse=True)
    def _server(self, store: PostgresStore) -> None:
        self._store = store

    def make_store(self) -> TableStore:
        return self._store

    def make_index(self, threads: UserThreads) -> ChatIndex:
        return index_of(threads)


def test_counts_follow_what_comes_and_goes(store: PostgresStore, conninfo: str) -> None:
    index = PostgresIndex(UserThreads(store, "acme"))
    for thread, texts in CHATS.items():
        store.append_messages("acme", thread, turn(*texts))
    index.update()
    for thread in CHATS:
        store.append_messages("acme", thread, turn("redis", "again"))
        index.update()
    assert index._frequencies(["redis", "nginx"]).by_term == {"redis": 4, "nginx": 1}
    for thread in CHATS:
        store.forget("acme", thread=thread)
    index.update()
    with psycopg.connect(conninfo) as connection:
        for table in (b"chat_threads", b"chat_turns", b"chat_terms"):
            assert connection.execute(b"SELECT count(*) FROM gatekeeper." + table).fetchone() == (0,)


def test_workers_that_index_at_once_agree(store: PostgresStore, conninfo: str) -> None:
    for number in range(30):
        store.append_messages("acme", f"t{number}", turn(f"heron {number}", "yes"))

    def search(_: int) -> int:
        with PostgresStore(conninfo) as own:
            return len(index_of(UserThreads(own, "acme")).search("heron", limit=20).hits)

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(search, range(4))] == [20] * 4
    frequencies = PostgresIndex(UserThreads(store, "acme"))._frequencies(["heron"])
    assert (frequencies.turns, frequencies.by_term) == (30, {"heron": 30})


def test_a_search_reads_the_index_of_one_partition(store: PostgresStore, conninfo: str) -> None:
    index = PostgresIndex(UserThreads(store, "acme"))
    store.append_messages("acme", "t", [Message("user", f"word{number} heron") for number in range(2_000)])
    index.update()
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SET search_path = gatekeeper")
        connection.execute("VACUUM (ANALYZE) chat_turns")
        plan = connection.execute(
            "EXPLAIN SELECT thread FROM chat_turns WHERE tenant = %s AND terms && %s::bigint[]",
            [b"acme", [index._term("word7")]],
        ).fetchall()
        indexes = connection.execute("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%USING gin%'").fetchone()
    assert sum("_terms_idx" in line for (line,) in plan) == sum("Scan on" in line for (line,) in plan) - 1 == 1
    assert indexes == (PARTITIONS + 1,)


def test_both_databases_find_the_same(store: PostgresStore) -> None:
    stores = (store, InMemoryStore())
    for place in stores:
        for number in range(60):
            text = " ".join(f"w{number % divisor}x" for divisor in (2, 3, 5, 7, 11))
            place.append_messages("acme", f"t{number:02}", turn(text, "缓存 " * (number % 4)))
    one, other = (index_of(UserThreads(place, "acme")) for place in stores)
    for query in ("w1x w4x", "w6x 缓存", "w10x w2x w3x"):
        assert sorted(places(one.search(query, limit=3))) == sorted(places(other.search(query, limit=3)))


def test_another_store_has_another_index() -> None:
    with pytest.raises(ConfigError, match="needs the threads of a PostgresStore"):
        PostgresIndex(UserThreads(InMemoryStore(), "acme"))
