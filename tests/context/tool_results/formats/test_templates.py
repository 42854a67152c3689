"""Kinds of lines: what differs in numbers and ids alone is of one kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.formats.templates import kinds_of, masked
from tests.case_files import from_file


@from_file("one", "other")
def test_lines_that_differ_in_numbers_are_of_one_kind(one: str, other: str) -> None:
    assert masked(one) == masked(other)


@pytest.mark.parametrize(
    ("one", "other"), [("job done", "job failed"), ("0 failed", "3 failed"), ("任务完成", "任务失败")]
)
def test_lines_that_differ_in_words_are_not(one: str, other: str) -> None:
    assert masked(one) != masked(other)


@given(st.lists(st.text(max_size=40), max_size=30))
def test_every_line_is_counted_once(lines: list[str]) -> None:
    kinds = kinds_of(lines)
    assert sum(kinds.counts) == len(lines)
    for kind, template in enumerate(kinds.templates):
        members = [index for index, line in enumerate(lines) if masked(line) == template]
        assert (kinds.first[kind], kinds.last[kind], kinds.counts[kind]) == (members[0], members[-1], len(members))
        assert kinds.rarities[kind] >= 0.0


def test_a_kind_of_unusual_words_is_rarer() -> None:
    kinds = kinds_of([*["worker finished task 1"] * 50, "worker stopped task 2", "quota of tenant raised"])
    rarity = kinds.rarities
    assert rarity[0] < rarity[1] < rarity[2]
