"""Messages to a request and back, without a connection: what MiniMax is strict about."""

from __future__ import annotations

import copy
import doctest
import importlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextBuilder, Thread
from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall, validate_messages
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_minimax.errors import MiniMaxError, MiniMaxResponseError
from gatekeeper_minimax.wire import Reply, read_reply, wire_messages, wire_tools

pytestmark = pytest.mark.minimax

CALL = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": ""}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "12:00"}
SCRIPTS = pytest.mark.parametrize(
    ("thought", "said", "asked"),
    [
        ("先查端口", "是 6380。", "那内存呢？"),
        ("look it up", "It is 6380.", "And the memory?"),
        ("查 port", "用 6380 port。", "那 memory 呢？"),
    ],
)


@pytest.mark.parametrize("module", ["client", "errors", "stream", "wire"])
def test_the_examples_in_the_docstrings_run(module: str) -> None:
    tried = doctest.testmod(importlib.import_module(f"gatekeeper_minimax.{module}"))
    assert tried.failed == 0


# --- there ----------------------------------------------------------------------------------------------------------


def test_system_messages_become_one_at_the_head() -> None:
    """MiniMax refuses a second one, and one that stands later."""
    talk = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
        {"role": "developer", "content": "用中文回答。"},
        {"role": "system", "content": ""},
        {"role": "user", "content": "port？"},
    ]
    wired = wire_messages(talk)
    assert wired[0] == {"role": "system", "content": "Be brief.\n\n用中文回答。"}
    assert [message["role"] for message in wired] == ["system", "user", "assistant", "user"]


def test_a_pin_ends_no_run_so_that_its_thoughts_are_sent_back() -> None:
    """001-42, 001-77."""
    step = Message("assistant", "<think>先查</think>", tool_calls=(ToolCall("c1", "now", "{}"),))
    thread = Thread("t1", (Message("user", "现在几点？"), step, Message("tool", "12:00", tool_call_id="c1")))
    wired = wire_messages(ContextBuilder().build(thread, "现在几点？", "简短回答。").to_dicts(provider="minimax"))
    assert [message["role"] for message in wired] == ["system", "user", "assistant", "tool"]
    assert wired[2]["content"] == "<think>先查</think>"
    assert wired[3]["content"].startswith("12:00\n\n[CRITICAL INSTRUCTION]\n")


def test_without_system_messages_there_is_none() -> None:
    assert wire_messages([{"role": "user", "content": "hi"}]) == [{"role": "user", "content": "hi"}]


@SCRIPTS
def test_thinking_of_finished_turns_stays_here_and_that_of_the_open_loop_goes_back(
    thought: str, said: str, asked: str
) -> None:
    """000-50: in the content, in a part of it, and beside it."""
    inline = f"<think>\n{thought}\n</think>\n\n{said}"
    finished = [
        {"role": "user", "content": "port?"},
        {"role": "assistant", "content": inline, "reasoning_details": [{"type": "reasoning.text", "text": thought}]},
        {"role": "user", "content": "sure?"},
        {"role": "assistant", "content": [{"type": "text", "text": inline}], "reasoning_content": thought},
    ]
    loop = {"role": "assistant", "content": inline, "reasoning_details": [{"text": thought}], "tool_calls": [CALL]}
    wired = wire_messages([*finished, {"role": "user", "content": asked}, loop, RESULT])
    assert wired[1] == {"role": "assistant", "content": said}
    assert wired[3] == {"role": "assistant", "content": [{"type": "text", "text": said}]}
    assert wired[5]["content"] == inline
    assert wired[5]["reasoning_details"] == [{"text": thought}]


def test_a_finished_message_that_was_all_thinking_is_left_out() -> None:
    talk = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "<think>cut off"},
        {"role": "user", "content": "hello?"},
    ]
    assert [message["content"] for message in wire_messages(talk)] == ["hi", "hello?"]


def test_a_finished_call_without_text_stays_with_its_result() -> None:
    talk = [
        {"role": "user", "content": "time?"},
        {"role": "assistant", "content": "<think>ask</think>", "tool_calls": [CALL]},
        RESULT,
        {"role": "assistant", "content": "noon"},
        {"role": "user", "content": "thanks"},
    ]
    wired = wire_messages(talk)
    assert [message["role"] for message in wired] == ["user", "assistant", "tool", "assistant", "user"]
    assert wired[1]["tool_calls"][0]["function"] == {"name": "now", "arguments": "{}"}


