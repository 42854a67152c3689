"""LangChain's messages read as the core's: every role, every form of content and calls, and nothing ever changed."""

from __future__ import annotations

import copy
import json
from datetime import date
from typing import Any

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
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue

from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall, validate_messages
from gatekeeper_core.native.calls import compact_json, read_call
from gatekeeper_core.tokens import count_message
from langchain_gatekeeper.messages import _read_blocks, as_messages, read_message, text_of
from tests.case_files import from_file

pytestmark = pytest.mark.adapters

TEXTS = {
    "chinese": "缓存 的端口是 6380。",
    "english": "The cache listens on port 6380.",
    "mixed": "cache 用 port 6380。",
}
each_script = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


class Remark(HumanMessage):
    """A message class of a user's own."""


def calls_of(message: BaseMessage) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in read_message(message).tool_calls]


def parts_of(*blocks: Any) -> tuple[Any, ...]:
    content = read_message(HumanMessage(list(blocks))).content
    assert isinstance(content, tuple)
    return content


@each_script
@pytest.mark.parametrize(
    ("kind", "more", "role"),
    [
        (HumanMessage, {}, "user"),
        (HumanMessageChunk, {}, "user"),
        (Remark, {}, "user"),
        (AIMessage, {}, "assistant"),
        (AIMessageChunk, {}, "assistant"),
        (SystemMessage, {}, "system"),
        (ToolMessage, {"tool_call_id": "c1"}, "tool"),
        (FunctionMessage, {"name": "now"}, "tool"),
        (ChatMessage, {"role": "user"}, "user"),
        (ChatMessage, {"role": "Assistant"}, "assistant"),
        (ChatMessage, {"role": "developer"}, "system"),
        (ChatMessage, {"role": "system"}, "system"),
        (ChatMessage, {"role": "function"}, "tool"),
        (ChatMessage, {"role": "narrator"}, "user"),
        (BaseMessage, {"type": "ai"}, "assistant"),
        (BaseMessage, {"type": "whisper"}, "user"),
    ],
)
def test_every_class_of_message_has_its_role_and_its_text(
    kind: type[BaseMessage], more: dict[str, Any], role: str, text: str
) -> None:
    read = read_message(kind(content=text, **more))
    assert (read.role, read.content, read.text) == (role, text, text)


def test_a_name_is_kept_and_an_id_is_not() -> None:
    assert read_message(HumanMessage("hi", name="Mia", id="m1")) == Message("user", "hi", name="Mia")


def test_a_message_that_only_removes_another_one_reads_as_an_empty_one() -> None:
    assert read_message(RemoveMessage(id="m1")) == Message("user", "")


# --- calls and results ----------------------------------------------------------------------------------------------


def test_arguments_become_compact_json_in_their_own_script() -> None:
    message = AIMessage("", tool_calls=[{"name": "天气", "args": {"城市": "苏黎世", "days": 2}, "id": "c1"}])
    assert calls_of(message) == [("c1", "天气", '{"城市":"苏黎世","days":2}')]


def test_what_json_cannot_hold_is_written_as_text() -> None:
    message = AIMessage("", tool_calls=[{"name": "book", "args": {"on": date(2024, 5, 1), "seats": {4}}, "id": "c1"}])
    assert calls_of(message) == [("c1", "book", '{"on":"2024-05-01","seats":"{4}"}')]


@pytest.mark.parametrize("kind", ["circular", "deep", "keys"])
def test_arguments_that_no_json_can_hold_are_shortened_and_never_raise(kind: str) -> None:
    value: dict[Any, Any] = {"a": 1}
    if kind == "circular":
        value["self"] = value
    elif kind == "deep":
        for _ in range(100_000):
            value = {"a": value}
    else:
        value[("two", "parts")] = 2
    text = compact_json(value)
    assert text.startswith("{")
    assert len(text) < 1_000


def test_invalid_calls_count_with_the_others() -> None:
    message = AIMessage(
        "",
        tool_calls=[{"name": "now", "args": {}, "id": "c1"}],
        invalid_tool_calls=[{"name": None, "args": '{"zone": ', "id": None, "error": "cut off"}],
    )
    assert calls_of(message) == [("c1", "now", "{}"), ("", "", '{"zone": ')]


def test_legacy_calls_are_read_where_there_are_no_others() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": '{"zone": "CET"}'}}
    legacy = ChatMessage(content="", role="assistant", additional_kwargs={"tool_calls": [call]})
    assert calls_of(legacy) == [("c1", "now", '{"zone": "CET"}')]
    both = AIMessage(
        "", tool_calls=[{"name": "now", "args": {}, "id": "c1"}], additional_kwargs={"tool_calls": [call, call]}
    )
    assert calls_of(both) == [("c1", "now", "{}")]


