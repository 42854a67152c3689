"""What LlamaIndex's chat messages are compared by, so that only those that changed are read again.

A sign holds everything that reading looks at, and nothing that somebody else could change: texts, and what is nested as
JSON. The data of images and files is neither looked at nor kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    AudioBlock,
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)

from gatekeeper_core.context.history.cache import flat_sign
from llama_index.memory.gatekeeper.reading import EXTRA_KEYS, read_message

__all__ = ["signs_of"]

# It knows plain values alone, and writes 1, True and "1" in three ways, as reading does.
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_EXTRA_KEYS = sorted(EXTRA_KEYS)
_CALLS = EXTRA_KEYS - {"name", "tool_call_id"}
_NAMES = frozenset({str, type(None)})
_MEDIA = frozenset({AudioBlock, DocumentBlock, ImageBlock, VideoBlock})


def signs_of(messages: Sequence[ChatMessage]) -> list[object]:
    """Return a sign for each message, equal to an earlier one only where the message reads the same.

    >>> before, now = (signs_of([ChatMessage("hi"), ChatMessage(text)]) for text in ("a", "b"))
    >>> [one == other for one, other in zip(before, now)]
    [True, False]
    """
    # Written out for what most messages are, one text: this is what each call does for every message.
    return [
        (message.role, text)
        if len(blocks := message.blocks) == 1
        and type(blocks[0]) is TextBlock
        and type(text := blocks[0].text) is str
        and (not (extra := message.additional_kwargs) or EXTRA_KEYS.isdisjoint(extra))
        else _sign(message) or read_message(message)
        for message in messages
    ]


def _sign(message: ChatMessage) -> tuple[object, ...] | None:
    """Return the sign of a message, None where it can only be told by reading."""
    extra = message.additional_kwargs
    name, answered = extra.get("name"), extra.get("tool_call_id")
    try:
        shown = tuple(map(_block_sign, message.blocks))
        if type(name) in _NAMES and type(answered) in _NAMES and _CALLS.isdisjoint(extra):
            return message.role, shown, name, answered
        return message.role, shown, _written([extra.get(key) for key in _EXTRA_KEYS])
    except (TypeError, ValueError, RecursionError):
        return None


def _block_sign(block: Any) -> object:
    kind = type(block)
    if kind is TextBlock and type(block.text) is str:
        return block.text
    if kind is ToolCallBlock:
        called, name = block.tool_call_id, block.tool_name
        flat = flat_sign(block.tool_kwargs) if type(called) in _NAMES and type(name) is str else None
        return (called, name, flat) if flat else (kind, _written((called, name, block.tool_kwargs)))
    if kind is ThinkingBlock and type(block.content) is str:
        return kind, block.content
    if kind in _MEDIA:
        return (kind,)
    raise ValueError(kind)
