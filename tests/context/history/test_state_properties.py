"""What is sent with a state: never less than the question needs, whatever was remembered and however a list changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gatekeeper_core import HistoryConfig
from tests.thread_scripts import ANY, CHANGING, WAYS, chosen, is_dear, played, steps, tokens_of

each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
growing = given(script=steps("append", most=12), **ANY)


# --- over the budget


@each_way
@growing
def test_no_turn_takes_the_place_of_one_that_was_chosen_for_its_evidence(
    way: Any, script: Any, settings: Any, **rest: Any
) -> None:
    for asked in played(script, way, HistoryConfig(on_error="raise", **settings), **rest):
        selection = asked.sent.view.selection
        missing = chosen(selection, evidence=True) - asked.sent.entries
        assert not missing or asked.sent.entries <= chosen(selection)


@each_way
@growing
def test_a_prompt_uses_at_least_what_the_selection_asked_for_and_at_most_the_budget(
    way: Any, script: Any, settings: Any, **rest: Any
) -> None:
    for asked in played(script, way, HistoryConfig(on_error="raise", **settings), **rest):
        selection, question = asked.sent.view.selection, tokens_of(asked.messages[-1].text)
        used = sum(map(tokens_of, asked.sent.texts))
        assert used <= settings["token_budget"] + question
        assert used - question >= (selection.tokens if selection else 0)


# --- a history that changes


@each_way
@CHANGING
def test_every_turn_that_a_new_instance_would_choose_is_sent(way: Any, script: Any, settings: Any, **rest: Any) -> None:
    for asked in played(script, way, HistoryConfig(on_error="raise", **settings), **rest):
        assert chosen(asked.fresh().view.selection) <= asked.sent.entries


@each_way
@CHANGING
def test_a_history_that_does_not_go_on_is_sent_as_by_a_new_instance(
    way: Any, script: Any, settings: Any, **rest: Any
) -> None:
    for asked in played(script, way, HistoryConfig(on_error="raise", **settings), **rest):
        if not asked.is_continued and not is_dear(asked.sent.view.bill):
            assert asked.fresh().entries <= asked.sent.entries


@pytest.mark.parametrize("way", [WAYS["threads"], WAYS["threads, question elsewhere"]], ids=["inside", "elsewhere"])
@CHANGING
def test_two_conversations_without_a_name_share_nothing(way: Any, script: Any, settings: Any, **rest: Any) -> None:
    before: list[Any] = []
    for asked in played(script, way, HistoryConfig(on_error="raise", **settings), named=False, **rest):
        begun = (each[:-1] or each for each in before)  # the question may be elsewhere
        if not any(asked.messages[: len(past)] == past for past in begun):
            fresh = asked.fresh()
            assert (asked.sent.entries, asked.sent.view.bill) == (fresh.entries, fresh.view.bill)
        before.append(asked.messages)
