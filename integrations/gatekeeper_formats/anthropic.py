"""Anthropic's messages: a request with ``messages`` and ``system``, a list, or one message a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper_core.native.anthropic import ANTHROPIC
from gatekeeper_formats.agent_log import native_messages, tokens_of, without
from gatekeeper_formats.base import (
    Format,
    Item,
    LeftOut,
    Usage,
    all_together,
    checked_object,
    field_of,
    one_per_item,
    peeked,
    text_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gatekeeper_core.messages import Message
    from gatekeeper_formats.base import Entry

__all__ = ["FORMAT", "THINKING", "usage_of"]

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


def _messages_of(value: Mapping[str, Any], left_out: LeftOut) -> Iterator[Message | Usage]:
    """Yield the messages of a request; what the system is told comes first."""
    if isinstance(value.get("tools"), list):
        left_out["tool_definition"] += len(value["tools"])
    listed = [Item(message, at) for at, message in enumerate(field_of(value, "messages", list))]
    if value.get("system"):
        yield from _read({"role": "system", "content": value["system"]}, '"system"', left_out)
    yield from _messages(iter(listed), left_out)


def _messages(items: Iterator[Item], left_out: LeftOut) -> Iterator[Message | Usage]:
    for item in items:
        message = checked_object(item.value, item.place())
        yield from _read(message, item.place(), left_out)
        usage = usage_of(message)
        if usage is not None:
            yield usage


def _read(message: Mapping[str, Any], place: str, left_out: LeftOut) -> list[Message]:
    item = {"role": message.get("role"), "content": without(message.get("content"), THINKING, left_out)}
    return native_messages(ANTHROPIC, [item], lambda _: place, left_out)


def usage_of(message: Mapping[str, Any]) -> Usage | None:
    """Return what Anthropic reported for a message of the model: what came from a cache or went there is input, too."""
    counts = message.get("usage")
    if not isinstance(counts, dict):
        return None
    cached, written = tokens_of(counts, "cache_read_input_tokens"), tokens_of(counts, "cache_creation_input_tokens")
    return Usage(
        tokens_of(counts, "input_tokens") + cached + written,
        tokens_of(counts, "output_tokens"),
        cached_tokens=cached,
        cache_written_tokens=written,
        model=text_or_none(message.get("model")) or "",
    )


FORMAT = Format(name="anthropic", knows=_knows, entries=_entries)
