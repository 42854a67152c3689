"""Reading LlamaIndex's chat messages."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    ChatMessage,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.llms.llm import ToolSelection

from gatekeeper_core.messages import MediaPart, Message, ToolCall
from llama_index.memory.gatekeeper.messages import read_message, text_of, write_message
from tests.case_files import from_file


def assistant(*blocks: Any, **extra: Any) -> ChatMessage:
    return ChatMessage(role="assistant", blocks=list(blocks), additional_kwargs=extra)


@from_file("message", "read")
def test_a_message_of_llama_index_reads_as_the_cores(message: dict[str, Any], read: dict[str, Any]) -> None:
    assert read_message(ChatMessage.model_validate(message)) == Message.from_dict(read, trusted=True)


def test_a_role_that_was_assigned_as_text_is_read() -> None:
    message = ChatMessage("hi")
    message.role = "tool"  # type: ignore[assignment]
    assert read_message(message).role == "tool"


def test_a_block_of_an_unknown_type_is_media_of_an_unknown_kind() -> None:
    message = ChatMessage("hi")
    message.blocks = [SimpleNamespace(block_type="hologram")]  # type: ignore[list-item]
    assert read_message(message).content == (MediaPart("other"),)


CALL = ToolCall("c1", "search", '{"q":"bread"}')


@pytest.mark.parametrize(
    "call",
    [
        SimpleNamespace(id="c1", function=SimpleNamespace(name="search", arguments='{"q":"bread"}')),
        ToolSelection(tool_id="c1", tool_name="search", tool_kwargs={"q": "bread"}),
        ToolCallBlock(tool_call_id="c1", tool_name="search", tool_kwargs={"q": "bread"}),
    ],
    ids=["openai", "selection", "block"],
)
def test_calls_beside_the_blocks_are_read_in_the_form_of_any_provider(call: Any) -> None:
    assert read_message(assistant(TextBlock(text=""), tool_calls=[call])).tool_calls == (CALL,)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
blocks = st.one_of(
    st.builds(TextBlock, text=st.text()),
    st.builds(ThinkingBlock, content=st.none() | st.text()),
    st.builds(ImageBlock, image=st.binary()),
    st.builds(
        ToolCallBlock,
        tool_call_id=st.none() | st.text(),
        tool_name=st.text(),
        tool_kwargs=st.dictionaries(st.text(), json_values, max_size=3) | st.text(),
    ),
)
keys = st.sampled_from(["tool_calls", "tool_call_id", "name", "function_call", "session_id", "other"])


@given(st.sampled_from(list(MessageRole)), st.lists(blocks, max_size=4), st.dictionaries(keys, json_values, max_size=3))
def test_whatever_llama_index_accepts_is_read_and_left_as_it_is(
    role: MessageRole, content: list[Any], extra: dict[str, Any]
) -> None:
    message = ChatMessage(role=role, blocks=content, additional_kwargs=extra)
    before = repr(copy.deepcopy(message))
    assert read_message(message) == read_message(message)
    assert repr(message) == before


@pytest.mark.parametrize("text", ["hello", "你好", "Redis 的端口"])
def test_the_text_of_a_question_is_its_text_or_that_of_its_message(text: str) -> None:
    assert text_of(text) == text
    assert text_of(ChatMessage(text)) == text


@pytest.mark.parametrize("question", [None, "", " \n", ChatMessage(""), ChatMessage(blocks=[ImageBlock(image=b"x")])])
def test_a_question_without_text_is_none(question: Any) -> None:
    assert text_of(question) is None


def test_another_text_takes_the_place_of_the_first_and_what_is_no_text_stays() -> None:
    blocks = [TextBlock(text="Look:"), ImageBlock(url="https://x/y.png"), TextBlock(text="What is this?")]
    written = write_message(ChatMessage(role="user", blocks=blocks), Message("user", "Earlier: …"))
    assert [getattr(block, "text", None) for block in written.blocks] == ["Earlier: …", None]
