"""Soak: conversations by the hundred thousand, and one of a million turns: is memory limited and flat?

=============  ======================================================================================================
conversations  so many ``ContextGatekeeper`` with one turn each, all held at the same time
threads        so many threads of one turn each through one ``ThreadSelector``, which forgets those used longest ago
turns          one conversation of so many turns, with questions by the way
=============  ======================================================================================================

Each runs in a process of its own, whose address space is limited, too: what does not fit ends it. The exit status is 1
where one goes over the limit, or where memory is not flat: where threads come and go, the second half may add a tenth
at most; where everything is held, a conversation or a turn of the second half may take a tenth more than one before.
"""

from __future__ import annotations

import gc
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.corpus import generate_questions, generate_turns, stream_turns
from benchmarks.report import SEED, Row, options, report
from benchmarks.speed_worker import resident_bytes
from benchmarks.timing import cpu_ms
from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.corpus import GeneratedTurn

STAGES = 10
"""How often a soak stops to measure."""

_QUESTIONS = 20
_GROWTH = 1.1
_SLACK_BYTES = 16 << 20  # what the allocator holds and a collection has not freed yet


class Stage(NamedTuple):
    """Figures of one stop: size so far, resident bytes, CPU of a turn and of a question, medians."""

    size: int
    resident: int
    add_us: float
    select_ms: float


class _Turns:
    """One conversation."""

    def __init__(self) -> None:
        self._gatekeeper = ContextGatekeeper()

    def add(self, turn: GeneratedTurn) -> None:
        self._gatekeeper.add_turn(turn.user, turn.assistant)

    def ask(self, question: str) -> None:
        self._gatekeeper.select(question)


class _Conversations(_Turns):
    """Conversations of one turn, all of them held; a question goes to the newest."""

    def __init__(self) -> None:
        self._held: list[ContextGatekeeper] = []

    def add(self, turn: GeneratedTurn) -> None:
        self._gatekeeper = ContextGatekeeper()
        self._held.append(self._gatekeeper)
        super().add(turn)


class _Threads:
    """Threads of one turn, of which a selector holds as many as it may; a question goes to the newest."""

    def __init__(self) -> None:
        self._selector = ThreadSelector[Message](lambda message: message, config=HistoryConfig(passthrough_below=0))
        self._count = 0
        self._newest: list[Message] = []

    def add(self, turn: GeneratedTurn) -> None:
        self._count += 1
        self._newest = [Message("user", turn.user), Message("assistant", turn.assistant)]
        self.ask(turn.user)

    def ask(self, question: str) -> None:
        self._selector.view([*self._newest, Message("user", question)], thread=self._count)


class _Soak(NamedTuple):
    """A subject, and whether it keeps what is added to it."""

    make: Callable[[], _Turns | _Threads]
    holds: bool


SOAKS = {
    "conversations": _Soak(_Conversations, holds=True),
    "threads": _Soak(_Threads, holds=False),
    "turns": _Soak(_Turns, holds=True),
}


def soak(name: str, count: int, *, limit_bytes: int) -> list[Stage]:
    """Return what one soak measured by the way; it prints each stage as it comes.

    Raises:
        MemoryError: the address space of this process took more than the limit.
    """
    import resource  # not on Windows

    sample = generate_turns(min(count, 1_000), seed=SEED)
    questions = [question.text for question in generate_questions(sample, len(sample), _QUESTIONS, seed=SEED)]
    subject, turns = SOAKS[name].make(), stream_turns(seed=SEED)
    stages: list[Stage] = []
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))
    for stop in sorted({count * at // STAGES for at in range(1, STAGES + 1)} - {0}):
        done = stages[-1].size if stages else 0
        add_us = 1e3 * median([cpu_ms(subject.add, turn) for turn in islice(turns, stop - done)])
        select_ms = median([cpu_ms(subject.ask, question) for question in questions])
        gc.collect()
        stages.append(Stage(stop, resident_bytes() or 0, add_us, select_ms))
        print(" ".join(f"{key} {value}" for key, value in _row(name, stages[-1]).items()), flush=True)
    return stages


def is_flat(stages: Sequence[Stage], *, holds: bool) -> bool:
    """Return whether memory is flat over the stages; see the module.

    >>> flat, rising = [Stage(n, 10**9, 0, 0) for n in (5, 10)], [Stage(n, n * 10**8, 0, 0) for n in (5, 10)]
    >>> is_flat(flat, holds=False), is_flat(rising, holds=False), is_flat(rising, holds=True)
    (True, False, True)
    """
    half, last = stages[len(stages) // 2 - 1], stages[-1]
    expected = half.resident * (last.size / half.size if holds else 1.0)
    return last.resident <= _GROWTH * expected + _SLACK_BYTES


def _row(name: str, stage: Stage) -> Row:
    row = {"soak": name, "count": f"{stage.size:,}", "MB": f"{stage.resident / 1e6:.0f}"}
    row |= {"bytes each": f"{stage.resident / stage.size:,.0f}"}
    return row | {"add us": f"{stage.add_us:.0f}", "select ms": f"{stage.select_ms:.2f}"}


def _in_own_process(name: str, count: int, limit_bytes: int) -> tuple[list[Stage], str]:
    """Return the stages of one soak and what is wrong with it, "" where nothing is."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
        try:
            stages = process.submit(soak, name, count, limit_bytes=limit_bytes).result()
        except (MemoryError, BrokenProcessPool):
            return [], f"{name}: more than {limit_bytes / 1e6:,.0f} MB"
    if stages[-1].resident > limit_bytes:
        return stages, f"{name}: more than {limit_bytes / 1e6:,.0f} MB"
    return stages, "" if is_flat(stages, holds=SOAKS[name].holds) else f"{name}: memory is not flat"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__)
    parser.add_argument("--threads", type=int, default=15_000, help="conversations and threads of one turn (15000)")
    parser.add_argument("--turns", type=int, default=25_000, help="turns of the long conversation (25000)")
    parser.add_argument("--limit-mb", type=int, default=2_000, help="what each may take, in megabytes (2000)")
    chosen = parser.parse_args(arguments)
    counts = {"conversations": chosen.threads, "threads": chosen.threads, "turns": chosen.turns}
    rows, wrong = [], []
    for name, count in counts.items():
        if count:
            stages, fault = _in_own_process(name, count, chosen.limit_mb * 10**6)
            rows += [_row(name, stage) for stage in stages]
            wrong += [fault] if fault else []
    report(chosen, "soak", {"soak": rows}, cores=os.cpu_count())
    print("\n".join(wrong) or "within the limit, and flat")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
