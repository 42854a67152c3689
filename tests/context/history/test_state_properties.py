"""What is sent with a state: never less than the question needs, whatever was remembered and however a list changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gatekeeper_core import HistoryConfig
from tests.thread_scripts import ANY, CHANGING, WAYS, chosen, played, steps, tokens_of

each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
growing = given(script=steps("append", most=12), **ANY)


# --- over the budget


@each_way
@growing
def test_what_the_selection_chose_is_sent_before_any_other_turn_and_within_the_budget(
    way: Any, script: Any, settings: Any, **rest: Any
) -> None:
    for question in played(script, way, HistoryConfig(on_error="raise", **settings), **rest):
        selection = question.sent.view.selection
        missing = chosen(selection, evidence=True) - question.sent.entries
        assert not missing or question.sent.entries <= chosen(selection)
        used = sum(map(tokens_of, question.sent.texts)) - tokens_of(question.messages[-1].text)
        assert (selection.tokens if selection else 0) <= used <= settings["token_budget"]


# --- a history that changes


@each_way
@CHANGING
def test_every_turn_that_a_new_instance_would_choose_is_sent(way: Any, script: Any, settings: Any, **rest: Any) -> None:
    for question in played(script, way, HistoryConfig(on_error="raise", **settings), **rest):
        question.check()


@pytest.mark.parametrize("way", [WAYS["threads"], WAYS["threads, question elsewhere"]], ids=["inside", "elsewhere"])
@CHANGING
def test_two_conversations_without_a_name_share_nothing(way: Any, script: Any, settings: Any, **rest: Any) -> None:
    before: list[Any] = []
    for question in played(script, way, HistoryConfig(on_error="raise", **settings), named=False, **rest):
        begun = (each[:-1] or each for each in before)  # the question may be elsewhere
        if not any(question.messages[: len(past)] == past for past in begun):
            fresh = question.fresh()
            assert (question.sent.entries, question.sent.view.bill) == (fresh.entries, fresh.view.bill)
        before.append(question.messages)
