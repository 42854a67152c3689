"""What the frameworks themselves write is read by the command, and what the command writes by the frameworks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)
from llama_index.core.base.llms.types import (
    ChatMessage as LlamaMessage,
)
from llama_index.core.base.llms.types import (
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.storage.chat_store import SimpleChatStore

from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_formats import Conversation, read_conversation
from gatekeeper_formats.registry import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.adapters

ARGUMENTS = {"city": "伯尔尼", "days": [1, 2]}


def langchain_chat() -> list[BaseMessage]:
    call = {"name": "weather", "args": ARGUMENTS, "id": "c1", "type": "tool_call"}
    parts = [
        {"type": "text", "text": "我查一下。"},
        {"type": "tool_use", "id": "c1", "name": "weather", "input": ARGUMENTS},
    ]
    return [
        SystemMessage("be brief"),
        HumanMessage("What is the weather in 伯尔尼?"),
        AIMessage(parts, tool_calls=[call]),
        ToolMessage("rain, 14 °C", tool_call_id="c1", artifact={"rows": [1]}),
        AIMessageChunk(content="14 度，有雨。"),
        HumanMessage([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,"}}]),
        AIMessage("", invalid_tool_calls=[{"name": "f", "args": "{", "id": "c2", "error": "e"}]),
        ToolMessage("no", tool_call_id="c2"),
        FunctionMessage("old", name="f"),
        ChatMessage("bye", role="user"),
    ]


EXPECTED = [
    ("system", "be brief"),
    ("user", "What is the weather in 伯尔尼?"),
    ("assistant", "我查一下。"),
    ("tool", "rain, 14 °C"),
    ("assistant", "14 度，有雨。"),
    ("user", "look"),
    ("assistant", ""),
    ("tool", "no"),
    ("tool", "old"),
    ("user", "bye"),
]


def read(tmp_path: Path, text: str) -> Conversation:
    file = tmp_path / "chat.json"
    file.write_text(text, encoding="utf-8")
    return read_conversation(str(file))


def written(messages: tuple[Message, ...], form: str) -> str:
    from collections import Counter

    left_out: Counter[str] = Counter()
    write = FORMATS[form].write
    assert write is not None
    text = "".join(write(messages, left_out))
    assert not +left_out
    return text


def said(reading: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in reading.messages]


@pytest.mark.parametrize("lines", [False, True])
def test_messages_to_dict_is_read(lines: bool, tmp_path: Path) -> None:
    values = messages_to_dict(langchain_chat())
    reading = read(tmp_path, "\n".join(map(json.dumps, values)) if lines else json.dumps(values))
    assert reading.form == "langchain"
    assert said(reading) == EXPECTED
    calls = [call for message in reading.messages for call in message.tool_calls]
    assert [(call.id, call.name) for call in calls] == [("c1", "weather"), ("c2", "f")]
    assert json.loads(calls[0].arguments) == ARGUMENTS
    assert reading.left_out == {"artifact": 1, "image": 1}


def test_what_is_written_for_langchain_is_read_by_langchain(tmp_path: Path) -> None:
    messages = (
        Message("system", "be brief"),
        Message("user", "天气?", name="ann", id="m1"),
        Message(
            "assistant", "", tool_calls=(ToolCall("c1", "weather", json.dumps(ARGUMENTS)), ToolCall("c2", "f", "{"))
        ),
        Message("tool", "rain", tool_call_id="c1"),
        Message("tool", "no", tool_call_id="c2"),
        Message("assistant", "有雨。"),
    )
    loaded = messages_from_dict(json.loads(written(messages, "langchain")))
    assert [(message.type, message.content) for message in loaded] == [
        ("system", "be brief"),
        ("human", "天气?"),
        ("ai", ""),
        ("tool", "rain"),
        ("tool", "no"),
        ("ai", "有雨。"),
    ]
    assert (loaded[1].name, loaded[1].id) == ("ann", "m1")
    assert isinstance(loaded[2], AIMessage)
    assert loaded[2].tool_calls == [{"name": "weather", "args": ARGUMENTS, "id": "c1", "type": "tool_call"}]
    assert loaded[2].invalid_tool_calls[0]["args"] == "{"
    assert isinstance(loaded[3], ToolMessage)
    assert loaded[3].tool_call_id == "c1"


def llama_chat() -> list[LlamaMessage]:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": json.dumps(ARGUMENTS)}}
    return [
        LlamaMessage("be brief", role="system"),
        LlamaMessage(role="user", blocks=[TextBlock(text="天气?"), ImageBlock(url="http://127.0.0.1/x.png")]),
        LlamaMessage("", role="assistant", additional_kwargs={"tool_calls": [call]}),
        LlamaMessage("rain", role="tool", additional_kwargs={"tool_call_id": "c1", "name": "weather"}),
        LlamaMessage(
            role="assistant",
            blocks=[
                ThinkingBlock(content="hm"),
                TextBlock(text="有雨。"),
                ToolCallBlock(tool_call_id="c2", tool_name="f", tool_kwargs=ARGUMENTS),
            ],
        ),
        LlamaMessage("done", role=MessageRole.TOOL, additional_kwargs={"tool_call_id": "c2"}),
    ]


def assert_is_the_llama_chat(reading: Conversation) -> None:
    assert reading.form == "llama-index"
    assert [role for role, _ in said(reading)] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert [call.id for message in reading.messages for call in message.tool_calls] == ["c1", "c2"]
    assert [message.tool_call_id for message in reading.messages if message.role == "tool"] == ["c1", "c2"]
    assert all(json.loads(call.arguments) == ARGUMENTS for message in reading.messages for call in message.tool_calls)
    assert reading.left_out == {"image": 1, "thinking": 1}
    assert not reading.odd


def test_a_store_of_llama_index_is_read(tmp_path: Path) -> None:
    # SimpleChatStore's own json() fails with some releases of pydantic; its fields are dumped one by one all the same.
    store = SimpleChatStore(store={"user-1": llama_chat()})
    dumped = {"store": {key: [json.loads(m.model_dump_json()) for m in kept] for key, kept in store.store.items()}}
    reading = read(tmp_path, json.dumps(dumped | {"class_name": store.class_name()}))
    assert_is_the_llama_chat(reading)
    assert reading.heading.id == "user-1"


def test_what_is_written_for_llama_index_is_read_by_llama_index(tmp_path: Path) -> None:
    messages = (
        Message("user", "天气?"),
        Message("assistant", "", tool_calls=(ToolCall("c1", "weather", json.dumps(ARGUMENTS)),)),
        Message("tool", "rain", tool_call_id="c1"),
        Message("assistant", "有雨。"),
    )
    file = tmp_path / "store.json"
    file.write_text(written(messages, "llama-index"), encoding="utf-8")
    store = SimpleChatStore.from_persist_path(str(file))
    assert store.get_keys() == ["chat"]
    loaded = store.get_messages("chat")
    assert [(str(message.role.value), message.content or "") for message in loaded] == [
        ("user", "天气?"),
        ("assistant", ""),
        ("tool", "rain"),
        ("assistant", "有雨。"),
    ]
    block = next(block for block in loaded[1].blocks if isinstance(block, ToolCallBlock))
    assert (block.tool_call_id, block.tool_name, json.loads(str(block.tool_kwargs))) == ("c1", "weather", ARGUMENTS)
    assert loaded[2].additional_kwargs["tool_call_id"] == "c1"
    again = json.dumps({"store": {"chat": [json.loads(message.model_dump_json()) for message in loaded]}})
    assert read(tmp_path, again).messages == messages
