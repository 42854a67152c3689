"""What does a prompt by ``ContextBuilder`` cost, by the messages of its thread?

Run ``python -m benchmarks.speed_builds [--sizes 100,1000,5000] [--rounds 30] [--markdown] [--json FILE]``. One builder
with its defaults serves a generated thread; LangChain's ``trim_messages`` (``approximate``, 4,000
tokens) sees the same messages and questions in turn. CPU milliseconds, medians:

* **new question**: the thread is as it was at the build before, the question is another one.
* **same question**: once more, as after a call that failed.
* **one more turn**: the last question was answered, and the next one comes.
* **select**: ``ContextGatekeeper.select`` for the new questions over the same turns, to tell what is not the build's.
* **first build**: the builder has never seen the thread, as in a process that has just started; its store is SQLite.
  Once; **ms a turn** is the same by the turns of the thread.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.corpus import generate_questions, generate_turns
from benchmarks.report import SEED, Row, numbers, options, report
from benchmarks.speed_methods import METHODS, TRIM
from benchmarks.timing import cpu_ms, medians
from gatekeeper_core import ContextBuilder, ContextBuilderConfig, ContextGatekeeper, Message, SQLiteStore, Thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


SYSTEM = "You are a helpful assistant."
_WARM = 5


def first_build(thread: Thread, question: str) -> float:
    with TemporaryDirectory() as folder, SQLiteStore(Path(folder, "store.db")) as store:
        builder = ContextBuilder(ContextBuilderConfig(call_timeout_ms=60_000), store=store)
        return cpu_ms(builder.build, thread, question, SYSTEM)


def measure(size: int, rounds: int) -> Row:
    """Return the row of a thread of so many messages: CPU milliseconds, medians."""
    turns = generate_turns(size // 2 + rounds, seed=SEED)
    pairs = [(turn.user, turn.assistant) for turn in turns]
    messages = tuple(each for user, answer in pairs for each in (Message("user", user), Message("assistant", answer)))
    past, thread = pairs[: size // 2], Thread("t1", messages[:size])
    drawn = generate_questions(turns[: size // 2], size // 2, rounds + _WARM, seed=SEED)
    questions = [question.text for question in drawn]
    first = first_build(thread, questions[0])
    builder, gatekeeper = ContextBuilder(), ContextGatekeeper()
    gatekeeper.sync(past)
    trim = None if METHODS[TRIM].missing else METHODS[TRIM].subject()
    for question in questions[:_WARM]:
        builder.build(thread, question, SYSTEM)
        gatekeeper.select(question)
    calls: dict[str, Callable[..., object]] = {
        "new question": lambda question: builder.build(thread, question, SYSTEM),
        "same question": lambda question: builder.build(thread, question, SYSTEM),
        "select": gatekeeper.select,
    }
    if trim:
        trim.load(past)
        calls["trim_messages"] = trim.ask
    middle = medians(calls, [(question,) for question in questions[_WARM:]])
    longer = [thread.continued(messages[size : size + 2 * at + 2]) for at in range(rounds)]
    build = {"one more turn": lambda each, question: builder.build(each, question, SYSTEM)}
    middle |= medians(build, zip(longer, questions[_WARM:], strict=True))
    return {
        "messages": size,
        **{name: f"{each:.2f}" for name, each in middle.items()},
        "trim / new": f"{middle['trim_messages'] / middle['new question']:.2f}" if trim else "-",
        "first build": f"{first:.0f}",
        "ms a turn": f"{2 * first / size:.2f}",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=numbers, default=[100, 1000, 5000], help="messages, even (100,1000,5000)")
    parser.add_argument("--rounds", type=int, default=30, help="questions at each size (30)")
    chosen = parser.parse_args(arguments)
    report(chosen, "speed_builds", {"builds": [measure(size, chosen.rounds) for size in chosen.sizes]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
