"""Pinned and excluded messages, standing instructions, and messages that are no question."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, keep
from gatekeeper_core.context.history.reading import normalized, read_history
from gatekeeper_core.context.history.rounds import Counts, fold_rounds, reach_of, summary_of
from gatekeeper_core.context.history.strategies import Strategy
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.messages import Message, validate_messages
from gatekeeper_core.tokens import count_messages
from tests.histories import view_with
from tests.loops import (
    PROVIDERS,
    assistant,
    calls,
    compressed,
    conversations,
    pointer,
    result,
    system,
    three_scripts,
    user,
)


def loop(count: int, text: str, *, start: int = 0) -> list[Message]:
    ids = [f"c{number}" for number in range(start, start + count)]
    return [message for one in ids for message in (calls(one, arguments="{}"), compressed(one, text))]


def view_of(messages: Sequence[Message], token_budget: int = 1_000) -> HistoryView:
    gatekeeper = ContextGatekeeper(token_counter=len)
    return view_with(messages, gatekeeper=gatekeeper, token_budget=token_budget, on_error="raise")


def two_turns(text: str) -> list[Message]:
    """Return two turns whose older rounds are folded into one summary, in the first turn."""
    first = [user(text), *loop(3, f"{pointer(1)} {text}"), assistant("ok")]
    return fold_rounds([*first, user("烤面包 bake bread?"), *loop(3, pointer(2), start=3)], 1).messages


@three_scripts
def test_a_summary_in_a_past_turn_that_stands_for_rounds_of_this_run_is_kept(text: str) -> None:
    """002-20: else the pointers of the run would be lost with a turn that the question does not need."""
    messages = two_turns(text)
    assert reach_of(messages[1]) == 1
    view = view_of(messages, token_budget=150)
    assert view.turns == ()
    assert 1 in view.kept
    assert view.tokens == sum(len(messages[at].text) + 8 * len(messages[at].tool_calls) for at in view.kept)


kinds = st.sampled_from([user("q"), assistant("a"), system("s"), summary_of(Counts(1, 1), "en"), result("c")])


@given(messages=st.lists(kinds, max_size=10).map(tuple), data=st.data())
def test_what_is_no_question_opens_a_turn_only_where_an_answer_would_be_lost(
    messages: tuple[Message, ...], data: st.DataObject
) -> None:
    summaries = read_history(messages).summaries
    users = [at for at, one in enumerate(messages) if one.role in ("user", "system") and at not in summaries]
    pinned = data.draw(st.sets(st.sampled_from(users))) if users else set()
    read = normalized(messages, notes=pinned, summaries=summaries, stop=0)
    question = next((at for at in users if messages[at].role == "user" and at not in pinned), len(messages))
    for at in (*pinned, *summaries):
        follows = [one.role for one in messages[at + 1 : question] if one.role != "system"][:1]
        opens = messages[at].role == "user" and follows not in ([], ["user"])
        assert read[at].role == ("user" if opens else "system")
        assert read[at].text == ("" if at in pinned else messages[at].text)
    assert all(read[at] is messages[at] for at in range(len(messages)) if at not in {*pinned, *summaries})


# --- what the caller pins and excludes


LONG = "Here is a story about it. " * 20
TOPICS = ("sourdough bread", "the choir", "a bicycle", "basil 罗勒")


def pinned_talk() -> list[Message]:
    """Return four turns on topics of their own, one of them with a tool, and a question about none."""
    talk = [system("Be brief.")]
    for topic in TOPICS:
        talk += [user(f"Tell me about {topic}."), assistant(f"Noted. {LONG}")]
    talk[5:5] = [system("The user is in Bern.")]
    talk[7:7] = [calls("c"), result("c", "red")]
    return [*talk, user("New topic: 3 + 4?")]


def pinned_view(messages: Sequence[Any], **options: Any) -> HistoryView:
    return view_with(
        messages, **{"token_budget": 4_000, "keep_newest": 0, "pin_instructions": False, "on_error": "raise", **options}
    )


PLACES = {"user": (1, {1, 2}), "system": (5, {5}), "assistant": (2, {1, 2}), "tool": (8, {6, 7, 8, 9})}


@pytest.mark.parametrize(("at", "kept"), PLACES.values(), ids=PLACES)
def test_a_pinned_message_is_sent_and_the_list_stays_valid(at: int, kept: set[int]) -> None:
    messages = pinned_talk()
    assert pinned_view(messages).kept == (0, len(messages) - 1)
    view = pinned_view(messages, pinned=[at])
    assert set(view.kept) == {0, *kept, len(messages) - 1}
    sent = keep(messages, view)
    for provider in PROVIDERS:
        assert validate_messages(sent, provider=provider, open_run=True) == ()
    roles = [message.role for message in sent if message.role != "system"]
    assert all(pair != ("user", "user") for pair in pairwise(roles))
    assert view.tokens == count_messages(sent)


def message_of(role: str, text: str, kind: str) -> dict[str, Any]:
    if kind == "gemini":
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}
    content: Any = [{"type": "text", "text": text}] if kind == "anthropic" else text
    return {"role": role, "content": content}


@pytest.mark.parametrize("kind", ["chat", "anthropic", "gemini"])
def test_positions_ids_and_functions_name_the_callers_own_messages(kind: str) -> None:
    messages = [
        message_of(role, text, kind)
        for topic in TOPICS
        for role, text in (("user", f"Tell me about {topic}."), ("assistant", f"Noted. {LONG}"))
    ]
    messages = [{**one, "id": f"m{at}"} for at, one in enumerate(messages)] if kind == "chat" else messages
    messages.append(message_of("user", "New topic: 3 + 4?", kind))
    by_function = pinned_view(messages, pinned=lambda one: "choir" in json.dumps(one))
    assert by_function.kept == (2, 3, 8)
    assert pinned_view(messages, pinned=[2]) == by_function
    if kind == "chat":
        assert pinned_view(messages, pinned=["m2", "of no message"]) == by_function
    view = pinned_view(messages, strategy="fill", exclude=lambda one: "choir" in json.dumps(one))
    assert view.kept == (0, 1, 4, 5, 6, 7, 8)
    assert view.turn_count == 3


def test_an_excluded_message_takes_its_turn_along_but_not_the_current_one() -> None:
    messages = pinned_talk()
    view = pinned_view(messages, strategy="fill", token_budget=100_000, exclude=[8, len(messages) - 1])
    assert set(view.kept) == {*range(len(messages))} - {6, 7, 8, 9}
    assert 0 not in pinned_view(messages, exclude=[0]).kept


# --- standing instructions


INSTRUCTIONS = {
    "english": "From now on, answer in French.",
    "chinese": "以后都用表格回答。",
    "mixed": "from now on 用中文回答。",
}
FALSE_FRIENDS = {
    "a question": "What changes from now on?",
    "a Chinese question": "以后都用表格回答吗？",
    "a quoted line": "> From now on, answer in French.",
    "code": "```\nfrom now on = answer in French\n```",
}


def instructed(text: str) -> list[Message]:
    return [user(text), assistant(f"Noted. {LONG}"), *pinned_talk()[1:]]


@pytest.mark.parametrize("text", INSTRUCTIONS.values(), ids=INSTRUCTIONS)
@pytest.mark.parametrize("strategy", ["gate", "fill"])
def test_a_standing_instruction_is_kept(text: str, strategy: str) -> None:
    options: dict[str, Any] = {"strategy": strategy, "token_budget": 200}
    messages = [
        message for message in instructed(text) if message.role in ("user", "assistant") and not message.tool_calls
    ]
    view = pinned_view(messages, pin_instructions=True, **options)
    assert set(view.pinned) == {0, 1} <= set(view.kept)
    assert pinned_view(messages, **options).pinned == ()
    assert pinned_view(messages, pin_instructions=True, **{**options, "strategy": "window"}).pinned == ()
    assert pinned_view(messages, pin_instructions=True, **{**options, "strategy": "cache"}).pinned == ()


@pytest.mark.parametrize("text", FALSE_FRIENDS.values(), ids=FALSE_FRIENDS)
def test_what_only_reads_like_an_instruction_is_not_kept(text: str) -> None:
    messages = [
        message for message in instructed(text) if message.role in ("user", "assistant") and not message.tool_calls
    ]
    assert pinned_view(messages, pin_instructions=True).pinned == ()


@pytest.mark.parametrize("text", INSTRUCTIONS.values(), ids=INSTRUCTIONS)
def test_an_instruction_that_is_edited_into_another_text_is_no_longer_kept(text: str) -> None:
    gatekeeper = ContextGatekeeper(token_counter=len)
    for first, pinned in ((text, {0, 1}), (f"> {text}", set()), (text, {0, 1})):
        messages = [one for one in instructed(first) if one.role in ("user", "assistant") and not one.tool_calls]
        assert set(pinned_view(messages, gatekeeper=gatekeeper, pin_instructions=True).pinned) == pinned


def test_the_task_of_an_agent_is_kept_and_instructions_cost_a_quarter_of_the_room_at_most() -> None:
    messages = instructed("Repair the build.")
    assert pinned_view(messages, pin_instructions=True).pinned == (0, 1)
    many = [one for at in range(40) for one in (user(f"From now on, rule {at} holds."), assistant("Noted."))]
    view = pinned_view([*many, user("New topic: 3 + 4?")], pin_instructions=True, token_budget=400)
    assert 0 < count_messages([many[at] for at in view.pinned]) <= 100
    assert max(view.pinned) == 79, "the newest"


@given(conversations(open_run=False), st.integers(20, 900), st.sampled_from(get_args(Strategy)), st.data())
def test_with_pins_the_count_is_exact_and_within_the_budget(
    talk: list[Message], budget: int, strategy: str, data: st.DataObject
) -> None:
    messages = [*talk, user("New topic: Redis port 端口?")]
    pins = data.draw(st.sets(st.integers(0, len(messages) - 1), max_size=4))
    options: dict[str, Any] = {"strategy": strategy, "token_budget": budget, "pin_instructions": True, "pinned": pins}
    view = pinned_view(messages, gatekeeper=ContextGatekeeper(token_counter=len), **options)
    sent = keep(messages, view)
    # An empty turn counts one token.
    assert 0 <= view.tokens - count_messages(sent, token_counter=len) <= view.turn_count
    assert view.status == "over_budget" or view.tokens <= budget
    first = next(at for at, message in enumerate(messages) if message.role == "user")
    wanted = {at for at in pins if at >= first and messages[at].role in ("user", "system")}
    assert wanted <= set(view.kept)
