"""Several processes on one thread of the frameworks' own Redis and PostgreSQL histories.

What a framework's store does with writes at the same time is shown with the framework alone, beside what our adapters
make of it.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.adapters.door_contract import for_doors
from tests.adapters.doors import Place
from tests.adapters.server_doors import (
    TABLE,
    BufferOnPostgres,
    BufferOnRedis,
    ClassicMemoryOnPostgres,
    ClassicMemoryOnRedis,
    MiddlewareOnPostgres,
    SelectorInPostgres,
    SelectorInRedis,
    WholeMemoryOnPostgres,
)
from tests.adapters.worker import opened
from tests.adapters.workers import (
    check_every_selection_saw_a_prefix,
    check_what_a_store_that_keeps_all_allows,
    check_what_every_store_allows,
    work,
)

if TYPE_CHECKING:
    from tests.adapters.doors import Door
    from tests.processes import Processes
    from tests.servers import RedisServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:langchain_community.*"),
]


@pytest.fixture
def place(postgres_database: str, redis_server: RedisServer) -> Place:
    return Place(postgres=postgres_database, redis=redis_server.url, thread=str(uuid.uuid4()))


@for_doors([ClassicMemoryOnRedis, SelectorInRedis, BufferOnRedis, BufferOnPostgres])
def test_nothing_is_lost_and_every_selection_sees_a_prefix(door: type[Door], workers: Processes, place: Place) -> None:
    worked = work(workers, door, place)
    check_what_a_store_that_keeps_all_allows(worked)
    check_every_selection_saw_a_prefix(worked)


@for_doors([ClassicMemoryOnPostgres, SelectorInPostgres, WholeMemoryOnPostgres])
def test_nothing_is_lost_where_a_message_may_come_before_an_earlier_one(
    door: type[Door], workers: Processes, place: Place
) -> None:
    check_what_a_store_that_keeps_all_allows(work(workers, door, place))


def test_an_agent_sends_whole_turns_of_whatever_checkpoint_it_got(workers: Processes, place: Place) -> None:
    check_what_every_store_allows(work(workers, MiddlewareOnPostgres, place))


SLOW = """
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$;
CREATE TRIGGER wait BEFORE INSERT ON {table} FOR EACH ROW WHEN (NEW.{column}::text LIKE '%slow%')
EXECUTE FUNCTION wait()
"""


@pytest.mark.parametrize(
    ("door", "table", "column"), [(ClassicMemoryOnPostgres, TABLE, "message"), (WholeMemoryOnPostgres, "rows", "data")]
)
def test_a_reader_may_see_a_message_of_these_stores_before_an_earlier_one(
    door: type[Door], table: str, column: str, place: Place
) -> None:
    """Their numbers and times are given before the transaction ends; the selection goes by what it reads then."""

    def write_slowly() -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        with closing(opened(door, place)) as slow:
            slow.turn("slow question <0.0.q>", "slow answer <0.0.a>")
        asyncio.get_event_loop().close()

    with closing(opened(door, place)) as side, psycopg.connect(place.postgres, autocommit=True) as lock:
        assert side.stored() == []
        lock.execute(SLOW.format(table=table, column=column))
        lock.execute("SELECT pg_advisory_lock(1)")
        writer = threading.Thread(target=write_slowly)
        writer.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while lock.execute(waiting).fetchone() == (0,):
            time.sleep(0.01)
        side.turn("quick question <1.0.q>", "quick answer <1.0.a>")
        before = side.stored()
        side.ask("what was quick?")
        lock.execute("SELECT pg_advisory_unlock(1)")
        writer.join()
        assert before == ["quick question <1.0.q>", "quick answer <1.0.a>"]
        assert side.stored()[0] == "slow question <0.0.q>"
        sent = side.ask("what was quick, and what was slow?")
        assert sent == side.stored()
        assert side.is_rebuilt()
