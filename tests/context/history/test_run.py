"""The current run gives way before the past does: whole rounds, the same at every step, valid for every provider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.context.history.run import RunConfig, ShrunkRun, shrink_run
from gatekeeper_core.context.history.view import HistoryView, ThreadState
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.context.tool_results.digest import Digest, Task
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.context.tool_results.working_memory import WorkingMemory
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.tokens import TokenCounter, count_messages
from tests.histories import view_with
from tests.loops import (
    PROVIDERS,
    assistant,
    calls,
    compressed,
    conversations,
    pointer,
    result,
    rounds,
    system,
    texts,
    user,
    violations,
)


def loop(count: int, text: str = "x" * 84) -> list[Message]:
    """Return rounds of 100 characters each."""
    return [
        one
        for number in range(count)
        for one in (calls(f"c{number}", arguments="{}        "[:10]), result(f"c{number}", text))
    ]


def shrunk(messages: Sequence[Message], room: int, *, token_counter: TokenCounter = len, **settings: Any) -> ShrunkRun:
    """Return the run behind the first message, counted in characters where nothing else is said."""
    return shrink_run(
        messages,
        range(1, len(messages)),
        room=room,
        tokens_at=lambda at: count_messages([messages[at]], token_counter=token_counter),
        token_counter=token_counter,
        config=RunConfig(**settings),
        question=messages[0].text,
    )


def sent(messages: Sequence[Message], view: HistoryView) -> list[Message]:
    """Return what a view says is to be sent."""
    replaced = dict(view.replaced)
    return [replaced.get(at, messages[at]) for at in view.kept]


def view_of(messages: Sequence[Message], **arguments: Any) -> HistoryView:
    settings = {"gatekeeper": ContextGatekeeper(token_counter=len), "run": RunConfig(), "on_error": "raise"}
    return view_with(messages, **{**settings, **arguments})


def first_four(message: Message, _: ResultContext) -> str:
    return message.text[:4]


# --- one run


def test_the_oldest_rounds_are_folded_to_the_mark_and_the_newest_stay() -> None:
    """002-14, 002-32."""
    messages = [user("修好它"), *loop(7)]
    run = shrunk(messages, 650)
    assert run.folded == (1, 2, 3, 4, 5, 6, 7, 8)
    assert [(at, one.text) for at, one in run.replaced] == [(1, "[已执行 4 次工具调用,最近结果见下文]")]
    assert run.tokens == 300 + len("[已执行 4 次工具调用,最近结果见下文]")


def test_results_are_compressed_before_a_round_is_folded() -> None:
    """The order in which a request gives way: results, then rounds."""
    messages = [user("q"), *loop(7)]
    run = shrunk(messages, 650, compress_result=first_four)
    assert run.folded == ()
    assert [(at, one.text, one.tool_call_id) for at, one in run.replaced] == [
        (2, "xxxx", "c0"),
        (4, "xxxx", "c1"),
        (6, "xxxx", "c2"),
        (8, "xxxx", "c3"),
    ]


def test_pointers_of_folded_rounds_stand_in_the_summary_also_where_compressing_made_them() -> None:
    """The same at every step: what is folded is what was sent before."""

    def put_aside(message: Message, _: ResultContext) -> str:
        return pointer(int((message.tool_call_id or "c0")[1:]))

    messages = [user("q"), *loop(9, "日志 " * 40)]
    before = ""
    for stop in range(3, len(messages) + 1, 2):
        run = shrunk(messages[:stop], 400, compress_result=put_aside, locale="en")
        summaries = [one.text for _, one in run.replaced if is_summary(one)]
        said = [*"".join(summaries).split("\n"), ""][1]
        assert said.split() == [pointer(number) for number in range(len(run.folded) // 2)]
        assert said.startswith(before)
        before = said
    assert before


@pytest.mark.parametrize("given", ["to the run", "to the compressor", "not at all"])
def test_a_pointer_that_a_tool_made_up_does_not_outlive_its_round(given: str) -> None:
    """004-37: the memory of the compressor serves, where none is named."""
    memory = WorkingMemory(InMemoryBlobStore(), b"0123456789abcdef")
    held = memory.offload("部署日志 deploy log")
    assert held is not None
    compress = ToolResultCompressor(working_memory=memory) if given == "to the compressor" else None
    rounds = [(calls("a"), result("a", f"{held.text} {pointer(7)}" * 3)), *[(calls("b"), result("b", "日志 " * 9))] * 5]
    run = shrunk(
        [user("q"), *(one for pair in rounds for one in pair)],
        360,
        compress_result=compress,
        working_memory=memory if given == "to the run" else None,
    )
    assert run.folded
    assert pointers_in(run.replaced[0][1].text) == (() if given == "not at all" else (held.id,))


@pytest.mark.parametrize("text", ["日志日志日志 ", "log lines ", "日志 log "])
def test_a_long_run_compresses_each_result_once(text: str) -> None:
    """004-19: a run of 1,000 rounds asks for all of its results at each step."""
    asked: Counter[str] = Counter()

    def first_words(text: str, task: Task) -> Digest:
        asked[text[:9]] += 1
        return Digest(text[:40], 1, 9, "lines", "lines")

    rounds = [
        message
        for at in range(1_000)
        for message in (calls(f"c{at}", arguments="{}"), result(f"c{at}", f"{at:09}" + text * 99))
    ]
    compress = ToolResultCompressor(strategies={"search": first_words}, token_counter=len)
    for stop in range(501, 2_002, 250):
        run = shrunk([user("q"), *rounds][:stop], 15_000, compress_result=compress, keep_recent_rounds=1_000)
        assert len(run.replaced) > 240
    assert len(asked) > 900
    assert set(asked.values()) == {1}


def test_the_oldest_pointers_of_a_run_go_where_it_is_over_its_room_otherwise() -> None:
    rounds = [
        one
        for at in range(9)
        for one in (calls(f"c{at}", arguments="{}        "[:10]), compressed(f"c{at}", pointer(at)))
    ]
    kept = {}
    for room in range(162, 360):
        run = shrunk([user("q"), *rounds], room, low_water=0.0)
        said = [*run.replaced[0][1].text.split("\n"), ""][1].split() if run.replaced else []
        assert said == [pointer(number) for number in range(len(run.folded) // 2)][-len(said) or 99 :]
        assert run.tokens <= room
        kept[room] = len(said)
    assert set(kept.values()) >= {1, 3, 6}


@pytest.mark.parametrize(
    ("question", "locale", "word"),
    [
        ("修好 build", None, "工具调用"),
        ("fix it", None, "tool calls"),
        ("fix it", "zh", "工具调用"),
        ("修", "en", "tool calls"),
    ],
)
def test_the_placeholder_speaks_the_language_of_the_question(question: str, locale: Any, word: str) -> None:
    """002-34."""
    assert word in shrunk([user(question), *loop(6)], 10, locale=locale).replaced[0][1].text


# --- in a history


PAST = [
    user("Which port does Redis use?"),
    assistant("Redis uses port 6380."),
    user("Who bakes?"),
    assistant("Marta bakes."),
]


def test_past_turns_are_given_up_only_when_folding_is_not_enough() -> None:
    messages = [system(), *PAST, user("Redis port, and who bakes?"), *loop(8)]
    whole = count_messages(messages, token_counter=len)
    view = view_of(messages, token_budget=whole - 100, passthrough_below=10**6)
    assert (view.turns, view.status) == ((1, 0), "selected")
    assert [one.text for one in sent(messages, view)][:7] == [
        *(one.text for one in messages[:6]),
        "[4 tool calls executed, latest results below]",
    ]
    tight = view_of(messages, token_budget=420, passthrough_below=10**6)
    assert len(tight.folded) == 10
    assert len(tight.turns) < 2


@st.composite
def agent_runs(draw: st.DrawFn) -> list[Message]:
    messages = [user(draw(texts) + "?")]
    for number in range(draw(st.integers(0, 5))):
        messages += draw(rounds(f"now-{number}"))
    return messages


budgets = st.one_of(st.integers(1, 400), st.integers(1, 3_000))
settings = st.builds(
    RunConfig,
    keep_recent_rounds=st.integers(0, 3),
    low_water=st.sampled_from([0.0, 0.6, 1.0]),
    compress_result=st.sampled_from([None, lambda message, _: message.text[:7]]),
)


@given(st.data(), conversations(open_run=False), agent_runs(), budgets, settings)
def test_every_step_of_a_run_is_valid_and_the_past_and_the_run_only_shrink(
    data: st.DataObject, past: list[Message], run: list[Message], budget: int, config: RunConfig
) -> None:
    """002-25: and a process that resumes the run at any step sends the same."""
    gatekeeper = ContextGatekeeper(token_counter=len)
    view: HistoryView | None = None
    resumed_at = data.draw(st.integers(1, len(run)))
    for stop in range(1, len(run) + 1):
        messages = [*past, *run[:stop]]
        before = view
        state = before.state if before else ThreadState()
        view = view_of(messages, gatekeeper=gatekeeper, token_budget=budget, state=state, run=config)
        if stop == resumed_at:
            fresh = view_of(messages, token_budget=budget, state=ThreadState(), run=config)
            assert (fresh.kept, fresh.replaced, fresh.status) == (view.kept, view.replaced, view.status)
        prompt = sent(messages, view)
        assert (
            0 <= view.tokens - count_messages(prompt, token_counter=len) <= len(view.turns)
        )  # a turn costs 1 at least
        assert sum(map(is_summary, prompt)) == (1 if view.folded else 0)
        for provider in PROVIDERS:
            if not violations(messages, provider):
                assert violations(prompt, provider) == []
        if before is not None:
            assert set(view.turns) <= set(before.turns)
            assert view.folded[: len(before.folded)] == before.folded
            if (view.turns, view.replaced) == (before.turns, before.replaced):
                assert prompt[: len(before.kept)] == sent(messages, before)


# --- arguments
