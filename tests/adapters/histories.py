"""Histories for the tests of the adapters, made of the core's messages, and their way into the frameworks and back.

Every message travels with its position in ``additional_kwargs``, so that it is known again after a store has written
and read it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from gatekeeper_core.messages import Message, ToolCall
from tests.talks import talks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langchain_core.messages import BaseMessage
    from llama_index.core.llms import ChatMessage

SCRIPTS = {
    "english": "The harvest report lists apples, pears and the price of every crate in the northern depot",
    "chinese": "北方仓库的收成报告列出了苹果和梨以及每一箱的价格还有运输的日期",
    "mixed": "北方 depot 的 harvest report 列出了 apples 和每一箱的 price",
}
TOPICS = talks("topics")
"""By script: the turns of a conversation that changes its topic, and a question that goes back to the first topic."""


@st.composite
def _exchange(draw: st.DrawFn, turn: int, number: int) -> list[Message]:
    """Return one assistant message with its calls, and a result for each of them."""
    calls = tuple(
        ToolCall(f"call-{turn}-{number}-{index}", draw(st.sampled_from(["search", "weather", "查询"])), arguments)
        for index, arguments in enumerate(
            draw(st.lists(st.sampled_from(['{"city":"Bern"}', '{"q":"苹果"}', "{}"]), min_size=1, max_size=3))
        )
    )
    results = [Message("tool", draw(texts(max_words=60)), tool_call_id=call.id, name=call.name) for call in calls]
    return [Message("assistant", draw(st.sampled_from(["", "let me look", "我查一下"])), tool_calls=calls), *results]


@st.composite
def texts(draw: st.DrawFn, max_words: int = 25) -> str:
    """Return a text in one of the three scripts."""
    words = SCRIPTS[draw(st.sampled_from(sorted(SCRIPTS)))]
    start = draw(st.integers(0, len(words) - 2))
    return (words[start:] + " " + words[:start])[: draw(st.integers(1, max_words * 5))].strip() or "ok"


@st.composite
def histories(draw: st.DrawFn, *, open_run: bool, current: bool = True) -> list[Message]:
    """Return a history with tool calls that every provider accepts but for a greeting at the beginning.

    Args:
        draw: hypothesis.
        open_run: whether the current turn may hold tool exchanges that are done.
        current: whether the list ends with a turn that waits for its answer.
    """
    messages = [Message("system", draw(texts())) for _ in range(draw(st.integers(0, 2)))]
    messages += [Message("assistant", "Welcome! 欢迎！")] if draw(st.booleans()) else []
    turn_count = draw(st.integers(0 if current else 1, 6))
    for turn in range(turn_count):
        messages.append(Message("user", draw(texts())))
        for number in range(draw(st.integers(0, 2))):
            messages += draw(_exchange(turn, number))
        messages.append(Message("assistant", draw(texts())))
    if current:
        messages.append(Message("user", draw(texts())))
        for number in range(draw(st.integers(0, 2)) if open_run else 0):
            messages += draw(_exchange(turn_count, number))
    return messages


def to_langchain(messages: Sequence[Message]) -> list[BaseMessage]:
    """Return LangChain's messages for the core's."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    result: list[BaseMessage] = []
    for at, message in enumerate(messages):
        more: dict[str, Any] = {"content": message.text, "additional_kwargs": {"position": at}}
        if message.role == "assistant":
            calls = [
                {"id": call.id, "name": call.name, "args": json.loads(call.arguments)} for call in message.tool_calls
            ]
            result.append(AIMessage(tool_calls=calls, **more))
        elif message.role == "tool":
            result.append(ToolMessage(tool_call_id=message.tool_call_id, name=message.name, **more))
        else:
            result.append((HumanMessage if message.role == "user" else SystemMessage)(**more))
    return result


def to_llama_index(messages: Sequence[Message]) -> list[ChatMessage]:
    """Return LlamaIndex's messages for the core's."""
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock

    result: list[ChatMessage] = []
    for at, message in enumerate(messages):
        blocks: list[Any] = [TextBlock(text=message.text)]
        for call in message.tool_calls:
            arguments = json.loads(call.arguments)
            blocks.append(ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=arguments))
        more = {"position": at, "tool_call_id": message.tool_call_id, "name": message.name}
        more = {key: value for key, value in more.items() if value is not None}
        result.append(ChatMessage(role=message.role, blocks=blocks, additional_kwargs=more))
    return result


def positions(messages: Iterable[Any]) -> list[int]:
    """Return where the messages of a framework stood in the history that they were made from."""
    return [message.additional_kwargs["position"] for message in messages]
