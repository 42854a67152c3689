"""000-50, 000-58: whole conversations over real HTTP pass the specification's four checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.tokens import estimate_text_tokens
from tests.chat import end_to_end
from tests.chat.end_to_end import (
    BUDGET_TOKENS,
    CONVERSATIONS,
    SMALL_BUDGET_TOKENS,
    THOUGHT,
    faults,
    recorded,
    run,
    scripted,
    wire_log,
)
from tests.chat.server import API_KEY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.chat.end_to_end import Conversation


each_conversation = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda conversation: conversation.name)


def gatekeeper_of(token_budget: int = BUDGET_TOKENS) -> ContextGatekeeper:
    return ContextGatekeeper(token_budget, token_counter=estimate_text_tokens)


@each_conversation
def test_a_script_switches_twice_returns_once_and_points_back(conversation: Conversation) -> None:
    """000-51: at least 8 turns; a switch leaves everything before it behind."""
    kinds = [turn.kind for turn in conversation.turns]
    assert len(kinds) >= 8
    assert (kinds.count("switch"), kinds.count("return")) == (2, 1)
    assert "referring" in kinds
    for number, turn in enumerate(conversation.turns):
        if turn.kind == "switch":
            assert [*turn.excludes] == [*range(number)]
        elif turn.kind != "open":
            assert turn.recalls
            assert not {*turn.recalls} & {*turn.excludes}


@each_conversation
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("token_budget", [BUDGET_TOKENS, SMALL_BUDGET_TOKENS])
def test_all_checks_hold_on_what_is_sent(conversation: Conversation, token_budget: int, streaming: bool) -> None:
    """000-50 to 000-55: the four checks, with a roomy budget and with a small one."""
    with scripted(conversation) as (_, client):
        exchanges = run(client, conversation, gatekeeper_of(token_budget), streaming=streaming)
    assert faults(exchanges, budget_tokens=token_budget) == {}
    assert [request.reply.text for request in exchanges] == [turn.assistant for turn in conversation.turns]
    log = wire_log(exchanges, token_budget).splitlines()
    assert len(log) == len(exchanges) + 1
    assert log[1].split() == ["0", "open", "switch:", "first_turn", "-", "0", "of", str(token_budget), "0"]
    assert "*" in "".join(log) or token_budget == BUDGET_TOKENS


@each_conversation
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("raw", [False, True])
def test_no_body_holds_the_key_or_a_finished_thought(conversation: Conversation, streaming: bool, raw: bool) -> None:
    """000-50, 000-58: thinking comes back to the model neither when the text is stored nor when the raw content is."""
    gatekeeper = gatekeeper_of()
    with scripted(conversation) as (server, client):
        for turn in conversation.turns:
            reply = end_to_end.answer(client, gatekeeper.explain(turn.user).to_messages(), streaming=streaming)
            assert THOUGHT in reply.thinking
            gatekeeper.add_turn(turn.user, reply.message["content"] if raw else reply.text)
    assert len(server.requests) == len(conversation.turns)
    for request in server.requests:
        assert THOUGHT.encode() not in request.raw
        assert API_KEY.encode() not in request.raw


def test_the_program_prints_the_verdicts_and_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    """000-50, 000-58: ``python -m tests.chat.end_to_end``."""
    assert end_to_end.main([]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("all checks hold\n") == 2 * len(CONVERSATIONS)
    assert API_KEY not in printed.out + printed.err
    assert THOUGHT not in printed.out + printed.err


def test_without_a_key_the_live_run_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """000-56: the key comes from the environment or from ``.env``; without one nothing is sent."""
    monkeypatch.setattr(end_to_end, "ENV_FILE", tmp_path / ".env")
    monkeypatch.chdir(tmp_path)
    with recorded() as bodies:
        assert end_to_end.main(["--live"]) == 2
    assert bodies == []
    assert "MINIMAX_API_KEY" in capsys.readouterr().err