def test_arguments_that_are_an_object_become_text() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": {"区": "UTC"}}}
    talk = [{"role": "user", "content": "time?"}, {"role": "assistant", "content": None, "tool_calls": [call]}, RESULT]
    assert wire_messages(talk)[1]["tool_calls"][0]["function"]["arguments"] == '{"区": "UTC"}'


def test_the_given_messages_are_not_changed() -> None:
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "time?"},
        {
            "role": "assistant",
            "content": "<think>x</think>",
            "tool_calls": [CALL],
            "reasoning_details": [{"text": "x"}],
        },
        RESULT,
        {"role": "assistant", "content": "<think>y</think>noon", "name": "clock"},
        {"role": "user", "content": [{"type": "text", "text": "ok"}]},
    ]
    before = copy.deepcopy(talk)
    wire_messages(talk)
    assert talk == before


def test_what_only_the_caller_knows_of_goes_through() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    message = {"role": "user", "content": [{"type": "text", "text": "这是什么？"}, image], "name": "ann"}
    assert wire_messages([message]) == [message]


def test_values_of_the_core_are_written_as_dicts_without_their_own_id() -> None:
    talk = [
        Message("user", (TextPart("time?"), TextPart("now"))),
        Message("assistant", "", tool_calls=(ToolCall("c1", "now", ""),), id="m2"),
        Message("tool", "12:00", tool_call_id="c1"),
    ]
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    assert wire_messages(talk)[1] == {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize("text", ["[已执行 3 次工具调用]", "[3 tool calls executed]", "[3 次 tool calls]"])
def test_marks_of_a_message_are_not_sent(text: str) -> None:
    """002-16: a summary is marked for us; the service refuses fields that it does not know."""
    marked = Message("user", text, metadata={"synthetic": "folded", "rounds": 3})
    for item in (marked, marked.to_dict()):
        assert wire_messages([item]) == [{"role": "user", "content": text}]


def test_media_without_data_is_refused_with_its_place() -> None:
    with pytest.raises(MessageFormatError, match="pass the dict") as caught:
        wire_messages([Message("user", "look"), Message("user", (TextPart("this"), MediaPart("image")))])
    assert caught.value.position == 1


@pytest.mark.parametrize(
    ("talk", "position"),
    [
        ([{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c9", "content": "?"}], 1),
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "", "tool_calls": [CALL]}], 1),
        ([{"role": "user", "content": "hi"}, {"role": "user", "content": 7}], 1),
    ],
)
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
    said = [message.get("content") or "" for message in wired if message["role"] == "assistant"]
    assert not [text for text in said if text.startswith("<think>")]


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


@pytest.mark.parametrize("tools", [["now"], [{"type": "function"}], [{"function": "now"}]])
def test_something_else_than_a_tool_is_refused(tools: Any) -> None:
    with pytest.raises(TypeError, match="at position 0"):
        wire_tools(tools)


# --- and back -------------------------------------------------------------------------------------------------------


def answer(message: Any, **more: Any) -> dict[str, Any]:
    return {"id": "r1", "choices": [{"finish_reason": "stop", "message": message}], **more}


@SCRIPTS
def test_thinking_that_comes_twice_is_told_once(thought: str, said: str, asked: str) -> None:
    message = {"content": f"<think>{thought}</think>{said}", "reasoning_content": f"{thought}\n", "role": ""}
    reply = read_reply(answer(message))
    assert reply == Reply(said, thought, (), "stop", None, {**message, "role": "assistant"}, "r1")


def test_content_may_be_missing() -> None:
    assert read_reply(answer({"role": "assistant", "content": None, "tool_calls": [CALL]})).text == ""


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "text",
        {},
        {"choices": None},
        {"choices": []},
        {"choices": {}},
        {"choices": ["x"]},
        {"choices": [{"message": None}]},
        answer({"content": 5}),
        answer({"content": "", "tool_calls": "x"}),
    ],
)
def test_what_is_no_answer_is_an_error(payload: object) -> None:
    with pytest.raises(MiniMaxResponseError):
        read_reply(payload)


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
    except MiniMaxError as error:
        reply = error
    assert isinstance(reply, Reply) or str(reply).startswith("MiniMax")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ("12", None),
        ({"total_tokens": 0, "total_characters": 0}, None),
        ({"prompt_tokens": 3, "completion_tokens": 2}, Usage(3, 2)),
        ({"prompt_tokens": 3, "completion_tokens": True, "total_tokens": 9}, Usage(3, 0)),
        ({"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}}, Usage(3, 0, cached_tokens=1)),
    ],
)
def test_usage_that_says_nothing_is_none(usage: object, expected: Usage | None) -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hi."}}], "usage": usage}
    assert read_reply(answer).usage == expected
