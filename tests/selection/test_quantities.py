"""Dates and amounts: all ways to write one are one term."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.selection.dates import quantities
from tests.case_files import from_file


def terms(text: str) -> list[str]:
    return [quantity.term for quantity in quantities(text)]


@from_file("written")
def test_a_date_is_one_term_however_it_is_written(written: str) -> None:
    assert terms(written)[0] == "@05-03"


@from_file("one", "other", "term")
def test_an_amount_is_one_term_however_it_is_written(one: str, other: str, term: str) -> None:
    assert terms(one) == terms(other) == [term]


@pytest.mark.parametrize("text", ["第三年", "一天", "3 dayspring", "十分", "v2.5kg", "", "no numbers"])
def test_what_is_no_amount_gives_none(text: str) -> None:
    assert terms(text) == []


@given(st.text("0123456789年月日号个二三十百元-/. may", max_size=40))
def test_every_quantity_is_a_piece_of_its_text(text: str) -> None:
    for quantity in quantities(text):
        assert quantity.text in text
        assert quantity.term[0] == {"date": "@", "amount": "#"}[quantity.kind]


@from_file("text", "question")
def test_a_question_finds_a_date_or_an_amount_that_was_written_otherwise(text: str, question: str) -> None:
    gatekeeper = ContextGatekeeper()
    gatekeeper.add_turn(text, "好的。")
    gatekeeper.add_turn("猫粮买什么牌子？", "无谷的就行。")
    assert 0 in [turn["turn_id"] for turn in gatekeeper.select(question)]
