"""The input and output of every strategy that compresses a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from gatekeeper_core.context.tool_results.omissions import gap, shortened, with_gaps
from gatekeeper_core.context.tool_results.query_match import Asked
from gatekeeper_core.context.tool_results.signals import failure_places
from gatekeeper_core.tokens import TokenCounter

__all__ = ["Digest", "Lines", "Shelf", "Strategy", "Task"]

LINE_CHARS = 600
"""Characters from which a kept line is cut. Source: ours; the longest lines of common logs stay whole."""

_OVERDRAFT_TOKENS = 160
_LEAST_LINE_CHARS = 60


class Task(NamedTuple):
    """The limits and the query of a strategy.

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

    def places(self, text: str) -> list[int]:
        """Return where words of the question and of failure stand in a text, the most important places first."""
        return [*self.asked.places(text), *failure_places(text, limit=4)]


class Lines(NamedTuple):
    """Lines of a result, in their order.

    Attributes:
        texts: those that were read.
        numbers: their numbers in the result.
        total: how many the result has.
    """

    texts: Sequence[str]
    numbers: Sequence[int]
    total: int

    @classmethod
    def whole(cls, texts: Sequence[str], *, first: int = 1) -> Lines:
        """Return all lines of a result; ``first`` is the number of the first."""
        return cls(texts, range(first, first + len(texts)), len(texts))

    def at(self, places: Sequence[int]) -> Lines:
        """Return the lines at some indices, of a result of as many lines."""
        return Lines([self.texts[at] for at in places], [self.numbers[at] for at in places], self.total)


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
        lines: the lines to choose from.
        task: gives counter, budget and what was asked.
        what: what the lines are, a plural.
        first: number of the first line of the result.

    Attributes:
        kept: the kept lines by number.
        left: tokens that are left.
        overdraft: how far below 0 they may go for failures and for what was asked.
    """

    def __init__(self, lines: Lines, task: Task, *, what: str = "lines", first: int = 1) -> None:
        self._lines, self._task, self._what, self._first = lines, task, what, first
        self._cost = cache(lambda line: task.counter(line + "\n"))  # a line that had no room may be tried again
        self._gap_tokens = task.counter("\n" + gap(100, what, 1_000, 1_099))
        self._shortens = False
        self.kept: dict[int, str] = {}
        self.left = task.budget_tokens - self._gap_tokens
        self.overdraft = -max(_OVERDRAFT_TOKENS, task.budget_tokens // 2)

    def add(self, index: int, *, note: str = "", least_left: int = 0) -> bool:
        """Return whether the line is kept now: it was already, or there was room for it.

        Args:
            index: which of the lines.
            note: what is said at its end.
            least_left: tokens that must be left afterwards; below 0 for what may go over the budget.
        """
        number = self._lines.numbers[index]
        if number in self.kept:
            return True
        gaps = self._gap_tokens * (1 - (number - 1 in self.kept) - (number + 1 in self.kept))
        if self.left - gaps < least_left:  # whatever the line costs
            return False
        whole = line = self._lines.texts[index]
        if len(line) > LINE_CHARS:
            limit = max(_LEAST_LINE_CHARS, min(LINE_CHARS, self.left))
            line = shortened(line, limit, around=self._task.places(line))
        line += note
        cost = self._cost(line) + gaps
        if self.left - cost < least_left:
            return False
        self.left -= cost
        self.kept[number] = line
        self._shortens |= len(line) < len(whole)
        return True

    @property
    def is_whole(self) -> bool:
        """True if every line is kept unchanged."""
        return len(self.kept) >= self._lines.total and not self._shortens

    def text(self) -> str:
        """Return the kept lines in their order, with a mark where some are missing."""
        return "\n".join(with_gaps(self.kept, self._lines.total, what=self._what, first=self._first))
