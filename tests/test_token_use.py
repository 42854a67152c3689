"""What each next question would have sent."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_cli.conversation import CONVERSATION
from gatekeeper_cli.token_use import asked_turns, token_use
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from tests.conversations import PAIRS, turns_of


@pytest.mark.parametrize("pairs", [*PAIRS.values(), list(CONVERSATION)[:20]])
def test_each_question_is_asked_to_the_turns_before_it(pairs: list[tuple[str, str]]) -> None:
    found = token_use(turns_of(pairs), token_budget=300)
    for at, point in enumerate(found):
        fresh = ContextGatekeeper(300)
        fresh.sync(turns_of(pairs[:at]))
        assert point.turn_id == at
        assert point.selected == fresh.explain(pairs[at][0]).tokens
        assert point.full == sum(fresh.turn_tokens)
    assert found[0][1:] == (0, 0, 0)


def test_the_window_is_the_newest_turns_within_the_same_share_of_the_budget() -> None:
    gatekeeper = ContextGatekeeper(300)
    gatekeeper.sync(CONVERSATION)
    costs = gatekeeper.turn_tokens
    for point in token_use(turns_of(list(CONVERSATION)), token_budget=300):
        newest = [sum(costs[at : point.turn_id]) for at in range(point.turn_id + 1)]
        assert point.window == max(total for total in newest if total * 1.16 <= 300)


def test_nothing_is_over_the_budget_but_the_full_history() -> None:
    found = token_use(turns_of(list(CONVERSATION)), token_budget=200)
    assert all(point.selected <= 200 and point.window <= 200 for point in found)
    assert found[-1].full > 200


@given(turn_count=st.integers(0, 3000), points=st.integers(2, 50))
def test_at_most_so_many_turns_ask_the_first_and_the_last_among_them(turn_count: int, points: int) -> None:
    asked = asked_turns(turn_count, points=points)
    assert len(asked) == min(turn_count, points)
    assert all(one < other for one, other in pairwise(asked))
    if turn_count:
        assert (asked[0], asked[-1]) == (0, turn_count - 1)


def test_costs_that_are_known_are_taken() -> None:
    turns = turns_of(PAIRS["mixed"])
    assert [point.full for point in token_use(turns, token_budget=300, turn_tokens=[1] * 5)] == [0, 1, 2, 3, 4]


def test_a_conversation_without_turns_asks_nothing() -> None:
    assert token_use((), token_budget=10) == ()


def test_whoever_watches_sees_each_question() -> None:
    seen: list[int] = []

    def watched(turn_ids):  # type: ignore[no-untyped-def]
        for turn_id in turn_ids:
            seen.append(turn_id)
            yield turn_id

    token_use(turns_of(PAIRS["english"]), token_budget=300, watched=watched)
    assert seen == [0, 1, 2, 3, 4]
