"""A streaming replica that lags, and transactions that the server undoes for another one: told, and never half-done."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from gatekeeper_core.context.memory.thread import StoredThreads
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.errors import StaleReadError, StorageError
from gatekeeper_postgres import PostgresStore
from tests.fault_record import fault_round
from tests.message_store_contract import ids_of, messages_of
from tests.postgres.test_faults import STORE, answered, state
from tests.servers import PostgresServer, running, running_or_skipped
from tests.storage.test_sqlite_faults import CALLS, TIMES, chance, one_of_all_calls, rounds
from tests.store_contract import fill, seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Replica(PostgresServer):
    """A hot standby of a server, which undoes a reading rather than wait with what the primary wrote."""

    def __init__(self, primary: PostgresServer) -> None:
        self._primary = primary
        super().__init__()

    def fill(self) -> None:
        """Copy the primary, and follow it from there."""
        self.run("pg_basebackup", "-d", self._primary.conninfo, "-c", "fast", "-R", "-X", "stream", "--no-sync")

    def command(self) -> list[str]:
        """Give way to what the primary wrote at once."""
        return [*super().command(), "-c", "max_standby_streaming_delay=0"]


class Pair:
    """A database on a primary and on its replica."""

    def __init__(self, primary: PostgresServer, replica: PostgresServer) -> None:
        self.primary = primary.database()
        self.replica = self.primary.replace(f":{primary.port}/", f":{replica.port}/")

    @contextmanager
    def lag(self) -> Iterator[None]:
        """Let the replica stand still for the time of a block."""
        with psycopg.connect(self.replica, autocommit=True) as admin:
            admin.execute("SELECT pg_wal_replay_pause()")
            wait_for(lambda: admin.execute("SELECT pg_get_wal_replay_pause_state()").fetchone() == ("paused",))
            try:
                yield
            finally:
                admin.execute("SELECT pg_wal_replay_resume()")


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    with running_or_skipped(PostgresServer) as primary, running(lambda: Replica(primary)) as replica:
        yield primary, replica


@pytest.fixture
def pair(servers: tuple[PostgresServer, PostgresServer]) -> Iterator[Pair]:
    pair = Pair(*servers)
    yield pair
    servers[0].drop(pair.primary)


def test_a_replica_that_lags_is_told_from_one_that_is_up_to_date(pair: Pair) -> None:
    """``min_seq`` is refused until the message is there; what is read without it is a beginning of the thread."""
    with PostgresStore(pair.primary) as store:
        store.append_messages("acme", "t1", messages_of(0, 1))
        with answered(lambda: PostgresStore(pair.replica)) as behind:
            answered(lambda: behind.read_messages("acme", "t1", min_seq=1))
            for number in rounds(2):
                with fault_round(STORE, "a replica that lags") as found:
                    first = 2 + 2 * number
                    with pair.lag():
                        seq = StoredThreads(store).append("t1", messages_of(first, first + 1), tenant="acme")
                        for read in (
                            lambda seq=seq: behind.read_messages("acme", "t1", min_seq=seq),
                            lambda seq=seq: StoredThreads(behind).load("t1", tenant="acme", min_seq=seq),
                        ):
                            with pytest.raises(StaleReadError) as caught:
                                read()
                            assert (caught.value.min_seq, caught.value.last_seq) == (seq, first - 1)
                            found.refused()
                        found.content(ids_of(behind) == [f"m{n}" for n in range(first)], "a beginning of the thread")
                        thread = StoredThreads(behind).load("t1", tenant="acme")
                        context = ContextBuilder(store=behind).build(thread, "端口 port?", "Be brief.")
                        found.content(context.messages[-3].text == f"message {first - 1}", "a build")
                    read_now = answered(lambda seq=seq: behind.read_messages("acme", "t1", min_seq=seq))
                    found.stored(len(read_now) == seq + 1, "what was written meanwhile")


def test_a_replica_reads_and_refuses_each_write(pair: Pair) -> None:
    with PostgresStore(pair.primary) as store:
        fill(store)
        store.forget("acme", user="gone")
        before = seen(store)
        with answered(lambda: PostgresStore(pair.replica)) as behind:
            wait_for(lambda: seen(behind) == before)
            for name, write in CALLS.items():
                with pytest.raises(StorageError, match="the server is read-only: connect to the primary"):
                    write(behind)  # type: ignore[arg-type]
                assert seen(behind) == before, name


@pytest.mark.parametrize("sqlstate", ["40001", "40P01"], ids=["serialization failure", "deadlock"])
def test_what_the_server_undoes_for_another_call_can_be_repeated(
    store: PostgresStore, conninfo: str, sqlstate: str
) -> None:
    fill(store)
    before = state(conninfo)
    with fault_round(STORE, "the server undoes a call for another one") as found:
        with psycopg.connect(conninfo, autocommit=True) as admin:
            admin.execute(
                "CREATE FUNCTION gatekeeper.undo() RETURNS trigger LANGUAGE plpgsql "
                f"AS $$BEGIN RAISE EXCEPTION USING ERRCODE = '{sqlstate}'; END$$".encode()
            )
            # After the messages are in their table.
            admin.execute("CREATE TRIGGER undo AFTER INSERT ON gatekeeper.messages EXECUTE FUNCTION gatekeeper.undo()")
            with pytest.raises(StorageError, match="rolled back because of a concurrent call: try again"):
                store.append_messages("acme", "t1", messages_of(7, 8))
            found.refused()
            found.content(state(conninfo) == before, "half a call")
            admin.execute("DROP FUNCTION gatekeeper.undo() CASCADE")
        assert store.append_messages("acme", "t1", messages_of(7, 8)) == 3
        found.stored(ids_of(store) == ["m0", "m1", "m7", "m8"], "the call that was repeated")


@pytest.mark.parametrize("level", ["serializable", "repeatable read"])
def test_writers_of_one_thread_never_fail_to_serialize_whatever_the_database_is_set_to(
    conninfo: str, level: str
) -> None:
    """The store names the isolation of each transaction itself."""
    options = f"?options=-c%20default_transaction_isolation%3D{level.replace(' ', '%5C%20')}"
    with PostgresStore(f"{conninfo}{options}") as store:
        with store._connections.transaction() as transaction:
            assert transaction.rows("SHOW default_transaction_isolation") == [(level,)]
        appended: list[str] = []

        def work(worker: int) -> None:
            draw = chance(level, worker)
            for number in range(10 * TIMES):
                one_of_all_calls(store, draw, f"{worker}-{number}", appended)  # type: ignore[arg-type]

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(6)))
        assert Counter(ids_of(store, "acme", "shared")) == Counter(appended)
