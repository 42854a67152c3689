"""Stores: how many messages a second, how long a reading takes, and what is kept of a hundred writes at once?

``python -m benchmarks.stores [--rounds 7] [--postgres CONNINFO] [--redis URL] [--json FILE]``. Ours and those of the
frameworks hold the same threads of the seeded bilingual conversation, and take turns: in each round every store is
measured once, another one first each time, so that a noisy machine is noisy for all. Each append is acknowledged before
the next one begins; after each round it is looked whether the threads hold what was written. Times are of the wall
clock, because a store waits; medians, with the lowest and the highest.

A database of its own is made on the PostgreSQL server and dropped at the end; on the Redis server keys are made, and
deleted. Without a server its rows say so.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import count, islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from benchmarks.corpus import stream_turns
from benchmarks.report import SEED, report, simple_options
from benchmarks.store_shelves import SHELVES, Append, Outcome, Place, Said, ShelfKind

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.synchronize import Barrier

Figures = dict[str, dict[str, list[float]]]
"""By store and by what was measured a value for each round: messages a second, or milliseconds."""

_T = TypeVar("_T")
_BATCH = 10
_WRITERS = 4
_NEWEST = 2
_PATIENCE = 300
"""Seconds after which a process that has not answered is ended."""
_RUN = uuid.uuid4().hex[:8]
"""In the names of all threads, which must be UUIDs for one of the peers."""


class Sizes(NamedTuple):
    """What is measured in a round: single appends, messages of the long thread that is read, writes at once."""

    rounds: int
    appends: int
    long: int
    at_once: int
    contests: int


def said(size: int, *, first: int = 0, writer: str = "m") -> list[Said]:
    """Return messages of the seeded conversation, with ids of their own."""
    turns = stream_turns(seed=SEED)
    texts = (text for turn in turns for text in (turn.user, turn.assistant))
    return [
        Said(f"{writer}{at}", "assistant" if at % 2 else "user", f"{text} #{writer}{at}")
        for at, text in enumerate(islice(texts, size), first)
    ]


def names() -> Iterator[str]:
    """Yield names of threads, one after the other."""
    return (f"{_RUN}-0000-4000-8000-{number:012x}" for number in count(1))


class _Round:
    """One store, measured round by round; ``figures`` has by what was measured a value for each round."""

    def __init__(self, kind: ShelfKind, place: Place, sizes: Sizes, named: Iterator[str]) -> None:
        self.kind, self._sizes, self._names = kind, sizes, named
        self.figures: dict[str, list[float]] = {}
        self._messages, self._long = said(sizes.appends), said(sizes.long)
        self.shelf = kind.open(place)
        self._read, self._grown, self._length = self._new(), self._new(), sizes.long
        for thread in (self._read, self._grown):
            self.shelf.append(thread, self._long)

    def measure(self) -> None:
        """Measure everything once."""
        for what, batch, writers in (("one", 1, 1), ("ten", _BATCH, 1), ("writers", 1, _WRITERS)):
            self._write(what, batch, writers)
        more = said(max(1, self._sizes.appends // 10), first=self._length)
        seconds, _ = _seconds(self.shelf.write, [Append(self._grown, (each,)) for each in more])
        self._count("end of the long thread", len(more) / seconds)
        self._length += len(more)
        assert len(self.shelf.texts(self._grown)) == self._length
        seconds, found = _seconds(self.shelf.texts, self._read)
        self._count("read", 1000 * seconds)
        assert found == [each.text for each in self._long]
        start = self._sizes.long - _NEWEST
        times = [_seconds(self.shelf.newest, self._read, _NEWEST, start) for _ in range(5)]
        self._count("newest", 1000 * statistics.fmean(seconds for seconds, _ in times))
        assert times[-1][1] == [each.text for each in self._long[start:]]

    def _new(self) -> str:
        thread = next(self._names)
        self.shelf.prepare(thread)
        return thread

    def _write(self, what: str, batch: int, writers: int) -> None:
        threads = [self._new() for _ in range(writers)]
        share = self._messages[: len(self._messages) // writers // batch * batch]
        parts = [tuple(share[at : at + batch]) for at in range(0, len(share), batch)]
        jobs = [[Append(thread, part) for part in parts] for thread in threads]
        if writers == 1:
            seconds, _ = _seconds(self.shelf.write, jobs[0])
        else:
            seconds, outcomes = _seconds(self.shelf.at_once, jobs)
            assert not [error for outcome in outcomes for error in outcome.errors]
        self._count(what, len(share) * writers / seconds)
        for thread in threads:
            assert self.shelf.texts(thread) == [each.text for each in share], f"{self.kind.name}: {what}"

    def _count(self, what: str, value: float) -> None:
        self.figures.setdefault(what, []).append(value)


def _seconds(call: Callable[..., _T], *arguments: object) -> tuple[float, _T]:
    begin = time.perf_counter()
    found = call(*arguments)
    return time.perf_counter() - begin, found


def measured(kinds: Sequence[ShelfKind], place: Place, sizes: Sizes, named: Iterator[str]) -> Figures:
    """Return by store and by what was measured the figures of all rounds, after one that does not count."""
    running = []
    for kind in kinds:
        _say(f"filling {kind.name}")
        running.append(_Round(kind, place, sizes, named))
    for number in range(sizes.rounds + 1):
        _say(f"round {number} of {sizes.rounds}")
        first = number % max(1, len(running))
        for each in (*running[first:], *running[:first]):
            each.measure()
    for each in running:
        each.shelf.close()
    return {each.kind.name: {what: values[1:] for what, values in each.figures.items()} for each in running}


class Writers:
    """Processes that have a store open and write to it at the same time."""

    def __init__(self, name: str, place: Place, writers: int) -> None:
        context = get_context("spawn")
        self._gate = gate = context.Barrier(writers)  # as long as the processes
        pairs = [context.Pipe() for _ in range(writers)]
        self._pipes = [ours for ours, _ in pairs]
        self._processes = [
            context.Process(target=_append_on_request, args=(name, place, gate, theirs), daemon=True)
            for _, theirs in pairs
        ]
        for process in self._processes:
            process.start()

    def write(self, writers: Sequence[Sequence[Append]]) -> list[Outcome]:
        """Let each process append its own, one after the other, all of them beginning at once."""
        for pipe, appends in zip(self._pipes, writers, strict=True):
            pipe.send(appends)
        if not all(pipe.poll(_PATIENCE) for pipe in self._pipes):
            raise RuntimeError("a process that writes does not answer")
        return [pipe.recv() for pipe in self._pipes]

    def end(self) -> None:
        """End the processes and wait for them."""
        for process in self._processes:
            process.kill()
            process.join()


def _append_on_request(name: str, place: Place, gate: Barrier, pipe: Connection) -> None:
    shelf = SHELVES[name].open(place)
    while True:
        appends = pipe.recv()
        for thread in {each.thread for each in appends}:
            shelf.prepare(thread)
        gate.wait(_PATIENCE)
        pipe.send(shelf.at_once([appends])[0])


class Tally(NamedTuple):
    """What became of writes.

    Stored once; neither acknowledged nor stored; acknowledged and not stored; stored twice; stored though it raised.
    """

    kept: int
    errors: int
    lost: int
    twice: int
    unsaid: int


def tally(wanted: Sequence[Said], found: Sequence[str], outcomes: Sequence[Outcome]) -> Tally:
    """Return what became of writes: those wanted, the texts found in the thread, what the writers were told."""
    times = Counter(found)
    acknowledged = {name for outcome in outcomes for name in outcome.acknowledged}
    there = {each.id for each in wanted if times[each.text]}
    return Tally(
        kept=sum(times[each.text] == 1 for each in wanted),
        errors=sum(each.id not in acknowledged | there for each in wanted),
        lost=len(acknowledged - there),
        twice=sum(times[each.text] > 1 for each in wanted),
        unsaid=len(there - acknowledged),
    )


def kept_row(name: str, writers: str, tallies: Sequence[Tally]) -> dict[str, Any]:
    """Return what became of the writes of several contests as a row: the median that was kept, all else as sums."""
    kept = [each.kept for each in tallies]
    return {
        "store": name,
        "writers": writers,
        "kept, median": int(statistics.median_low(kept)),
        "kept, least": min(kept),
        "writes": sum(sum(each[:4]) for each in tallies),
        "refused with an error": sum(each.errors for each in tallies),
        "lost in silence": sum(each.lost for each in tallies),
        "twice": sum(each.twice for each in tallies),
    }


def contests(kind: ShelfKind, place: Place, sizes: Sizes, named: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for writers of one process and, where others can open the store, one for those of several."""
    shelf, share = kind.open(place), sizes.at_once // _WRITERS
    parts = [said(share, writer=f"w{writer}-") for writer in range(_WRITERS)]
    everything = [each for part in parts for each in part]

    def row(writers: str, jobs: Sequence[Sequence[Said]], write: Callable[..., list[Outcome]]) -> dict[str, Any]:
        tallies = []
        for _ in range(sizes.contests):
            thread = next(named)
            shelf.prepare(thread)
            outcomes = write([[Append(thread, (each,)) for each in job] for job in jobs])
            tallies.append(tally(everything, shelf.texts(thread), outcomes))
        return kept_row(kind.name, writers, tallies)

    yield row(f"one process, {len(everything)} at once", [[each] for each in everything], shelf.at_once)
    if kind.is_shared:
        writers = Writers(kind.name, place, _WRITERS)
        try:
            yield row(f"{_WRITERS} processes, {share} each", parts, writers.write)
        finally:
            writers.end()
    shelf.close()


