"""The signs that LangChain's messages are compared by: equal ones read the same, and what changes in place shows."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from gatekeeper_core.messages import Message
from langchain_gatekeeper.reading import read_message
from langchain_gatekeeper.signs import signs_of

pytestmark = pytest.mark.adapters

TEXTS = ["", "Redis port?", "缓存的端口是 6380", "用 Redis 缓存", "\ud800"]

texts = st.sampled_from(TEXTS)
values = st.sampled_from([1, True, 1.0, "1", None, -0.0, 0.0, ["城市", 2], {"b": 1, "a": [True]}, {"a": [1], "b": 1}])
arguments = st.dictionaries(st.sampled_from(["q", "城市"]), values, max_size=2)
calls = st.builds(
    lambda name, args, call_id: {"name": name, "args": args, "id": call_id, "type": "tool_call"},
    st.sampled_from(["now", "天气"]),
    arguments,
    st.sampled_from(["c1", "c2"]),
)
blocks = st.one_of(
    texts,
    texts.map(lambda text: {"type": "text", "text": text}),
    texts.map(lambda text: {"text": text}),
    texts.map(lambda text: {"type": "thinking", "thinking": text}),
    texts.map(lambda text: {"type": "file", "text": text}),
    arguments.map(lambda args: {"type": "tool_use", "id": "c3", "name": "now", "input": args}),
    texts.map(lambda text: {"type": "tool_result", "content": [{"type": "text", "text": text}]}),
    st.sampled_from(["image", "image_url", "audio", "file", "unheard of"]).map(
        lambda kind: {"type": kind, "data": "x"}
    ),
)
contents = st.one_of(texts, st.lists(blocks, max_size=3))
names = st.sampled_from([None, "", "安娜"])
extras = st.sampled_from(
    [
        {},
        {"refusal": None},
        {"function_call": {"name": "now", "arguments": "{}"}},
        {"tool_calls": [{"id": "c4", "function": {"name": "now", "arguments": "{}"}}]},
        {"tool_call_id": "c5"},
    ]
)
messages: st.SearchStrategy[BaseMessage] = st.one_of(
    st.builds(HumanMessage, contents, name=names, additional_kwargs=extras),
    st.builds(SystemMessage, contents, name=names),
    st.builds(AIMessage, contents, name=names, tool_calls=st.lists(calls, max_size=2), additional_kwargs=extras),
    st.builds(AIMessageChunk, contents),
    st.builds(ToolMessage, contents, name=names, tool_call_id=st.sampled_from(["c1", "c2"])),
    st.builds(FunctionMessage, contents, name=st.sampled_from(["now", "天气"])),
    st.builds(ChatMessage, contents, role=st.sampled_from(["user", "assistant", "tool"])),
)

signs = partial(signs_of, read=read_message)


@given(messages, messages)
def test_messages_with_one_sign_read_the_same(one: BaseMessage, other: BaseMessage) -> None:
    (a,), (b,) = signs([one]), signs([other])
    assert a != b or read_message(one) == read_message(other)


@given(messages)
def test_a_message_that_a_store_makes_anew_has_the_sign_of_before(message: BaseMessage) -> None:
    assert signs([message]) == signs([copy.deepcopy(message)])


def change(message: BaseMessage, other: BaseMessage, how: str) -> None:
    """Change a message in place: one field of another message, or something within its content or its calls."""
    if how == "nested" and isinstance(message.content, list) and message.content:
        block: Any = message.content[0]
        if isinstance(block, dict):
            block["text" if "text" in block else "type"] = "other"
        else:
            message.content[0] = "other"
    elif how == "nested" and isinstance(message, AIMessage) and message.tool_calls:
        message.tool_calls[0]["args"]["q"] = True
    elif how in message.__dict__ and how in other.__dict__:
        setattr(message, how, getattr(other, how))


@given(messages, messages, st.sampled_from(["nested", "content", "name", "tool_calls", "additional_kwargs", "role"]))
def test_what_changes_in_place_has_another_sign_where_it_reads_otherwise(
    message: BaseMessage, other: BaseMessage, how: str
) -> None:
    (before,), read = signs([message]), read_message(message)
    change(message, copy.deepcopy(other), how)
    (now,) = signs([message])
    assert before != now or read_message(message) == read


def unread(message: BaseMessage) -> NoReturn:
    raise AssertionError(message)


@pytest.mark.parametrize("text", TEXTS)
def test_what_most_messages_are_is_never_read_for_its_sign(text: str) -> None:
    call = {"name": "now", "args": {"城市": text}, "id": "c1"}
    listed = [
        HumanMessage(text, additional_kwargs={"kept": object()}),
        HumanMessage(text, name="安娜"),
        HumanMessage([{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "data:"}}]),
        SystemMessage(text),
        AIMessage(text, additional_kwargs={"refusal": None}),
        AIMessage(text, tool_calls=[call]),
        AIMessage([{"type": "text", "text": text}, {"type": "tool_use", "id": "c1", "name": "now", "input": {}}]),
        AIMessage([{"type": "thinking", "thinking": text, "signature": "s"}]),
        ToolMessage(text, tool_call_id="c1"),
    ]
    assert len(set(signs_of(listed, read=unread))) == len(listed)


def test_the_data_of_an_image_is_not_kept() -> None:
    image = {"type": "image", "base64": "A" * 10_000}
    (sign,) = signs([HumanMessage([{"type": "text", "text": "what is this?"}, image])])
    assert "AAAA" not in repr(sign)


@pytest.mark.parametrize("odd", [object(), {1}, {"a": object()}, ("a",)])
def test_what_has_no_sign_of_its_own_is_read(odd: Any) -> None:
    message = AIMessage("hi", tool_calls=[{"name": "now", "args": {"a": 1}, "id": "c1"}])
    message.tool_calls[0]["args"] = {"odd": odd}
    (sign,) = signs([message])
    assert sign == read_message(message) or isinstance(sign, tuple)
    message.content = odd
    (sign,) = signs_of([message], read=lambda _: Message("user", "read"))
    assert sign == Message("user", "read")


def test_a_value_that_holds_itself_is_read() -> None:
    args: dict[str, Any] = {}
    args["self"] = args
    message = AIMessage("hi")
    message.tool_calls = [{"name": "now", "args": args, "id": "c1"}]
    assert signs([message]) == [read_message(message)]
