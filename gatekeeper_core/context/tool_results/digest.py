"""What every way of making a result small is given, and gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from gatekeeper_core.context.tool_results.omissions import gap, shortened, with_gaps
from gatekeeper_core.context.tool_results.query_match import Asked
from gatekeeper_core.context.tool_results.signals import failure_places
from gatekeeper_core.tokens import TokenCounter

__all__ = ["Digest", "Shelf", "Strategy", "Task"]

LINE_CHARS = 600
"""Characters from which a kept line is cut. Source: ours; the longest lines of common logs stay whole."""

_OVERDRAFT_TOKENS = 160
_LEAST_LINE_CHARS = 60


class Task(NamedTuple):
    """What a strategy goes by.

    Attributes:
        asked: the anchors of the question, empty where there is none.
        budget_tokens: what the digest should cost; failures and what was asked for come first.
        counter: counts tokens.
        list_items: most items of a list that are shown only because they stand first.
    """

    asked: Asked
    budget_tokens: int
    counter: TokenCounter
    list_items: int


class Digest(NamedTuple):
    """A result made small.

    Attributes:
        text: what is left, with marks for what is missing.
        shown: how many items (lines, rows, entries) of the result are in it.
        total: how many the result has.
        what: what they are, a plural.
        strategy: one word for the way.
    """

    text: str
    shown: int
    total: int
    what: str
    strategy: str


Strategy: TypeAlias = Callable[[str, Task], "Digest | None"]


class Shelf:
    """Lines that are kept as long as a budget goes; the order of adding is the order of worth.

    Args:
        lines: all lines.
        task: gives counter, budget and what was asked.
        numbers: the number of each line; None: 1, 2, 3 and so on.
        total: how many lines there are in all.
        what: what the lines are, a plural.
        first: number of the first line.
    """

    __slots__ = (
        "_costs",
        "_counter",
        "_first",
        "_gap_tokens",
        "_lines",
        "_numbers",
        "_task",
        "_what",
        "kept",
        "left",
        "overdraft",
        "shortens",
        "total",
    )

    def __init__(
        self,
        lines: Sequence[str],
        task: Task,
        *,
        numbers: Sequence[int] | None = None,
        total: int | None = None,
        what: str = "lines",
        first: int = 1,
    ) -> None:
        self._lines = lines
        self._task = task
        self._counter = task.counter
        self._costs: dict[str, int] = {}
        self._numbers = range(first, first + len(lines)) if numbers is None else numbers
        self.total = len(lines) if total is None else total
        self._what = what
        self._first = first
        self._gap_tokens = task.counter("\n" + gap(100, what, 1_000, 1_099))
        self.kept: dict[int, str] = {}
        self.shortens = False
        self.left = task.budget_tokens - self._gap_tokens
        # What tells of a failure or was asked for may go so far over the budget.
        self.overdraft = -max(_OVERDRAFT_TOKENS, task.budget_tokens // 2)

    def __contains__(self, index: int) -> bool:
        return self._numbers[index] in self.kept

    def add(self, index: int, *, note: str = "", least_left: int = 0) -> bool:
        """Return whether the line is kept now: it was already, or there was room for it.

        Args:
            index: which line.
            note: what is said at its end.
            least_left: tokens that must be left afterwards; below 0 for what may go over the budget.
        """
        number = self._numbers[index]
        if number in self.kept:
            return True
        gaps = self._gap_tokens * (1 - (number - 1 in self.kept) - (number + 1 in self.kept))
        if self.left - gaps < least_left:  # whatever the line costs
            return False
        line = self._shown(index) + note
        cost = self._cost(line) + gaps
        if self.left - cost < least_left:
            return False
        self.left -= cost
        self.kept[number] = line
        self.shortens |= len(line) < len(self._lines[index])
        return True

    @property
    def is_whole(self) -> bool:
        """Whether every line is kept as it is."""
        return len(self.kept) >= self.total and not self.shortens

    def _cost(self, line: str) -> int:
        cost = self._costs.get(line)
        if cost is None:  # a line for which there was no room may be asked for again
            cost = self._costs[line] = self._counter(line + "\n")
        return cost

    def _shown(self, index: int) -> str:
        line = self._lines[index]
        if len(line) <= LINE_CHARS:
            return line
        limit = max(_LEAST_LINE_CHARS, min(LINE_CHARS, self.left))
        return shortened(line, limit, around=self._around(line))

    def _around(self, line: str) -> list[int]:
        return [*self._task.asked.places(line), *failure_places(line, limit=4)]

    def text(self) -> str:
        """Return the kept lines in their order, with a mark where some are missing."""
        return "\n".join(with_gaps(self.kept, self.total, what=self._what, first=self._first))
