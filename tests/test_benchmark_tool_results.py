"""The benchmark of tool results counts needles by kind, with the question where one asks for them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from benchmarks.second_logs import SECOND_FORMATS, second_logs
from benchmarks.tool_outputs import Needle, Output, generated, shapes
from benchmarks.tool_results import Compressed, measure

OUTPUT = Output("x", "log", "q?", "line\n" * 900, (Needle("error", "E1"), Needle("query", "Q1"), Needle("rare", "R1")))


def test_needles_that_are_asked_for_are_looked_for_in_what_was_made_with_the_question() -> None:
    rows = measure([OUTPUT], lambda output: Compressed("Q1", "E1 Q1", 0.001, True), lambda text: len(text) // 4)
    assert [row["family"] for row in rows] == ["log", "all"]
    assert (rows[0]["errors"], rows[0]["asked"], rows[0]["rare"], rows[0]["exact"]) == ("1/1", "1/1", "0/1", "1/1")
    assert rows[0]["saved %"] == 100.0


SECOND = ("dmesg", "nagios", "订单系统")


@pytest.mark.parametrize(
    ("make", "count"),
    [(generated, 4 * len(shapes())), (partial(second_logs, names=SECOND), len(SECOND) * len(SECOND_FORMATS))],
    ids=["outputs", "logs"],
)
def test_every_needle_stands_in_its_output_and_the_same_seed_gives_the_same(make: Any, count: int) -> None:
    outputs = make(5)
    assert len(outputs) == count
    assert all(needle.text in output.text for output in outputs for needle in output.needles)
    assert outputs == make(5)
    assert outputs != make(6)
