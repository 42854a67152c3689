"""000-50: the end-to-end test with the real API, which answers in its own words. It costs tokens.

Not collected by default. With ``MINIMAX_API_KEY`` in the environment or in ``.env``::

    pytest tests/minimax/live_end_to_end.py -rs
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

import pytest
from dotenv import dotenv_values

from gatekeeper_minimax import MiniMaxNoKeyError
from tests.minimax.conversations import CONVERSATIONS
from tests.minimax.end_to_end import (
    BUDGET_TOKENS,
    ENV_FILE,
    check_budget,
    check_gate,
    check_recall,
    check_referring,
    live_client,
    live_run,
    recorded,
    wire_log,
)

if TYPE_CHECKING:
    from tests.minimax.conversations import Conversation
    from tests.minimax.end_to_end import Request, Wire

pytestmark = pytest.mark.minimax


class Talk(NamedTuple):
    """One whole conversation: its requests, the bodies that left, and whether one of them held the key."""

    asked: list[Request]
    bodies: Wire
    key_left: bool


@pytest.fixture(scope="module", params=CONVERSATIONS, ids=lambda conversation: conversation.name)
def talk(request: pytest.FixtureRequest) -> Talk:
    """Talk once for all tests; before them, because they run without the settings of the machine."""
    conversation: Conversation = request.param
    try:
        live_client().close()
    except MiniMaxNoKeyError:
        pytest.skip("MINIMAX_API_KEY is not set, neither in the environment nor in .env (see .env.example)")
    with recorded() as bodies:
        asked = live_run(conversation)
    print(f"\n{conversation.name}\n{wire_log(asked)}")
    key = os.environ.get("MINIMAX_API_KEY") or (ENV_FILE.is_file() and dotenv_values(ENV_FILE).get("MINIMAX_API_KEY"))
    assert key
    return Talk(asked, bodies, key_left=any(key.strip() in json.dumps(body) for body in bodies))


def test_within_a_topic_earlier_turns_are_sent(talk: Talk) -> None:
    """000-52: check 1."""
    check_recall(talk.asked)


def test_after_a_switch_the_old_topic_is_not_sent(talk: Talk) -> None:
    """000-53: check 2."""
    check_gate(talk.asked)


def test_words_that_point_back_bring_the_turn_before(talk: Talk) -> None:
    """000-54: check 3."""
    check_referring(talk.asked)


def test_the_history_keeps_within_the_budget(talk: Talk) -> None:
    """000-55: check 4."""
    check_budget(talk.asked, budget_tokens=BUDGET_TOKENS)


def test_every_answer_says_something_and_tells_its_usage(talk: Talk) -> None:
    for request in talk.asked:
        assert request.reply.text.strip()
        assert "<think>" not in request.reply.text
        assert request.reply.usage is not None
        assert request.reply.usage.input_tokens > 0


def test_no_body_holds_the_key_or_a_thought(talk: Talk) -> None:
    thoughts = [request.reply.thinking.strip() for request in talk.asked]
    assert not talk.key_left
    for body in talk.bodies:
        texts = [message["content"] for message in body["messages"]]
        assert not any("<think>" in text for text in texts)
        assert not any(thought in text for text in texts for thought in thoughts if len(thought) > 80)
