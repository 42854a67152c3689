"""The input, output and kept lines of a digest function. Line numbers are 1-based and inclusive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from gatekeeper_core.context.tool_results.query_match import QueryMatcher
from gatekeeper_core.context.tool_results.signals import failure_places
from gatekeeper_core.tokens import TokenCounter

MARK = "…"
"""The first character of every omission mark that we insert into third-party text."""

_LINE_CHARS = 600  # longer kept lines are cut. Source: ours; the longest lines of common logs stay complete
_MIN_LINE_CHARS = 60
_WINDOW_CHARS = 100
_OVERDRAFT_TOKENS = 160


class Task(NamedTuple):
    """The limits and the query of a digest.

    Attributes:
        query: matches lines with the user's question; without one it matches nothing.
        budget_tokens: target cost of the digest; failures and matches come first.
        counter: counts tokens.
    """

    query: QueryMatcher
    budget_tokens: int
    counter: TokenCounter

    def cut(self, text: str, limit: int) -> str:
        """Return a text cut as by :func:`shortened`, around words of the query and of failure."""
        if len(text) <= limit:
            return text
        return shortened(text, limit, around=[*self.query.places(text), *failure_places(text, limit=4)])


class Lines(NamedTuple):
    """Lines read from a result, with their numbers, the result's ``total``, their plural name, its ``first`` number."""

    texts: Sequence[str]
    numbers: Sequence[int]
    total: int
    what: str = "lines"
    first: int = 1

    @classmethod
    def of(cls, texts: Sequence[str], *, what: str = "lines") -> Lines:
        """Return all lines of a result, numbered from 1."""
        return cls(texts, range(1, 1 + len(texts)), len(texts), what)

    def at(self, indices: Sequence[int]) -> Lines:
        """Return the lines at the given indices, with the same total."""
        return self._replace(texts=[self.texts[at] for at in indices], numbers=[self.numbers[at] for at in indices])


class Digest(NamedTuple):
    """A compressed result.

    Attributes:
        text: the remaining text, with marks for omissions.
        shown: number of items (lines, rows, entries) of the result in the digest.
        total: number of items in the result.
        what: name of the items, in the plural.
        strategy: one word for the compression applied.
    """

    text: str
    shown: int
    total: int
    what: str
    strategy: str


DigestFunction: TypeAlias = Callable[[str, Task], "Digest | None"]


class KeptLines:
    """The lines kept within a budget; add the most valuable first.

    Attributes:
        kept: the kept lines by number.
        budget: tokens for the lines; ``remaining`` are those not yet spent.
        overdraft: the lowest ``remaining`` that failures and matches may leave, below 0.
    """

    def __init__(self, lines: Lines, task: Task) -> None:
        self._lines, self._task = lines, task
        self._gap_tokens = task.counter("\n" + gap(100, lines.what, 1_000, 1_099))
        self.kept: dict[int, str] = {}
        self.budget = self.remaining = task.budget_tokens - self._gap_tokens
        self.overdraft = -max(_OVERDRAFT_TOKENS, task.budget_tokens // 2)

    def add(self, index: int, *, note: str = "", reserve: int = 0) -> bool:
        """Keep a line and its note if ``reserve`` tokens remain (below 0: overdraft); return whether it is kept."""
        number = self._lines.numbers[index]
        if number in self.kept:
            return True
        gaps = self._gap_tokens * (1 - (number - 1 in self.kept) - (number + 1 in self.kept))
        if self.remaining - gaps < reserve:  # not enough for any line
            return False
        line = self._lines.texts[index]
        if len(line) > _LINE_CHARS:
            line = self._task.cut(line, max(_MIN_LINE_CHARS, min(_LINE_CHARS, self.remaining)))
        line += note
        cost = self._task.counter(line + "\n") + gaps
        if self.remaining - cost < reserve:
            return False
        self.remaining -= cost
        self.kept[number] = line
        return True

    def add_all(self, indices: Iterable[int], *, sure: int = 0, reserve: int = 0) -> None:
        """Keep lines as :meth:`add` does; the first ``sure`` of them may exceed the budget."""
        for nth, index in enumerate(indices):
            self.add(index, reserve=self.overdraft if nth < sure else reserve)

    def text(self) -> str:
        """Return the kept lines in order, with a mark for each gap."""
        return "\n".join(with_gaps(self.kept, self._lines.total, what=self._lines.what, first=self._lines.first))

    def digest(self, strategy: str, *, below: str = "") -> Digest:
        """Return the kept lines as a digest, with the text ``below`` after them."""
        return Digest(
            "\n".join(filter(None, (self.text(), below))), len(self.kept), self._lines.total, self._lines.what, strategy
        )


def gap(count: int, what: str, first: int, last: int) -> str:
    """Return the line that reports an omission; ``what`` is a plural.

    >>> gap(412, "lines", 88, 499), gap(1, "rows", 7, 7)
    ('… 412 lines omitted [88-499]', '… 1 row omitted [7]')
    """
    noun = what[:-1] if count == 1 else what
    return f"{MARK} {count} {noun} omitted [{first if first == last else f'{first}-{last}'}]"


def with_gaps(kept: Mapping[int, str], total: int, *, what: str = "lines", first: int = 1) -> list[str]:
    """Return kept lines, given by number, in order, with a mark for each gap in ``total`` lines.

    >>> with_gaps({1: "a", 4: "b"}, 6)
    ['a', '… 2 lines omitted [2-3]', 'b', '… 2 lines omitted [5-6]']
    """
    shown: list[str] = []
    expected = first
    for number in (*sorted(kept), first + total):  # the last one is past the end
        if number > expected:
            shown.append(gap(number - expected, what, expected, number - 1))
        if number in kept:
            shown.append(kept[number])
        expected = number + 1
    return shown


def with_neighbours(numbers: Iterable[int], width: int, *, within: range) -> list[int]:
    """Return line numbers and their neighbours up to ``width`` away, ascending, each once."""
    return sorted({near for number in numbers for near in range(number - width, number + width + 1) if near in within})


def shortened(line: str, limit: int, *, around: Sequence[int] = ()) -> str:
    """Return the ends of a line, about ``limit`` characters, and windows around the first few given positions.

    >>> shortened("a" * 30 + "b" * 30, 20)
    'aaaaaaaaaaaaa… 41 characters omitted …bbbbbb'
    """
    if len(line) <= limit:
        return line
    head, tail = limit * 2 // 3, limit // 3
    spans = [(0, head), (len(line) - tail, len(line))]
    width = min(_WINDOW_CHARS, limit)
    inside = (at for at in around[: max(1, limit // width)] if head <= at < len(line) - tail)
    spans += ((max(0, at - width // 2), min(len(line), at + width)) for at in inside)
    pieces: list[str] = []
    before = 0
    for start, stop in merged(spans):
        if start > before:
            pieces.append(f"{MARK} {start - before} characters omitted {MARK}")
        pieces.append(line[start:stop])
        before = stop
    return "".join(pieces)


def merged(spans: Iterable[tuple[int, int]], *, joins: int = 0) -> list[tuple[int, int]]:
    """Return spans in order, joined if they overlap or are at most ``joins`` apart."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if joined and start <= joined[-1][1] + joins:
            joined[-1] = (joined[-1][0], max(joined[-1][1], stop))
        else:
            joined.append((start, stop))
    return joined
