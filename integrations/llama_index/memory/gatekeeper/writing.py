"""The core's messages, written as LlamaIndex's: made by a build, changed by it, or joined of several.

Media and marks of the messages that a written one stands for stay with it, as far as they are sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock

from gatekeeper_core.messages import MediaPart, Message, Part, TextPart
from llama_index.memory.gatekeeper.reading import media_blocks, read_message

if TYPE_CHECKING:
    from gatekeeper_core.context.prompt.adapter import Piece

__all__ = ["write_built"]

_CALLS = frozenset({"tool_calls", "function_call"})


def write_built(message: Message, pieces: Sequence[Piece[ChatMessage]]) -> ChatMessage:
    """Return the message of LlamaIndex for one that is sent.

    Args:
        message: what is sent.
        pieces: what it is made of; see ``ThreadRequests``.

    >>> write_built(Message("system", "[Related memories]"), []).role.value
    'system'
    """
    originals = [original for _, original in pieces if original is not None]
    media = (block for original in originals for block in media_blocks(original))
    content: tuple[Part, ...] = (TextPart(message.text),) if isinstance(message.content, str) else message.content
    blocks = list(_blocks(content, media))
    own = originals[-1] if originals else None
    read = read_message(own) if own else None
    if own is None or read is None or read.role != message.role:
        marks = {"tool_call_id": message.tool_call_id, "name": message.name}
        made = {name: mark for name, mark in marks.items() if mark is not None}
        calls = [_call_block(call) for call in message.tool_calls]
        return ChatMessage(role=MessageRole(message.role), blocks=[*blocks, *calls], additional_kwargs=made)
    extra: dict[str, Any] = dict(own.additional_kwargs)
    if message.tool_calls == read.tool_calls:
        blocks += [block for block in own.blocks if isinstance(block, ToolCallBlock)]
    else:
        blocks += [_call_block(call) for call in message.tool_calls]
        extra = {name: value for name, value in extra.items() if name not in _CALLS}
    if message.tool_call_id != read.tool_call_id:
        extra["tool_call_id"] = message.tool_call_id
    return own.model_copy(update={"blocks": blocks, "additional_kwargs": extra})


def _blocks(content: Sequence[Part], media: Iterator[Any]) -> Iterator[Any]:
    for part in content:
        if isinstance(part, MediaPart):
            yield next(media)
        elif part.text:
            yield TextBlock(text=part.text)


def _call_block(call: Any) -> ToolCallBlock:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=arguments)
