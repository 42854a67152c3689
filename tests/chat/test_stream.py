"""Pieces of a stream put together: cut anywhere, the same as in one piece."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper_chat.errors import ChatResponseError
from gatekeeper_chat.stream import MAX_LINE_BYTES, Assembly, events
from gatekeeper_chat.wire import Reply
from tests.case_files import from_file


def event(delta: dict[str, Any], **choice: Any) -> str:
    return json.dumps({"id": "r1", "choices": [{"index": 0, "delta": delta, **choice}]})


END = event({"content": "", "role": ""}, finish_reason="stop")


def assembled(*data: str) -> tuple[list[str], Reply]:
    assembly = Assembly()
    pieces = [assembly.add(text) for text in data]
    last, reply = assembly.end()
    assert assembly.text == "".join(pieces) + last
    return [piece for piece in (*pieces, last) if piece], reply


@from_file("body", "expected")
def test_an_event_is_a_line_of_data(body: str, expected: list[str]) -> None:
    assert list(events([body.encode()])) == expected


@pytest.mark.parametrize("text", ["先想一想端口再说。", "the port, then the memory", "想 port，再 memory"])
def test_thinking_beside_the_text_comes_in_steps_or_as_it_grows(text: str) -> None:
    def thoughts(pieces: list[str]) -> list[str]:
        return [event({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": part}]}) for part in pieces]

    for pieces in ([text[:3], text[3:6], text[6:]], [text[:3], text[:6], text]):
        _, reply = assembled(*thoughts(pieces), event({"content": "ok"}), END)
        assert (reply.thinking, reply.text) == (text, "ok")
        assert reply.message["reasoning_details"] == [{"type": "reasoning.text", "index": 0, "text": text}]


def test_tool_calls_are_put_together_by_their_index() -> None:
    first = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": ""}}
    second = {"index": 1, "id": "c2", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    _, reply = assembled(
        event({"tool_calls": [first]}),
        event({"tool_calls": [{"index": 0, "function": {"arguments": '{"词": '}}]}),
        event({"tool_calls": [second, {"index": 0, "id": "", "function": {"name": "", "arguments": '"port"}'}}]}),
        event({}, finish_reason="tool_calls"),
    )
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("c1", "look", '{"词": "port"}'),
        ("c2", "find", "{}"),
    ]
    assert reply.message["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"词": "port"}'}
    assert reply.finish_reason == "tool_calls"


def test_the_last_usage_that_says_something_counts() -> None:
    def usage(**counts: int) -> str:
        return json.dumps({"choices": [], "usage": counts})

    chunks = [event({"content": "a"}), usage(total_tokens=0), END, usage(prompt_tokens=4, completion_tokens=1), usage()]
    reply = assembled(*chunks)[1]
    assert reply.usage.input_tokens == 4
    assert reply.request_id == "r1"


def test_a_whole_message_at_the_end_stands_in_only_where_nothing_came() -> None:
    message = json.dumps(
        {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "all of it"}}]}
    )
    assert assembled(event({"content": "all "}), event({"content": "of it"}), message)[0] == ["all ", "of it"]
    assert assembled(message)[0] == ["all of it"]


def test_an_answer_that_begins_like_a_thought_and_is_none_comes_at_the_end() -> None:
    pieces, reply = assembled(event({"content": "<th"}), END)
    assert (pieces, reply.text) == (["<th"], "<th")


@from_file("chunk")
def test_a_chunk_that_says_nothing_adds_nothing(chunk: dict[str, Any]) -> None:
    assert Assembly().add(json.dumps(chunk)) == ""


@pytest.mark.parametrize("line_end", [b"\n", b""], ids=["whole", "still coming"])
def test_a_line_without_end_is_an_error(line_end: bytes) -> None:
    longest = b"data: ".ljust(MAX_LINE_BYTES, b"x")
    assert len(next(events([longest, line_end]))) == MAX_LINE_BYTES - 6
    read = events([b"data: {}\n", longest[:100], longest[100:] + b"x" + line_end, b"never read"])
    assert next(read) == "{}"
    with pytest.raises(ChatResponseError, match=rf"a line of more than {MAX_LINE_BYTES} bytes"):
        next(read)
