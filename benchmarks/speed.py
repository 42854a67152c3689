"""What one selection and one more turn cost at any length, beside named peers in the same run, interleaved.

Run ``python -m benchmarks.speed [--sizes 1000,10000] [--json FILE] [--plot FILE.svg]``. A seeded
bilingual conversation is generated. Each method holds it in a process of its own and is asked in turn, one question a
round, so that a noisy machine is noisy for all. Medians are given by the wall clock and in CPU time; ratios are of
CPU time, which does not count the waiting for a shared core. They are taken over the rounds that both methods
answered. A method that has used up its seconds at a size answers no more rounds; one that needs over two seconds for
a call is left out at larger sizes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.corpus import Question, generate_questions, stream_turns
from benchmarks.peers import NOT_INSTALLED
from benchmarks.plot import TIME, write_plot
from benchmarks.report import SEED, Row, Tables, numbers, options, report
from benchmarks.speed_methods import INDEX_ALONE, METHODS, SELECT, Method
from benchmarks.speed_worker import Worker, WorkerError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    Answer = dict[str, Any]

WARM_UP = 3
SLOW_NS = 1_000_000_000
LOAD_SECONDS = 900.0
HOPELESS_MS = 2_000.0
"""A call that takes longer is not made at larger sizes."""

_BESIDE = {SELECT: "/ select", INDEX_ALONE: "/ index alone"}
"""The columns of the ratios to ours."""


class Conversation(NamedTuple):
    """What all methods are given: the file of the turns, questions by round, warm-up questions, turns to add."""

    path: str
    turns: int
    questions: list[Question]
    warm_up: list[Question]
    more: list[tuple[str, str]]


def write_conversation(folder: str, turns: int, *, questions: int, more: int) -> Conversation:
    """Write a conversation to a file of the folder and return it with its questions."""
    path = Path(folder) / f"{turns}.jsonl"
    stream = stream_turns(seed=SEED)
    with path.open("w", encoding="utf-8") as out:
        lines = ((turn, json.dumps((turn.user, turn.assistant), ensure_ascii=False)) for turn in islice(stream, turns))
        written = (turn for turn, line in lines if out.write(line + "\n"))
        questions_drawn = generate_questions(written, turns, questions + WARM_UP, seed=SEED)
    added = [(turn.user, turn.assistant) for turn in islice(stream, more)]
    return Conversation(str(path), turns, questions_drawn[:questions], questions_drawn[questions:], added)


# --- measuring ------------------------------------------------------------------------------------------------------


@dataclass
class Measured:
    """Answers of one method at one size, by round, and why there are none, or no more."""

    name: str
    turns: int
    load: Answer = field(default_factory=dict)
    asks: dict[int, Answer] = field(default_factory=dict)
    adds: dict[int, Answer] = field(default_factory=dict)
    facts: Answer = field(default_factory=dict)
    left_out: str = ""

    def median(self, step: str, clock: str = "wall", rounds: Collection[int] | None = None) -> float | None:
        """Return a median of ``asks`` or ``adds`` in milliseconds, over some rounds or all; None without an answer."""
        answers: dict[int, Answer] = getattr(self, step)
        times = [answer[clock] for at, answer in answers.items() if rounds is None or at in rounds]
        return statistics.median(times) / 1e6 if times else None


class Running:
    """One method at one size, in its process."""

    def __init__(self, method: Method, talk: Conversation, seconds: float) -> None:
        self.measured = Measured(method.name, talk.turns)
        self._method, self._talk, self._seconds = method, talk, seconds
        self._spent = {"asks": 0.0, "adds": 0.0}
        self._worker = Worker(method)

    def start(self, load_seconds: float) -> None:
        """Load the conversation and warm up; a slow first answer counts as that of the first round."""
        self.measured.load = self._tell("load", path=self._talk.path, count=self._talk.turns, limit=load_seconds)
        first = self._tell("ask", question=self._talk.questions[0].text)
        if first and first["wall"] > SLOW_NS:
            self._note("asks", 0, first)
        elif first:
            for question in self._talk.warm_up:
                self._tell("ask", question=question.text)

    def ask(self, at: int) -> None:
        if at not in self.measured.asks and self._spent["asks"] < self._seconds:
            self._note("asks", at, self._tell("ask", question=self._talk.questions[at].text))

    def add(self, at: int) -> None:
        if self._method.adds and self._spent["adds"] < self._seconds:
            user, assistant = self._talk.more[at]
            self._note("adds", at, self._tell("add", user=user, assistant=assistant))

    def end(self) -> None:
        self.measured.facts = self._tell("facts")
        self._worker.end()

    def _note(self, step: str, at: int, answer: Answer) -> None:
        if answer:
            getattr(self.measured, step)[at] = answer
            self._spent[step] += answer["wall"] / 1e9

    def _tell(self, do: str, **arguments: Any) -> Answer:
        if self.measured.left_out:
            return {}
        try:
            return self._worker.tell(do, **arguments)
        except WorkerError as error:
            self.measured.left_out = f"left out: {error}"
            self._worker.end()  # its memory may be large
            return {}


def measure(
    talk: Conversation, methods: Sequence[Method], *, seconds: float, load_seconds: float = LOAD_SECONDS
) -> list[Measured]:
    """Return what each method gives on a conversation: every question is asked of all before the next one is.

    A process that has failed stays silent; ``left_out`` has its reason. The limits are those of a method: on its
    answers, and on loading turn by turn.
    """
    running = []
    for method in methods:
        _say(f"{talk.turns:,} turns: loading {method.name}")
        running.append(Running(method, talk, seconds))
        running[-1].start(load_seconds)
    for step, rounds in ((Running.ask, len(talk.questions)), (Running.add, len(talk.more))):
        _say(f"{talk.turns:,} turns: {rounds} rounds of {step.__name__}")
        for at in range(rounds):
            first = at % max(1, len(running))
            for each in (*running[first:], *running[:first]):
                step(each, at)
    for each in running:
        each.end()
    return [each.measured for each in running]


def chosen_methods(turns: int, earlier: Sequence[Measured], *, ours_only: bool) -> tuple[list[Method], list[Measured]]:
    """Return the methods to run at a size, and a row for each not installed or too slow at smaller ones."""
    reasons: dict[str, str] = {}
    for each in earlier:
        median = each.median("asks")
        if median is not None and median > HOPELESS_MS:
            reasons[each.name] = f"left out: {median:,.0f} ms at {each.turns:,} turns"
        elif each.left_out:
            reasons[each.name] = each.left_out
    run, silent = [], []
    for method in [*METHODS.values()][: len(_BESIDE) if ours_only else None]:
        reason = reasons.get(method.name, "")
        if method.missing or reason:
            silent.append(Measured(method.name, turns, left_out="" if method.missing else reason))
        else:
            run.append(method)
    return run, silent


def run(options: argparse.Namespace) -> tuple[Tables, list[list[Measured]]]:
    """Return all tables by title, and what was measured size by size."""
    tables: Tables = {}
    everything: list[list[Measured]] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sorted(options.sizes):
            _say(f"{size:,} turns: generating")
            talk = write_conversation(folder, size, questions=options.rounds, more=options.adds)
            earlier = [each for measured in everything for each in measured]
            methods, silent = chosen_methods(size, earlier, ours_only=options.ours_only)
            measured = [*measure(talk, methods, seconds=options.seconds), *silent]
            everything.append(measured)
            tables[f"One question, {size:,} turns"] = ask_rows(measured, talk.questions)
            tables[f"One more turn, {size:,} turns"] = add_rows(measured)
            tables[f"Memory, {size:,} turns"] = memory_rows(measured)
            Path(talk.path).unlink()
    tables["Growth of one question, CPU ms by turns"] = growth_rows(everything)
    return tables, everything


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# --- figures --------------------------------------------------------------------------------------------------------


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that so many of the values do not exceed (nearest rank).

    >>> quantile([3, 1, 2], 0.5), quantile(range(1, 101), 0.99)
    (2, 99)
    """
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def ratio(theirs: Measured, ours: Measured, step: str = "asks") -> float | None:
    """Return their CPU median over ours, both over the rounds that both answered; None where there are none."""
    both = getattr(theirs, step).keys() & getattr(ours, step).keys()
    upper, lower = (each.median(step, "cpu", both) for each in (theirs, ours))
    return upper / lower if upper is not None and lower else None


