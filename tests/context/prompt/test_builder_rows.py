"""What the specification asks of the builder as a whole: its sources, their texts, their limits, what may hang."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import BudgetShares, ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.parts import HEADINGS, SystemPrompt
from gatekeeper_core.context.prompt.result import BuiltContext, TokenStats
from gatekeeper_core.fences import fence
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.text import Locale
from gatekeeper_core.tokens import count_messages
from tests.context.prompt.test_builder import LONG_TALK as TALK
from tests.context.prompt.test_builder import parts as kinds
from tests.loops import assistant, calls, result, system, user

PAGE = Path(__file__).resolve().parents[3] / "docs" / "builder.md"
ANN = MemoryScope("default", "ann")


def remembering(*texts: str, **arguments: Any) -> LongTermMemory:
    """Return the memory of a user who prefers something, without anything that hangs."""
    memory = LongTermMemory(InMemoryStore(), **arguments)
    for text in texts:
        memory.add(ANN, text, category="user_preference")
    return memory


def built(
    messages: Sequence[Message] = TALK,
    prompt: str = "Which port has service-3?",
    *,
    memory: Any = None,
    **settings: Any,
) -> BuiltContext:
    builder = ContextBuilder(ContextBuilderConfig(**settings), memory=memory, token_counter=len)
    return builder.build(thread_of(messages), prompt, "Be brief.")


def thread_of(messages: Sequence[Message]) -> Thread:
    return Thread("t1", tuple(messages), user="ann")


def text_of(context: BuiltContext, part: str) -> str:
    """Return what the messages of a part say, "" where there is none."""
    pairs = zip(context.trace.parts, context.messages, strict=True)
    return "\n".join(message.text for one, message in pairs if one.part == part)


# --- the sources and their order --------------------------------------------------------------------------------------


def everything(*run: Message, **settings: Any) -> BuiltContext:
    """Return a context with something of every source."""
    config = ContextBuilderConfig(history=HistoryConfig(strategy="window"), sliding_window_size=4, **settings)
    builder = ContextBuilder(config, memory=remembering("I want every port named in full"), token_counter=len)
    messages = [system("You know ports."), *TALK, user("Configure service-3 and name its port.")]
    builder.tasks.update(thread_of(messages))
    builder.tasks.start_step(thread_of(messages), "look")
    messages += [calls("a"), result("a", "port 6003"), assistant("found")]
    builder.tasks.finish_step(thread_of(messages), "the port is 6003")
    messages += [assistant("It is done."), *run]
    builder.constraints.set(thread_of(messages), "language", "English")
    question = "And what is the port in full?\n主机呢？"
    return builder.build(thread_of(messages), question, SystemPrompt("Be brief.", "It is noon."))


def test_every_source_has_its_place_in_one_prompt() -> None:
    """001-01, 001-03, 001-13, 004-08, 004-26: one call brings all sources together, in one order."""
    assert kinds(everything()) == [
        *("system_prompt", "constraints", "head", "system_prompt", "summary", "steps", "retrieved"),
        *("recent_messages", "current_input", "pinned"),
    ]


def test_the_page_of_the_builder_draws_the_order_that_a_build_has() -> None:
    """004-26, 004-40: the picture that the specification lacks is on the page, and is the order of a build."""
    table = PAGE.read_text(encoding="utf-8").partition("## The order of parts")[2]
    assert re.findall(r"^\| \d+ \| `(\w+)`", table, re.MULTILINE) == kinds(everything())


def test_stable_parts_come_first_and_what_changes_stands_behind_the_turns() -> None:
    """003-24, 003-43, 003-90, C9: at every build, not now and then."""
    context = everything(cache_friendly=True)
    assert kinds(context) == [
        *("system_prompt", "constraints", "head", "recent_messages", "system_prompt", "summary", "steps", "retrieved"),
        *("current_input", "pinned"),
    ]
    assert context.messages[0].text == "Be brief."
    assert text_of(context, "system_prompt") == "Be brief.\nIt is noon."


def test_the_least_valuable_part_gives_way_first() -> None:
    """001-12, 001-21, 001-28, 001-29, 001-72: whatever the budget, and memories count where they are sent."""
    order = ["constraints", "pinned", "steps", "summary", "retrieved"]
    seen = set()
    for length in range(600, 3_500, 60):
        run = calls("b"), result("b", "r" * length)
        context = everything(*run, total_budget=3_500, enable_tool_result_compression=False)
        sent = [part for part in order if part in kinds(context)]
        assert sent == order[: len(sent)]
        assert context.trace.given_up == tuple(reversed(order[len(sent) :]))
        assert context.token_stats.total == count_messages(context.messages, token_counter=len) <= 3_500
        assert context.metadata.used_summary == ("summary" in sent)
        assert context.metadata.retrieved_memory_count == ("retrieved" in sent)
        assert (run[1] in context.messages) == (context.trace.squeezed == "")
        seen.add(len(sent))
    assert seen == {0, 1, 2, 3, 4, 5}


def test_a_result_has_messages_figures_and_how_it_came_about() -> None:
    """001-04, 001-14, 001-43: each part's tokens are told, and they come to the total."""
    context = everything()
    assert TokenStats._fields[:5] == ("system_prompt", "summary", "retrieved", "recent_messages", "current_input")
    assert TokenStats._fields[5:] == ("pinned", "tools", "constraints", "total")
    assert all(tokens > 0 for name, tokens in context.token_stats._asdict().items() if name != "tools")
    assert sum(part.tokens for part in context.trace.parts) == context.token_stats.total
    assert (context.metadata.used_summary, context.metadata.retrieved_memory_count) == (True, 1)
    assert len(context.messages) == len(context.trace.parts)


