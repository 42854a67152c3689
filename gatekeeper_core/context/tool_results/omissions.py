"""Omission marks for missing lines, and numbered lines.

Line numbers are 1-based and inclusive, in what a model reads and in what it asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

__all__ = ["MARK", "border_after", "border_before", "gap", "merged", "shortened", "with_context", "with_gaps"]

MARK = "…"
"""How every line begins that we wrote into a text of others to say what is missing."""

_WINDOW_CHARS = 100


def gap(count: int, what: str, first: int, last: int) -> str:
    """Return the line that says what is missing; ``what`` is a plural.

    >>> gap(412, "lines", 88, 499), gap(1, "rows", 7, 7)
    ('… 412 lines omitted [88-499]', '… 1 row omitted [7]')
    """
    noun = what[:-1] if count == 1 else what
    return f"{MARK} {count} {noun} omitted [{first if first == last else f'{first}-{last}'}]"


def with_gaps(kept: Mapping[int, str], total: int, *, what: str = "lines", first: int = 1) -> list[str]:
    """Return kept lines in order, with a mark in each place where some are missing.

    Args:
        kept: by number the line to show.
        total: how many there are.
        what: what they are, a plural.
        first: number of the first.

    >>> with_gaps({1: "a", 4: "b"}, 6)
    ['a', '… 2 lines omitted [2-3]', 'b', '… 2 lines omitted [5-6]']
    """
    shown: list[str] = []
    expected = first
    for number in sorted(kept):
        if number > expected:
            shown.append(gap(number - expected, what, expected, number - 1))
        shown.append(kept[number])
        expected = number + 1
    last = first + total - 1
    if expected <= last:
        shown.append(gap(last - expected + 1, what, expected, last))
    return shown


def with_context(numbers: Iterable[int], *, before: int, after: int, last: int) -> list[int]:
    """Return line numbers with their neighbours, ascending, each once, within 1 to ``last``.

    >>> with_context([1, 5], before=1, after=2, last=6)
    [1, 2, 3, 4, 5, 6]
    """
    around = {near for number in numbers for near in range(number - before, number + after + 1)}
    return sorted(near for near in around if 1 <= near <= last)


def shortened(line: str, limit: int, *, around: Sequence[int] = ()) -> str:
    """Return a line in at most about ``limit`` characters: its beginning, its end, and windows around given places.

    Args:
        line: the line.
        limit: characters from which it is cut.
        around: character positions to keep, the most important ones first.

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
    """Return spans in order, as one where they overlap or at most ``joins`` lie between them.

    >>> merged([(4, 9), (0, 3), (2, 3)], joins=1)
    [(0, 9)]
    """
    made: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if made and start <= made[-1][1] + joins:
            made[-1] = (made[-1][0], max(made[-1][1], stop))
        else:
            made.append((start, stop))
    return made


def border_after(data: bytes, at: int) -> int:
    """Return the first border between two characters of UTF-8 at or after a byte.

    >>> border_after("é!".encode(), 1), border_before("é!".encode(), 1)
    (2, 0)
    """
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1
    return at


def border_before(data: bytes, at: int) -> int:
    """Return the last border between two characters of UTF-8 at or before a byte."""
    at = min(at, len(data))
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at
