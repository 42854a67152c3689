"""The topic map of a conversation: where one topic ends and the next one begins.

A topic begins where the gate says ``switch``, unless the answer shows that the switch was none: map and verdicts never
disagree. Beside the borders it holds what the gate reads of the newest turns.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from gatekeeper_core.selection.verdicts import Verdict

__all__ = ["Topic", "TopicMap"]


class Topic(NamedTuple):
    """One segment of the conversation: turns ``start`` to ``stop - 1``; ``topic_id`` counts from 0.

    Attributes:
        topic_id: 0-based number.
        start: its first turn.
        stop: the turn after its last.
    """

    topic_id: int
    start: int
    stop: int


class TopicMap:
    """The topics of a growing conversation, and the terms of its newest turns.

    The map after ``n`` turns is the same however it came about; the newest turns can be taken back. It holds 4 bytes a
    topic, and the terms of three turns.
    """

    NEWEST = 3
    """Turns of the active topic that the gate reads a question against. Source: ours."""

    __slots__ = ("_newest", "_starts", "_turn_count")

    def __init__(self) -> None:
        self._turn_count = 0
        self._starts = array("I")
        self._newest: list[Set[str]] = []

    def __len__(self) -> int:
        """Return the number of turns."""
        return self._turn_count

    @property
    def newest_turns(self) -> Sequence[Set[str]]:
        """The terms of the newest turns of the active topic, oldest first: at most three."""
        return self._newest[max(-self.NEWEST, self._starts[-1] - self._turn_count) :] if self._newest else ()

    @property
    def topic_count(self) -> int:
        """The number of topics; the last one is active."""
        return len(self._starts)

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics, oldest first; the last one is active."""
        edges = [*self._starts, self._turn_count]
        return tuple(Topic(number, *bounds) for number, bounds in enumerate(pairwise(edges)))

    @property
    def starts(self) -> array[int]:
        """The first turn of each topic, ascending; a copy."""
        return self._starts[:]

    @property
    def topic_before_switch(self) -> int | None:
        """The topic that was active before the newest turn, where that turn switched away from it; else None."""
        opened = len(self._starts) > 1 and self._starts[-1] == self._turn_count - 1
        return len(self._starts) - 2 if opened else None

    def topic_of(self, turn_id: int) -> int:
        """Return the id of the topic of a turn."""
        return bisect_right(self._starts, turn_id) - 1

    def add(self, verdict: Verdict, terms: Set[str]) -> None:
        """Add the next turn, given the verdict on its user's text and the terms of both its sides."""
        if verdict.decision == "switch":
            self._starts.append(self._turn_count)
        self._turn_count += 1
        self._newest = [*self._newest, terms][-self.NEWEST :]

    def cut(self, turn_count: int, *, newest: Iterable[Set[str]]) -> None:
        """Keep only the first turns, given the terms of the last three of them, oldest first."""
        self._turn_count = turn_count
        del self._starts[bisect_left(self._starts, turn_count) :]
        self._newest = list(newest)[-self.NEWEST :]
