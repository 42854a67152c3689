"""Messages put together from what an export says one after the other, with each tool result behind its call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from gatekeeper_core.messages import Message, Part, Role, ToolCall
from gatekeeper_core.native.items import content_of
from gatekeeper_formats import base


class _Waiting(NamedTuple):
    """A call without its result."""

    id: str
    name: str


class Transcript:
    """A conversation that grows at its end.

    Exports name calls and results by an id, by the tool's name, or not at all. A result goes to the call that it names,
    else to the oldest one that waits, of its tool if there is one; a further result of the same tool belongs to the
    one before it. A result without a call, which no provider accepts, is left out and counted.

    Args:
        left_out: counts what is left out.
    """

    def __init__(self, left_out: base.LeftOut) -> None:
        self._left_out = left_out
        self._heads: list[Message] = []  # each message without its content
        self._parts: list[list[Part]] = []
        self._waiting: list[_Waiting] = []
        self._open: Role | None = None
        self._last_result: str | None = None
        self._calls = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """What was said, oldest first."""
        pairs = zip(self._heads, self._parts, strict=True)
        return tuple(replace(head, content=content_of(parts)) for head, parts in pairs)

    def pause(self) -> None:
        """Let what is said next be a message of its own."""
        self._open = None

    def say(self, role: Role, parts: Sequence[Part]) -> None:
        """Add what a speaker said; a speaker goes on in the message that is open."""
        if role == self._open:
            self._parts[-1].extend(parts)
            return
        self._add(Message(role, ""), parts)
        self._open = role
        if role == "user":
            self._waiting.clear()  # a result after the next question would break the order of the exchange

    def message(self, role: Role, parts: Sequence[Part]) -> None:
        """Add a message of its own; one that holds nothing is counted."""
        self.pause()
        if parts:
            self.say(role, parts)
        else:
            self._left_out["empty_message"] += 1

    def call(self, name: str, arguments: str, *, call_id: str | None = None) -> None:
        """Add a call to the assistant's open message, or in one of its own."""
        self._calls += 1
        call = ToolCall(call_id or f"call_{self._calls}", name, arguments)
        if self._open != "assistant":
            self.say("assistant", ())
        self._heads[-1] = replace(self._heads[-1], tool_calls=(*self._heads[-1].tool_calls, call))
        self._waiting.append(_Waiting(call.id, name))

    def answer(self, parts: Sequence[Part], *, call_id: str | None = None, name: str | None = None) -> None:
        """Add the result of a call."""
        found = self._asked(call_id, name)
        if found is not None:
            self._waiting.remove(found)
            self._add(Message("tool", "", tool_call_id=found.id), parts)
            self._last_result = name
        elif call_id is None and name is not None and name == self._last_result:
            self._parts[-1].extend(parts)
        else:
            self._left_out["orphan_result"] += 1
        self._open = None

    def _asked(self, call_id: str | None, name: str | None) -> _Waiting | None:
        if call_id is not None:
            return next((call for call in self._waiting if call.id == call_id), None)
        by_name = next((call for call in self._waiting if call.name == name), None)
        goes_on = name is not None and name == self._last_result
        return by_name or (self._waiting[0] if self._waiting and not goes_on else None)

    def _add(self, head: Message, parts: Sequence[Part]) -> None:
        self._heads.append(head)
        self._parts.append(list(parts))
        self._last_result = None
