"""What a PostgreSQL store keeps when its server dies, refuses or is slow, and when processes are killed.

Environment:
    GATEKEEPER_FAULT_ROUNDS: how many times as many rounds as in CI are made, with other random numbers (default 1).
    GATEKEEPER_FAULT_SEED: the seed of these numbers; any seed must pass.
    GATEKEEPER_FAULT_RECORD: a file for what each round looked for and found; see ``tests/fault_record.py``.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
import pytest

from gatekeeper_core.errors import StorageError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_postgres import PostgresStore
from gatekeeper_postgres.schema import TABLES
from tests.fault_record import fault_round
from tests.memory_store_contract import record
from tests.message_store_contract import ids_of, messages_of
from tests.servers import PostgresServer, running_or_skipped
from tests.storage.test_sqlite_faults import CALLS, chance, mix_all_calls, rounds
from tests.store_contract import fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

STORE = "PostgreSQL"
ANN = MemoryScope("acme", "ann")


class MortalServer(PostgresServer):
    """A server that can be killed and started again at once."""

    def command(self) -> list[str]:
        """Put right what was cut off in the middle of a page, as servers do by default."""
        return [*super().command(), "-c", "full_page_writes=on"]


@pytest.fixture(scope="module")
def mortal() -> Iterator[MortalServer]:
    """A server that tests may kill."""
    with running_or_skipped(MortalServer) as server:
        yield server


@pytest.fixture
def mortal_database(mortal: MortalServer) -> Iterator[str]:
    conninfo = mortal.database()
    yield conninfo
    mortal.drop(conninfo)


def state(conninfo: str) -> list[Any]:
    """Return all rows of all tables."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        return [
            sorted(connection.execute(f"SELECT * FROM gatekeeper.{table}".encode()), key=repr)  # noqa: S608 - ours
            for table in TABLES
        ]


def test_a_server_that_is_not_there_is_named_and_nobody_else() -> None:
    with pytest.raises(StorageError) as caught:
        PostgresStore("postgresql://ann:s3cret@127.0.0.1:1/chats")
    assert str(caught.value).startswith("127.0.0.1:1/chats: the connection was lost or refused")
    assert "ann" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None  # psycopg's own words name the user


def answered(call: Callable[[], T], *, within_seconds: float = 60) -> T:
    """Return what a call returns, repeated while the server is not there yet."""
    deadline = time.monotonic() + within_seconds
    while True:
        with suppress(StorageError):
            return call()
        assert time.monotonic() < deadline, "the server is not there yet"
        time.sleep(0.05)


class Writer:
    """A thread that appends without end, and repeats each append until it is acknowledged."""

    def __init__(self, store: PostgresStore) -> None:
        self.acknowledged: list[str] = []
        self.words: list[str] = []
        self._store = store
        self._stop = threading.Event()
        self._written = ThreadPoolExecutor(1).submit(self._write)

    def wait_for(self, more: int) -> None:
        wanted, deadline = len(self.acknowledged) + more, time.monotonic() + 60
        while len(self.acknowledged) < wanted:
            assert not self._written.done(), self._written.result()
            assert time.monotonic() < deadline, f"nothing is acknowledged any more: {self.words[-3:]}"
            time.sleep(0.01)

    def stop(self) -> None:
        self._stop.set()
        self._written.result()

    def _write(self) -> None:
        while not self._stop.is_set():
            number = len(self.acknowledged)
            try:
                assert self._store.append_messages("acme", "t1", messages_of(number)) == number
            except StorageError as error:
                self.words.append(str(error))
                time.sleep(0.05)
            else:
                self.acknowledged.append(f"m{number}")


