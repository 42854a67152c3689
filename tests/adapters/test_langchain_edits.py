"""Editors of LangChain behind ``delay_edits``: what the model reads, what it costs, what is logged."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import pytest
from hypothesis import given
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
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices, prices_of_model
from langchain_gatekeeper import delay_edits
from langchain_gatekeeper.messages import read_message
from langchain_gatekeeper.requests import system_of
from tests.adapters import test_langchain_middleware
from tests.adapters.scripted import RefusedError, Scripted, called, contents, on
from tests.observed import event_of, everything_told, facts_of, fits

pytestmark = pytest.mark.adapters

MODELS = ("claude-sonnet-4-5", "gpt-5", "gpt-4o", "deepseek-chat", "gpt-4")
PRICES = {name: prices_of_model(name) or UNKNOWN for name in MODELS}
CLAUDE, GPT = PRICES["claude-sonnet-4-5"], PRICES["gpt-4o"]
RESULT = {
    "english": "The harvest report lists apples, pears and the price of every crate. " * 40,
    "chinese": "收成报告列出了苹果和梨以及每一箱的价格。" * 60,
    "mixed": "收成报告 lists apples 和每一箱的 price. " * 60,
}


def tokens_of(messages: Sequence[BaseMessage]) -> int:
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


class Clearing(ClearToolUsesEdit):
    """The edit with our counter: the first versions of LangChain have no argument for it."""

    def apply(self, messages: list[Any], *, count_tokens: Any) -> None:
        super().apply(messages, count_tokens=tokens_of)


def clearing(trigger: int = 6_000, *, keep: int = 3, **more: Any) -> ContextEditingMiddleware[Any, Any]:
    return ContextEditingMiddleware(edits=[Clearing(trigger=trigger, keep=keep, **more)])


def request_of(messages: list[Any], system: int = 1_500) -> ModelRequest[Any]:
    return test_langchain_middleware.request_of(messages, system_message=SystemMessage("s" * system))


def sent_by(editor: AgentMiddleware[Any, Any], request: ModelRequest[Any]) -> list[BaseMessage]:
    """Return the prompt that an editor sends for a request."""
    passed = test_langchain_middleware.sent(editor, request)
    return [system_of(passed), *passed.messages]


def count_cleared(prompt: Sequence[BaseMessage]) -> int:
    return sum(message.text == "[cleared]" for message in prompt)


steps = st.tuples(st.integers(0, 99), st.integers(0, 99), st.sampled_from([5, 5, 5, 5, 280, 400]))
scales = st.tuples(st.sampled_from([2, 40]), st.sampled_from([0, 1, 4]), st.sampled_from([100, 1_500]))
editors = st.fixed_dictionaries(
    {
        "trigger": st.sampled_from([0, 1_500, 12_000]),
        "keep": st.integers(0, 4),
        "clear_at_least": st.sampled_from([0, 3_000]),
        "clear_tool_inputs": st.booleans(),
    }
)


@given(st.lists(steps, min_size=10, max_size=40), scales, editors, st.sampled_from(MODELS))
def test_a_run_never_costs_more_than_without_edits(
    run: list[tuple[int, int, int]], scale: tuple[int, int, int], options: Any, model: str
) -> None:
    prices, clock = PRICES[model], Clock()
    alone = clearing(**options)
    guarded = delay_edits(alone, prices=prices, token_budget=10**9, token_counter=len, clock=clock)
    messages: list[BaseMessage] = [HumanMessage("go")]
    prompts: dict[str, list[Any]] = {"none": [], "alone": [], "guarded": []}
    times = []
    for number, (result, text, pause) in enumerate(run):
        clock.now += pause
        times.append(clock.now)
        request = request_of([*messages], scale[2])
        prompts["none"].append([system_of(request), *messages])
        prompts["alone"].append(sent_by(alone, request_of([*messages], scale[2])))
        prompts["guarded"].append(sent_by(guarded, request))
        call = {"name": "look", "args": {"q": "q" * text * scale[1]}, "id": f"c{number}"}
        messages.append(AIMessage("a" * text * scale[1], tool_calls=[call]))
        messages.append(ToolMessage(f"{number}" * result * scale[0], tool_call_id=f"c{number}"))
    none, edited, paid = (bills(prompts[way], times, prices) for way in prompts)
    assert all(ours <= 1.02 * theirs + 1e-6 for ours, theirs in zip(paid, none, strict=True))
    if prices.min_cached_tokens is None:
        # A mark may be longer than a text.
        assert all(ours <= theirs for ours, theirs in zip(paid, edited, strict=True))
    for prompt in prompts["guarded"]:
        assert validate_messages([read_message(message) for message in prompt], provider="anthropic") == ()


# --- in agents ------------------------------------------------------------------------------------------------------


@tool
def look(n: int) -> str:
    """Look something up."""
    return f"{n} {RESULT['mixed']}"


def rounds(count: int, first: int = 0) -> list[AIMessage]:
    calls = [{"name": "look", "args": {"n": at}, "id": f"c{at}"} for at in range(first, first + count)]
    return [*(AIMessage("", tool_calls=[call]) for call in calls), AIMessage("done")]


def run(
    editor: AgentMiddleware[Any, Any], count: int = 20, *, asynchronous: bool = False, threads: Any = ("t1",)
) -> Scripted:
    """Run an agent for so many rounds on each thread, all of them side by side, and return its model."""
    model = Scripted(script=[answer for at in range(count) for _ in threads for answer in rounds(1, at)])
    agent: Any = create_agent(
        model, [look], middleware=[editor], checkpointer=InMemorySaver(), system_prompt="brief " * 500
    )
    for number in range(count):
        for thread in threads:
            config = on(thread) if isinstance(thread, str) else {"configurable": thread}
            called(agent, {"messages": [HumanMessage(f"go on {number}")]}, config, asynchronous=asynchronous)
    return model


def cleared(model: Scripted) -> list[int]:
    return [*map(count_cleared, model.seen)]


def guarded(editor: Any = None, **options: Any) -> Any:
    return delay_edits(editor or clearing(), **{"prices": GPT, "token_counter": len, "token_budget": 10**6, **options})


def edit_facts(records: list[logging.LogRecord], *, level: int = logging.INFO) -> list[dict[str, Any]]:
    events = [record for record in records if event_of(record).key == "history.edit"]
    assert all(fits(event_of(record), facts_of(record)) for record in events)
    return [facts_of(record) for record in events if record.levelno >= level]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_edit_waits_until_it_pays_and_stays_made(asynchronous: bool) -> None:
    with everything_told() as records:
        guard, alone = (cleared(run(editor, asynchronous=asynchronous)) for editor in (guarded(), clearing()))
    assert guard == sorted(guard)
    assert 0 < guard[-1] <= alone[-1]
    assert all(ours <= theirs for ours, theirs in zip(guard, alone, strict=True))
    assert len({*guard}) < len({*alone}) / 1.5  # several results at once
    facts = edit_facts(records)
    assert [fact["verdict"] for fact in facts[:2]] == ["delayed", "made"]
    assert [fact["reason"] for fact in facts[:2]] == ["not_paid_off", "paid_off"]
    assert {fact["editor"] for fact in facts} == {"ContextEditingMiddleware"}
    assert min(fact["saved_tokens"] for fact in facts) > 0 < min(fact["rewritten_tokens"] for fact in facts)
    assert len(facts) < len(edit_facts(records, level=logging.DEBUG))


def test_a_line_says_what_an_edit_would_cost() -> None:
    with everything_told() as records:
        run(guarded(), 6)
    (line, *_) = [record.getMessage() for record in records if event_of(record).key == "history.edit"]
    assert line.startswith("ContextEditingMiddleware would save 1,")
    assert " cached ones: $0.00" in line
    assert line.endswith("; delayed (not_paid_off)")


def test_no_edit_waits_beyond_the_budget() -> None:
    with everything_told() as records:
        prompts = run(guarded(prices=CLAUDE, token_budget=15_000)).seen
    free = run(guarded(prices=CLAUDE)).seen
    assert max(map(tokens_of, prompts)) <= 15_000 < max(map(tokens_of, free[: len(prompts) // 2]))
    assert "no_room" in {fact["reason"] for fact in edit_facts(records)}
    assert not [record for record in records if event_of(record).key == "history.window_unknown"]


def test_the_default_budget_is_the_window_of_the_model_or_a_guess_that_is_logged() -> None:
    with everything_told() as records:
        prompts = run(guarded(prices=CLAUDE, token_budget=None)).seen
    assert max(map(tokens_of, prompts)) <= 16_000
    warned = [record.getMessage() for record in records if event_of(record).key == "history.window_unknown"]
    assert warned[0] == "the model's window is unknown: the budget is 16,000 tokens; set delay_edits(token_budget=)"


def test_threads_and_tenants_share_nothing() -> None:
    one = cleared(run(guarded(), 12))
    threads = ({"thread_id": "t1"}, {"thread_id": "t2"}, {"thread_id": "t2b", "tenant_id": "other"})
    several = cleared(run(guarded(), 12, threads=threads))
    assert several == [count for at in range(0, len(one), 2) for _ in threads for count in one[at : at + 2]]


def test_a_tenant_does_not_read_the_account_of_another_with_the_same_thread() -> None:
    clock = Clock()
    guard = guarded(tenant=lambda runtime: runtime, prices=CLAUDE, clock=clock)

    def counts(tenant: Any) -> list[int]:
        found = []
        for at in range(4, 40, 2):
            messages = [message for n in range(at // 2) for message in exchange(n)]
            request = replace(request_of([HumanMessage("go"), *messages]), runtime=tenant)
            found.append(count_cleared(sent_by(guard, request)))
        return found

    assert counts("a") == counts("b")


def exchange(number: int, result: str = RESULT["english"]) -> list[BaseMessage]:
    return [*rounds(1, number)[:1], ToolMessage(f"{number} {result}", tool_call_id=f"c{number}")]


def test_a_cold_cache_loses_nothing() -> None:
    clock = Clock()
    guard = guarded(clock=clock, prices=CLAUDE)
    messages: list[BaseMessage] = [HumanMessage("go")]
    counts = []
    for number in range(8):
        clock.now += 301 if number == 6 else 299
        messages += exchange(number)
        counts.append(count_cleared(sent_by(guard, request_of([*messages]))))
    assert counts == [0, 0, 0, 0, 0, 0, 4, 4]


@pytest.mark.parametrize(("step", "count"), [(1, 1), (1_024, 0)])
def test_an_edit_that_saves_less_than_a_step_of_the_cache_is_not_made(step: int, count: int) -> None:
    prices = ModelPrices(input=1.0, output=1.0, cache_read=0.1, cache_write=1.0, step_tokens=step)
    guard = guarded(clearing(0, keep=1), prices=prices)
    prompt = sent_by(guard, request_of([HumanMessage("go"), *exchange(0, "x" * 99), *exchange(1)]))
    assert count_cleared(prompt) == count


def test_an_edit_is_made_once_carrying_has_cost_as_much() -> None:
    prices = ModelPrices(input=1.0, output=1.0, cache_read=0.1, cache_write=1.0)
    guard = guarded(clearing(6_000, keep=1), prices=prices)
    messages: list[BaseMessage] = [HumanMessage("go"), *exchange(0), *exchange(1, "x" * 3_000)]
    counts = []
    for number in range(14):
        counts.append(count_cleared(sent_by(guard, request_of([*messages], 100_000))))
        messages += [HumanMessage("and?" if number else "a" * 400), AIMessage("no")]
    assert counts.index(1) == 1 + 11  # to write 3,430 again costs 0.9 each; 12 calls without 2,750 save 0.1 each


@pytest.mark.parametrize(
    ("model", "read", "cached", "count"),
    [(0, 9_500, 0, 4), (0, 9_500, 9_000, 0), (0, 900, 0, 0), (1, 9_500, 0, 0)],
)
def test_what_the_provider_reports_decides_whether_marks_are_missing(
    model: int, read: int, cached: int, count: int
) -> None:
    usage: Any = {"input_tokens": read, "output_tokens": 1, "total_tokens": read + 1}
    usage["input_token_details"] = {"cache_read": cached}
    guard = guarded(prices=PRICES[MODELS[model]])
    answer = ModelResponse(result=[AIMessage("ok", usage_metadata=usage)])
    prompts: list[Any] = []

    def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
        prompts.append(request.messages)
        return answer

    messages: list[BaseMessage] = [HumanMessage("go")]
    for number in range(7):
        messages += exchange(number)
        guard.wrap_model_call(request_of([*messages]), handler)
    assert count_cleared(prompts[-1]) == count


def test_conversations_without_a_thread_are_told_apart_by_their_first_message() -> None:
    def counts(*openings: str) -> list[list[int]]:
        guard, found = guarded(), [list[int]() for _ in openings]
        for at in range(1, 12):
            for opening, cleared_in in zip(openings, found, strict=True):
                messages = [HumanMessage(opening), *itertools.chain(*map(exchange, range(at)))]
                cleared_in.append(count_cleared(sent_by(guard, request_of(messages))))
        return found

    assert counts("go", "开始") == [*counts("go"), *counts("开始")]


def test_a_call_that_fails_is_decided_again_as_before() -> None:
    guard, messages = guarded(), [HumanMessage("go"), *exchange(0), *exchange(1), *exchange(2)]

    def fail(_: ModelRequest[Any]) -> ModelResponse[Any]:
        raise RefusedError

    sent_by(guard, request_of([*messages]))
    messages += exchange(3)
    with pytest.raises(RefusedError):
        guard.wrap_model_call(request_of([*messages]), fail)
    before = sent_by(guard, request_of([*messages]))
    assert before[1:] == messages
    assert all(one is other for one, other in zip(before[1:], messages, strict=True))  # the state's own objects


def test_a_history_that_changed_is_edited_at_once() -> None:
    guard = guarded(prices=CLAUDE)
    messages: list[BaseMessage] = [HumanMessage("go"), *exchange(0), *exchange(1), *exchange(2), *exchange(3)]
    sent_by(guard, request_of([*messages[:-2]]))
    assert not count_cleared(sent_by(guard, request_of([*messages])))
    messages.insert(1, HumanMessage("as I said"))
    assert count_cleared(sent_by(guard, request_of([*messages])))
    messages[3] = ToolMessage("another", tool_call_id="c0")
    assert count_cleared(sent_by(guard, request_of([*messages, *exchange(4)])))


# --- other editors --------------------------------------------------------------------------------------------------


@pytest.mark.skipif(
    "trigger" not in signature(SummarizationMiddleware).parameters,
    reason="in this version of LangChain tokens trigger it",
)
def test_a_summary_of_the_state_is_made_as_without_the_guard_and_priced() -> None:
    def summarizing() -> SummarizationMiddleware[Any, Any]:
        return SummarizationMiddleware(
            Scripted(script=[AIMessage("the summary")]), trigger=("messages", 12), keep=("messages", 4)
        )

    with everything_told() as records:
        watched, plain = run(guarded(summarizing()), 8), run(summarizing(), 8)
    assert [*map(contents, watched.seen)] == [*map(contents, plain.seen)]
    facts = edit_facts(records)
    assert {tuple(map(fact.get, ("editor", "verdict", "reason"))) for fact in facts} == {
        ("SummarizationMiddleware", "made", "done")
    }
    full = run(AgentMiddleware(), 8).seen
    at = next(at for at, prompt in enumerate(watched.seen) if len(prompt) < len(full[at]))
    saved = tokens_of(full[at]) - tokens_of(watched.seen[at])
    assert facts[0]["saved_tokens"] == pytest.approx(saved, abs=5)


class Everything(AgentMiddleware[Any, Any]):
    """An editor with hooks of all kinds."""

    tools = (look,)
    called: list[str]

    def __init__(self) -> None:
        super().__init__()
        self.called = []

    @property
    def name(self) -> str:
        return "everything"

    def before_model(self, state: Any, runtime: Any) -> None:
        self.called.append("before_model")

    def after_model(self, state: Any, runtime: Any) -> None:
        self.called.append("after_model")

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.called.append("wrap_tool_call")
        return handler(request)

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self.called.append("wrap_model_call")
        return handler(request)


def test_the_other_hooks_of_an_editor_stay() -> None:
    editor = Everything()
    guard = guarded(editor)
    agent: Any = create_agent(Scripted(script=rounds(1)), middleware=[guard], checkpointer=InMemorySaver())
    agent.invoke({"messages": [HumanMessage("go")]}, on("t1"))
    step = ["before_model", "wrap_model_call", "after_model"]
    assert editor.called == [*step, "wrap_tool_call", *step]
    assert (guard.name, type(guard).__name__, isinstance(guard, Everything)) == ("everything", "Everything", True)
    assert type(editor) is Everything
    nodes = {*agent.get_graph().nodes}
    assert nodes == {*create_agent(Scripted(), middleware=[editor]).get_graph().nodes}
    with pytest.raises(NotImplementedError, match="awrap_model_call"):
        asyncio.run(agent.ainvoke({"messages": [HumanMessage("go")]}, on("t2")))


def test_a_wrong_argument_is_named() -> None:
    wrong: Any = "ContextEditingMiddleware"
    with pytest.raises(TypeError, match="editor must be an AgentMiddleware, got str"):
        delay_edits(wrong)
    with pytest.raises(ConfigError, match="token_budget"):
        delay_edits(clearing(), token_budget=0)
