"""The messages of a thread made ready for a build: the question is there once, and what is past is small."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.prompt.request import NO_RESULT, make_request, needs_prompt, whole_exchanges
from gatekeeper_core.messages import Message, ToolCall
from tests.loops import assistant, calls, result, system, user

QUESTIONS = {"en": "Which port does Redis use?", "zh": "Redis 用的是哪个端口？", "mixed": "Redis 的 port 是多少？"}


@pytest.mark.parametrize("prompt", QUESTIONS.values())
def test_a_question_is_there_where_the_open_turn_says_it(prompt: str) -> None:
    """001-05, 001-34, 001-35: spaced otherwise, inside other words, or cut; but a short one inside another is not."""
    long = f"{prompt} {prompt}"
    for text, question in (
        (prompt.replace(" ", "\n "), prompt),
        (f"[12:00] {long} (from the app)", long),
        (long[:30], long),
    ):
        assert not needs_prompt([user("hello"), assistant("hi"), user(text)], question, included=False)
        assert needs_prompt([user(text), assistant("6380")], question, included=False)
    for length in (1, 20, 21):  # a short one may stand in another question
        query = (prompt * 3)[:length]
        assert needs_prompt([user(f"好的, {query}")], query, included=False) == (length <= 20)


@pytest.mark.parametrize("text", ["word " * 400, "很长的一段话。" * 200, "混合 text。" * 250])
def test_a_long_past_message_is_cut_in_the_middle_and_the_question_is_not(text: str) -> None:
    """004-48."""
    request = make_request([user(text), assistant(text), user(text)], None, max_message_tokens=200, token_counter=len)
    assert [len(message.text) <= 200 for message in request.messages] == [True, True, False]
    assert request.messages[0].text.startswith(text[:50])
    assert request.messages[0].text.endswith(text[-20:])
    assert request.changed == {0, 1}


@pytest.mark.parametrize("prompt", QUESTIONS.values())
def test_a_question_that_the_thread_lacks_stands_before_the_steps_that_answer_it(prompt: str) -> None:
    """001-34: at each step in the same place."""
    past = [user("hello"), calls("x"), result("x"), assistant("hi"), system("Be brief.")]
    run = [calls("a", "b"), result("a"), result("b"), system("Now it is noon."), calls("c")]
    for stop in range(len(run) + 1):
        thread = [*past, *run[:stop]]
        request = make_request(thread, user(prompt), max_message_tokens=1_000, token_counter=len)
        assert request.messages[: len(past) + 1] == (*past, user(prompt))
        assert request.seqs[len(past)] is None
        assert request.query == (len(past),)


roles = st.sampled_from(["user", "assistant", "system", "tool"])
ids = st.sampled_from(["a", "b", "c", ""])


@st.composite
def any_message(draw: st.DrawFn) -> Message:
    role = draw(roles)
    text = draw(st.sampled_from(["", "hello", "你好", "端口 6380"]))
    if role == "tool":
        return Message("tool", text, tool_call_id=draw(ids) or None)
    calls = draw(st.lists(ids, max_size=3)) if role == "assistant" else []
    return Message(role, text, tool_calls=tuple(ToolCall(one, "now", "{}") for one in calls))


def mended(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(message for _, message in whole_exchanges(messages))


@given(st.lists(any_message(), max_size=12))
def test_every_message_is_sent_or_a_result_that_is_left_out(messages: list[Message]) -> None:
    sent = whole_exchanges(messages)
    taken = [at for at, _ in sent if at is not None]
    assert len(set(taken)) == len(taken)
    assert all(messages[at].role == "tool" for at in {*range(len(messages))} - {*taken})
    for at, message in sent:
        assert message.text == (NO_RESULT if at is None else messages[at].text)


@given(st.lists(any_message(), max_size=12))
def test_what_is_whole_stays_as_it_is(messages: list[Message]) -> None:
    once = mended(messages)
    again = whole_exchanges(once)
    assert tuple(message for _, message in again) == once
    assert None not in [at for at, _ in again]


def call(*names: str) -> Message:
    return Message("assistant", "", tool_calls=tuple(ToolCall(name, "now", "{}") for name in names))


@pytest.mark.parametrize(
    ("call_ids", "answered", "ids", "sent"),
    [
        (["a", "b"], ["b"], ["a", "b"], [("b", "0"), ("a", NO_RESULT)]),
        (["a", "b"], ["", ""], ["a", "b"], [("a", "0"), ("b", "1")]),
        (["", ""], ["", "", ""], ["call_0_0", "call_0_1"], [("call_0_0", "0"), ("call_0_1", "1")]),
        (["a", ""], ["", ""], ["a", "call_0_1"], [("call_0_1", "0"), ("a", "1")]),
        (["a", "a"], ["a", "a"], ["a", "call_0_1"], [("a", "0"), ("call_0_1", "1")]),
    ],
)
def test_calls_and_results_meet_by_id_else_by_place(
    call_ids: list[str], answered: list[str], ids: list[str], sent: list[tuple[str, str]]
) -> None:
    results = [Message("tool", str(at), tool_call_id=one or None) for at, one in enumerate(answered)]
    calling, *rest, question = mended([call(*call_ids), *results, user("还在吗？")])
    assert [one.id for one in calling.tool_calls] == ids
    assert [(one.tool_call_id, one.text) for one in rest] == sent
    assert question == user("还在吗？")


def test_a_system_message_amid_an_exchange_stands_after_it_or_before_calls_that_wait() -> None:
    system, result = Message("system", "规则"), Message("tool", "12:00", tool_call_id="a")
    assert mended([call("a"), system, result]) == (call("a"), result, system)
    assert mended([call("a", "b"), system, result]) == (system, call("a", "b"), result)
