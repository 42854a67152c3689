"""What a build makes, changes or joins, as LangChain's messages."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall
from langchain_gatekeeper.messages import read_message, write_built, write_message

PICTURE = {"type": "image_url", "image_url": {"url": "data:,"}}
CALL = ToolCall("a", "port", '{"service":"redis"}')


@pytest.mark.parametrize(
    "original", [HumanMessage("很长", id="m1", name="ada"), AIMessage("long", id="m1"), SystemMessage("long", id="m1")]
)
def test_a_text_that_was_cut_is_written_into_a_copy(original: BaseMessage) -> None:
    message = Message(read_message(original).role, "短", name=original.name)
    written = write_built(message, [(message, original)])
    assert (type(written), written.content, written.id) == (type(original), "短", "m1")
    assert original.content != "短"


def test_media_stay_beside_a_text_that_was_cut() -> None:
    original = HumanMessage([{"type": "text", "text": "long"}, PICTURE])
    message = Message("user", (TextPart("short"), MediaPart("image")))
    assert write_built(message, [(message, original)]).content == [{"type": "text", "text": "short"}, PICTURE]
    bare = Message("user", "short, 1 image gone")
    assert write_built(bare, [(bare, original)]).content == "short, 1 image gone"


def test_signed_thinking_beside_a_call_goes_as_it_is() -> None:
    blocks: list[Any] = [
        {"type": "thinking", "thinking": "嗯", "signature": "c2ln"},
        {"type": "text", "text": "Let me see."},
    ]
    original = AIMessage(blocks, tool_calls=[{"name": "port", "args": {"service": "redis"}, "id": "a"}])
    cut = Message("assistant", "嗯", tool_calls=(CALL,))
    assert write_built(cut, [(cut, original)]).content == blocks


@pytest.mark.parametrize("short", ["brief", "短", "端口 6380"])
def test_a_cache_mark_stays_with_a_text_that_was_cut(short: str) -> None:
    marked = {"type": "text", "text": "long", "cache_control": {"type": "ephemeral"}}
    original = ToolMessage([{"type": "text", "text": "first"}, PICTURE, marked], tool_call_id="a")
    bare = Message("tool", short, tool_call_id="a")
    assert write_built(bare, [(bare, original)]).content == [{**marked, "text": short}]
    shown = Message("tool", (TextPart(short), MediaPart("image")), tool_call_id="a")
    assert write_built(shown, [(shown, original)]).content == [{**marked, "text": short}, PICTURE]
    assert write_message(original, bare).content == [PICTURE, {**marked, "text": short}]


@pytest.mark.parametrize("content", [["long"], [{"type": "tool_result", "content": "long"}], [PICTURE]])
def test_a_result_in_blocks_stays_one_with_the_text_that_is_sent(content: list[Any]) -> None:
    written = write_message(ToolMessage(content, tool_call_id="a"), Message("tool", "short", tool_call_id="a"))
    assert read_message(written).text == "short"
    assert [block for block in written.content if block == PICTURE] == [block for block in content if block == PICTURE]


def test_a_result_keeps_its_marks_and_answers_the_call_that_it_is_sent_for() -> None:
    original = ToolMessage("long", tool_call_id="", name="port", status="error", id="m1")
    message = Message("tool", "short", tool_call_id="call_3_0", name="port")
    written = write_built(message, [(message, original)])
    assert isinstance(written, ToolMessage)
    assert (written.content, written.tool_call_id, written.status, written.id) == ("short", "call_3_0", "error", "m1")


def test_calls_that_were_named_anew_replace_those_in_every_place() -> None:
    blocks = [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "", "name": "port", "input": {}}]
    original = AIMessage(blocks, tool_calls=[{"id": "", "name": "port", "args": {}}], additional_kwargs={"mark": 1})
    message = Message("assistant", (TextPart("hm"),), tool_calls=(ToolCall("call_1_0", "port", "{}"),))
    written = write_built(message, [(message, original)])
    assert isinstance(written, AIMessage)
    assert written.content == blocks[:1]
    assert [call["id"] for call in written.tool_calls] == ["call_1_0"]
    assert written.additional_kwargs == {"mark": 1}


def test_a_system_message_that_moves_to_the_users_side_keeps_its_blocks() -> None:
    original = SystemMessage([{"type": "text", "text": "now: 12:00", "cache_control": {"type": "ephemeral"}}])
    message = Message("user", (TextPart("now: 12:00"),))
    written = write_built(message, [(read_message(original), original)])
    assert isinstance(written, HumanMessage)
    assert written.content == original.content


def test_answers_that_are_joined_keep_their_blocks_and_the_calls_of_the_last() -> None:
    first = AIMessage([{"type": "text", "text": "see"}, PICTURE])
    last = AIMessage("looking", tool_calls=[{"id": "a", "name": "port", "args": {"service": "redis"}}], id="m2")
    parts = (TextPart("see"), MediaPart("image"), TextPart("looking"))
    message = Message("assistant", parts, tool_calls=(CALL,))
    written = write_built(message, [(read_message(first), first), (read_message(last), last)])
    assert written.content == [{"type": "text", "text": "see"}, PICTURE, {"type": "text", "text": "looking"}]
    assert written.id == "m2"
    assert read_message(written) == message


def test_a_question_with_more_before_it_keeps_its_picture_and_its_mark() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    question = HumanMessage([PICTURE, {"type": "text", "text": "What is this?", **mark}], id="h1")
    written = write_message(question, Message("user", "Earlier: …\n\nWhat is this?"))
    assert written.content == [PICTURE, {"type": "text", "text": "Earlier: …\n\nWhat is this?", **mark}]
    assert written.id == "h1"
