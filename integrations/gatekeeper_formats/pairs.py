"""Pairs: one ``{"user": ..., "assistant": ...}`` per line, as most scripts write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gatekeeper_core.messages import Message, Turn, group_turns
from gatekeeper_formats import base
from gatekeeper_formats.openai import MIXED


def _joined(turn: Turn, role: str, left_out: base.LeftOut) -> str:
    """Return one side's text of a turn, and count what a pair cannot hold."""
    own = [message for message in turn.messages if message.role == role]
    for message in own:
        left_out["tool_call"] += len(message.tool_calls)
        base.count_fields(message, left_out)
        base.count_media(message, left_out)
    if role == "user":
        left_out.update(
            "system_message" if message.role == "system" else "tool_result"
            for message in turn.messages
            if message.role in ("system", "tool")
        )
    texts = [message.text for message in own if message.text or role == "user"]
    left_out["joined_message"] += max(0, len(texts) - 1)
    return "\n".join(texts)


class _Pairs(base.WritableFormat):
    name = "pairs"

    def knows(self, value: Any) -> bool:
        return "role" not in value and not {"user", "assistant"}.isdisjoint(value)

    def holds(self, value: Any) -> bool:  # noqa: ARG002
        return False

    def messages(self, items: base.Items, left_out: base.LeftOut) -> Iterator[Message]:  # noqa: ARG002
        """Yield the messages of each pair; a pair is a separate turn even after an unanswered question."""
        answer: str | None = None
        for value, place in base.objects_of(items):
            if answer == "":
                yield Message("assistant", "")  # ends the turn
            if "role" in value:
                raise base.PlaceError(f"{place}: {MIXED}")
            if not value.keys() & {"user", "assistant"}:
                raise base.PlaceError(f'{place}: must hold "role" and "content", or "user" and "assistant"')
            user = base.field_of(value, "user", str, f"{place}: ")
            # A missing or null assistant: no answer yet.
            absent = value.get("assistant") is None
            answer = "" if absent else base.field_of(value, "assistant", str, f"{place}: ")
            yield from Turn.of(user, answer).messages

    def write(self, messages: Sequence[Message], left_out: base.LeftOut) -> Iterable[str]:
        turns = group_turns(messages)
        begin = turns[0].start if turns else len(messages)
        kinds = {"system": "system_message", "tool": "tool_result"}
        left_out.update(kinds.get(message.role, "greeting") for message in messages[:begin])
        for turn in turns:
            user = _joined(turn, "user", left_out)
            answer = _joined(turn, "assistant", left_out)
            yield base.json_text({"user": user, "assistant": answer or None}) + "\n"


FORMAT = _Pairs()