# --- the summary ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("locale", "heading"), [("zh", "[对话背景摘要]"), ("en", "[Conversation summary]")])
def test_a_summary_stands_under_its_heading_before_the_newest_turns(locale: Locale, heading: str) -> None:
    """001-31, 001-70, 001-22, 004-01, 004-28, 004-47, C17: of a long talk the summary, then the last rounds word for word."""
    context = built(history=HistoryConfig(strategy="window"), sliding_window_size=3, locale=locale)
    assert text_of(context, "summary").startswith(f"{heading}\n<summary-")
    assert context.metadata.used_summary
    assert context.metadata.summarized_message_count == 54
    assert [part.seq for part in context.trace.parts if part.part == "recent_messages"] == list(range(54, 60))


@pytest.mark.parametrize(("thousandths", "used"), [(0, False), (1, False), (35, False), (36, True)])
def test_a_summary_is_left_out_rather_than_cut_into_its_heading(thousandths: int, used: bool) -> None:
    """001-78: it needs room for its heading, its fence and 16 tokens, however little it says."""
    context = built(
        [user("端口？"), assistant("好。")] * 9,
        shares=BudgetShares(summary=thousandths),
        total_budget=2_000,
        history=HistoryConfig(strategy="window"),
        sliding_window_size=2,
    )
    assert context.metadata.used_summary is used
    assert text_of(context, "summary") == (
        f"{HEADINGS['zh']['summary']}\n{fence(f'主要话题：{chr(10)}- 端口？', tag='summary')}" if used else ""
    )
    assert context.trace.given_up == (() if used else ("summary",))


# --- memories ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("locale", "heading", "relevance"), [("zh", "相关历史记忆", "相关度"), ("en", "Related memories", "relevance")]
)
def test_memories_stand_in_a_list_with_their_similarity(locale: Locale, heading: str, relevance: str) -> None:
    """001-27, C17."""
    text = text_of(built(memory=remembering("I like ports in hex"), locale=locale), "retrieved")
    listed = rf"- I like ports in hex \({relevance}: 0\.\d\d\)"
    assert re.fullmatch(rf"\[{heading}\]\n<retrieved-\d{{12}}>\n{listed}\n</retrieved-\d{{12}}>", text)


def test_the_least_similar_memories_give_way_to_the_share() -> None:
    """001-28, 001-29: a literal builder sends all or nothing, and counts them either way."""
    memory = remembering("I want the port of service-3 first", "I want a port in hex " + "and more " * 20)
    assert built(memory=memory).metadata.retrieved_memory_count == 2
    few = built(memory=memory, shares=BudgetShares(retrieved=30), total_budget=5_000)
    assert few.metadata.retrieved_memory_count == 1
    assert "service-3 first" in text_of(few, "retrieved")
    assert few.token_stats.retrieved <= 150
    none = built(memory=memory, shares=BudgetShares(retrieved=1), total_budget=5_000)
    assert none.metadata.retrieved_memory_count == 0
    assert none.trace.given_up == ("retrieved",)
    assert text_of(none, "retrieved") == ""
    builder = ContextBuilder(ContextBuilderConfig(total_budget=5_000), memory=memory, token_counter=len)
    for rules, count in ((3_400, 1), (3_800, 0)):  # of little room a part like their share
        context = builder.build(thread_of([]), "Which port has service-3?", "r" * rules)
        assert context.metadata.retrieved_memory_count == count


# --- budgets ----------------------------------------------------------------------------------------------------------


def test_shares_that_nobody_uses_flow_to_the_turns() -> None:
    """001-49, C3: the gatekeeper has the room of the turns, no budget of its own; literally, its share and no more."""
    long_talk = [one for at in range(0, 60, 2) for one in (TALK[at], assistant(TALK[at + 1].text * 18))]
    full, share = (
        built(long_talk, history=HistoryConfig(strategy="window"), redistribute=each, enable_summary=False)
        for each in (True, False)
    )
    assert share.token_stats.recent_messages <= 26_400 < full.token_stats.recent_messages
    views = [built(long_talk, redistribute=each).trace.view for each in (True, False)]
    budgets = [view.selection.token_budget for view in views if view and view.selection]
    assert 4_000 < budgets[1] <= 26_400 < budgets[0]
