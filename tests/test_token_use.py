"""The tokens that each model call of a conversation would have sent."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper_cli.conversation import CONVERSATION
from gatekeeper_cli.costs import Reported, evenly, token_use
from gatekeeper_core.context.history.select import select_history
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.view import ThreadState
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.tokens import count_messages
from tests.loops import assistant, conversations, user
from tests.talks import talk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def selected_one_by_one(messages: Sequence[Message], *, token_budget: int) -> Iterator[int]:
    """Yield what ``select_history`` sends at each call: the past is chosen once a run, and only shrinks in it."""
    gatekeeper, config = ContextGatekeeper(), HistoryConfig(token_budget=token_budget)
    state: ThreadState | None = ThreadState()
    for at, message in enumerate(messages):
        if message.role == "assistant":
            view = select_history(messages[:at], gatekeeper=gatekeeper, config=config, state=state.at(0.0))
            state = view.state
            yield view.tokens


@given(messages=conversations(), budget=st.sampled_from([60, 600]))
@settings(max_examples=40)
def test_no_conversation_is_counted_otherwise_than_the_core_selects_it(messages: list[Message], budget: int) -> None:
    points = token_use(messages, token_budget=budget).points
    before = [count_messages(messages[:at]) for at, message in enumerate(messages) if message.role == "assistant"]
    assert [point.full for point in points] == before
    assert [point.selected for point in points] == list(selected_one_by_one(messages, token_budget=budget))


def test_the_window_is_the_newest_turns_within_the_same_share_of_the_budget() -> None:
    messages = talk(CONVERSATION)
    for point in token_use(messages, token_budget=300).points:
        stop = 2 * point.call + 1
        newest = [count_messages(messages[at:stop]) for at in range(0, stop, 2)]
        assert point.window == max(total for total in newest if total * 1.16 <= 300)


def test_a_call_belongs_to_the_turn_that_asked_and_a_greeting_to_the_first() -> None:
    messages = [assistant("Hello!"), user("a"), assistant(), assistant(), user("b"), user("c"), assistant()]
    points = token_use(messages, token_budget=300).points
    assert [point.turn_id for point in points] == [0, 0, 0, 2]
    assert points[0][2:] == (0, 0, 0, None)


def test_many_calls_are_asked_at_even_distances_and_the_sums_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = talk(CONVERSATION)
    exact = token_use(messages, token_budget=500)
    monkeypatch.setattr("gatekeeper_cli.costs.MAX_CALLS", 11)
    some = token_use(messages, token_budget=500)
    assert [point.call for point in some.points] == list(range(0, 41, 4))
    assert (some.calls, some.full) == (exact.calls, exact.full)
    assert some.selected == round(sum(point.selected for point in some.points) * 41 / 11)
    assert some.to_dict()["calls_asked"] == 11


@given(turn_count=st.integers(0, 3000), points=st.integers(2, 50))
def test_at_most_so_many_are_asked_the_first_and_the_last_among_them(turn_count: int, points: int) -> None:
    positions = evenly(turn_count, points)
    assert len(positions) == min(turn_count, points)
    assert all(one < other for one, other in pairwise(positions))
    if turn_count:
        assert (positions[0], positions[-1]) == (0, turn_count - 1)


def test_what_was_reported_is_summed_over_the_calls() -> None:
    assert Reported.of(()) is None
    assert Reported.of([Usage(100, 5, 80, 7, "m"), Usage(200, 6)]) == (2, 300, 11, 80, 7, None)
