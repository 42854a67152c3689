"""Messages from the pieces of an export, each tool result with its call, and one branch of a message tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from gatekeeper_core.messages import Message, Part, Role, ToolCall
from gatekeeper_core.native.items import content_of
from gatekeeper_formats import base


class Transcript:
    """A conversation under construction.

    A result with an id goes to the call with that id; one without, to the oldest open call, of its tool if there is
    one. A further result of the same tool extends the one before it. A result without a call, which no provider
    accepts, is dropped and counted in ``left_out``.
    """

    def __init__(self, left_out: base.LeftOut) -> None:
        self._left_out = left_out
        self._heads: list[Message] = []  # each message without its content
        self._parts: list[list[Part]] = []
        self._waiting: list[ToolCall] = []  # calls without their results
        self._open: Role | None = None
        self._last_result: str | None = None
        self._calls = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, oldest first."""
        pairs = zip(self._heads, self._parts, strict=True)
        return tuple(replace(head, content=content_of(parts)) for head, parts in pairs)

    def pause(self) -> None:
        """Start a new message with the next addition."""
        self._open = None

    def say(self, role: Role, parts: Sequence[Part]) -> None:
        """Add parts to the speaker's open message, or to a new one."""
        if role == self._open:
            self._parts[-1].extend(parts)
            return
        self._add(Message(role, ""), parts)
        self._open = role
        if role == "user":
            self._waiting.clear()  # a result after the next question would break the order of the exchange

    def message(self, role: Role, parts: Sequence[Part]) -> None:
        """Add a new message; an empty one is only counted."""
        self.pause()
        if parts:
            self.say(role, parts)
        else:
            self._left_out["empty_message"] += 1

    def call(self, name: str, arguments: str, *, call_id: str | None = None) -> None:
        """Add a call to the assistant's open message, or to a new one."""
        self._calls += 1
        call = ToolCall(call_id or f"call_{self._calls}", name, arguments)
        if self._open != "assistant":
            self.say("assistant", ())
        self._heads[-1] = replace(self._heads[-1], tool_calls=(*self._heads[-1].tool_calls, call))
        self._waiting.append(call)

    def answer(self, parts: Sequence[Part], *, call_id: str | None = None, name: str | None = None) -> None:
        """Add the result of a call."""
        goes_on = call_id is None and name is not None and name == self._last_result
        if call_id is not None:
            waiting = next((call for call in self._waiting if call.id == call_id), None)
        else:
            waiting = next((call for call in self._waiting if call.name == name), None)
            if waiting is None and self._waiting and not goes_on:
                waiting = self._waiting[0]
        if waiting is not None:
            self._waiting.remove(waiting)
            self._add(Message("tool", "", tool_call_id=waiting.id), parts)
            self._last_result = name
        elif goes_on:
            self._parts[-1].extend(parts)
        else:
            self._left_out["orphan_result"] += 1
        self._open = None

    def _add(self, head: Message, parts: Sequence[Part]) -> None:
        self._heads.append(head)
        self._parts.append(list(parts))
        self._last_result = None


class TreeKeys(NamedTuple):
    """The keys of a message tree in a format."""

    nodes: str  # the object of nodes, for errors
    current: str  # the last node of the branch that is shown
    parent: str  # of a node


def branch_of(nodes: base.Fields, current: object, keys: TreeKeys) -> list[str]:
    """Return the names of the nodes from the root to the current one; None means the only leaf.

    Raises:
        PlaceError: a node is missing or not an object, the parents form a cycle, or there is no single leaf.
    """
    if current is None:
        named = (node.get(keys.parent) for node in nodes.values() if isinstance(node, dict))
        parents = {parent for parent in named if isinstance(parent, str)}
        ends = [name for name in nodes if name not in parents]
        if len(ends) > 1 or (nodes and not ends):
            raise base.PlaceError(f'"{keys.current}" is missing, and {len(ends)} branches have a last message')
        current = ends[0] if ends else None
    path: dict[str, None] = {}
    while current is not None:
        if not isinstance(current, str):
            raise base.PlaceError(f"the name of a node must be text, got {base.kind_of(current)}")
        if current in path:
            raise base.PlaceError(f"the parents of node {current!a:.60} form a cycle")
        if current not in nodes:
            raise base.PlaceError(f'node {current!a:.60} is missing in "{keys.nodes}"')
        path[current] = None
        current = base.checked_object(nodes[current], f"node {current!a:.60}").get(keys.parent)
    return list(reversed(path))