def test_a_legacy_function_call_meets_its_result_by_name() -> None:
    called = AIMessage("", additional_kwargs={"function_call": {"name": "now", "arguments": "{}"}})
    talk = [HumanMessage("time?"), called, FunctionMessage(name="now", content="12:00")]
    assert calls_of(called) == [("now", "now", "{}")]
    assert validate_messages([read_message(message) for message in talk], provider="openai") == ()


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "id": "c1", "name": "now", "input": {"zone": "CET"}},
        {"type": "tool_call", "id": "c1", "name": "now", "args": {"zone": "CET"}},
        {"type": "function_call", "id": "fc_9", "call_id": "c1", "name": "now", "arguments": '{"zone":"CET"}'},
        {"type": "function_call", "name": "now", "args": {"zone": "CET"}},
    ],
    ids=["anthropic", "standard", "responses", "without id"],
)
def test_a_block_that_repeats_a_call_is_not_counted_twice(block: dict[str, Any]) -> None:
    call = {"name": "now", "args": {"zone": "CET"}, "id": "c1"}
    repeated = AIMessage([{"type": "text", "text": "let me see"}, block], tool_calls=[call])
    assert read_message(repeated) == Message(
        "assistant", (TextPart("let me see"),), tool_calls=(ToolCall("c1", "now", '{"zone":"CET"}'),)
    )


def test_a_block_that_repeats_no_call_is_one() -> None:
    blocks = [{"type": "tool_use", "id": f"c{number}", "name": "now", "input": {"n": number}} for number in (1, 2, 2)]
    message = AIMessage(blocks, tool_calls=[{"name": "now", "args": {}, "id": "c1"}])
    assert calls_of(message) == [("c1", "now", "{}"), ("c2", "now", '{"n":2}')]
    assert count_message(read_message(message), token_counter=len) == len('now{}now{"n":2}')


def test_the_pieces_of_a_streamed_call_are_no_calls_of_their_own() -> None:
    content: list[Any] = [{"type": "input_json_delta", "partial_json": '{"zone"', "index": 1}]
    assert read_message(AIMessageChunk(content)) == Message("assistant", ())


def test_a_result_names_the_call_that_it_answers() -> None:
    assert read_message(ToolMessage("12:00", tool_call_id="c1", name="now")).tool_call_id == "c1"
    role = ChatMessage(content="12:00", role="tool", additional_kwargs={"tool_call_id": "c2"})
    assert read_message(role).tool_call_id == "c2"
    assert read_message(ChatMessage(content="12:00", role="tool", tool_call_id=7)).tool_call_id == "7"
    assert read_message(ChatMessage(content="12:00", role="tool")).tool_call_id is None


def test_a_call_of_nothing_reads_as_empty() -> None:
    assert read_call({}) == ToolCall("", "", "")


# --- content --------------------------------------------------------------------------------------------------------


@each_script
@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: text,
        lambda text: {"type": "text", "text": text},
        lambda text: {"text": text},
        lambda text: {"type": "input_text", "text": text},
        lambda text: {"type": "output_text", "text": text},
        lambda text: {"type": "refusal", "refusal": text},
        lambda text: {"type": "thinking", "thinking": text, "signature": "s"},
        lambda text: {"type": "reasoning", "reasoning": text},
        lambda text: {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]},
        lambda text: {"type": "reasoning_content", "reasoning_content": {"text": text}},
        lambda text: {"type": "text-plain", "text": text, "mime_type": "text/plain"},
        lambda text: {"type": "tool_result", "tool_use_id": "c1", "content": text},
        lambda text: {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": text}]},
    ],
)
def test_text_and_thinking_are_text_in_whatever_form(wrap: Any, text: str) -> None:
    assert parts_of(wrap(text)) == (TextPart(text),)


@from_file("block", "kind")
def test_media_are_media_and_their_data_costs_nothing_as_text(block: dict[str, Any], kind: Any) -> None:
    assert parts_of("see:", block) == (TextPart("see:"), MediaPart(kind))


def test_hidden_thinking_costs_nothing() -> None:
    assert parts_of({"type": "redacted_thinking", "data": "A" * 100}, {"type": "reasoning", "id": "r"}) == (
        TextPart(""),
        TextPart(""),
    )


def test_a_result_with_an_image_keeps_both() -> None:
    content: list[Any] = [{"type": "text", "text": "chart"}, {"type": "image", "base64": "AAAA"}]
    block = {"type": "tool_result", "tool_use_id": "c1", "content": content}
    assert parts_of(block) == (TextPart("chart"), MediaPart("image"))
    assert read_message(ToolMessage(content, tool_call_id="c1")).content == (TextPart("chart"), MediaPart("image"))


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


@given(st.lists(st.dictionaries(st.text(max_size=4), values, max_size=3), min_size=1, max_size=3))
def test_arguments_are_the_same_json_that_was_given(arguments: list[dict[str, Any]]) -> None:
    calls = [{"name": "n", "args": args, "id": str(at)} for at, args in enumerate(arguments)]
    assert [json.loads(text) for _, _, text in calls_of(AIMessage("", tool_calls=calls))] == arguments


def test_content_that_was_set_to_nothing_reads_as_nothing() -> None:
    message = HumanMessage("hi")
    message.content = None  # type: ignore[assignment]  # pydantic lets it through
    assert read_message(message).text == ""
    assert _read_blocks([None, 3, b"raw"])[0] == (MediaPart("other"),) * 3


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


def test_messages_stay_the_same_objects_in_a_new_list() -> None:
    given_messages = [HumanMessage("a"), AIMessage("b")]
    listed = as_messages(given_messages)
    assert listed is not given_messages
    assert all(one is other for one, other in zip(listed, given_messages, strict=True))


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
