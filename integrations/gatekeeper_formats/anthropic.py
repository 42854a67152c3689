"""Anthropic's messages: a request with ``messages`` and ``system``, a list, or one message per line."""

from __future__ import annotations

from typing import Any

from gatekeeper_core.messages import Message
from gatekeeper_core.native.anthropic import ANTHROPIC
from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_formats import base
from gatekeeper_formats.agent_log import native_messages, without

THINKING = frozenset({"thinking", "redacted_thinking"})


def _is_message(value: object) -> bool:
    """Return whether a message can only be in this format."""
    return isinstance(value, dict) and "role" in value and bool(ANTHROPIC.signs(value))


class _Anthropic(base.Format):
    name = "anthropic"

    def knows(self, value: Any) -> bool:
        if "role" in value:
            return _is_message(value)
        listed = value.get("messages")
        return isinstance(listed, list) and ("system" in value or any(map(_is_message, listed)))

    def conversation(self, value: base.Fields, left_out: base.LeftOut) -> base.Reports:
        base.count_tools(value, left_out)
        listed = base.items_of(value, "messages")
        if value.get("system"):
            yield from _read({"role": "system", "content": value["system"]}, '"system"', left_out)
        yield from self.messages(listed, left_out)

    def messages(self, items: base.Items, left_out: base.LeftOut) -> base.Reports:
        for message, place in base.objects_of(items):
            yield from _read(message, place, left_out)
            yield read_usage(message)


def _read(message: base.Fields, place: str, left_out: base.LeftOut) -> list[Message]:
    item = {"role": message.get("role"), "content": without(message.get("content"), THINKING, left_out)}
    return native_messages(ANTHROPIC, [(item, place)], left_out)


FORMAT = _Anthropic()
