"""Anthropic's prompt-cache mark in what a memory returns: a ``CachePoint`` after the past turns that stay.

The question gets none: agents write their state into the store's own message, so no copy may replace it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import CacheControl, CachePoint, ChatMessage, DocumentBlock, ImageBlock, TextBlock

from gatekeeper_core.context.history.cache_marks import plan_marks
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.native.cache_marks import MARKS_AT_MOST
from llama_index.memory.gatekeeper.messages import role_of


def is_anthropic(llm: Any) -> bool:
    """Return whether a model is LlamaIndex's ``Anthropic``, which reads cache points; OpenAI's classes reject them."""
    return llm is not None and llm.class_name() == "Anthropic_LLM"


def marked_messages(messages: Sequence[ChatMessage], view: HistoryView) -> list[ChatMessage]:
    """Return the messages of a view with a cache mark after the past turns that stay, on a copy of a message."""
    plan = plan_marks(view, blocks=[len(message.blocks) for message in messages], answered=None)
    last = plan.body if plan.body is not None else len(messages) - 1 if plan.end else -1
    if messages and role_of(messages[-1]) == "user":
        last = min(last, len(messages) - 2)
    place = next((at for at in range(last, -1, -1) if _may_carry(messages[at])), None)
    if place is None or _mark_count(messages[place]) or sum(map(_mark_count, messages)) >= MARKS_AT_MOST:
        return list(messages)
    behind = (block for message in messages[place + 1 :] for block in message.blocks if isinstance(block, CachePoint))
    first = next(behind, None)  # what is cached for longer must come first
    point = CachePoint(cache_control=first.cache_control if first else CacheControl(type="ephemeral"))
    marked = messages[place].model_copy(update={"blocks": [*messages[place].blocks, point]})
    return [*messages[:place], marked, *messages[place + 1 :]]


def _may_carry(message: ChatMessage) -> bool:
    """Return whether the last block of a message can have a mark; results and system messages lose it."""
    last = next((block for block in reversed(message.blocks) if not isinstance(block, CachePoint)), None)
    if role_of(message) not in ("user", "assistant"):
        return False
    return last.text.strip() != "" if isinstance(last, TextBlock) else isinstance(last, (DocumentBlock, ImageBlock))


def _mark_count(message: ChatMessage) -> int:
    points = sum(isinstance(block, CachePoint) for block in message.blocks)
    return points + bool(message.additional_kwargs.get("cache_control"))