def test_what_was_acknowledged_survives_a_server_that_is_killed_in_the_middle(
    mortal: MortalServer, mortal_database: str
) -> None:
    """Each message once, in order, and the store goes on when the server is back."""
    with PostgresStore(mortal_database, connect_timeout_ms=3_000) as store:
        writer = Writer(store)
        try:
            looked_at = refused = 0
            for number in rounds(2):
                with fault_round(
                    STORE, "the server killed (SIGKILL of all its processes) while it is written to"
                ) as found:
                    writer.wait_for(20)
                    time.sleep(chance("kill", number).random() * 0.02)
                    mortal.kill()
                    time.sleep(0.2)
                    mortal.start()
                    writer.wait_for(20)
                    names = writer.acknowledged[looked_at:]
                    # A copy of one of an earlier round would be refused by the index of ids, and is looked for at the end.
                    messages = answered(lambda start=looked_at: store.read_messages("acme", "t1", from_seq=start))
                    there = [message.id for message in messages]
                    times = Counter(there)
                    for place, name in enumerate(names):
                        found.stored(there[place : place + 1] == [name] and times[name] == 1, name)
                    for _ in writer.words[refused:]:
                        found.refused()
                    looked_at, refused = looked_at + len(names), len(writer.words)
        finally:
            writer.stop()
        assert all(words.startswith(f"{store.place}: ") and "postgres@" not in words for words in writer.words)
        everything = ids_of(store)
        assert everything[: len(writer.acknowledged)] == writer.acknowledged
        assert len(everything) == len(set(everything)) <= len(writer.acknowledged) + 1


def test_no_call_returns_before_its_commit_is_flushed(store: PostgresStore, conninfo: str) -> None:
    """So that a power failure loses nothing acknowledged, as far as the server keeps its word: ``fsync``, the disk."""
    fill(store)
    store.forget("acme", user="gone")
    waiting = []
    with psycopg.connect(conninfo, autocommit=True) as other:
        for name, call in CALLS.items():
            call(store)
            behind = other.execute("SELECT pg_current_wal_insert_lsn() - pg_current_wal_flush_lsn()").fetchone()
            waiting += [name] if behind != (0,) else []
    # The server notes its own state now and then, for which nobody waits.
    assert len(waiting) <= 1, waiting


