"""LangChain's messages read as the core's: every role, every form of content and calls, and nothing ever changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_from_dict,
)
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue

from gatekeeper_core.messages import MediaPart, Message, TextPart
from gatekeeper_core.tokens import count_message
from langchain_gatekeeper.messages import as_messages, read_message, text_of
from tests.case_files import from_file

TEXTS = {
    "chinese": "缓存 的端口是 6380。",
    "english": "The cache listens on port 6380.",
    "mixed": "cache 用 port 6380。",
}
each_script = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


class Remark(HumanMessage):
    """A message class of a user's own."""


# --- calls and results ----------------------------------------------------------------------------------------------


@from_file("message", "read")
def test_a_message_of_langchain_reads_as_the_cores(message: dict[str, Any], read: dict[str, Any]) -> None:
    assert read_message(*messages_from_dict([message])) == Message.from_dict(read, trusted=True)


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (Remark("hi"), "user"),
        (BaseMessage(content="hi", type="ai"), "assistant"),
        (BaseMessage(content="hi", type="whisper"), "user"),
    ],
)
def test_a_class_of_message_of_a_user_has_the_role_of_its_base_or_type(message: BaseMessage, role: str) -> None:
    assert read_message(message) == Message(role, "hi")  # type: ignore[arg-type]


# --- content --------------------------------------------------------------------------------------------------------


@from_file("block", "kind")
def test_media_are_media_and_their_data_costs_nothing_as_text(block: dict[str, Any], kind: Any) -> None:
    assert read_message(HumanMessage(["see:", block])).content == (TextPart("see:"), MediaPart(kind))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
KEYS = (
    "text content id call_id name input args arguments function summary reasoning reasoning_content thinking mime_type"
)
keys = st.sampled_from(KEYS.split())
types = st.sampled_from(
    ["text", "tool_use", "tool_call", "function_call", "image", "file", "reasoning", "thinking", "tool_result", "x", ""]
)
blocks = st.text(st.characters(codec=None), max_size=8) | st.dictionaries(keys, values, max_size=4).flatmap(
    lambda more: (types | values).map(lambda kind: {"type": kind, **more})
)


@given(st.lists(blocks, max_size=4), st.lists(st.dictionaries(st.text(max_size=3), values, max_size=3), max_size=2))
def test_odd_content_never_raises_and_no_message_is_changed(
    content: list[Any], arguments: list[dict[str, Any]]
) -> None:
    calls = [{"name": "n", "args": args, "id": str(at) if at else None} for at, args in enumerate(arguments)]
    for message in (
        HumanMessage(content),
        AIMessage(content, tool_calls=calls, additional_kwargs={"function_call": {"name": "n", "arguments": "{}"}}),
        ChatMessage(content=content, role="assistant", additional_kwargs={"tool_calls": content}),
        ToolMessage(content, tool_call_id="c1"),
    ):
        before = copy.deepcopy(message)
        read = read_message(message)
        assert message == before
        assert read == read_message(message)
        assert count_message(read) >= 0
        assert len(read.tool_calls) >= (len(calls) if isinstance(message, AIMessage) else 0)


# --- queries --------------------------------------------------------------------------------------------------------


@each_script
@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: text,
        HumanMessage,
        lambda text: [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "data:"}}],
        lambda text: [text],
        lambda text: {"type": "text", "text": text},
        lambda text: [SystemMessage("be brief"), HumanMessage("before"), HumanMessage(text), AIMessage("sure")],
        lambda text: (AIMessage(text),),
        lambda text: ChatPromptValue(messages=[HumanMessage(text)]),
        lambda text: StringPromptValue(text=text),
    ],
)
def test_a_question_is_its_text_in_whatever_form(wrap: Any, text: str) -> None:
    assert text_of(wrap(text)) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), ("", ""), ([], ""), ({}, ""), (6380, "6380"), (["a", "b"], "a\nb")]
)
def test_what_has_no_text_is_no_question(value: object, text: str) -> None:
    assert text_of(value) == text


def test_one_message_or_text_by_itself_is_a_list_of_one() -> None:
    message = HumanMessage("a")
    assert as_messages(message) == [message]
    assert as_messages("a") == [message]
    assert as_messages([("human", "a"), {"role": "assistant", "content": "b"}, "c"]) == [
        message,
        AIMessage("b"),
        HumanMessage("c"),
    ]
    assert as_messages(ChatPromptValue(messages=[message])) == [message]
