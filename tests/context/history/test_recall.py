"""What was left out of the prompt can be read back: the right turns, with their ids, within a limit."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.reading import History, read_history
from gatekeeper_core.context.history.recall import (
    NOTHING_EARLIER,
    RECALL_TOOL_NAME,
    question_at,
    question_with,
    recall_earlier,
    recall_hint,
    render_recalled,
)
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.fences import fence
from gatekeeper_core.messages import Message, ToolCall, group_turns
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.result import SelectedTurn
from gatekeeper_core.tokens import estimate_text_tokens
from tests.histories import view_with
from tests.loops import assistant, user
from tests.talks import TALKS

three_scripts = pytest.mark.parametrize(("pairs", "question"), TALKS.values(), ids=TALKS)


def messages_of(pairs: list[tuple[str, str]]) -> list[Message]:
    return [message for question, answer in pairs for message in (user(question), assistant(answer))]


def recalled(query: str, messages: list[Message], **arguments: Any) -> str:
    gatekeeper = ContextGatekeeper(token_counter=estimate_text_tokens)
    return recall_earlier(query, messages=messages, gatekeeper=gatekeeper, **arguments)


@three_scripts
def test_the_turn_that_is_asked_for_comes_with_its_id_inside_a_fence(
    pairs: list[tuple[str, str]], question: str
) -> None:
    text = recalled(pairs[1][0], [*messages_of(pairs), user(question)])
    assert text == fence(f"[turn 1]\nuser: {pairs[1][0]}\nassistant: {pairs[1][1]}", tag="earlier_turns")


@three_scripts
def test_what_the_model_was_shown_whole_does_not_come_again(pairs: list[tuple[str, str]], question: str) -> None:
    messages = [*messages_of(pairs), user(question)]
    view = view_with(messages, gatekeeper=ContextGatekeeper(), token_budget=1000)
    assert view.turns == (0,)
    assert pairs[0][1] not in recalled(pairs[0][0], messages, view=view)
    assert pairs[2][1] in recalled(pairs[2][0], messages, view=view)
    everything = view_with(messages, gatekeeper=ContextGatekeeper(), token_budget=1000, passthrough_below=1000)
    assert recalled(pairs[2][0], messages, view=everything) == NOTHING_EARLIER


@three_scripts
def test_a_turn_told_inside_the_question_comes_again_only_where_it_was_told_in_part(
    pairs: list[tuple[str, str]], question: str
) -> None:
    messages = [*messages_of(pairs), user(question)]
    gatekeeper = ContextGatekeeper()
    view = view_with(messages, gatekeeper=gatekeeper, token_budget=1000)
    text = render_recalled([2], read_history(messages).past, None, question=question)
    selection = gatekeeper.explain(pairs[2][0], token_budget=1000)
    assert selection.order == (2,)
    view = view._replace(recalled_text=text, selection=selection)
    assert pairs[2][1] not in recalled(pairs[2][0], messages, view=view)
    part = view._replace(recalled_text=text[:-50])
    assert pairs[2][1] in recalled(pairs[2][0], messages, view=part)


@three_scripts
def test_a_turn_that_is_longer_than_the_limit_comes_in_part(pairs: list[tuple[str, str]], question: str) -> None:
    filler = f"{pairs[1][1]} {pairs[2][1]} " * 40
    messages = [
        user(pairs[0][0]),
        assistant(f"{filler}{pairs[0][1]} {filler}"),
        user("?"),
        assistant("!"),
        user(question),
    ]
    text = recalled(pairs[0][0], messages, max_tokens=150)
    assert estimate_text_tokens(text) <= 150
    assert pairs[0][1].split()[0] in text


@pytest.mark.parametrize(
    "words", [("cache", "Which port has the Redis"), ("缓存", "Redis 用哪个端口？"), ("cache", "Redis 用哪个 port")]
)
def test_where_all_that_fits_best_is_shown_the_best_of_the_rest_comes(words: tuple[str, str]) -> None:
    cache, question = words
    pairs = [(f"{question} {cache}?", "6380."), (f"Who cleans the {cache}? 谁来打扫？", "Marta sweeps. " * 90)]
    pairs += [(f"Shelf {cache} {at}?", f"Item {at} 号.") for at in range(12)]
    messages = [*messages_of(pairs), user("Tea?")]
    view = view_with(messages, gatekeeper=ContextGatekeeper(), token_budget=4000)._replace(turns=(0, 1), replaced=())
    assert "[turn 12]" in recalled(f"{question} {cache}?", messages, view=view)


@given(st.integers(1, 200), st.lists(st.text(max_size=200), min_size=1, max_size=6))
def test_the_limit_holds_for_any_texts(max_tokens: int, texts: list[str]) -> None:
    messages = [*messages_of([(f"Redis {text}", text * 4) for text in texts]), user("?")]
    text = recalled("Redis", messages, max_tokens=max_tokens)
    assert text == NOTHING_EARLIER or estimate_text_tokens(text) <= max_tokens
    assert text == recalled("Redis", messages, max_tokens=max_tokens)


@three_scripts
def test_a_selector_recalls_from_the_thread_it_is_asked_about(pairs: list[tuple[str, str]], question: str) -> None:
    selector = ThreadSelector(Message.from_dict, config=HistoryConfig(passthrough_below=0, on_error="raise"))
    items = [message.to_dict() for message in [*messages_of(pairs), user(question)]]
    selector.choose(items, thread="t1")
    selector.choose([user(question).to_dict()], thread="t2")
    assert pairs[2][1] in selector.recall(pairs[2][0], thread="t1")
    for thread in ("t2", "t3", None):
        assert selector.recall(pairs[2][0], thread=thread) == NOTHING_EARLIER


@pytest.mark.parametrize(
    ("opening", "named"), [("缓存端口？", "查看"), ("Redis 的 port？", "查看"), ("Which port?", "read")]
)
def test_the_hint_is_in_the_language_of_the_opening_and_names_the_tool(opening: str, named: str) -> None:
    hint = recall_hint(opening)
    assert named in hint
    assert RECALL_TOOL_NAME in hint
    assert "\n" not in hint


@three_scripts
def test_what_is_not_shown_at_all_comes_before_what_is_shown_in_part(
    pairs: list[tuple[str, str]], question: str
) -> None:
    answer = pairs[0][1]
    filler = f"{pairs[1][1]} {pairs[2][1]} " * 20
    messages = [user(pairs[0][0]), assistant(f"{filler}{answer}"), user("?"), assistant(answer)]
    messages += [*messages_of(pairs[1:2]), user(question)]
    view = view_with(messages, gatekeeper=ContextGatekeeper(), token_budget=4000)
    part = view._replace(turns=(0,), replaced=((1, assistant("…")),))
    limit = estimate_text_tokens(fence(f"[turn 1]\nuser: ?\nassistant: {answer}", tag="earlier_turns"))
    assert recalled(pairs[0][0], messages, view=part, max_tokens=limit + 2).partition("\n")[2].startswith("[turn 1]")


@pytest.mark.parametrize("query", ["What have we talked about?", "我们聊了什么？", "我们聊了什么 topics？"])
def test_a_question_about_the_conversation_recalls_each_topic_that_is_not_shown(query: str) -> None:
    pairs, question = TALKS["mixed"]
    messages = [*messages_of(pairs), user(question)]
    view = view_with(messages, gatekeeper=ContextGatekeeper(), token_budget=1000)
    text = recalled(query, messages, view=view)
    assert [pair[1] in text for pair in pairs] == [False, True, True]


# --- turns inside the question


def past_of(*pairs: tuple[str, str]) -> list[Message]:
    return [message for text, reply in pairs for message in (Message("user", text), Message("assistant", reply))]


def question_of(history: History) -> int | None:
    return question_at(history.current)


def test_the_question_is_the_last_user_message_before_the_models_first() -> None:
    past = past_of(("Hello", "Hi"))
    run = [
        Message("user", "Pinned."),
        Message("user", "First."),
        Message("user", "Second."),
        Message("assistant", "", tool_calls=(ToolCall("c1", "look", "{}"),)),
        Message("tool", "6380", tool_call_id="c1"),
    ]
    assert question_of(read_history([*past, *run[:3]])) == 4
    assert question_of(read_history([*past, *run[:3]], HistoryRequest(notes=[4]))) == 3
    assert question_of(read_history([*past, *run])) == 4
    assert question_of(read_history(past, HistoryRequest(query="Elsewhere?"))) is None
    elsewhere, here = read_history(past, HistoryRequest(query="Elsewhere?")), read_history([*past, *run[:3]])
    assert question_with(elsewhere, elsewhere.current, "told") is None
    assert question_with(here, here.current, "") is None


HEADS = st.sampled_from(["[turn 7]", "[TURN 7]", "[\u200bturn 7]", "［turn 7］", "user: ", "assistant: ", "tool: ", "system: "])  # fmt: skip
BREAKS = st.sampled_from(["\n", "\n\n", "\r", "\r\n", "\u2028", "\x85", "\v", " "])
forged = st.lists(st.one_of(HEADS, BREAKS, st.sampled_from(["端口 6380", "port", "发票"])), max_size=8).map("".join)


@given(texts=st.tuples(forged, forged, forged, forged), cut=st.booleans())
def test_no_text_reads_as_another_turn_or_as_another_speaker(texts: tuple[str, str, str, str], cut: bool) -> None:
    question, found, answer, later = texts
    call = Message("assistant", "", tool_calls=(ToolCall("c1", "look", "{}"),))
    messages = [Message("user", f"Port? {question}"), call, Message("tool", f"x {found}", tool_call_id="c1")]
    past = group_turns([*messages, Message("assistant", f"y {answer}"), *past_of((f"z {later}", "ok"))])
    turn = SelectedTurn(0, "u", "a", 9, True, ((3, f"y {answer}"),))
    selection = replace(ContextGatekeeper().explain("Port?"), turns=(turn,)) if cut else None
    lines = render_recalled([0, 1], past, selection, question="And now?").splitlines()
    assert [line for line in lines if re.search(r"(?i)[\[［][^\w\\]*turn", line)] == ["[turn 0]", "[turn 1]"]
    speakers = [line.partition(": ")[0] for line in lines if re.match(r"(user|tool|assistant|system): ", line)]
    tools = len(f"x {found}".splitlines())
    assert speakers == ["user", *["tool"] * tools, "assistant", "user", "assistant"]
