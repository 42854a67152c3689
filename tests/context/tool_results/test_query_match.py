"""Lines that match a query, in Chinese, English and mixed text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.query_match import QueryMatcher
from tests.case_files import from_file

LINES = [
    *(f"row {at} status ok total {at}" for at in range(50)),
    "invoice INV-90317 total 481.22",
    "订单 8812 已经退款",
    "she bought bolts",
    "the subscription was organized by Ann",
]


@from_file("query", "line")
def test_the_line_with_the_rarest_words_of_the_question_is_first(query: str, line: int) -> None:
    assert QueryMatcher(query).ranked(LINES, limit=3)[0] == line


@pytest.mark.parametrize("query", [None, "", "?", "the of a", "吗"])
def test_a_question_without_anchors_matches_nothing(query: str | None) -> None:
    matcher = QueryMatcher(query)
    assert (matcher.ranked(LINES, limit=3), matcher.spans("any", limit=9), matcher.places("any")) == ([], [], [])


def test_rare_words_are_worth_more_and_a_word_of_every_line_nothing() -> None:
    lines = [*["red box"] * 20, *["blue box"] * 20, *["red ball"] * 20, "kiwi", *["else"] * 90]
    assert QueryMatcher("red box or kiwi?").ranked(lines, limit=1) == [60]
    assert set(QueryMatcher("status of INV-90317").scores(LINES)) == {50}


@given(st.text(max_size=80), st.lists(st.text(max_size=60), max_size=8))
def test_any_question_can_be_matched_with_any_lines(query: str, lines: list[str]) -> None:
    matcher = QueryMatcher(query)
    ranked = matcher.ranked(lines, limit=3)
    assert len(ranked) == len(set(ranked)) <= 3
    assert all(0 <= place <= len(line) for line in lines for place in matcher.places(line))


def test_places_in_a_long_text_are_found_by_the_rarest_words_first() -> None:
    text = "total " * 500 + "INV-90317 " + "total " * 500
    spans = QueryMatcher("total of INV-90317").spans(text, limit=20)
    assert text[slice(*spans[0])] == "INV-90317"
    assert len(spans) <= 20