def exponent(points: Mapping[int, float]) -> float | None:
    """Return the slope of a line through the logarithms, by least squares; None for fewer than two points.

    >>> round(exponent({1000: 2.0, 10_000: 4.0, 100_000: 8.0}), 3)
    0.301
    """
    if len(points) < 2:
        return None
    across, up = ([math.log(value) for value in side] for side in (points.keys(), points.values()))
    return statistics.linear_regression(across, up).slope


def target_share(measured: Measured, questions: Sequence[Question]) -> float | None:
    """Return the percentage of questions about one turn whose turn is among those found; None where none are found."""
    hits = [
        questions[at].target in answer["found"]
        for at, answer in measured.asks.items()
        if answer.get("found") is not None and questions[at].kind == "about"
    ]
    return 100 * sum(hits) / len(hits) if hits else None


def _number(value: float | None, digits: int = 2) -> str | None:
    return None if value is None else f"{value:,.{digits}f}"


def _ratios(each: Measured, measured: Sequence[Measured], step: str) -> Row:
    ours = {other.name: other for other in measured if other.name in _BESIDE}
    return {_BESIDE[name]: _number(ratio(each, mine, step)) for name, mine in ours.items()}


def ask_rows(measured: Sequence[Measured], questions: Sequence[Question]) -> list[Row]:
    """Return a row for each method: median by wall clock and in CPU time, 99th percentile, ratios to ours."""
    rows = []
    for each in measured:
        row: Row = {"method": each.name, "median ms": each.left_out or NOT_INSTALLED}
        if each.asks:
            tail = quantile([answer["cpu"] for answer in each.asks.values()], 0.99) / 1e6
            row |= {"median ms": _number(each.median("asks")), "CPU ms": _number(each.median("asks", "cpu"))}
            row |= {"CPU p99 ms": _number(tail), **_ratios(each, measured, "asks")}
            row |= {"target found %": target_share(each, questions), "calls": len(each.asks)}
        rows.append(row)
    return rows


