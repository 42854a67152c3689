"""Anthropic's messages: a request with ``messages`` and ``system``, a list, or one message a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper_core.native.anthropic import ANTHROPIC
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_formats.agent_log import native_messages, without
from gatekeeper_formats.base import (
    Format,
    Item,
    LeftOut,
    all_together,
    checked_object,
    field_of,
    one_per_item,
    peeked,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gatekeeper_core.messages import Message
    from gatekeeper_formats.base import Entry

__all__ = ["FORMAT", "THINKING"]

THINKING = frozenset({"thinking", "redacted_thinking"})


def _is_message(value: object) -> bool:
    """Return whether a message is in this format and no other."""
    return isinstance(value, dict) and "role" in value and bool(ANTHROPIC.signs(value))


def _knows(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value:
        return _is_message(value)
    listed = value.get("messages")
    return isinstance(listed, list) and ("system" in value or any(map(_is_message, listed)))


def _entries(items: Iterator[Item], whole_file: bool) -> Iterator[Entry]:
    first, values = peeked(items)
    if isinstance(first, dict) and "messages" in first and "role" not in first:
        return one_per_item(values, _messages_of, whole_file=whole_file)
    return all_together(values, _messages)


def _messages_of(value: Mapping[str, Any], left_out: LeftOut) -> Iterator[Message | Usage | None]:
    """Yield the messages of a request; what the system is told comes first."""
    if isinstance(value.get("tools"), list):
        left_out["tool_definition"] += len(value["tools"])
    listed = [Item(message, at) for at, message in enumerate(field_of(value, "messages", list))]
    if value.get("system"):
        yield from _read({"role": "system", "content": value["system"]}, '"system"', left_out)
    yield from _messages(iter(listed), left_out)


def _messages(items: Iterator[Item], left_out: LeftOut) -> Iterator[Message | Usage | None]:
    for item in items:
        message = checked_object(item.value, item.place())
        yield from _read(message, item.place(), left_out)
        yield read_usage(message)


def _read(message: Mapping[str, Any], place: str, left_out: LeftOut) -> list[Message]:
    item = {"role": message.get("role"), "content": without(message.get("content"), THINKING, left_out)}
    return native_messages(ANTHROPIC, [(item, place)], left_out)


FORMAT = Format(name="anthropic", knows=_knows, entries=_entries)
