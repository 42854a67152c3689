"""Where the time of a question goes: samples of ``select`` and of the index alone, by part, at several lengths.

Run ``python -m benchmarks.speed_profile [--sizes 1000,100000] [--seconds 10] [--markdown] [--json FILE]``. A timer of
the system interrupts the process every millisecond of CPU time, and the innermost part on the stack gets the sample.
So the code runs as it is, not slowed down call by call as under a tracing profiler; 10,000 samples tell a share to one
point. Not on Windows, which has no such timer.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.corpus import generate_questions, generate_turns
from benchmarks.report import SEED, commit, print_table, write_json
from benchmarks.speed_methods import INDEX_ALONE, SELECT, Gatekeeper, IndexAlone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from benchmarks.corpus import GeneratedTurn
    from benchmarks.speed_methods import Subject

__all__ = ["PARTS", "Profile", "main", "part_of", "profile"]

PARTS = {
    "retrieval.read_query": "read the query",
    "cues.read_cues": "read the query",
    "topics.judge": "gate",
    "retrieval.expand_query": "related terms",
    "scan.leading": "look up frequent terms",
    "scan.hits": "count leaders exactly",
    "scan.highest": "rank",
    "retrieval._parts": "neighbours and reach",
    "retrieval._read": "whole hits",
    "retrieval.best": "rank",
    "need.shares": "weigh evidence",
    "need.older_signs": "weigh evidence",
    "planner._price_within": "price",
    "trimming.at_most": "cuts",
    "planner.novelty": "compare with kept turns",
    "planner.choose": "choose",
}
"""By module and function of the library the part of the work that it begins."""

_OTHER = "anything else"
_INTERVAL = 0.001
_QUESTIONS = 50


class Profile(NamedTuple):
    """What was sampled.

    Attributes:
        calls: questions that were asked.
        cpu_seconds: what they took together, with the sampling.
        samples: by part, how often it was met.
    """

    calls: int
    cpu_seconds: float
    samples: Counter[str]


def part_of(frame: FrameType | None) -> str:
    """Return the part of the innermost frame that begins one."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "").rpartition(".")[2]
        part = PARTS.get(f"{module}.{frame.f_code.co_name}")
        if part is not None:
            return part
        frame = frame.f_back
    return _OTHER


def profile(ask: Callable[[str], object], questions: Sequence[str], *, seconds: float) -> Profile:
    """Ask the questions in turn, for so many seconds of CPU time, and return where they were met.

    Args:
        ask: answers one.
        questions: at least one.
        seconds: > 0; each question is asked once at least.
    """
    samples: Counter[str] = Counter()

    def sample(_: int, frame: FrameType | None) -> None:
        samples[part_of(frame)] += 1

    for question in questions:
        ask(question)
    calls, before = 0, signal.signal(signal.SIGPROF, sample)
    begin = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
    try:
        while calls < len(questions) or time.process_time() - begin < seconds:
            ask(questions[calls % len(questions)])
            calls += 1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return Profile(calls, time.process_time() - begin, samples)


def _profiles(subject: Subject, turns: Sequence[GeneratedTurn], seconds: float) -> Profile:
    subject.load([(turn.user, turn.assistant) for turn in turns])
    questions = generate_questions(turns, len(turns), _QUESTIONS, seed=SEED)
    return profile(subject.ask, [question.text for question in questions], seconds=seconds)


def _rows(profiles: dict[str, Profile]) -> list[dict[str, Any]]:
    """Return a row for each part and one for the whole: CPU milliseconds of one question and the share of it."""
    rows = []
    for part in [*dict.fromkeys(PARTS.values()), _OTHER]:
        row: dict[str, Any] = {"part": part}
        for name, each in profiles.items():
            share = each.samples[part] / max(1, each.samples.total())
            row[f"{name}, ms"] = f"{1e3 * share * each.cpu_seconds / each.calls:.2f}" if share else "-"
            row[f"{name}, %"] = f"{100 * share:.0f}" if share else "-"
        rows.append(row)
    total: dict[str, Any] = {"part": "**together**"}
    for name, each in profiles.items():
        total |= {f"{name}, ms": f"{1e3 * each.cpu_seconds / each.calls:.2f}", f"{name}, %": "100"}
    return [*rows, total]


def main(arguments: Sequence[str] | None = None) -> int:
    """Profile, print the tables, write JSON if asked to."""
    commit()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default="1000,100000", help="turns, by commas (1000,100000)")
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU seconds for each profile (10)")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args(arguments)
    tables = {}
    for size in map(int, options.sizes.split(",")):
        turns = generate_turns(size, seed=SEED)
        subjects: dict[str, Subject] = {SELECT: Gatekeeper("gate"), INDEX_ALONE: IndexAlone()}
        profiles = {name: _profiles(subject, turns, options.seconds) for name, subject in subjects.items()}
        tables[f"{size} turns"] = _rows(profiles)
        print_table(f"{size:,} turns, commit {commit()}", tables[f"{size} turns"], markdown=options.markdown)
    write_json(options.json, "speed_profile", {"sizes": options.sizes, "seconds": options.seconds}, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
