"""Stores: how many messages a second, how long a reading takes, and what is kept of a hundred writes at once?

``python -m benchmarks.stores [--rounds 7] [--postgres CONNINFO] [--redis URL] [--json FILE]``. Ours and those of the
frameworks hold the same threads of the seeded bilingual conversation, and take turns: in each round every store is
measured once, another one first each time, so that a noisy machine is noisy for all. Each append is acknowledged before
the next one begins; after each round it is looked whether the threads hold what was written. Times are of the wall
clock, because a store waits; medians, with the lowest and the highest. A ratio is the median of those of the rounds.

A database of its own is made on the PostgreSQL server and dropped at the end; on the Redis server keys are made, and
deleted. Without a server its rows say so.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import stream_turns
from benchmarks.report import SEED, commit, print_table, write_json
from benchmarks.store_shelves import SHELVES, Append, Outcome, Place, Said, ShelfKind
from benchmarks.store_worker import Writers

_BATCH = 10
_WRITERS = 4
_NEWEST = 2
_RUN = uuid.uuid4().hex[:8]
"""In the names of all threads, which must be UUIDs for one of the peers."""


class Sizes(NamedTuple):
    """What is measured in a round.

    Attributes:
        rounds: how often.
        appends: single messages that are appended to a thread that is empty.
        long: messages of the long thread, which is read.
        at_once: writes that are made at once.
        contests: how often they are made.
    """

    rounds: int
    appends: int
    long: int
    at_once: int
    contests: int


def said(count: int, *, first: int = 0, writer: str = "m") -> list[Said]:
    """Return messages of the seeded conversation, with ids of their own."""
    turns = stream_turns(seed=SEED)
    texts = (text for turn in turns for text in (turn.user, turn.assistant))
    return [
        Said(f"{writer}{at}", "assistant" if at % 2 else "user", f"{text} #{writer}{at}")
        for at, text in enumerate(islice(texts, count), first)
    ]


class Names:
    """Names of threads, one after the other, the same ones in every process that is told them."""

    def __init__(self) -> None:
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{_RUN}-0000-4000-8000-{self._count:012x}"


class _Round:
    """One store, measured round by round.

    Attributes:
        figures: by what was measured, a value for each round: messages a second, or milliseconds.
    """

    def __init__(self, kind: ShelfKind, place: Place, sizes: Sizes, names: Names) -> None:
        self.kind = kind
        self.figures: dict[str, list[float]] = {}
        self._sizes, self._names = sizes, names
        self._messages = said(sizes.appends)
        self._long = said(sizes.long)
        self.shelf = kind.open(place)
        self._read, self._grown = self._new(), self._new()
        for thread in (self._read, self._grown):
            self.shelf.append(thread, self._long)
        self._length = sizes.long

    def measure(self) -> None:
        """Measure everything once."""
        self._write("one", 1, 1)
        self._write("ten", _BATCH, 1)
        self._write("writers", 1, _WRITERS)
        self._write_on()
        self._read_all()
        self._read_newest()

    def _new(self) -> str:
        thread = self._names.new()
        self.shelf.prepare(thread)
        return thread

    def _write(self, what: str, batch: int, writers: int) -> None:
        threads = [self._new() for _ in range(writers)]
        share = self._messages[: len(self._messages) // writers // batch * batch]
        parts = [tuple(share[at : at + batch]) for at in range(0, len(share), batch)]
        jobs = [[Append(thread, part) for part in parts] for thread in threads]
        with self._counted(what, len(share) * writers):
            if writers == 1:
                self.shelf.write(jobs[0])
            else:
                assert not [error for outcome in self.shelf.at_once(jobs) for error in outcome.errors]
        for thread in threads:
            assert self.shelf.texts(thread) == [each.text for each in share], f"{self.kind.name}: {what}"

    def _write_on(self) -> None:
        more = said(max(1, self._sizes.appends // 10), first=self._length)
        with self._counted("end of the long thread", len(more)):
            self.shelf.write([Append(self._grown, (each,)) for each in more])
        self._length += len(more)
        assert len(self.shelf.texts(self._grown)) == self._length

    def _read_all(self) -> None:
        begin = time.perf_counter()
        found = self.shelf.texts(self._read)
        self._count("read", 1000 * (time.perf_counter() - begin))
        assert found == [each.text for each in self._long]

    def _read_newest(self) -> None:
        start, times = self._sizes.long - _NEWEST, 5
        begin = time.perf_counter()
        for _ in range(times):
            found = self.shelf.newest(self._read, _NEWEST, start)
        self._count("newest", 1000 * (time.perf_counter() - begin) / times)
        assert found == [each.text for each in self._long[start:]]

    @contextmanager
    def _counted(self, what: str, messages: int) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self._count(what, messages / (time.perf_counter() - begin))

    def _count(self, what: str, value: float) -> None:
        self.figures.setdefault(what, []).append(value)


def measured(kinds: Sequence[ShelfKind], place: Place, sizes: Sizes, names: Names) -> dict[str, dict[str, list[float]]]:
    """Return by store and by what was measured the figures of all rounds, after one that does not count."""
    running = []
    for kind in kinds:
        _say(f"filling {kind.name}")
        running.append(_Round(kind, place, sizes, names))
    for number in range(sizes.rounds + 1):
        _say(f"round {number} of {sizes.rounds}")
        first = number % max(1, len(running))
        for each in (*running[first:], *running[:first]):
            each.measure()
    for each in running:
        each.shelf.close()
    return {each.kind.name: {what: values[1:] for what, values in each.figures.items()} for each in running}


class Tally(NamedTuple):
    """What became of writes.

    Attributes:
        kept: stored once.
        errors: not acknowledged, and not stored.
        lost: acknowledged, and not stored.
        twice: stored more than once.
        unsaid: stored, though the call raised.
    """

    kept: int
    errors: int
    lost: int
    twice: int
    unsaid: int


def tally(wanted: Sequence[Said], found: Sequence[str], outcomes: Sequence[Outcome]) -> Tally:
    """Return what became of writes.

    Args:
        wanted: what was written.
        found: the texts that the thread holds.
        outcomes: what the writers were told.
    """
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


def contests(kind: ShelfKind, place: Place, sizes: Sizes, names: Names) -> Iterator[dict[str, Any]]:
    """Yield a row for writers of one process and, where others can open the store, one for those of several."""
    shelf = kind.open(place)
    each_writes = sizes.at_once // _WRITERS
    parts = [said(each_writes, writer=f"w{writer}-") for writer in range(_WRITERS)]
    everything = [each for part in parts for each in part]

    def contest(write: Callable[[str], list[Outcome]]) -> Tally:
        thread = names.new()
        shelf.prepare(thread)
        outcomes = write(thread)
        return tally(everything, shelf.texts(thread), outcomes)

    def at_once(thread: str) -> list[Outcome]:
        return shelf.at_once([[Append(thread, (each,))] for each in everything])

    found = [contest(at_once) for _ in range(sizes.contests)]
    yield kept_row(kind.name, f"one process, {len(everything)} at once", found)
    if kind.is_shared:
        writers = Writers(kind.name, place, _WRITERS)
        try:
            found = [
                contest(lambda thread: writers.write([[Append(thread, (each,)) for each in part] for part in parts]))
                for _ in range(sizes.contests)
            ]
        finally:
            writers.end()
        yield kept_row(kind.name, f"{_WRITERS} processes, {each_writes} each", found)
    shelf.close()


_WRITES = {
    "one": "one a call",
    "ten": f"{_BATCH} a call",
    "writers": f"{_WRITERS} threads",
    "end of the long thread": "end of the long thread",
}
_READS = {"read": "whole thread, ms", "newest": f"newest {_NEWEST}, ms"}


def write_row(kind: ShelfKind, figures: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """Return the messages a second of a store as a row, and how many times as many the store beside it does."""
    row: dict[str, Any] = {"store": kind.name, "settings": kind.settings}
    for what, head in _WRITES.items():
        values = figures[kind.name][what]
        row[head] = f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"
    for what, head in _WRITES.items():
        row[f"{head}: ours, times"] = _ratio(figures, kind, what, more_is_better=True)
    return row


def read_row(kind: ShelfKind, figures: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """Return the milliseconds of a store's readings as a row, and how many times as long as that of ours they take."""
    row: dict[str, Any] = {"store": kind.name}
    for what, head in _READS.items():
        values = figures[kind.name][what]
        row[head] = f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
    for what, head in _READS.items():
        row[f"{head[:-4]}: times ours"] = _ratio(figures, kind, what, more_is_better=False)
    return row


