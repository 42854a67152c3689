"""What a SQLite store keeps when processes are killed, files are damaged, disks are full and statements fail.

Environment:
    GATEKEEPER_FAULT_ROUNDS: how many times as many rounds as in CI are made, with other random numbers (default 1).
    GATEKEEPER_FAULT_SEED: the seed of these numbers; any seed must pass.
    GATEKEEPER_FAULT_RECORD: a file for what each round looked for and found; see ``tests/fault_record.py``.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_core.errors import ConflictError, ForgottenError, StorageError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import SQLiteStore
from gatekeeper_core.storage.sqlite_schema import MIGRATIONS
from gatekeeper_core.vectors import unit_vector
from tests.fault_record import fault_round
from tests.memory_store_contract import record
from tests.message_store_contract import ids_of, messages_of
from tests.store_contract import fill, seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper_core.storage.base import Store
    from tests.fault_record import Round

STORE = "SQLite"
TIMES = int(os.environ.get("GATEKEEPER_FAULT_ROUNDS", "1"))
SEED = os.environ.get("GATEKEEPER_FAULT_SEED", "" if TIMES == 1 else os.urandom(8).hex())

ANN = MemoryScope("acme", "ann")

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def rounds(number: int) -> list[int]:
    return list(range(number * TIMES))


def chance(*of: object) -> random.Random:
    return random.Random(f"{SEED} {of}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


class Child:
    """A process that runs a function, which says through a pipe what it has been told is stored."""

    def __init__(self, work: Callable[[Callable[[str], None]], None]) -> None:
        reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reading)
            status = 1
            try:
                work(partial(self._say, writing))
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        self._pipe = os.fdopen(reading, encoding="utf-8")

    @staticmethod
    def _say(writing: int, line: str) -> None:
        os.write(writing, f"{line}\n".encode())

    def first(self) -> str:
        """Return its first line."""
        return self._pipe.readline()

    def ended(self) -> list[str]:
        """Wait until it has come to its end, and return its other lines."""
        with self._pipe:
            lines = self._pipe.read().splitlines()
        assert os.waitpid(self.pid, 0)[1] == 0
        return lines

    def killed(self, *, after_seconds: float) -> list[str]:
        """Kill it so long after its first line, and return its lines."""
        first = self.first()
        time.sleep(after_seconds)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        with self._pipe:
            return [first.strip(), *self._pipe.read().splitlines()]


def writes(place: Store | Path, number: int) -> Callable[[Callable[[str], None]], None]:
    """Return a function that writes all kinds of things without end, and says what was acknowledged."""

    def work(say: Callable[[str], None]) -> None:
        store = SQLiteStore(place) if isinstance(place, Path) else place
        say("ready")
        for step in range(10_000):
            name = f"{number}-{step}"
            store.blobs_of("acme", "t1").put("s", name, name.encode() * 3_000)
            say(f"blob {name}")
            batch = [Message("tool", f"[[wm:{name}]]", id=f"{name}/{part}") for part in range(3)]
            store.append_messages("acme", "t1", batch)
            say(f"messages {name}")
            stored = store.load_record("acme", "t1", "summary")
            version = stored.version if stored else 0
            store.save_record("acme", "t1", "summary", f'"{version + 1}"', upto_seq=step, expected_version=version)
            say(f"record {version + 1}")
            store.put_memories(ANN, [record(name, "tea", name), record(f"{name}b", "tea")])
            say(f"memory {name}")

    return work


def test_what_was_acknowledged_survives_a_kill_at_any_moment(path: Path) -> None:
    """Present once, in order; a batch whole or not at all; a pointer never without its body."""
    SQLiteStore(path).close()
    for number in rounds(8):
        lines = Child(writes(path, number)).killed(after_seconds=chance("kill", number).random() * 0.05)
        with (
            fault_round(STORE, "kill -9 while it appends, saves records and memories, puts bodies aside") as found,
            SQLiteStore(path) as store,
        ):
            found.content(store.check() == (), "the check found something")
            blobs = store.blobs_of("acme", "t1")
            for batch in look_for(store, lines, found)[-50:]:
                found.content(blobs.get("s", batch) == batch.encode() * 3_000, f"the body of {batch}")


def look_for(store: Store, lines: list[str], found: Round) -> list[str]:
    """Look for what a writer has been told is stored, and return the names of the batches that are there."""
    names = [str(name) for name in ids_of(store)]
    assert len(set(names)) == len(names) == store.last_seq("acme", "t1") + 1
    batches = [name.rpartition("/")[0] for name in names[::3]]
    assert names == [f"{batch}/{part}" for batch in batches for part in range(3)]
    acknowledged = [line.split() for line in lines if " " in line]
    for kind, name in acknowledged:
        if kind == "messages":
            found.stored(batches.count(name) == 1, f"messages {name}")
        elif kind == "blob":
            found.stored(store.blobs_of("acme", "t1").get("s", name, 0, 5) == (name * 3)[:5].encode(), f"blob {name}")
        elif kind == "memory":
            both = [store.get_memory(ANN, each) for each in (name, f"{name}b")]
            ids = [each.memory.id for each in store.find_memories(ANN, terms=[name], limit=2)]
            found.stored(None not in both and ids == [name], f"memory {name}")
    versions = [int(name) for kind, name in acknowledged if kind == "record"]
    stored = store.load_record("acme", "t1", "summary")
    if versions:
        found.stored(stored is not None and versions[-1] <= stored.version <= versions[-1] + 1, "record")
    if stored:
        found.content(stored.body == f'"{stored.version}"', "record")
    return batches


def test_a_full_disk_is_named_and_stores_nothing_of_the_call(path: Path) -> None:
    with fault_round(STORE, "no room left in the file") as found, SQLiteStore(path) as store:
        store.append_messages("acme", "t1", messages_of(0))
        with store._lend("bare") as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        large_ones = [Message("user", "x" * 3_000, id=f"large-{n}") for n in range(20)]
        blobs = store.blobs_of("acme", "t1")
        for write in (
            lambda: store.append_messages("acme", "t1", large_ones),
            lambda: blobs.put("s", "b", bytes(50_000)),
        ):
            with pytest.raises(StorageError, match="no space left"):
                write()
            found.refused()
            with store._lend("bare") as connection:  # an error brought a new connection
                connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        found.stored(ids_of(store) == ["m0"], "the message before")
        found.content(blobs.records("s") == (), "half a body")
        with store._lend("bare") as connection:
            connection.execute("PRAGMA max_page_count = 1000000")
        assert store.append_messages("acme", "t1", large_ones) == 20
        assert store.check() == ()


SLOW = "; ".join(f"CREATE TABLE added_{n} (tenant BLOB, thread BLOB, PRIMARY KEY (tenant, thread))" for n in range(60))


def test_a_kill_in_the_middle_of_a_migration_leaves_it_undone_or_done(path: Path) -> None:
    with SQLiteStore(path) as store:
        fill(store)
        before = seen(store)
    done = 0

    class SlowlyMigrated(SQLiteStore):
        _migrations = (*MIGRATIONS, SLOW)

    for number in rounds(8):
        copy = path.with_name(f"copy-{number}.db")
        shutil.copy(path, copy)

        def work(say: Callable[[str], None], copy: Path = copy) -> None:
            say("ready")
            SlowlyMigrated(copy, busy_timeout_ms=0)
            time.sleep(10)

        Child(work).killed(after_seconds=chance("migration", number).random() * 0.02)
        connection = sqlite3.connect(copy)
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'added_%'").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.close()
        done += version == 2
        with fault_round(STORE, "kill -9 in the middle of a migration") as found:
            found.content((version, tables) in ((1, 0), (2, 60)), "half a migration")
            if version == 1:
                with SQLiteStore(copy) as store:
                    found.stored(seen(store) == before, "what was there before")
        SlowlyMigrated(copy, busy_timeout_ms=0).close()
    assert done < len(rounds(8))


class Failing(sqlite3.Connection):
    """A connection whose statements fail when their number has come."""

    remaining: int | None = None

    def _count(self) -> None:
        if Failing.remaining is not None:
            Failing.remaining -= 1
            if Failing.remaining < 0:
                raise sqlite3.OperationalError("disk I/O error")

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().executemany(*arguments)


CALLS: dict[str, Callable[[Store], object]] = {
    "append": lambda store: store.append_messages("acme", "t1", messages_of(1, 2, 3)),
    "append to a new thread": lambda store: store.append_messages("acme", "t2", messages_of(1, 2, 3)),
    "save": lambda store: store.save_record("acme", "t1", "summary", '"b"', upto_seq=1, expected_version=1),
    "remember": lambda store: store.put_memories(
        ANN, [record("m1", "coffee", version=2), record("m9", "tea", vector=(1.0, 0.0))]
    ),
    "delete": lambda store: store.delete_memories(ANN, ["m1", "m2"]),
    "put aside": lambda store: store.blobs_of("acme", "t1").put("scope", "body", bytes(70_000)),
    "begin anew": lambda store: store.begin_anew("acme", user="gone"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_whichever_statement_fails_all_of_a_call_is_stored_or_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[Store], object]
) -> None:
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Failing))
    monkeypatch.setattr(Failing, "remaining", None)
    with SQLiteStore(path) as store:
        fail_at_each_statement(store, call, Failing, lambda: state(store), STORE)
        assert store.check() == ()


def fail_at_each_statement(
    store: Any,
    call: Callable[[Store], object],
    failing: Any,
    rows: Callable[[], object],
    name: str,
    *,
    fault: str = "the Nth statement of a call fails",
) -> None:
    """Let a call fail at its first statement, then at its second one and so on until it comes to its end."""
    fill(store)
    store.forget("acme", user="gone")
    before = rows()
    for number in range(200):
        failing.remaining = number
        error = error_of(lambda: call(store))
        failing.remaining = None
        if error is None:
            assert number >= 3
            assert rows() != before
            return
        assert store.place in str(error)
        assert "made up" not in str(error)
        with fault_round(name, fault) as found:
            found.refused()
            found.content(rows() == before, "half a call")
            found.stored(store.last_seq("acme", "t1") == 1, "what was there before")
    pytest.fail("the call never came to its end")


def error_of(call: Callable[[], object]) -> StorageError | None:
    try:
        call()
    except StorageError as error:
        return error
    return None


def state(store: SQLiteStore) -> list[tuple[Any, ...]]:
    """Return all rows of all tables."""
    with store._reading() as transaction:
        tables = [name.decode() for (name,) in transaction.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [row for table in sorted(tables) for row in transaction.rows(f"SELECT * FROM {table}")]  # noqa: S608


def test_eight_threads_that_mix_all_calls_lose_and_double_nothing(path: Path) -> None:
    with SQLiteStore(path, busy_timeout_ms=60_000) as store:
        mix_all_calls(store, STORE, least=24)
        assert store.check() == ()


def mix_all_calls(store: Any, name: str, *, least: int) -> None:
    """Let eight threads make at least so many calls each, and look for what they appended."""
    appended: list[str] = []
    begin, seconds = time.monotonic(), 0.0 if TIMES < 20 else 60.0

    def work(worker: int) -> None:
        draw, number = chance("threads", worker), 0
        while number < least or time.monotonic() < begin + seconds:
            number += 1
            one_of_all_calls(store, draw, f"{worker}-{number}", appended)

    with fault_round(name, "eight threads mix all calls") as found:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        times = Counter(map(str, ids_of(store, "acme", "shared")))
        for message_id in appended:
            found.stored(times[message_id] == 1, message_id)
        assert times.total() == len(appended)
        task = store.load_record("acme", "shared", "task")
        found.content(task is None or task.body == f'"{task.version}"', "record")


def one_of_all_calls(store: SQLiteStore, draw: random.Random, name: str, appended: list[str]) -> None:
    choice = draw.randrange(8)
    if choice < 3:
        store.append_messages("acme", "shared", [Message("user", name, id=name)])
        appended.append(name)
        assert name in ids_of(store, "acme", "shared")
    elif choice == 3:
        stored = store.load_record("acme", "shared", "task")
        version = stored.version if stored else 0
        with suppress(ConflictError):
            store.save_record("acme", "shared", "task", f'"{version + 1}"', upto_seq=0, expected_version=version)
    elif choice == 4:
        store.put_memories(ANN, [record(name, "tea", vector=(1.0, draw.random()))])
        assert store.find_memories(ANN, terms=["tea"], vector=unit_vector([1.0, 0.0]), limit=3)
        store.delete_memories(ANN, [name])
    elif choice == 5:
        blobs = store.blobs_of("acme", "shared")
        blobs.put("s", name, name.encode() * 9_000)
        assert blobs.get("s", name, 0, len(name)) == name.encode()
        blobs.delete("s", name)
    elif choice == 6:
        assert store.info().threads >= 0
        assert store.count_memories(ANN, ["tea"]).memories >= 0
    else:
        with suppress(ForgottenError):
            store.append_messages("acme", "private", messages_of(draw.randrange(5)))
        store.forget("acme", thread="private")
        store.begin_anew("acme", thread="private")
