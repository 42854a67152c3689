"""What the frameworks write is read as the adapters read it, and what is written for a framework is read by it."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from langchain_core.messages import AIMessage, messages_from_dict, messages_to_dict
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.storage.chat_store import SimpleChatStore

from gatekeeper_core.messages import Message, ToolCall
from gatekeeper_formats import read_conversation, write_messages
from langchain_gatekeeper.messages import read_message as read_langchain
from llama_index.memory.gatekeeper.messages import read_message as read_llama_index
from tests.adapters.histories import histories, to_langchain, to_llama_index

if TYPE_CHECKING:
    from pathlib import Path


ARGUMENTS = {"city": "伯尔尼", "days": [1, 2]}
CHAT = (
    Message("system", "be brief"),
    Message("user", "天气?"),
    Message("assistant", "", tool_calls=(ToolCall("c1", "weather", json.dumps(ARGUMENTS)), ToolCall("c2", "f", "{"))),
    Message("tool", "rain", tool_call_id="c1"),
    Message("tool", "no", tool_call_id="c2"),
    Message("assistant", "有雨。"),
)


def bare(message: Message) -> tuple[object, ...]:
    """Return a message without its names, and with the arguments of its calls as values."""
    calls = [(call.id, call.name, json.loads(call.arguments)) for call in message.tool_calls]
    return message.role, message.text, calls, message.tool_call_id


def read_as(form: str, text: str) -> list[tuple[object, ...]]:
    reading = read_conversation(io.BytesIO(text.encode()))
    assert reading.form == form
    return [*map(bare, reading.messages)]


@given(histories(open_run=True))
def test_what_langchain_writes_reads_as_its_messages_do(messages: list[Message]) -> None:
    ours = to_langchain(messages)
    values = messages_to_dict(ours)
    expected = [bare(read_langchain(message)) for message in ours]
    for text in (json.dumps(values), "\n".join(map(json.dumps, values))):
        assert read_as("langchain", text) == expected


@given(histories(open_run=True))
def test_what_llama_index_writes_reads_as_its_messages_do(messages: list[Message]) -> None:
    ours = to_llama_index(messages)
    # SimpleChatStore's own json() fails with some releases of pydantic; its messages are dumped one by one all the same.
    store = {"user-1": [json.loads(message.model_dump_json()) for message in ours]}
    text = json.dumps({"store": store, "class_name": SimpleChatStore.class_name()})
    assert read_as("llama-index", text) == [bare(read_llama_index(message)) for message in ours]


def test_what_is_written_for_langchain_is_read_by_langchain() -> None:
    named = replace(CHAT[1], name="ann", id="m1")
    loaded = messages_from_dict(json.loads(write_messages((CHAT[0], named, *CHAT[2:]), "langchain")[0]))
    assert [message.type for message in loaded] == ["system", "human", "ai", "tool", "tool", "ai"]
    assert [message.text for message in loaded] == [message.text for message in CHAT]
    assert (loaded[1].name, loaded[1].id) == ("ann", "m1")
    assert isinstance(loaded[2], AIMessage)
    assert loaded[2].tool_calls == [{"name": "weather", "args": ARGUMENTS, "id": "c1", "type": "tool_call"}]
    assert loaded[2].invalid_tool_calls[0]["args"] == "{"
    assert [message.tool_call_id for message in loaded[3:5]] == ["c1", "c2"]  # type: ignore[attr-defined]


def test_what_is_written_for_llama_index_is_read_by_llama_index(tmp_path: Path) -> None:
    file = tmp_path / "store.json"
    file.write_text(write_messages(CHAT, "llama-index")[0], encoding="utf-8")
    loaded = SimpleChatStore.from_persist_path(str(file)).get_messages("chat")
    assert [(message.role.value, message.content or "") for message in loaded] == [(one.role, one.text) for one in CHAT]
    block = next(block for block in loaded[2].blocks if isinstance(block, ToolCallBlock))
    assert (block.tool_call_id, block.tool_name, json.loads(str(block.tool_kwargs))) == ("c1", "weather", ARGUMENTS)
    assert [message.additional_kwargs["tool_call_id"] for message in loaded[3:5]] == ["c1", "c2"]
