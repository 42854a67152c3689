"""What is sent with a state: never less than the question needs, whatever was remembered and however a list changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import HistoryConfig
from tests.thread_scripts import CHANGES, LANGUAGES, PRICES, WAYS, chosen, is_dear, played, steps, tokens_of

each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
settings = st.fixed_dictionaries(
    {
        "prices": st.sampled_from([*PRICES.values()]),
        "posture": st.sampled_from(("careful", "thrifty")),
        "token_budget": st.sampled_from((300, 800, 1500, 4000, 1_000_000)),
    }
)


begun = st.sampled_from((0, 12))
languages = st.sampled_from(LANGUAGES)
growing = given(script=steps("append", most=12), begun=begun, settings=settings, language=languages)
changing = given(script=steps(*CHANGES, threads=2, most=8), begun=begun, settings=settings, language=languages)


def config_of(**settings: Any) -> HistoryConfig:
    return HistoryConfig(on_error="raise", **settings)


# --- over the budget


@each_way
@growing
def test_no_turn_takes_the_place_of_one_that_was_chosen_for_its_evidence(
    way: Any, script: Any, settings: Any, **rest: Any
) -> None:
    for asked in played(script, way, config_of(**settings), **rest):
        selection = asked.sent.view.selection
        missing = chosen(selection, evidence=True) - asked.sent.entries
        assert not missing or asked.sent.entries <= chosen(selection)


@each_way
@growing
def test_a_prompt_uses_at_least_what_the_selection_asked_for_and_at_most_the_budget(
    way: Any, script: Any, settings: Any, **rest: Any
) -> None:
    for asked in played(script, way, config_of(**settings), **rest):
        selection, question = asked.sent.view.selection, tokens_of(asked.messages[-1].text)
        used = sum(map(tokens_of, asked.sent.texts))
        assert used <= settings["token_budget"] + question
        assert used - question >= (selection.tokens if selection else 0)


# --- a history that changes


@each_way
@changing
def test_every_turn_that_a_new_instance_would_choose_is_sent(way: Any, script: Any, settings: Any, **rest: Any) -> None:
    for asked in played(script, way, config_of(**settings), **rest):
        assert chosen(asked.fresh().view.selection) <= asked.sent.entries


@each_way
@changing
def test_a_history_that_does_not_go_on_is_sent_as_by_a_new_instance(
    way: Any, script: Any, settings: Any, **rest: Any
) -> None:
    for asked in played(script, way, config_of(**settings), **rest):
        if not asked.is_continued and not is_dear(asked.sent.view.bill):
            assert asked.fresh().entries <= asked.sent.entries


@pytest.mark.parametrize("way", [WAYS["threads"], WAYS["threads, question elsewhere"]], ids=["inside", "elsewhere"])
@changing
def test_two_conversations_without_a_name_share_nothing(way: Any, script: Any, settings: Any, **rest: Any) -> None:
    before: list[Any] = []
    for asked in played(script, way, config_of(**settings), named=False, **rest):
        begun_alike = (
            asked.messages[: len(each) - len(each[1:2])] == each[: -len(each[1:2]) or None] for each in before
        )
        if not any(begun_alike):
            fresh = asked.fresh()
            assert (asked.sent.entries, asked.sent.view.bill) == (fresh.entries, fresh.view.bill)
        before.append(asked.messages)
