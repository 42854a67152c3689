"""The benchmark of the context builder counts what is sent of the evidence, and what a prompt costs."""

from __future__ import annotations

from benchmarks.builder import FULL, METHODS, run
from benchmarks.data import Block, Conversation, Question

BLOCKS = [Block(("1", "2"), "The Redis port is 6380.", "Noted.")]
BLOCKS += [
    Block((f"{n}a", f"{n}b"), f"Question {n}: how long does rice number {n} cook?", f"{n} minutes.") for n in range(150)
]
TALK = Conversation(
    "talk", tuple(BLOCKS), (Question("Which port has Redis?", ("1",), 1), Question("Redis port?", ("2",), 1))
)


def test_a_window_loses_what_the_gatekeeper_finds() -> None:
    rows = {row["method"]: row for row in run([TALK], lambda text: len(text) // 4)}
    assert set(METHODS) | {FULL} <= set(rows)
    assert rows["three newest turns (default)"]["recall"] == rows["no newest turns"]["recall"] == 100.0
    assert rows["window of 20 rounds"]["recall"] == 0.0
    assert rows[FULL]["recall"] == 100.0
    assert rows["turns alone"]["tokens"] < rows[FULL]["tokens"]
