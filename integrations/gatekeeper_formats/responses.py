"""OpenAI's Responses items: a list, one per line, or in the ``input`` and ``output`` of a request or an answer."""

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
    """Return whether a value can only be an item of this format."""
    if not isinstance(value, dict):
        return False
    kind = type_of(value)
    if not kind:
        return "role" in value and bool(RESPONSES.signs(value))
    if kind == "message":
        return "role" in value and bool(RESPONSES.signs({**value, "type": None}) or value.get("status"))
    calls = kind.endswith(("_call", "_call_output")) and bool(value.keys() & {"call_id", "id"})
    return "role" not in value and "payload" not in value and (kind in _ITEMS or calls)


def counted(item: base.Fields, left_out: base.LeftOut) -> bool:
    """Count a reasoning or compaction item; return whether it was one."""
    kind = type_of(item)
    if kind == "reasoning":
        left_out["thinking"] += 1
    elif kind in _COMPACTIONS:
        left_out["compaction"] += 1
    else:
        return False
    return True


class _Responses(base.Format):
    name = "responses"
    created_key = "created_at"
    day = staticmethod(base.date_of_seconds)

    def knows(self, value: Any) -> bool:
        if "messages" in value:
            return False
        source, output = value.get("input"), value.get("output")
        if "role" in value or "type" in value:
            return _is_item(value)
        if isinstance(source, str) and "model" in value and "instruction" not in value:
            return True
        return any(
            isinstance(part, list)
            and bool(part)
            and all(_is_item(each) or (isinstance(each, dict) and {"role", "content"} <= each.keys()) for each in part)
            for part in (source, output)
        )

    def holds(self, value: Any) -> bool:
        return (
            isinstance(value, dict) and bool(value.keys() & {"input", "output"}) and not value.keys() & {"role", "type"}
        )

    def conversation(self, value: base.Fields, left_out: base.LeftOut) -> base.Reports:
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
        yield from self.messages(iter(listed), left_out)
        yield read_usage(value)

    def messages(self, items: base.Items, left_out: base.LeftOut) -> list[Message]:
        return native_messages(
            RESPONSES, [each for each in base.objects_of(items, "item") if not counted(each[0], left_out)], left_out
        )


FORMAT = _Responses()
