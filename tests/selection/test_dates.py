"""Dates of turns: the words for a time that a question counts from its own day, and the turns that they find."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, Message
from gatekeeper_core.messages import group_turns
from gatekeeper_core.selection.anchors import folded
from gatekeeper_core.selection.dates import date_terms, spoken_dates
from tests.case_files import from_file

WEDNESDAY = date(2024, 6, 5)

DIARY = [
    ("2024-05-20", "We planned the balcony beds.", "Tomatoes and basil."),
    ("2024-05-28", "走廊刷什么漆好？", "米白色，刷两遍。"),
    ("2024-06-03", "I booked the vet for Momo.", "Noted: 10:30, Dr. Lin."),
    ("2024-06-04", "帮我看看 tax return 的材料", "还缺收入证明。"),
]


def diary(rows: list[tuple[str, str, str]] = DIARY) -> list[Message]:
    return [
        Message(role, text, created_at=datetime.fromisoformat(day))  # type: ignore[arg-type]
        for day, *texts in rows
        for role, text in zip(("user", "assistant"), texts, strict=True)
    ]


def gatekeeper_of(messages: list[Message]) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(group_turns(messages))
    return gatekeeper


def found_by_date(gatekeeper: ContextGatekeeper, query: str, **options: Any) -> list[int]:
    """Return the turns that share a date with a question."""
    decisions = gatekeeper.explain(query, **options).decisions
    scores = [each.score for each in decisions if each.score is not None]
    return sorted(score.turn_id for score in scores if any(term.startswith("@") for term in score.matched))


def terms(text: str, asked_on: date = WEDNESDAY) -> list[str]:
    return [spoken.term for spoken in spoken_dates(folded(text), asked_on)]


@from_file("text", "term")
def test_a_word_for_a_time_counts_from_the_day_of_asking(text: str, term: str) -> None:
    assert terms(text) == [term]


@from_file("text")
def test_what_names_no_earlier_time_is_left_alone(text: str) -> None:
    assert terms(text) == []


@given(st.dates(), st.integers(0, 200))
def test_the_day_that_is_counted_back_to_is_the_day_that_is_indexed(day: date, back: int) -> None:
    if day.toordinal() + back <= date.max.toordinal():
        asked_on = date.fromordinal(day.toordinal() + back)
        assert terms(f"{back} days ago", asked_on) == [date_terms(day)[0]]
        assert terms("1 week ago", asked_on) == terms("last week", asked_on)


@from_file("query", "turns")
def test_a_question_finds_the_turns_of_the_day_that_it_names(query: str, turns: list[int]) -> None:
    assert found_by_date(gatekeeper_of(diary()), query, asked_at=datetime(2024, 6, 5, 9)) == turns


def test_the_words_of_a_date_that_is_known_are_not_looked_for() -> None:
    selection = gatekeeper_of(diary()).explain("Which vet, last week?", asked_at=datetime(2024, 6, 12))
    assert (selection.covered, selection.uncovered) == (("vet",), ())
    (score,) = [each.score for each in selection.decisions if each.turn_id == 2 and each.score]
    assert score.terms.share == pytest.approx(1.0)


def test_without_a_time_of_asking_the_newest_turn_tells_it() -> None:
    gatekeeper = gatekeeper_of(diary())
    assert found_by_date(gatekeeper, "yesterday") == [2]
    undated = gatekeeper_of([replace(message, created_at=None) for message in diary()])
    assert found_by_date(undated, "yesterday") == found_by_date(undated, "3 June") == []
    assert found_by_date(undated, "3 June", asked_at=datetime(2024, 6, 5)) == []


def test_the_day_is_that_of_the_writer() -> None:
    late = datetime(2024, 6, 3, 23, 30, tzinfo=timezone(timedelta(hours=-8)))
    gatekeeper = gatekeeper_of([Message("user", "Lights out.", created_at=late)])
    assert found_by_date(gatekeeper, "3 June") == [0]
    assert found_by_date(gatekeeper, "4 June") == []


def test_a_cut_back_and_another_date_leave_nothing_behind() -> None:
    gatekeeper = gatekeeper_of(diary())
    moved = diary([*DIARY[:2], ("2024-06-01", *DIARY[2][1:]), *DIARY[3:]])
    for messages in (diary()[:4], diary(), moved):
        gatekeeper.sync(group_turns(messages))
        anew = gatekeeper_of(messages)
        for query in ("3 June", "yesterday", "last week", "1 June"):
            assert gatekeeper.explain(query).to_dict() == anew.explain(query).to_dict()
