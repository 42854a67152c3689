"""Reading LlamaIndex's chat messages."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.llms.llm import ToolSelection

from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall
from gatekeeper_core.tokens import MEDIA_TOKENS, count_message
from llama_index.memory.gatekeeper.messages import read_message, text_of, write_message
from tests.case_files import from_file

pytestmark = pytest.mark.adapters

TEXTS = ["hello world", "你好，世界", "用 Redis 做缓存", "", "a\x00b", "\ud800", "\u202eabc"]


def assistant(*blocks: Any, **extra: Any) -> ChatMessage:
    return ChatMessage(role="assistant", blocks=list(blocks), additional_kwargs=extra)


@from_file("role", "read")
def test_every_role_of_llama_index_has_a_role_in_the_core(role: str, read: str) -> None:
    assert read_message(ChatMessage("hi", role=role)).role == read


def test_no_role_of_llama_index_was_forgotten() -> None:
    assert len(MessageRole) == 8


def test_a_role_that_was_assigned_as_text_is_read() -> None:
    message = ChatMessage("hi")
    message.role = "tool"  # type: ignore[assignment]
    assert read_message(message).role == "tool"


@pytest.mark.parametrize("text", TEXTS)
def test_plain_text_is_read_as_it_is(text: str) -> None:
    assert read_message(ChatMessage(text)) == Message("user", text)
    assert read_message(ChatMessage(text, additional_kwargs={"session_id": "s"})) == Message("user", text)


def test_a_message_without_blocks_has_no_text() -> None:
    assert read_message(ChatMessage(role="assistant")) == Message("assistant", "")
    assert read_message(ChatMessage(role="assistant", content=None)).text == ""


def test_texts_and_thoughts_are_text() -> None:
    message = assistant(ThinkingBlock(content="let me see"), TextBlock(text="four"), ThinkingBlock(content=None))
    assert read_message(message).content == (TextPart("let me see"), TextPart("four"), TextPart(""))
    assert count_message(read_message(message), token_counter=len) == len("let me see" + "four")


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        (ImageBlock(image=b"x"), "image"),
        (AudioBlock(audio=b"x"), "audio"),
        (VideoBlock(video=b"x"), "video"),
        (DocumentBlock(data=b"x"), "document"),
    ],
)
def test_media_cost_what_their_kind_costs(block: Any, kind: Any) -> None:
    read = read_message(ChatMessage(blocks=[TextBlock(text="what is it?"), block]))
    assert read.content == (TextPart("what is it?"), MediaPart(kind))
    assert count_message(read, token_counter=lambda text: 0) == MEDIA_TOKENS[kind]


def test_a_block_of_an_unknown_type_is_media_of_an_unknown_kind() -> None:
    message = ChatMessage("hi")
    message.blocks = [SimpleNamespace(block_type="hologram")]  # type: ignore[list-item]
    assert read_message(message).content == (MediaPart("other"),)


def test_a_cache_point_costs_nothing() -> None:
    point = CachePoint(cache_control=CacheControl(type="ephemeral"))
    assert read_message(ChatMessage(blocks=[TextBlock(text="hi"), point])) == Message("user", "hi")


def test_what_is_cited_is_text() -> None:
    source = CitableBlock(title="t", source="s", content=[TextBlock(text="one"), ImageBlock(image=b"x")])
    citation = CitationBlock(cited_content="two", source="s", title="t", additional_location_info={})
    read = read_message(assistant(source, citation))
    assert read.content == (TextPart("one"), MediaPart("image"), TextPart("two"))


def test_tool_call_blocks_are_calls() -> None:
    blocks = [
        TextBlock(text="let me look"),
        ToolCallBlock(tool_call_id="c1", tool_name="search", tool_kwargs={"城市": "伯尔尼", "days": 2}),
        ToolCallBlock(tool_call_id="c2", tool_name="search", tool_kwargs='{"raw": 1}'),
        ToolCallBlock(tool_name="now"),
    ]
    read = read_message(assistant(*blocks))
    assert read.text == "let me look"
    assert read.tool_calls == (
        ToolCall("c1", "search", '{"城市":"伯尔尼","days":2}'),
        ToolCall("c2", "search", '{"raw": 1}'),
        ToolCall("", "now", "{}"),
    )


CALL = ToolCall("c1", "search", '{"q":"bread"}')


@pytest.mark.parametrize(
    "call",
    [
        SimpleNamespace(id="c1", function=SimpleNamespace(name="search", arguments='{"q":"bread"}')),
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":"bread"}'}},
        {"id": "c1", "function": {"name": "search", "arguments": {"q": "bread"}}},
        {"id": "c1", "type": "tool_use", "name": "search", "input": {"q": "bread"}},
        {"toolUseId": "c1", "name": "search", "input": {"q": "bread"}},
        {"id": "c1", "name": "search", "args": {"q": "bread"}},
        ToolSelection(tool_id="c1", tool_name="search", tool_kwargs={"q": "bread"}),
        ToolCallBlock(tool_call_id="c1", tool_name="search", tool_kwargs={"q": "bread"}),
    ],
    ids=["openai", "dict", "dict with object", "anthropic", "bedrock", "gemini", "selection", "block"],
)
def test_calls_beside_the_blocks_are_read_in_the_form_of_any_provider(call: Any) -> None:
    assert read_message(assistant(TextBlock(text=""), tool_calls=[call])).tool_calls == (CALL,)


def test_a_call_that_stands_in_both_places_is_read_once() -> None:
    block = ToolCallBlock(tool_call_id="c1", tool_name="search", tool_kwargs={"q": "bread"})
    same = {"id": "c1", "function": {"name": "search", "arguments": '{"q": "bread"}'}}
    other = {"id": "c2", "function": {"name": "search", "arguments": "{}"}}
    read = read_message(assistant(block, tool_calls=[same, other]))
    assert [call.id for call in read.tool_calls] == ["c1", "c2"]


def test_two_equal_calls_without_an_id_stay_two_calls() -> None:
    block = ToolCallBlock(tool_name="roll", tool_kwargs={})
    read = read_message(assistant(block, block, tool_calls=[{"name": "roll", "args": {}}]))
    assert read.tool_calls == (ToolCall("", "roll", "{}"),) * 2


@pytest.mark.parametrize("calls", [None, [], "c1", 7, {"id": "c1"}, [None]])
def test_calls_that_are_no_list_of_calls_are_no_calls(calls: Any) -> None:
    assert read_message(assistant(TextBlock(text="hi"), tool_calls=calls)).tool_calls == ()


def test_the_first_form_of_openais_calls_is_read_by_name() -> None:
    call = read_message(assistant(function_call={"name": "search", "arguments": "{}"}))
    result = read_message(ChatMessage("42", role="function", additional_kwargs={"name": "search"}))
    assert call.tool_calls == (ToolCall("search", "search", "{}"),)
    assert (result.role, result.tool_call_id) == ("tool", "search")


@pytest.mark.parametrize("role", ["tool", "function"])
def test_a_result_names_the_call_that_it_answers(role: str) -> None:
    result = ChatMessage("42", role=role, additional_kwargs={"tool_call_id": "c1"})
    assert read_message(result) == Message("tool", "42", tool_call_id="c1")


def test_a_direct_answer_of_an_agent_stays_an_assistant_message() -> None:
    answer = ChatMessage("42", role="assistant", additional_kwargs={"tool_call_id": "c1"})
    assert read_message(answer) == Message("assistant", "42")


def test_arguments_that_are_no_json_do_not_raise() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    odd = {"when": SimpleNamespace(day=1), ("a", "b"): 1, "set": {1}}
    for arguments in (endless, deep, odd):
        read = read_message(assistant(tool_calls=[{"id": "c1", "name": "f", "arguments": arguments}]))
        assert read.tool_calls[0].id == "c1"


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
    role: MessageRole, held: list[Any], extra: dict[str, Any]
) -> None:
    message = ChatMessage(role=role, blocks=held, additional_kwargs=extra)
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
