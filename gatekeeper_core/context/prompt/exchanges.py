"""Tool exchanges made whole: what providers refuse is mended before anything is chosen, so that it is counted, too.

=========================================  ===========================================================================
in the caller's list                       as it is sent
=========================================  ===========================================================================
a call without a result, then other roles  a result that says so, directly after the other results
a result that answers no call, or again    left out
a call without an id, or with one twice    an id of its own, also in its result; results without one go by place
a system message amid calls and results    after the results; before the calls while they wait for results
=========================================  ===========================================================================

Calls of the last message that only tool messages follow still wait for their results: they stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from gatekeeper_core.messages import Message, ToolCall

__all__ = ["NO_RESULT", "Exchanges", "whole_exchanges"]

NO_RESULT = "[no result]"
"""What stands for the result of a call that has none."""


class Exchanges(NamedTuple):
    """A conversation whose calls and results belong together.

    Attributes:
        messages: the messages; what needed no mending are the caller's own objects.
        sources: for each of them its position in the caller's list, None for a result that was missing. Results that
            answer nothing are not in it.
    """

    messages: tuple[Message, ...]
    sources: tuple[int | None, ...]


def whole_exchanges(messages: Sequence[Message]) -> Exchanges:
    """Return a conversation in the order that every provider takes, as the module says.

    >>> call = Message("assistant", "", tool_calls=(ToolCall("a", "now", "{}"),))
    >>> mended = whole_exchanges([Message("user", "?"), call, Message("user", "again?")])
    >>> [message.text for message in mended.messages], mended.sources
    (['?', '', '[no result]', 'again?'], (0, 1, None, 2))
    """
    mending = _Mending()
    for at, message in enumerate(messages):
        if message.role == "tool":
            mending.answer(at, message)
        elif message.role == "system" and mending.waiting:
            mending.held.append((at, message))
        else:
            mending.close()
            mending.open(at, message)
    mending.end()
    sources = tuple(at for at, _ in mending.taken)
    return Exchanges(tuple(message for _, message in mending.taken), sources)


class _Mending:
    """What was taken over so far, and the calls of the last assistant message that wait for results."""

    def __init__(self) -> None:
        self.taken: list[tuple[int | None, Message]] = []
        self.held: list[tuple[int | None, Message]] = []
        self.waiting: list[tuple[str, ToolCall]] = []
        self._opened = 0

    def open(self, at: int, message: Message) -> None:
        """Take over a message that is no result; its calls wait from now on."""
        self._opened = len(self.taken)
        calls = message.tool_calls if message.role == "assistant" else ()
        if calls:
            named = _with_ids(calls, at)
            self.waiting = [(given.id, call) for given, call in zip(calls, named, strict=True)]
            message = message if named == calls else replace(message, tool_calls=named)
        self.taken.append((at, message))

    def answer(self, at: int, message: Message) -> None:
        """Take over a result, or leave it out where no call waits for it."""
        given = message.tool_call_id or ""
        place = next((place for place, (asked, _) in enumerate(self.waiting) if asked == given), None)
        if place is None and not given and self.waiting:
            place = 0  # without an id it goes by its place
        if place is None:
            return
        _, call = self.waiting.pop(place)
        self.taken.append((at, message if call.id == given else replace(message, tool_call_id=call.id)))
        if not self.waiting:
            self._release()

    def close(self) -> None:
        """Give each call that still waits a result that says so: something else follows."""
        for _, call in self.waiting:
            self.taken.append((None, Message("tool", NO_RESULT, tool_call_id=call.id, name=call.name or None)))
        self.waiting = []
        self._release()

    def end(self) -> None:
        """Let the calls wait that have no result yet; what was held back stands before them."""
        self.taken[self._opened : self._opened] = self.held
        self.held = []

    def _release(self) -> None:
        self.taken.extend(self.held)
        self.held = []


def _with_ids(calls: tuple[ToolCall, ...], at: int) -> tuple[ToolCall, ...]:
    """Return the calls, each with an id of its own: the given one, or one that is made of its place."""
    seen: set[str] = set()
    named = []
    for number, call in enumerate(calls):
        if not call.id or call.id in seen:
            call = replace(call, id=f"call_{at}_{number}")
        seen.add(call.id)
        named.append(call)
    return tuple(named)