def test_connections_that_a_restart_closed_are_replaced_without_an_error(
    mortal: MortalServer, mortal_database: str
) -> None:
    with (
        fault_round(STORE, "the server restarted under open connections") as found,
        PostgresStore(mortal_database, min_connections=3) as store,
    ):
        store.append_messages("acme", "t1", messages_of(0))
        threads = [threading.Thread(target=store.last_seq, args=("acme", "t1")) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        mortal.stop()
        mortal.start()
        assert store.append_messages("acme", "t1", messages_of(1)) == 1
        found.stored(ids_of(store) == ["m0", "m1"], "the messages of t1")


def test_a_call_while_the_server_is_away_ends_in_time(mortal: MortalServer, mortal_database: str) -> None:
    with (
        fault_round(STORE, "the server away for a while") as found,
        PostgresStore(mortal_database, connect_timeout_ms=1_000) as store,
    ):
        store.append_messages("acme", "t1", messages_of(0))
        mortal.stop()
        try:
            begin = time.monotonic()
            for _ in range(2):
                with pytest.raises(StorageError, match=r"127\.0\.0\.1:\d+/test_\d+: "):
                    store.append_messages("acme", "t1", messages_of(1))
                found.refused()
            assert time.monotonic() - begin < 20
        finally:
            mortal.start()
        there = answered(lambda: ids_of(store), within_seconds=20)
        found.stored(there.count("m0") == 1, "the message before")
        found.content(there == ["m0"], "a message that was refused")
        assert answered(lambda: store.append_messages("acme", "t1", messages_of(1)), within_seconds=20) == 1


def sleep(store: PostgresStore, seconds: int) -> None:
    with store._connections.transaction() as transaction:
        transaction.rows("SELECT pg_sleep(?)", seconds)


def test_a_statement_that_takes_too_long_is_undone(store: PostgresStore, conninfo: str) -> None:
    fill(store)
    before = state(conninfo)
    with (
        fault_round(STORE, "a statement in the middle of a call takes too long") as found,
        PostgresStore(conninfo, statement_timeout_ms=200) as hasty,
        psycopg.connect(conninfo, autocommit=True) as admin,
    ):
        with pytest.raises(StorageError, match=r"timed out and was rolled back: .* statement_timeout_ms"):
            sleep(hasty, 20)
        found.refused()
        admin.execute(
            "CREATE FUNCTION gatekeeper.slow() RETURNS trigger LANGUAGE plpgsql "
            "AS 'BEGIN PERFORM pg_catalog.pg_sleep(20); RETURN NEW; END'"
        )
        # After the messages are in their table.
        admin.execute("CREATE TRIGGER slow AFTER INSERT ON gatekeeper.messages EXECUTE FUNCTION gatekeeper.slow()")
        with pytest.raises(StorageError, match="timed out and was rolled back"):
            hasty.append_messages("acme", "t1", messages_of(7, 8))
        found.refused()
        found.content(state(conninfo) == before, "half a call")
        admin.execute("DROP FUNCTION gatekeeper.slow() CASCADE")
        assert hasty.append_messages("acme", "t1", messages_of(7)) == 2
        found.stored(ids_of(store) == ["m0", "m1", "m7"], "the messages before and after")


def test_a_writer_that_another_one_keeps_waiting_gives_up(store: PostgresStore, conninfo: str) -> None:
    store.append_messages("acme", "t1", messages_of(0))
    with PostgresStore(conninfo, lock_timeout_ms=50) as hasty:
        with store._writing("acme", b"thread", b"acme", b"t1"):
            with pytest.raises(StorageError, match="locked by another writer"):
                hasty.append_messages("acme", "t1", messages_of(1))
            assert hasty.last_seq("acme", "t1") == 0  # readers wait for nobody
            assert hasty.append_messages("acme", "t2", messages_of(0)) == 0  # nor do writers of another thread
        assert hasty.append_messages("acme", "t1", messages_of(1)) == 1


def test_calls_wait_for_a_connection_no_longer_than_they_were_told(conninfo: str) -> None:
    with (
        fault_round(STORE, "all connections in use") as found,
        PostgresStore(conninfo, max_connections=1, connect_timeout_ms=150) as store,
    ):
        sleeper = threading.Thread(target=lambda: sleep(store, 1))
        sleeper.start()
        time.sleep(0.2)
        with pytest.raises(StorageError, match="no connection in time: all are busy"):
            store.append_messages("acme", "t1", messages_of(0))
        found.refused()
        sleeper.join()
        found.content(store.last_seq("acme", "t1") == -1, "a call that was refused")
        assert store.append_messages("acme", "t1", messages_of(1)) == 0


def test_eight_threads_that_mix_all_calls_lose_and_double_nothing(store: PostgresStore) -> None:
    mix_all_calls(store, STORE, least=10)


def test_writers_of_the_same_memories_in_another_order_never_block_each_other_for_good(store: PostgresStore) -> None:
    def work(worker: int) -> None:
        order = 1 if worker % 2 else -1
        for number in range(4):
            names = [f"{worker}-{number}-{n}" for n in range(3)][::order]
            store.put_memories(ANN, [record(name, "tea", vector=(1.0, float(worker), 1.0)) for name in names])
            store.delete_memories(ANN, [f"{worker - order}-{number}-{n}" for n in range(3)][::order])

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_an_error_holds_nothing_of_what_was_to_be_stored(store: PostgresStore, conninfo: str) -> None:
    """Also not behind it: the server quotes the row that it refuses."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("ALTER TABLE gatekeeper.messages ADD CONSTRAINT odd CHECK (length(body) < 5)")
    with pytest.raises(StorageError) as caught:
        store.append_messages("acme", "t1", [Message("user", "a secret of hers", id="m1")])
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert "secret" not in str(caught.value)
