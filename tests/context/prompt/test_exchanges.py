"""Tool exchanges are made whole, so that every provider takes what is sent."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.prompt.request import NO_RESULT, whole_exchanges
from gatekeeper_core.messages import Message, ToolCall

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


def test_calls_at_the_end_still_wait_for_their_results() -> None:
    messages = [Message("user", "?"), call("a", "b"), Message("tool", "12:00", tool_call_id="b")]
    assert mended(messages) == tuple(messages)


def test_a_call_that_is_never_answered_gets_a_result_that_says_so() -> None:
    sent = mended([call("a", "b"), Message("tool", "12:00", tool_call_id="b"), Message("user", "还在吗？")])
    assert [one.text for one in sent] == ["", "12:00", NO_RESULT, "还在吗？"]
    assert sent[2].tool_call_id == "a"
    assert sent[2].name == "now"


def test_results_without_ids_go_by_their_place() -> None:
    sent = mended([call("", ""), Message("tool", "first"), Message("tool", "second"), Message("tool", "third")])
    made = [one.id for one in sent[0].tool_calls]
    assert made == ["call_0_0", "call_0_1"]
    assert [(one.text, one.tool_call_id) for one in sent[1:]] == [("first", made[0]), ("second", made[1])]


def test_a_result_without_an_id_goes_to_a_call_without_one_else_to_the_first_that_waits() -> None:
    results = [Message("tool", text) for text in ("first", "second")]
    sent = mended([call("a", ""), *results])
    assert [(one.text, one.tool_call_id) for one in sent[1:]] == [("first", "call_0_1"), ("second", "a")]
    sent = mended([call("a", "b"), *results])
    assert [(one.text, one.tool_call_id) for one in sent[1:]] == [("first", "a"), ("second", "b")]


def test_a_result_of_another_call_is_left_out_while_calls_wait() -> None:
    sent = mended([call("a"), Message("tool", "12:00", tool_call_id="z")])
    assert sent == (call("a"),)


def test_one_id_for_two_calls_becomes_two() -> None:
    results = [Message("tool", text, tool_call_id="a") for text in ("first", "second")]
    sent = mended([call("a", "a"), *results])
    assert [one.id for one in sent[0].tool_calls] == ["a", "call_0_1"]
    assert [(one.text, one.tool_call_id) for one in sent[1:]] == [("first", "a"), ("second", "call_0_1")]


def test_a_system_message_amid_an_exchange_stands_after_it_or_before_calls_that_wait() -> None:
    system, result = Message("system", "规则"), Message("tool", "12:00", tool_call_id="a")
    assert mended([call("a"), system, result]) == (call("a"), result, system)
    assert mended([call("a", "b"), system, result]) == (system, call("a", "b"), result)