def add_rows(measured: Sequence[Measured]) -> list[Row]:
    """Return a row for each method that adds turns; of ours the 99.9th percentile of the load and a cold rebuild."""
    rows = []
    for each in measured:
        if each.adds:
            row: Row = {"method": each.name, "median ms": _number(each.median("adds"), 3)}
            row |= {"CPU ms": _number(each.median("adds", "cpu"), 3), **_ratios(each, measured, "adds")}
            if loaded := each.load.get("adds"):
                row["CPU p99.9 ms, load"] = _number(quantile(loaded, 0.999) / 1e6)
                row["rebuild µs a turn"] = _number(each.load["cpu"] / 1e3 / each.turns, 1)
            rows.append(row)
    return rows


def memory_rows(measured: Sequence[Measured]) -> list[Row]:
    """Return a row for each method: bytes of the index a turn, beside ours, and the memory of its process."""
    mine = next((each.facts.get("index") for each in measured if each.name == INDEX_ALONE), None)
    rows = []
    for each in measured:
        if each.facts:
            size, resident = each.facts["index"], each.facts["rss"]
            row: Row = {"method": each.name, "index bytes a turn": size and _number(size / each.turns, 0)}
            row["/ ours"] = _number(size / mine) if size and mine else None
            rows.append(row | {"process MB": resident and _number(resident / 1e6, 0)})
    return rows


def growth_rows(sizes: Sequence[Sequence[Measured]]) -> list[Row]:
    """Return a row for each method: CPU medians by size, and the exponent of their growth."""
    rows = []
    for name, points in growth_curves(sizes).items():
        row: Row = {"method": name} | {f"{turns:,}": _number(ms) for turns, ms in points}
        rows.append(row | {"exponent": _number(exponent({int(turns): ms for turns, ms in points}))})
    return rows


def growth_curves(sizes: Sequence[Sequence[Measured]]) -> dict[str, list[tuple[float, float]]]:
    """Return by method the points (turns, CPU milliseconds of one question)."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for each in (each for measured in sizes for each in measured):
        if (median := each.median("asks", "cpu")) is not None:
            curves.setdefault(each.name, []).append((each.turns, median))
    return curves


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=numbers, default=[1_000, 10_000], help="turns, with commas (1000,10000)")
    parser.add_argument("--rounds", type=int, default=100, help="questions at each size (100)")
    parser.add_argument("--adds", type=int, default=20, help="turns that are added at each size (20)")
    parser.add_argument("--seconds", type=float, default=5, help="what a method may spend on its answers at a size (5)")
    parser.add_argument("--ours-only", action="store_true", help="leave the peers out")
    parser.add_argument("--plot", type=Path, help="draw the growth as an SVG file")
    chosen = parser.parse_args()
    before = os.getloadavg()[0]
    tables, everything = run(chosen)
    report(chosen, "speed", tables, cores=os.cpu_count(), load=f"{before:.1f} to {os.getloadavg()[0]:.1f}")
    write_plot(chosen.plot, f"One question, {SELECT} beside its peers", growth_curves(everything), axes=TIME)


if __name__ == "__main__":
    main()
