"""000-50, 000-58: whole conversations over real HTTP pass the specification's four checks, and each check can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core.selection import planner as planner_module
from gatekeeper_core.tokens import estimate_text_tokens
from gatekeeper_minimax import MiniMaxClient, MiniMaxConfig, MiniMaxResponseError
from tests.minimax import end_to_end
from tests.minimax.conversations import CONVERSATIONS
from tests.minimax.end_to_end import (
    BUDGET_TOKENS,
    SMALL_BUDGET_TOKENS,
    THOUGHT,
    check_budget,
    check_evidence,
    check_gate,
    check_recall,
    check_referring,
    history_of,
    is_excerpt,
    local_client,
    recorded,
    run,
    scripted_server,
    verdicts,
    wire_log,
)
from tests.minimax.server import API_KEY, Cut, Failure, InBody

if TYPE_CHECKING:
    from pathlib import Path

    from tests.minimax.conversations import Conversation
    from tests.minimax.end_to_end import Request

pytestmark = pytest.mark.minimax

each_conversation = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda conversation: conversation.name)


def talked(
    conversation: Conversation,
    *,
    config: GatekeeperConfig | None = None,
    token_budget: int = BUDGET_TOKENS,
    streaming: bool = False,
) -> list[Request]:
    with local_client(conversation) as client:
        gatekeeper = ContextGatekeeper(token_budget, config=config, token_counter=estimate_text_tokens)
        return run(client, conversation, gatekeeper=gatekeeper, streaming=streaming)


def failing(asked: list[Request], *, budget_tokens: int = BUDGET_TOKENS) -> list[str]:
    return [name for name, fault in verdicts(asked, budget_tokens=budget_tokens).items() if fault]


@each_conversation
def test_a_script_switches_twice_returns_once_and_points_back(conversation: Conversation) -> None:
    """000-51: at least 8 turns; a switch leaves everything before it behind."""
    kinds = [turn.kind for turn in conversation.turns]
    assert len(kinds) >= 8
    assert (kinds.count("switch"), kinds.count("return")) == (2, 1)
    assert "referring" in kinds
    assert all(
        turn.excludes == frozenset(range(number))
        for number, turn in enumerate(conversation.turns)
        if turn.kind == "switch"
    )
    assert all(
        turn.recalls and not turn.recalls & turn.excludes
        for turn in conversation.turns
        if turn.kind not in ("open", "switch")
    )


@each_conversation
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("token_budget", [BUDGET_TOKENS, SMALL_BUDGET_TOKENS])
def test_all_checks_hold_on_what_is_sent(conversation: Conversation, token_budget: int, streaming: bool) -> None:
    """000-50 to 000-55: the four checks, with a roomy budget and with a small one."""
    asked = talked(conversation, token_budget=token_budget, streaming=streaming)
    check_recall(asked)
    check_gate(asked)
    check_referring(asked)
    check_budget(asked, budget_tokens=token_budget)
    check_evidence(asked)
    assert [request.reply.text for request in asked] == [turn.assistant for turn in conversation.turns]


@each_conversation
def test_without_recall_the_first_check_fails(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    """000-52: no turn is found by what it shares with the question; the newest one may still go along by its link.

    The settings have no switch for recall, so the search itself is made to find nothing. What is not recalled cannot
    be evidence either.
    """
    monkeypatch.setattr(planner_module, "score_turns", lambda *query, **options: [])
    asked = talked(conversation)
    with pytest.raises(AssertionError, match="check 1, recall: request "):
        check_recall(asked)
    assert failing(asked) == ["1 recall", "4 evidence"]


@each_conversation
def test_without_the_gate_the_second_check_fails(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    """000-53: thresholds at which every question hangs on the newest turn, unless it says that it changes the topic."""
    monkeypatch.setattr(planner_module, "_WHOLE_ABOVE", 0.0)
    monkeypatch.setattr(planner_module, "_SNIPPET_ABOVE", 0.0)
    asked = talked(conversation)
    with pytest.raises(AssertionError, match=r"check 2, gate: .* holds turns of another topic"):
        check_gate(asked)
    assert failing(asked) == ["2 gate"]


@each_conversation
def test_without_the_link_the_third_check_fails(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    """000-54: thresholds at which no question hangs on the newest turn; the search does not find it either."""
    monkeypatch.setattr(planner_module, "score_turns", lambda *query, **options: [])
    monkeypatch.setattr(planner_module, "_WHOLE_ABOVE", 1.0)
    monkeypatch.setattr(planner_module, "_SNIPPET_ABOVE", 1.0)
    asked = talked(conversation)
    with pytest.raises(AssertionError, match=r"check 3, referring words: .* lacks the turn before it"):
        check_referring(asked)
    assert "3 referring words" in failing(asked)


@each_conversation
def test_without_a_budget_the_fourth_check_fails(conversation: Conversation) -> None:
    """000-55: all else holds as well as before, it only costs more than the small budget."""
    asked = talked(conversation, token_budget=10**9)
    with pytest.raises(AssertionError, match=r"check 4, budget: .* of 100 tokens"):
        check_budget(asked, budget_tokens=SMALL_BUDGET_TOKENS)
    assert failing(asked, budget_tokens=SMALL_BUDGET_TOKENS) == ["4 budget"]


@each_conversation
def test_a_budget_that_the_conversation_never_needs_proves_nothing(conversation: Conversation) -> None:
    asked = talked(conversation, token_budget=100_000)
    with pytest.raises(AssertionError, match=r"check 4, budget: the conversation of .* never needed the budget"):
        check_budget(asked, budget_tokens=100_000)


@each_conversation
def test_a_budget_too_small_for_the_evidence_is_noticed(conversation: Conversation) -> None:
    """000-55: the second half of check 4."""
    asked = talked(conversation, token_budget=10)
    check_budget(asked, budget_tokens=10)
    with pytest.raises(AssertionError, match="check 4, evidence: request 8 "):
        check_evidence(asked)


@each_conversation
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("raw", [False, True])
def test_no_body_holds_the_key_or_a_finished_thought(conversation: Conversation, streaming: bool, raw: bool) -> None:
    """000-50, 000-58: thinking comes back to the model neither when the text is stored nor when the raw content is."""
    gatekeeper = ContextGatekeeper(BUDGET_TOKENS, token_counter=estimate_text_tokens)
    with (
        scripted_server(conversation) as server,
        MiniMaxClient(API_KEY, config=MiniMaxConfig(base_url=server.base_url)) as client,
    ):
        for turn in conversation.turns:
            reply = end_to_end.answer(client, gatekeeper.explain(turn.user).to_messages(), streaming=streaming)
            assert THOUGHT in reply.thinking
            gatekeeper.add_turn(turn.user, reply.message["content"] if raw else reply.text)
    assert len(server.requests) == len(conversation.turns)
    for request in server.requests:
        assert THOUGHT.encode() not in request.raw
        assert API_KEY.encode() not in request.raw
        assert request.headers["authorization"] == f"Bearer {API_KEY}"


@pytest.mark.parametrize("streaming", [False, True])
def test_what_leaves_is_what_arrives_also_after_failures(streaming: bool) -> None:
    """000-50: the log reads the bodies on their way out; the server has the same ones, each try with the same body."""
    conversation = CONVERSATIONS[0]
    with (
        recorded() as left,
        scripted_server(conversation) as server,
        MiniMaxClient(API_KEY, config=MiniMaxConfig(base_url=server.base_url), sleep=lambda seconds: None) as client,
    ):
        server.script(Failure(429, code=1002, message="rate limit"), InBody(1002, "rate limit"), Failure(500))
        asked = run(
            client,
            conversation,
            gatekeeper=ContextGatekeeper(BUDGET_TOKENS, token_counter=estimate_text_tokens),
            streaming=streaming,
        )
    arrived = [request.body for request in server.requests]
    assert left == arrived
    assert arrived[0] == arrived[1] == arrived[2] == arrived[3]
    assert len(arrived) == len(asked) + 3
    assert failing(asked) == []


def test_a_conversation_goes_on_after_a_cut_stream() -> None:
    """000-50: a turn without an answer is asked again; the conversation holds it once."""
    conversation = CONVERSATIONS[1]
    gatekeeper = ContextGatekeeper(BUDGET_TOKENS, token_counter=estimate_text_tokens)
    with (
        scripted_server(conversation) as server,
        MiniMaxClient(API_KEY, config=MiniMaxConfig(base_url=server.base_url)) as client,
    ):
        server.script(Cut(("It depends ",)))
        with pytest.raises(MiniMaxResponseError):
            run(client, conversation, gatekeeper=gatekeeper, streaming=True)
        assert len(gatekeeper.turns) == 0
        assert failing(run(client, conversation, gatekeeper=gatekeeper, streaming=True)) == []


@each_conversation
def test_the_log_has_a_line_for_each_request(conversation: Conversation) -> None:
    head, *lines = wire_log(talked(conversation, token_budget=SMALL_BUDGET_TOKENS)).splitlines()
    assert head.split()[:4] == ["no", "kind", "gate", "roles"]
    assert len(lines) == len(conversation.turns)
    assert lines[0].split() == ["0", "open", "switch:", "first_turn", "U", "-", "0", "of", "100", "0"]
    assert "*" in "".join(lines)


def test_the_program_prints_the_verdicts_and_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    """000-50, 000-58: ``python -m tests.minimax.end_to_end``."""
    assert end_to_end.main([]) == 0
    printed = capsys.readouterr()
    assert printed.out.rstrip().endswith("All checks hold.")
    assert printed.out.count("holds\n") == 5 * 2 * len(CONVERSATIONS)
    assert API_KEY not in printed.out + printed.err
    assert THOUGHT not in printed.out + printed.err


def test_without_a_key_the_live_run_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """000-56: the key comes from the environment or from ``.env``; without one nothing is sent."""
    monkeypatch.delenv("MINIMAX_API_KEY", raising=False)
    monkeypatch.setattr(end_to_end, "ENV_FILE", tmp_path / ".env")
    with recorded() as left:
        assert end_to_end.main(["--live"]) == 2
    assert left == []
    assert "MINIMAX_API_KEY" in capsys.readouterr().err


SAID = [
    ("缓存的端口是多少？", "端口是 6380。重启后生效。记得开防火墙。"),
    ("Who keeps the key?", "Marta does. Ask her."),
]


def test_messages_are_read_back_into_their_turns() -> None:
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "缓存的端口是多少？"},
        {"role": "assistant", "content": "端口是 6380。 … 记得开防火墙。"},
        {"role": "assistant", "content": "Marta does. Ask her."},
        {"role": "user", "content": "And now?"},
    ]
    sent = history_of(messages, SAID, question="And now?")
    assert [(one.turn_id, one.role) for one in sent] == [(0, "user"), (0, "assistant"), (1, "assistant")]


@pytest.mark.parametrize(
    ("history", "match"),
    [
        ([{"role": "assistant", "content": "Never said."}], "text of 0 turns"),
        (
            [{"role": "user", "content": "Who keeps the key?"}, {"role": "user", "content": "缓存的端口是多少？"}],
            "order",
        ),
        ([{"role": "user", "content": "Who keeps the key?"}] * 2, "order"),
    ],
)
def test_what_the_conversation_does_not_hold_is_noticed(history: list[dict[str, str]], match: str) -> None:
    with pytest.raises(AssertionError, match=match):
        history_of([*history, {"role": "user", "content": "And now?"}], SAID, question="And now?")


def test_a_request_ends_with_its_question() -> None:
    with pytest.raises(AssertionError, match="ends with"):
        history_of([{"role": "user", "content": "Another?"}], SAID, question="And now?")


@pytest.mark.parametrize(
    ("text", "holds"),
    [("端口是 6380。 …", True), ("… 6380 … 防火墙。", True), ("防火墙 … 6380", False), ("…", False), ("6381", False)],
)
def test_an_excerpt_is_pieces_in_their_order(text: str, holds: bool) -> None:
    assert is_excerpt(text, SAID[0][1]) is holds
