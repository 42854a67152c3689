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

from gatekeeper_core.messages import Message, ToolCall

__all__ = ["NO_RESULT", "whole_exchanges"]

NO_RESULT = "[no result]"
"""What stands for the result of a call that has none."""


def whole_exchanges(messages: Sequence[Message]) -> list[tuple[int | None, Message]]:
    """Return a conversation in the order that every provider takes, each message after its position in the list.

    The position is None for a result that was missing. What needs no mending are the caller's own objects.

    >>> call = Message("assistant", "", tool_calls=(ToolCall("a", "now", "{}"),))
    >>> [(at, one.text) for at, one in whole_exchanges([Message("user", "?"), call, Message("user", "again?")])]
    [(0, '?'), (1, ''), (None, '[no result]'), (2, 'again?')]
    """
    taken: list[tuple[int | None, Message]] = []
    held: list[tuple[int | None, Message]] = []  # system messages amid calls and results
    waiting: list[tuple[str, ToolCall]] = []  # calls without a result so far, each after the id that it was given
    opened = 0  # where the newest message that is no result stands
    for at, message in enumerate(messages):
        if message.role == "tool":
            given = message.tool_call_id or ""
            place = next((place for place, (asked, _) in enumerate(waiting) if asked == given), None)
            if place is None and not given and waiting:
                place = 0  # without an id it goes by its place
            if place is None:
                continue
            _, call = waiting.pop(place)
            taken.append((at, message if call.id == given else replace(message, tool_call_id=call.id)))
        elif message.role == "system" and waiting:
            held.append((at, message))
        else:
            missing = [Message("tool", NO_RESULT, tool_call_id=call.id, name=call.name or None) for _, call in waiting]
            taken += [*((None, result) for result in missing), *held]
            held, opened = [], len(taken)
            calls = message.tool_calls if message.role == "assistant" else ()
            named = _with_ids(calls, at)
            waiting = [(call.id, own) for call, own in zip(calls, named, strict=True)]
            taken.append((at, message if named == calls else replace(message, tool_calls=named)))
        if not waiting:
            taken += held
            held = []
    taken[opened:opened] = held
    return taken


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
