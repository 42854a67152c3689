"""What providers do with a history by themselves, as LangChain's clients show it: it is left to them."""

from __future__ import annotations

import os
from typing import Any

import pytest

if os.environ.get("GATEKEEPER_FORBID_SKIPS") != "1":
    for package in ("langchain_anthropic", "langchain_openai"):
        pytest.importorskip(package, reason=f"no {package}: pip install --group test-providers")

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from gatekeeper_core import HistoryConfig, HistoryView
from langchain_gatekeeper import GatekeeperMiddleware
from tests.adapters.bills import claude
from tests.strict_server import StrictServer

SMALL = HistoryConfig(passthrough_below=0, token_budget=400, on_error="raise")
LONG = "und so weiter " * 100
OF_ANTHROPIC = {"type": "compaction", "content": "They set a port.", "encrypted_content": "b3BhcXVl"}


def openai(server: StrictServer, **more: Any) -> ChatOpenAI:
    address: dict[str, Any] = {"base_url": f"{server.url}/v1", "api_key": "secret", "max_retries": 0}
    return ChatOpenAI(model="gpt-5", use_responses_api=True, **address, **more)


def ask(server: StrictServer, model: Any, messages: list[Any], **settings: Any) -> HistoryView:
    """Return the view of an agent's call; the server has taken it."""
    gate = GatekeeperMiddleware(SMALL, **settings)
    agent = create_agent(model, [], middleware=[gate])
    for _ in range(3):
        agent.invoke({"messages": messages})
    assert server.refused == []
    return gate.last_selection


def test_what_anthropic_has_compacted_is_sent_as_it_is_and_not_counted(server: StrictServer) -> None:
    answer = AIMessage([OF_ANTHROPIC, {"type": "text", "text": "Noted."}])
    past = [HumanMessage(LONG), AIMessage(LONG), HumanMessage("Go on."), answer]
    view = ask(server, claude(server.url), [*past, HumanMessage("Which port was it?")])
    assert view.kept == (0, 1, 2, 3, 4)
    assert view.history_tokens < 100
    assert OF_ANTHROPIC in server.last_request["messages"][3]["content"]


def test_a_request_that_goes_on_from_a_response_sends_what_follows_and_drops_nothing(server: StrictServer) -> None:
    answer = AIMessage(LONG, response_metadata={"id": "resp_1"})
    messages = [HumanMessage(LONG), answer, HumanMessage("New topic: bread?")]
    view = ask(server, openai(server, use_previous_response_id=True), messages)
    assert view.kept == (0, 1, 2)
    assert server.last_request["previous_response_id"] == "resp_1"
    assert [item["content"] for item in server.last_request["input"]] == ["New topic: bread?"]
    assert ask(server, openai(server), messages).kept == (2,)
    model = openai(server, model_kwargs={"conversation": "conv_1"})
    assert ask(server, model, messages).kept == (0, 1, 2)


def run_of(rounds: int) -> list[AnyMessage]:
    """Return a question with rounds of tools, too large for the budget."""
    run: list[AnyMessage] = [HumanMessage("Which port?")]
    for number in range(rounds):
        call: Any = {"name": "f", "args": {"n": number}, "id": f"c{number}"}
        run += [AIMessage("", tool_calls=[call]), ToolMessage(LONG, tool_call_id=f"c{number}")]
    return run


def test_where_anthropic_clears_results_the_run_is_not_folded(server: StrictServer) -> None:
    clearing = {"edits": [{"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 50_000}}]}
    compacting = {"edits": [{"type": "compact_20260112"}]}
    folded = [
        bool(ask(server, claude(server.url, betas=["of-this-test"], **settings), run_of(8)).folded)
        for settings in ({}, {"context_management": clearing}, {"context_management": compacting})
    ]
    assert folded == [True, False, True]
