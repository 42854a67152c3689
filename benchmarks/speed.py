"""What one selection and one more turn cost at any length, beside named peers in the same run, interleaved.

Run ``python -m benchmarks.speed [--sizes 1000,10000] [--million] [--json FILE] [--plot FILE.svg]``. A seeded
bilingual conversation is generated. Each method holds it in a process of its own and is asked in turn, one question a
round, so that a noisy machine is noisy for all. Medians are given by the wall clock and in CPU time; ratios are of
CPU time, which does not count the waiting for a shared core. They are taken over the rounds that both methods
answered. A method that has used up its seconds at a size answers no more rounds; one that needs over two seconds for
a call is left out at larger sizes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import Question, generate_questions, stream_turns
from benchmarks.plot import TIME, write_plot
from benchmarks.report import SEED, commit, print_table, write_json
from benchmarks.speed_figures import (
    Measured,
    add_rows,
    agreement_row,
    ask_rows,
    cold_rows,
    growth_rows,
    memory_rows,
    turn_rows,
)
from benchmarks.speed_methods import INDEX_ALONE, METHODS, SELECT, TANTIVY_FILES, Method, timed_methods
from benchmarks.speed_tokens import token_rows
from benchmarks.speed_worker import Worker, WorkerError, write_turn

MILLION = 1_000_000
WARM_UP = 3
SLOW_NS = 1_000_000_000
_EXACT_FACTOR = 30  # exhaustive scoring is no peer: it may take its time
HOPELESS_MS = 2_000.0
"""A call that takes longer is not made at larger sizes."""


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
        written = (turn for turn in islice(stream, turns) if out.write(write_turn((turn.user, turn.assistant))))
        asked = generate_questions(written, turns, questions + WARM_UP, seed=SEED)
    added = [(turn.user, turn.assistant) for turn in islice(stream, more)]
    return Conversation(str(path), turns, asked[:questions], asked[questions:], added)


class Limits(NamedTuple):
    """What a method may spend at one size, in seconds: on its answers, and on loading turn by turn."""

    seconds: float
    load: float


class Running:
    """One method at one size, in its process."""

    def __init__(self, method: Method, talk: Conversation, limits: Limits) -> None:
        self.measured = Measured(method.name, talk.turns)
        self._method, self._talk, self._limits = method, talk, limits
        self._spent = {"asks": 0.0, "adds": 0.0}
        self._worker = Worker(method)

    def start(self) -> None:
        """Load the conversation and warm up; a slow first answer counts as that of the first round."""
        self.measured.load = self._tell("load", path=self._talk.path, count=self._talk.turns, limit=self._limits.load)
        first = self._tell("ask", question=self._talk.questions[0].text)
        if first and first["wall"] > SLOW_NS:
            self._count("asks", 0, first)
        elif first:
            for question in self._talk.warm_up:
                self._tell("ask", question=question.text)

    def ask(self, at: int) -> None:
        """Answer the question of a round."""
        if at not in self.measured.asks:
            self._count("asks", at, self._within("asks", "ask", question=self._talk.questions[at].text))

    def add(self, at: int) -> None:
        """Add one of the further turns."""
        if self._method.adds:
            user, assistant = self._talk.more[at]
            self._count("adds", at, self._within("adds", "add", user=user, assistant=assistant))

    def end(self) -> None:
        """Ask for the facts and end the process."""
        self.measured.facts = self._tell("facts")
        self._worker.end()

    def _within(self, step: str, do: str, **given: Any) -> dict[str, Any]:
        return self._tell(do, **given) if self._spent[step] < self._limits.seconds else {}

    def _count(self, step: str, at: int, answer: dict[str, Any]) -> None:
        if answer:
            getattr(self.measured, step)[at] = answer
            self._spent[step] += answer["wall"] / 1e9

    def _tell(self, do: str, **given: Any) -> dict[str, Any]:
        if self.measured.left_out:
            return {}
        try:
            return self._worker.tell(do, **given)
        except WorkerError as error:
            self.measured.left_out = f"left out: {error}"
            self._worker.end()  # what it holds may be much
            return {}


def measure(talk: Conversation, methods: Sequence[Method], limits: Limits) -> list[Measured]:
    """Return what each method gives on a conversation: every question is asked of all before the next one is.

    A process that has failed stays silent; its reason stands in ``left_out``.
    """
    running = []
    for method in methods:
        _say(f"{talk.turns:,} turns: loading {method.name}")
        running.append(Running(method, talk, limits))
        running[-1].start()
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
    """Return the methods to run at a size, and a row for each that is not installed or too slow for it.

    Args:
        turns: of the conversation.
        earlier: what was measured at smaller sizes.
        ours_only: whether the peers are left out.
    """
    reasons: dict[str, str] = {}
    for each in earlier:
        median = each.median("asks")
        if median is not None and median > HOPELESS_MS:
            reasons[each.name] = f"left out: {median:,.0f} ms at {each.turns:,} turns"
        elif each.left_out:
            reasons[each.name] = each.left_out
    run, silent = [], []
    for method in timed_methods(ours_only=ours_only):
        reason = reasons.get(method.name, "")
        if method.max_turns is not None and turns > method.max_turns:
            reason = reason or f"left out above {method.max_turns:,} turns"
        if method.missing or reason:
            silent.append(Measured(method.name, turns, left_out="" if method.missing else reason))
        else:
            run.append(method)
    return run, silent


def measure_agreement(talk: Conversation, measured: Sequence[Measured], limits: Limits) -> list[dict[str, Any]]:
    """Return a row that compares the index alone with exhaustive scoring, or none where either has no answers."""
    exhaustive = METHODS["exhaustive scoring"]
    index = [each for each in measured if each.name == INDEX_ALONE and each.asks]
    if not index or talk.turns > (exhaustive.max_turns or 0):
        return []
    (exact,) = measure(talk._replace(more=[]), [exhaustive], limits._replace(seconds=_EXACT_FACTOR * limits.seconds))
    return [agreement_row(index[0], exact, talk.questions)] if exact.asks else []


def run(options: argparse.Namespace) -> tuple[dict[str, list[dict[str, Any]]], list[list[Measured]]]:
    """Return all tables by title, and what was measured size by size."""
    sizes = sorted({*options.sizes, *([MILLION] if options.million else [])})
    limits = Limits(options.seconds, options.load_limit)
    tables: dict[str, list[dict[str, Any]]] = {}
    everything: list[list[Measured]] = []
    agreement: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            _say(f"{size:,} turns: generating")
            talk = write_conversation(folder, size, questions=options.rounds, more=options.adds)
            earlier = [each for measured in everything for each in measured]
            methods, silent = chosen_methods(size, earlier, ours_only=options.ours_only)
            measured = measure(talk, methods, limits)
            agreement += measure_agreement(talk, measured, limits)
            sized = [] if options.ours_only else measure_sizes(talk, limits)
            everything.append([*measured, *silent])
            tables |= size_tables(size, everything[-1], sized, talk.questions)
            Path(talk.path).unlink()
    tables["Growth of one question, CPU ms by turns"] = growth_rows(everything)
    tables["Agreement of the index alone with exhaustive scoring"] = agreement
    tables["Counting tokens"] = token_rows(options.rounds, ours_only=options.ours_only)
    return tables, everything


def measure_sizes(talk: Conversation, limits: Limits) -> list[Measured]:
    """Return the methods that are only run for the size of their index."""
    methods = [METHODS[name] for name in TANTIVY_FILES]
    asked_nothing = talk._replace(questions=talk.questions[:1], more=[])
    return measure(asked_nothing, [method for method in methods if not method.missing], limits)


def size_tables(
    size: int, measured: list[Measured], sized: list[Measured], questions: list[Question]
) -> dict[str, list[dict[str, Any]]]:
    """Return the tables of one size by title."""
    return {
        f"One question, {size:,} turns": ask_rows(measured, questions),
        f"One more turn, {size:,} turns": add_rows(measured),
        f"A question and one more turn, {size:,} turns": turn_rows(measured),
        f"Memory, {size:,} turns": memory_rows([*measured, *sized]),
        f"Cold start, {size:,} turns": cold_rows(measured),
    }


def growth_curves(everything: Sequence[Sequence[Measured]]) -> dict[str, list[tuple[float, float]]]:
    """Return by method the points (turns, CPU milliseconds of one question)."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for measured in everything:
        for each in measured:
            median = each.median("asks", "cpu")
            if median is not None:
                curves.setdefault(each.name, []).append((each.turns, median))
    return curves


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _load() -> list[float]:
    return [round(each, 2) for each in os.getloadavg()] if hasattr(os, "getloadavg") else []


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=_sizes, default=[1_000, 10_000], help="turns, with commas (1000,10000)")
    parser.add_argument("--million", action="store_true", help="also a million turns: ours, tantivy and FTS5")
    parser.add_argument("--rounds", type=int, default=100, help="questions at each size (100)")
    parser.add_argument("--adds", type=int, default=20, help="turns that are added at each size (20)")
    parser.add_argument("--seconds", type=float, default=5, help="what a method may spend on its answers at a size (5)")
    parser.add_argument("--load-limit", type=float, default=900, help="seconds that our load may take (900)")
    parser.add_argument("--ours-only", action="store_true", help="leave the peers out")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--plot", type=Path, help="draw the growth as an SVG file")
    return parser.parse_args()


def main() -> None:
    """Measure, print the tables, write JSON and plot if asked to."""
    options = _options()
    commit()
    before = _load()
    tables, everything = run(options)
    settings = {name: value for name, value in vars(options).items() if name not in ("json", "plot", "markdown")}
    settings |= {"seed": SEED, "cores": os.cpu_count(), "load before": before, "load after": _load()}
    print(f"commit {commit()}, Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {before} to {_load()}")
    for title, rows in tables.items():
        if rows:
            print_table(title, rows, markdown=options.markdown)
    write_json(options.json, "speed", settings, tables)
    write_plot(options.plot, f"One question, {SELECT} beside its peers", growth_curves(everything), axes=TIME)


if __name__ == "__main__":
    main()
