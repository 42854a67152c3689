"""Editors of LangChain behind ``delay_edits``: what the model reads, what it costs, what is logged."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    ModelRequest,
    ModelResponse,
    SummarizationMiddleware,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import validate_messages
from gatekeeper_core.pricing.prices import ModelPrices, prices_of_model
from langchain_gatekeeper import delay_edits
from langchain_gatekeeper.messages import read_message
from tests.adapters.scripted import RefusedError, Scripted, on
from tests.observed import event_of, everything_told, facts_of, fits

pytestmark = pytest.mark.adapters

PRICES = {name: prices_of_model(name) for name in ("claude-sonnet-4-5", "gpt-5", "gpt-4o", "deepseek-chat", "gpt-4")}
CLAUDE, GPT = PRICES["claude-sonnet-4-5"], PRICES["gpt-4o"]
RESULT = {
    "english": "The harvest report lists apples, pears and the price of every crate. " * 40,
    "chinese": "收成报告列出了苹果和梨以及每一箱的价格。" * 60,
    "mixed": "收成报告 lists apples 和每一箱的 price. " * 60,
}
each_script = pytest.mark.parametrize("script", RESULT)


def tokens_of(messages: list[BaseMessage]) -> int:
    return sum(map(size, messages))


def size(message: BaseMessage) -> int:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    inputs = sum(len(call["name"]) + len(json.dumps(call["args"], separators=(",", ":"))) for call in calls)
    return len(message.text) + len(message.name or "") + inputs


def bills(prompts: list[list[BaseMessage]], times: list[float], prices: ModelPrices) -> list[float]:
    """Return the running bill of prompts for a provider that keeps them: Anthropic at marks, the others all of them.

    A mark is behind the system message and at the end of each prompt, where the 20 messages before it are looked at.
    """
    kept: dict[tuple[str, ...], float] = {}
    bill = []
    for prompt, now in zip(prompts, times, strict=True):
        texts = [f"{each.type} {each.text} {getattr(each, 'tool_calls', '')}" for each in prompt]
        sizes = [*itertools.accumulate(map(size, prompt))]
        ends = range(len(prompt)) if not prices.marked else {0, *range(max(0, len(prompt) - 20), len(prompt))}
        written = range(len(prompt)) if not prices.marked else (0, len(prompt) - 1)
        least = prices.min_cached_tokens or 10**9
        found = [end for end in ends if now - kept.get(tuple(texts[: end + 1]), -1e9) <= prices.lifetime_seconds]
        hit = sizes[max(found)] // prices.step_tokens * prices.step_tokens if found else 0
        is_written = sizes[-1] >= least
        for end in (*found, *written):
            if sizes[end] >= least:
                kept[tuple(texts[: end + 1])] = now
        fresh = prices.cache_write if is_written else prices.input
        bill.append(hit * prices.cache_read + (sizes[-1] - hit) * fresh)
    return [*itertools.accumulate(bill)]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def clearing(trigger: int = 6_000, *, keep: int = 3, **more: Any) -> ContextEditingMiddleware[Any, Any]:
    return ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=trigger, keep=keep, **more)], token_counter=tokens_of)


def request_of(messages: list[Any]) -> ModelRequest[Any]:
    return ModelRequest(model=Scripted(), messages=messages, system_message=SystemMessage("s" * 1_500))


def sent_by(editor: AgentMiddleware[Any, Any], request: ModelRequest[Any]) -> list[BaseMessage]:
    """Return the prompt that an editor sends for a request."""
    prompts = []

    def handler(passed: ModelRequest[Any]) -> ModelResponse[Any]:
        prompts.append([passed.system_message, *passed.messages])
        return ModelResponse(result=[AIMessage("ok")])

    editor.wrap_model_call(request, handler)
    return prompts[0]


steps = st.tuples(st.integers(0, 4_000), st.integers(0, 400), st.sampled_from([5, 5, 5, 5, 280, 400]))
editors = st.fixed_dictionaries(
    {
        "trigger": st.sampled_from([500, 4_000, 12_000]),
        "keep": st.integers(0, 4),
        "clear_at_least": st.sampled_from([0, 3_000]),
        "clear_tool_inputs": st.booleans(),
    }
)


@given(st.lists(steps, min_size=5, max_size=40), editors, st.sampled_from(sorted(PRICES)))
def test_a_run_never_costs_more_than_without_edits(run: list[tuple[int, int, int]], options: Any, model: str) -> None:
    prices, clock = PRICES[model], Clock()
    alone = clearing(**options)
    guarded = delay_edits(alone, prices=prices, token_budget=10**9, token_counter=len, clock=clock)
    messages: list[BaseMessage] = [HumanMessage("go")]
    prompts: dict[str, list[list[BaseMessage]]] = {"none": [], "alone": [], "guarded": []}
    times = []
    for number, (result, text, pause) in enumerate(run):
        clock.now += pause
        times.append(clock.now)
        request = request_of([*messages])
        prompts["none"].append([request.system_message, *messages])
        prompts["alone"].append(sent_by(alone, request))
        prompts["guarded"].append(sent_by(guarded, request))
        call = {"name": "look", "args": {"q": "q" * text}, "id": f"c{number}"}
        messages += [AIMessage("a" * text, tool_calls=[call]), ToolMessage(f"{number}" * result, tool_call_id=f"c{number}")]
    none, edited, paid = (bills(prompts[way], times, prices) for way in prompts)
    assert all(ours <= 1.02 * theirs + 1e-6 for ours, theirs in zip(paid, none, strict=True))
    if prices.min_cached_tokens is None:
        assert paid == edited
    for prompt in prompts["guarded"]:
        assert validate_messages([read_message(message) for message in prompt], provider="anthropic") == ()