WRITES = {
    "one": "one a call",
    "ten": f"{_BATCH} a call",
    "writers": f"{_WRITERS} threads",
    "end of the long thread": "end of the long thread",
}
READS = {"read": "whole thread, ms", "newest": f"newest {_NEWEST}, ms"}


def figure_row(kind: ShelfKind, figures: Figures, heads: Mapping[str, str], digits: int) -> dict[str, Any]:
    """Return the figures of a store as a row: medians, with the lowest and the highest."""
    row: dict[str, Any] = {"store": kind.name, "settings": kind.settings}
    for what, head in heads.items():
        values = figures[kind.name][what]
        middle, low, high = (f"{each:.{digits}f}" for each in (statistics.median(values), min(values), max(values)))
        row[head] = f"{middle} ({low} to {high})"
    return row


@contextmanager
def _database(conninfo: str) -> Iterator[str]:
    """Yield the conninfo of a new database of a PostgreSQL server, which is dropped at the end; "" for none."""
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


@contextmanager
def _keys(url: str) -> Iterator[str]:
    """Yield the URL of a Redis server, and delete the keys of this run from it at the end."""
    yield url
    if url:
        client: Any = import_module("redis").Redis.from_url(url)
        for key in list(client.scan_iter(match=f"*{_RUN}-0000-*")):
            client.delete(key)


