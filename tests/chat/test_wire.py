"""Messages to a request and back, without a connection: what MiniMax is strict about."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_chat.errors import ChatError
from gatekeeper_chat.wire import Reply, read_reply, wire_messages, wire_tools
from gatekeeper_core import ContextBuilder, Thread
from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall, validate_messages
from tests.case_files import from_file, rows

CALL = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": ""}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "12:00"}
SCRIPTS = pytest.mark.parametrize(("thought", "text", "question"), rows("wire", "script"))


# --- there ----------------------------------------------------------------------------------------------------------


@from_file("case", "messages", "expected")
def test_messages_go_out_as_the_service_takes_them(case: str, messages: list[Any], expected: list[Any]) -> None:
    """002-16, too: a summary is marked for us; the service refuses fields that it does not know."""
    before = copy.deepcopy(messages)
    assert wire_messages(messages) == expected, case
    assert messages == before


def test_values_of_the_core_go_out_without_their_own_id_and_marks() -> None:
    """002-16."""
    asked = Message("user", (TextPart("time?"), TextPart("now")))
    called = Message("assistant", "", tool_calls=(ToolCall("c1", "now", ""),), id="m2")
    user, assistant, result = wire_messages([asked, called, Message("tool", "12:00", tool_call_id="c1")])
    assert user["content"] == [{"type": "text", "text": "time?"}, {"type": "text", "text": "now"}]
    function = {"name": "now", "arguments": "{}"}
    call = {"id": "c1", "type": "function", "function": function}
    assert assistant == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert result == RESULT
    folded = Message("user", "[已执行 3 次 tool calls]", metadata={"synthetic": "folded", "rounds": 3})
    assert wire_messages([folded]) == [{"role": "user", "content": folded.text}]


def test_a_pin_ends_no_run_so_that_its_thoughts_are_sent_back() -> None:
    """001-42, 001-77."""
    step = Message("assistant", "<think>先查</think>", tool_calls=(ToolCall("c1", "now", "{}"),))
    thread = Thread("t1", (Message("user", "现在几点？"), step, Message("tool", "12:00", tool_call_id="c1")))
    wired = wire_messages(ContextBuilder().build(thread, "现在几点？", "简短回答。").to_dicts(provider="minimax"))
    assert [message["role"] for message in wired] == ["system", "user", "assistant", "tool"]
    assert wired[2]["content"] == "<think>先查</think>"
    assert wired[3]["content"].startswith("12:00\n\n[CRITICAL INSTRUCTION]\n")


@SCRIPTS
def test_thinking_of_finished_turns_stays_here_and_that_of_the_open_loop_goes_back(
    thought: str, text: str, question: str
) -> None:
    """000-50: in the content, in a part of it, and beside it."""
    inline = f"<think>\n{thought}\n</think>\n\n{text}"
    finished = [
        {"role": "user", "content": "port?"},
        {"role": "assistant", "content": inline, "reasoning_details": [{"type": "reasoning.text", "text": thought}]},
        {"role": "user", "content": "sure?"},
        {"role": "assistant", "content": [{"type": "text", "text": inline}], "reasoning_content": thought},
    ]
    loop = {"role": "assistant", "content": inline, "reasoning_details": [{"text": thought}], "tool_calls": [CALL]}
    wired = wire_messages([*finished, {"role": "user", "content": question}, loop, RESULT])
    assert wired[1] == {"role": "assistant", "content": text}
    assert wired[3] == {"role": "assistant", "content": [{"type": "text", "text": text}]}
    assert wired[5]["content"] == inline
    assert wired[5]["reasoning_details"] == [{"text": thought}]


def test_media_without_data_is_refused_with_its_place() -> None:
    with pytest.raises(MessageFormatError, match="pass the original dict") as caught:
        wire_messages([Message("user", "look"), Message("user", (TextPart("this"), MediaPart("image")))])
    assert caught.value.position == 1


@from_file("talk", "position")
def test_what_the_api_would_refuse_is_refused_here(talk: list[dict[str, Any]], position: int) -> None:
    with pytest.raises(MessageFormatError) as caught:
        wire_messages(talk)
    assert caught.value.position == position


texts = st.sampled_from(["", "hi", "端口？", "<think>a</think>b", "<think>cut", "Redis 用 6380", "</think>"])
exchanges = st.one_of(
    st.builds(lambda text: [{"role": "user", "content": text}], texts),
    st.builds(lambda text: [{"role": "system", "content": text}], texts),
    st.builds(lambda text: [{"role": "assistant", "content": text}], texts),
    st.builds(lambda text: [{"role": "assistant", "content": text, "tool_calls": [CALL]}, RESULT], texts),
)


@given(st.lists(exchanges, max_size=8))
def test_what_is_sent_is_valid_and_holds_thinking_in_the_open_turn_only(parts: list[list[dict[str, Any]]]) -> None:
    talk = [message for part in parts for message in part] + [{"role": "user", "content": "last"}]
    wired = wire_messages(talk)
    assert validate_messages([Message.from_dict(message) for message in wired], provider="minimax") == ()
    assert wired[-1] == {"role": "user", "content": "last"}
    assert all(message["role"] != "system" for message in wired[1:])
    contents = [message.get("content") or "" for message in wired if message["role"] == "assistant"]
    assert not [text for text in contents if text.startswith("<think>")]


def test_a_tool_gets_the_parameters_that_are_demanded() -> None:
    schema = {"type": "object", "properties": {"key": {"type": "string"}}}
    tools: list[dict[str, Any]] = [
        {"type": "function", "function": {"name": "a", "parameters": schema}},
        {"type": "function", "function": {"name": "b", "parameters": {}}},
        {"type": "function", "function": {"name": "c"}},
    ]
    before = copy.deepcopy(tools)
    empty = {"type": "object", "properties": {}}
    assert [tool["function"]["parameters"] for tool in wire_tools(tools)] == [schema, empty, empty]
    assert tools == before


# --- and back -------------------------------------------------------------------------------------------------------


def answer(message: Any, **more: Any) -> dict[str, Any]:
    return {"id": "r1", "choices": [{"finish_reason": "stop", "message": message}], **more}


@SCRIPTS
def test_thinking_that_comes_twice_is_told_once(thought: str, text: str, question: str) -> None:
    message = {"content": f"<think>{thought}</think>{text}", "reasoning_content": f"{thought}\n", "role": ""}
    reply = read_reply(answer(message))
    assert reply == Reply(text, thought, (), "stop", None, {**message, "role": "assistant"}, "r1")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3000) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "usage", "base_resp", "status_code", "error", "tool_calls"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_an_answer_or_a_typed_error(payload: object) -> None:
    try:
        reply: object = read_reply(payload)
    except ChatError as error:
        reply = error
    assert isinstance(reply, Reply) or str(reply).startswith("the model")