def _ratio(
    figures: dict[str, dict[str, list[float]]], kind: ShelfKind, what: str, *, more_is_better: bool
) -> str | None:
    if kind.beside not in figures or kind.beside == kind.name:
        return None
    pairs = zip(figures[kind.beside][what], figures[kind.name][what], strict=True)
    ratio = statistics.median(ours / theirs if more_is_better else theirs / ours for ours, theirs in pairs)
    return f"{ratio:.1f}"


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
    silent = {kind.name: kind.why_not(place) for kind in kinds if kind.why_not(place)}
    there = [kind for kind in kinds if kind.name not in silent]
    names = Names()
    figures = measured(there, place, sizes, names)
    kept: dict[str, list[dict[str, Any]]] = {}
    for kind in there:
        _say(f"writers at once: {kind.name}")
        kept[kind.name] = list(contests(kind, place, sizes, names))

    def rows(row: Callable[[ShelfKind], list[dict[str, Any]]], column: str) -> list[dict[str, Any]]:
        return [
            each
            for kind in kinds
            for each in ([{"store": kind.name, column: silent[kind.name]}] if kind.name in silent else row(kind))
        ]

    return {
        f"Messages a second, {sizes.rounds} rounds": rows(lambda kind: [write_row(kind, figures)], _WRITES["one"]),
        f"Reading a thread of {sizes.long:,} messages": rows(
            lambda kind: [read_row(kind, figures)], "whole thread, ms"
        ),
        f"What is kept of writes at once, {sizes.contests} contests": rows(lambda kind: kept[kind.name], "writers"),
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured (7)")
    parser.add_argument("--appends", type=int, default=100, help="messages that are written in a round, each way (100)")
    parser.add_argument("--long", type=int, default=1_000, help="messages of the thread that is read (1000)")
    parser.add_argument("--at-once", type=int, default=100, help="writes that are made at once (100)")
    parser.add_argument("--contests", type=int, default=5, help="how often they are made (5)")
    parser.add_argument("--postgres", default="", metavar="CONNINFO", help="a PostgreSQL server")
    parser.add_argument("--redis", default="", metavar="URL", help="a Redis server")
    parser.add_argument("--folder", help="where the files lie; without it in the system's folder for temporary ones")
    parser.add_argument("--ours-only", action="store_true", help="leave the peers out")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the tables, write JSON if asked to."""
    options = _options(arguments)
    commit()
    sizes = Sizes(options.rounds, options.appends, options.long, options.at_once, options.contests)
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        _database(options.postgres) as postgres,
        _keys(options.redis) as redis,
    ):
        place = Place(folder, postgres, redis)
        facts: dict[str, Any] = {"seed": SEED, "cores": os.cpu_count(), **_servers(place)}
        load = os.getloadavg()
        tables = _tables(place, sizes, ours_only=options.ours_only)
        facts["load"] = f"{load[0]:.1f} to {os.getloadavg()[0]:.1f}"
    print(f"commit {commit()}, Python {sys.version.split()[0]}, {facts}")
    for title, rows in tables.items():
        print_table(title, rows, markdown=options.markdown)
    write_json(options.json, "stores", {**sizes._asdict(), **facts}, tables)


if __name__ == "__main__":
    main(sys.argv[1:])
