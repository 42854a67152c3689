"""Marks for what is missing: every line is either shown or counted."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.omissions import (
    border_after,
    border_before,
    merged,
    shortened,
    with_context,
    with_gaps,
)


@given(st.sets(st.integers(1, 40)), st.integers(40, 60))
def test_shown_and_omitted_lines_are_all_lines_in_order(kept: set[int], total: int) -> None:
    shown = with_gaps({number: f"line {number}" for number in kept}, total)
    seen: list[int] = []
    for line in shown:
        found = re.fullmatch(r"… (\d+) lines? omitted \[(\d+)(?:-(\d+))?\]", line)
        if found:
            first, last = int(found[2]), int(found[3] or found[2])
            assert last - first + 1 == int(found[1])
            seen += range(first, last + 1)
        else:
            seen.append(int(line.removeprefix("line ")))
    assert seen == list(range(1, total + 1))


@given(st.text(max_size=300), st.integers(3, 80), st.lists(st.integers(-5, 400), max_size=6))
def test_a_shortened_line_holds_its_ends_and_the_places_that_matter(line: str, limit: int, around: list[int]) -> None:
    short = shortened(line, limit, around=around)
    if len(line) <= limit:
        assert short == line
    else:
        assert short.startswith(line[: limit * 2 // 3])
        assert short.endswith(line[len(line) - limit // 3 :])
        assert "characters omitted" in short or short == line


@pytest.mark.parametrize(("numbers", "expected"), [([], []), ([1], [1, 2]), ([9], [8, 9]), ([3, 4], [2, 3, 4, 5])])
def test_context_stays_within_the_text(numbers: list[int], expected: list[int]) -> None:
    assert with_context(numbers, before=1, after=1, last=9) == expected


@given(st.text(max_size=30), st.integers(0, 100))
def test_a_border_is_never_inside_a_character(text: str, at: int) -> None:
    data = text.encode()
    before, after = border_before(data, at), border_after(data, min(at, len(data)))
    assert before <= min(at, len(data)) <= after
    assert data[:before].decode() + data[before:].decode() == data[:after].decode() + data[after:].decode() == text
    assert after - before <= 4


def test_spans_that_overlap_or_nearly_touch_are_one() -> None:
    spans = [(5, 9), (0, 2), (3, 4), (6, 7)]
    assert merged(spans) == [(0, 2), (3, 4), (5, 9)]
    assert merged(spans, joins=1) == [(0, 9)]