def _servers(place: Place) -> dict[str, str]:
    """Return what the servers say of how long they wait for the disk."""
    said_of: dict[str, str] = {}
    if place.postgres:
        with import_module("psycopg").connect(place.postgres) as connection:
            for name in ("server_version", "fsync", "synchronous_commit"):
                said_of[name] = connection.execute(f"SHOW {name}").fetchone()[0]
    if place.redis:
        client: Any = import_module("redis").Redis.from_url(place.redis, decode_responses=True)
        said_of["redis_version"] = client.info("server")["redis_version"]
        for name in ("appendonly", "appendfsync"):
            said_of[name] = client.config_get(name)[name]
    return said_of


def _tables(place: Place, sizes: Sizes, *, ours_only: bool) -> dict[str, list[dict[str, Any]]]:
    kinds = [kind for kind in SHELVES.values() if kind.is_ours or not ours_only]
    silent = {kind.name: why for kind in kinds if (why := kind.why_not(place))}
    there, named = [kind for kind in kinds if kind.name not in silent], names()
    figures = measured(there, place, sizes, named)
    kept: list[dict[str, Any]] = [{"store": name, "writers": why} for name, why in silent.items()]
    for kind in there:
        _say(f"writers at once: {kind.name}")
        kept += contests(kind, place, sizes, named)

    def rows(heads: Mapping[str, str], digits: int) -> list[dict[str, Any]]:
        return [
            {"store": kind.name, "settings": silent[kind.name]}
            if kind.name in silent
            else figure_row(kind, figures, heads, digits)
            for kind in kinds
        ]

    return {
        f"Messages a second, {sizes.rounds} rounds": rows(WRITES, 0),
        f"Reading a thread of {sizes.long:,} messages": rows(READS, 2),
        f"What is kept of writes at once, {sizes.contests} contests": kept,
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the tables, write JSON if asked to."""
    parser = simple_options(__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured (7)")
    parser.add_argument("--appends", type=int, default=100, help="messages that are written in a round, each way (100)")
    parser.add_argument("--long", type=int, default=1_000, help="messages of the thread that is read (1000)")
    parser.add_argument("--at-once", type=int, default=100, help="writes that are made at once (100)")
    parser.add_argument("--contests", type=int, default=5, help="how often they are made (5)")
    parser.add_argument("--postgres", default="", metavar="CONNINFO", help="a PostgreSQL server")
    parser.add_argument("--redis", default="", metavar="URL", help="a Redis server")
    parser.add_argument("--folder", help="where the files lie; without it in the system's folder for temporary ones")
    parser.add_argument("--ours-only", action="store_true", help="leave the peers out")
    options = parser.parse_args(arguments)
    sizes = Sizes(options.rounds, options.appends, options.long, options.at_once, options.contests)
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        _database(options.postgres) as postgres,
        _keys(options.redis) as redis,
    ):
        place = Place(folder, postgres, redis)
        facts, load = {"cores": os.cpu_count(), **_servers(place)}, os.getloadavg()
        tables = _tables(place, sizes, ours_only=options.ours_only)
    options.postgres, options.redis = bool(options.postgres), bool(options.redis)  # no secrets in a file
    report(options, "stores", tables, load=f"{load[0]:.1f} to {os.getloadavg()[0]:.1f}", **facts)


if __name__ == "__main__":
    main(sys.argv[1:])
