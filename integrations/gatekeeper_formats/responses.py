"""OpenAI's Responses items: a list, one a line, or in the ``input`` and ``output`` of a request or an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper_core.native.items import kind_of as type_of
from gatekeeper_core.native.openai_responses import RESPONSES
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_formats.agent_log import native_messages
from gatekeeper_formats.base import (
    Format,
    Item,
    LeftOut,
    PlaceError,
    all_together,
    checked_object,
    date_of_seconds,
    kind_of,
    one_per_item,
    peeked,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gatekeeper_core.messages import Message
    from gatekeeper_formats.base import Entry

__all__ = ["FORMAT", "counted"]

_COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
_ITEMS = frozenset({"reasoning", "compaction", "item_reference"})


def _is_item(value: object) -> bool:
    """Return whether a value is an item of no other format than this one."""
    if not isinstance(value, dict):
        return False
    kind = type_of(value)
    if not kind:
        return "role" in value and bool(RESPONSES.signs(value))
    if kind == "message":
        return "role" in value and bool(RESPONSES.signs({**value, "type": None}) or value.get("status"))
    calls = kind.endswith(("_call", "_call_output")) and bool(value.keys() & {"call_id", "id"})
    return "role" not in value and "payload" not in value and (kind in _ITEMS or calls)


def _knows(value: Any) -> bool:
    if not isinstance(value, dict) or "messages" in value:
        return False
    given, output = value.get("input"), value.get("output")
    if "role" in value or "type" in value:
        return _is_item(value)
    listed = [part for part in (given, output) if isinstance(part, list)]
    return any(all(map(_is_item_or_message, part)) and part for part in listed) or (
        isinstance(given, str) and "model" in value and "instruction" not in value
    )


def _is_item_or_message(value: object) -> bool:
    return _is_item(value) or (isinstance(value, dict) and "role" in value and "content" in value)


def _entries(items: Iterator[Item], whole_file: bool) -> Iterator[Entry]:
    first, values = peeked(items)
    if isinstance(first, dict) and first.keys() & {"input", "output"} and not first.keys() & {"role", "type"}:
        return one_per_item(
            values,
            _messages_of,
            whole_file=whole_file,
            created=lambda value: date_of_seconds(value.get("created_at")),
        )
    return all_together(values, _messages_of_items)


def _messages_of(value: Mapping[str, Any], left_out: LeftOut) -> Iterator[Message | Usage | None]:
    """Yield the messages of a request, of an answer, or of both in one object."""
    listed: list[Item] = []
    if isinstance(value.get("instructions"), str):
        listed.append(Item({"role": "system", "content": value["instructions"]}, 0))
    for key in ("input", "output"):
        part = value.get(key)
        if key == "input" and isinstance(part, str):
            part = [{"role": "user", "content": part}]
        if part is not None and not isinstance(part, list):
            raise PlaceError(f'"{key}" must be a list of items, got {kind_of(part)}')
        listed += [Item(item, at) for at, item in enumerate(part or ())]
    if isinstance(value.get("tools"), list):
        left_out["tool_definition"] += len(value["tools"])
    yield from _messages_of_items(iter(listed), left_out)
    yield read_usage(value)


def _messages_of_items(items: Iterator[Item], left_out: LeftOut) -> list[Message]:
    placed = ((checked_object(item.value, item.place("item")), item.place("item")) for item in items)
    return native_messages(RESPONSES, [each for each in placed if not counted(each[0], left_out)], left_out)


def counted(item: Mapping[str, Any], left_out: LeftOut) -> bool:
    """Count an item that is no message, and return whether it was one: reasoning, or the place of a compaction."""
    kind = type_of(item)
    if kind == "reasoning":
        left_out["thinking"] += 1
    elif kind in _COMPACTIONS:
        left_out["compaction"] += 1
    else:
        return False
    return True


FORMAT = Format(name="responses", knows=_knows, entries=_entries)
