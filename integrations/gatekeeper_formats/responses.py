"""OpenAI's Responses items: a list, one a line, or in the ``input`` and ``output`` of a request or an answer."""

from __future__ import annotations

from typing import Any

from gatekeeper_core.messages import Message
from gatekeeper_core.native.items import kind_of as type_of
from gatekeeper_core.native.openai_responses import RESPONSES
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_formats import base
from gatekeeper_formats.agent_log import native_messages

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


def _holds(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.keys() & {"input", "output"}) and not value.keys() & {"role", "type"}


def _messages_of(value: base.Fields, left_out: base.LeftOut) -> base.Reports:
    """Yield the messages of a request, of an answer, or of both in one object."""
    listed: list[base.Item] = []
    if isinstance(value.get("instructions"), str):
        listed.append(base.Item({"role": "system", "content": value["instructions"]}, 0))
    for key in ("input", "output"):
        part = value.get(key)
        if key == "input" and isinstance(part, str):
            part = [{"role": "user", "content": part}]
        if part is not None and not isinstance(part, list):
            raise base.PlaceError(f'"{key}" must be a list of items, got {base.kind_of(part)}')
        listed += [base.Item(item, at) for at, item in enumerate(part or ())]
    base.count_tools(value, left_out)
    yield from _messages_of_items(iter(listed), left_out)
    yield read_usage(value)


def _messages_of_items(items: base.Items, left_out: base.LeftOut) -> list[Message]:
    placed = ((base.checked_object(item.value, item.place("item")), item.place("item")) for item in items)
    return native_messages(RESPONSES, [each for each in placed if not counted(each[0], left_out)], left_out)


def counted(item: base.Fields, left_out: base.LeftOut) -> bool:
    """Count an item that is no message, and return whether it was one: reasoning, or the place of a compaction."""
    kind = type_of(item)
    if kind == "reasoning":
        left_out["thinking"] += 1
    elif kind in _COMPACTIONS:
        left_out["compaction"] += 1
    else:
        return False
    return True


FORMAT = base.Format(
    name="responses",
    knows=_knows,
    messages=_messages_of_items,
    conversation=_messages_of,
    holds=_holds,
    created=lambda value: base.date_of_seconds(value.get("created_at")),
)
