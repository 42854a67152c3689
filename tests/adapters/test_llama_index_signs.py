"""The signs that LlamaIndex's messages are compared by: equal ones read the same, and what changes in place shows."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    CachePoint,
    ChatMessage,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from gatekeeper_core.messages import Message
from llama_index.memory.gatekeeper import signs
from llama_index.memory.gatekeeper.reading import read_message
from llama_index.memory.gatekeeper.signs import signs_of

pytestmark = pytest.mark.adapters

TEXTS = ["", "Redis port?", "缓存的端口是 6380", "用 Redis 缓存", "\ud800"]

texts = st.sampled_from(TEXTS)
values = st.sampled_from([1, True, 1.0, "1", None, ["城市", 2], {"b": 1, "a": [True]}, {"a": [1], "b": 1}])
arguments = st.dictionaries(st.sampled_from(["q", "城市"]), values, max_size=2)
blocks: st.SearchStrategy[Any] = st.one_of(
    texts.map(lambda text: TextBlock(text=text)),
    texts.map(lambda text: ThinkingBlock(content=text)),
    st.just(ImageBlock(url="http://localhost/a.png")),
    st.just(CachePoint(cache_control={"type": "ephemeral"})),
    st.builds(
        lambda kwargs, call: ToolCallBlock(tool_call_id=call, tool_name="now", tool_kwargs=kwargs),
        arguments,
        st.sampled_from(["c1", "c2"]),
    ),
)
extras = st.fixed_dictionaries(
    {},
    optional={
        "session_id": st.just("s"),
        "name": st.sampled_from(["安娜", "now"]),
        "tool_call_id": st.sampled_from(["c1", "c2", 1, True]),
        "tool_calls": st.just([{"id": "c4", "function": {"name": "now", "arguments": "{}"}}]),
        "function_call": st.just({"name": "now", "arguments": "{}"}),
    },
)
messages = st.builds(
    lambda role, parts, extra: ChatMessage(role=role, blocks=parts, additional_kwargs=extra),
    st.sampled_from(list(MessageRole)),
    st.lists(blocks, max_size=3),
    extras,
)


@given(messages, messages)
def test_messages_with_one_sign_read_the_same(one: ChatMessage, other: ChatMessage) -> None:
    (a,), (b,) = signs_of([one]), signs_of([other])
    assert a != b or read_message(one) == read_message(other)


@given(messages)
def test_a_message_that_a_store_makes_anew_has_the_sign_of_before(message: ChatMessage) -> None:
    assert signs_of([message]) == signs_of([copy.deepcopy(message)])


def change(message: ChatMessage, other: ChatMessage, how: str) -> None:
    """Change a message in place: one field of another message, or something within a block or the extra values."""
    if how == "block" and message.blocks:
        block: Any = message.blocks[0]
        if isinstance(block, ToolCallBlock):
            block.tool_kwargs = {"q": True}
        elif isinstance(block, TextBlock):
            block.text = "other"
    elif how == "extra":
        message.additional_kwargs.update(other.additional_kwargs)
    elif how in ("role", "blocks", "additional_kwargs"):
        setattr(message, how, getattr(other, how))


@given(messages, messages, st.sampled_from(["block", "extra", "role", "blocks", "additional_kwargs"]))
def test_what_changes_in_place_has_another_sign_where_it_reads_otherwise(
    message: ChatMessage, other: ChatMessage, how: str
) -> None:
    (before,), read = signs_of([message]), read_message(message)
    change(message, copy.deepcopy(other), how)
    (now,) = signs_of([message])
    assert before != now or read_message(message) == read


@pytest.mark.parametrize("text", TEXTS)
def test_what_most_messages_are_is_never_read_for_its_sign(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unread(message: ChatMessage) -> Message:
        raise AssertionError(message)

    monkeypatch.setattr(signs, "read_message", unread)
    call = ToolCallBlock(tool_call_id="c1", tool_name="now", tool_kwargs={"城市": text})
    listed = [
        ChatMessage(text),
        ChatMessage(text, role="assistant", additional_kwargs={"session_id": object()}),
        ChatMessage(role="assistant", blocks=[TextBlock(text=text), call]),
        ChatMessage(text, role="tool", additional_kwargs={"tool_call_id": "c1", "name": "now"}),
        ChatMessage(role="user", blocks=[TextBlock(text=text), ImageBlock(url="http://localhost/a.png")]),
        ChatMessage(role="assistant", blocks=[ThinkingBlock(content=text)]),
    ]
    assert len(set(signs_of(listed))) == len(listed)


@pytest.mark.parametrize("odd", [object(), {1: object()}])
def test_what_has_no_sign_of_its_own_is_read(odd: Any) -> None:
    message = ChatMessage("hi", role="assistant", additional_kwargs={"tool_calls": [odd]})
    assert signs_of([message]) == [read_message(message)]
    message = ChatMessage("hi")
    message.blocks[0].text = ["a", "b"]  # type: ignore[assignment,union-attr]  # pydantic lets it through
    message.additional_kwargs = {"session_id": "s"}
    assert signs_of([message]) == [read_message(message)]
