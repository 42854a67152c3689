"""What a SQLite store has after a power failure: a beginning of what was written, whichever unsynced blocks are lost.

The files are copied after each statement of the store. What of them is surely on the disk follows from SQLite's own order
(https://www.sqlite.org/wal.html): the log is synced before its pages go into the file, the file before the log is used
again, the head of a log before its pages; with ``synchronous="full"`` the log with each commit as well. Of everything
else any block may be the old or the new one, and a file that grows of any length between.

Environment: as for ``tests/storage/test_sqlite_faults.py``.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gatekeeper_core.messages import Message
from gatekeeper_core.storage.sqlite import SQLiteStore
from tests.fault_record import fault_round
from tests.memory_store_contract import record
from tests.message_store_contract import ids_of
from tests.storage.test_sqlite_faults import ANN, STORE, TIMES, chance

if TYPE_CHECKING:
    import random

    from gatekeeper_core.storage.sqlite import Synchronous

BLOCK = 512
HEAD = 32
"""Bytes at the start of a log, which SQLite syncs before it writes pages behind them."""

CHECKPOINT_PAGES = 25
"""Pages of the log from which on SQLite moves them into the file: few, so that it happens often here."""


class Disk(NamedTuple):
    """The bytes of the file and of its log."""

    file: bytes
    log: bytes


class Moment(NamedTuple):
    """A moment at which the power may fail.

    Attributes:
        safe: what is surely on the disk.
        now: what the system was told to write.
        at_least: how many of the calls so far must have survived.
        at_most: how many had begun.
    """

    safe: Disk
    now: Disk
    at_least: int
    at_most: int


class Recorder:
    """Copies the files of a store after each statement, and knows what of them is synced."""

    def __init__(self, path: Path, synchronous: Synchronous) -> None:
        self.moments: list[Moment] = []
        self.begun = self.acknowledged = 0
        self._path = path
        self._is_full = synchronous == "full"
        self._now = self._safe = self._read()
        self._at_least = 0

    def _read(self) -> Disk:
        log = Path(f"{self._path}-wal")
        return Disk(self._path.read_bytes(), log.read_bytes() if log.exists() else b"")

    def note(self, statement: str) -> None:
        """Note the moments between the last statement and the end of this one."""
        before, self._now = self._now, self._read()
        if self._now == before:
            return
        log = self._now.log or before.log  # emptied at the end of a checkpoint
        if log[:HEAD] != self._safe.log[:HEAD]:
            self._safe = self._safe._replace(log=log[:HEAD] + self._safe.log[HEAD:])
        self._moment(Disk(before.file, log))
        is_checkpoint = self._now.file != before.file
        if is_checkpoint or (self._is_full and statement == "COMMIT"):
            self._safe, self._at_least = (
                Disk(before.file, log),
                self.begun if statement == "COMMIT" else self.acknowledged,
            )
            self._moment(Disk(self._now.file, log))
        if is_checkpoint:
            self._safe = Disk(self._now.file, log)
            self._moment(self._now)

    def _moment(self, now: Disk) -> None:
        self.moments.append(Moment(self._safe, now, self._at_least, self.begun))


def recorded(monkeypatch: pytest.MonkeyPatch, store: SQLiteStore, synchronous: Synchronous) -> Recorder:
    """Return a recorder of what a store writes from now on, with frequent checkpoints."""
    store.close()
    recorder = Recorder(Path(store.path), synchronous)

    class Watched(sqlite3.Connection):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            cursor = super().execute(*arguments)
            recorder.note(str(arguments[0]))
            return cursor

        def executemany(self, *arguments: Any) -> sqlite3.Cursor:
            cursor = super().executemany(*arguments)
            recorder.note("")
            return cursor

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Watched))
    return recorder


def mixed(old: bytes, new: bytes, draw: random.Random) -> bytes:
    """Return what is on the disk when any of the blocks of a write may be there."""
    share = draw.choice([0.0, 0.1, 0.5, 0.9, 1.0])
    lengths = [len(old), len(new)]
    length = draw.choice([*lengths, draw.randint(*lengths)] if len(old) < len(new) else lengths)
    found = bytearray(old[:length].ljust(length, b"\0"))
    for at in range(0, min(length, len(new)), BLOCK):
        if draw.random() < share:
            block = new[at : min(at + BLOCK, length)]
            found[at : at + len(block)] = block
    return bytes(found)


def after_failure(moment: Moment, folder: Path, number: int) -> Path:
    """Return a copy of the files as the disk may have them after a power failure."""
    draw, path = chance("power", number), folder / f"copy-{number}.db"
    path.write_bytes(mixed(moment.safe.file, moment.now.file, draw))
    Path(f"{path}-wal").write_bytes(mixed(moment.safe.log, moment.now.log, draw))
    return path


def write(store: SQLiteStore, step: int) -> None:
    """Make the call of a step: a body, a batch, a record and a memory in turn."""
    name, turn = f"{step // 4}", step // 4
    if step % 4 == 0:
        store.blobs_of("acme", "t1").put("s", name, name.encode() * 9_000)
    elif step % 4 == 1:
        store.append_messages("acme", "t1", [Message("tool", f"端口 port {name}", id=f"{name}/{n}") for n in range(3)])
    elif step % 4 == 2:
        store.save_record("acme", "t1", "summary", f'"{turn + 1}"', upto_seq=turn, expected_version=turn)
    else:
        store.put_memories(ANN, [record(name, "tea", name), record(f"{name}b", "tea")])


def steps_in(store: SQLiteStore) -> int:
    """Return how many of the steps are in a store: the first ones, each whole, and nothing else."""
    blobs = store.blobs_of("acme", "t1")
    bodies = [blob.id for blob in blobs.records("s")]
    assert bodies == [f"{n}" for n in range(len(bodies))]
    assert all(blobs.get("s", name) == name.encode() * 9_000 for name in bodies)
    names = ids_of(store)
    assert names == [f"{n}/{part}" for n in range(len(names) // 3) for part in range(3)]
    summary = store.load_record("acme", "t1", "summary")
    assert summary is None or summary.body == f'"{summary.version}"'
    memories = {found.memory.id for found in store.find_memories(ANN, terms=["tea"], limit=10_000)}
    assert memories == {f"{n}{part}" for n in range(len(memories) // 2) for part in ("", "b")}
    counts = (len(bodies), len(names) // 3, summary.version if summary else 0, len(memories) // 2)
    assert list(counts) == sorted(counts, reverse=True)
    assert counts[0] - counts[3] <= 1
    return sum(counts)


@pytest.mark.parametrize("synchronous", ["normal", "full"])
def test_after_a_power_failure_there_is_a_beginning_of_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synchronous: Synchronous
) -> None:
    """Each call whole; with "normal" all up to the last checkpoint, with "full" all that was acknowledged."""
    recorder = recorded(monkeypatch, SQLiteStore(tmp_path / "store.db"), synchronous)
    with SQLiteStore(tmp_path / "store.db", synchronous=synchronous) as store:
        with store._lend("bare") as connection:
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            assert connection.execute("PRAGMA synchronous").fetchone() == ({"normal": 1, "full": 2}[synchronous],)
        for step in range(24):
            recorder.begun = step + 1
            write(store, step)
            recorder.acknowledged = step + 1
    monkeypatch.undo()
    assert sum(moment.safe.file != moment.now.file for moment in recorder.moments) > 2, "checkpoints"
    left_out = 0
    for number in range(TIMES * len(recorder.moments)):
        moment = recorder.moments[number % len(recorder.moments)]
        copy = after_failure(moment, tmp_path, number)
        with fault_round(STORE, f"power failure, synchronous={synchronous}") as found, SQLiteStore(copy) as store:
            found.content(store.check() == (), "the check found something")
            steps = steps_in(store)
            found.stored(moment.at_least <= steps <= moment.at_most, f"{moment.at_least} of {steps} steps")
            left_out += moment.at_most - steps
            write(store, steps)  # and it goes on where it was
            found.content(steps_in(store) == steps + 1, "the next call")
        copy.unlink()
    assert left_out > 0
