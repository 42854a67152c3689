"""Small charts for a terminal, as wide as the place that they get; in signs of ASCII where it knows no more."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["Axis", "Cells", "Part", "PartBar", "bin_size"]

_HEIGHTS = "▁▂▃▄▅▆▇█"
_ASCII_HEIGHTS = ".:-=+*%#"
_LEAST_WIDTH = 10
_TICK = 10


def bin_size(count: int, width: int) -> int:
    """Return how many turns share a cell where so many cells have room.

    >>> bin_size(40, 60), bin_size(61, 60), bin_size(1_000, 60)
    (1, 2, 17)
    """
    return max(1, -(-count // max(1, width)))


class Cells:
    """A row of cells, one for each turn or for a few; the height of a cell shows its sum.

    Args:
        values: a number for each turn; 0 leaves its place empty.
        rows: all rows of the chart; the largest sum of a cell among them fills its cell.
    """

    def __init__(self, values: Sequence[int], rows: Sequence[Sequence[int]]) -> None:
        self._values = values
        self._rows = rows

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Take as much room as there are turns, and make do with little."""
        return Measurement(min(_LEAST_WIDTH, len(self._values)), len(self._values))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield one line."""
        size = bin_size(len(self._values), options.max_width)
        most = max((total for row in self._rows for total in binned(row, size)), default=1)
        heights, empty = (_ASCII_HEIGHTS, " ") if options.ascii_only else (_HEIGHTS, "·")
        dim = Style(dim=True)
        for is_there, totals in groupby(binned(self._values, size), bool):
            signs = (heights[-(-total * len(heights) // max(1, most)) - 1] if is_there else empty for total in totals)
            yield Segment("".join(signs), None if is_there else dim)
        yield Segment.line()


def binned(values: Sequence[int], size: int) -> list[int]:
    """Return the sums of so many neighbours.

    >>> binned([1, 2, 3, 4, 5], 2)
    [3, 7, 5]
    """
    return [sum(values[at : at + size]) for at in range(0, len(values), size)]


class Axis:
    """The numbers of turns over a row of cells, one at every tenth cell.

    Args:
        count: how many turns there are.
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Take the same room as the cells."""
        return Measurement(min(_LEAST_WIDTH, self._count), self._count)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield one line."""
        size = bin_size(self._count, options.max_width)
        cells = -(-self._count // size)
        line = ""
        for cell in range(0, cells, _TICK):
            number = str(cell * size)
            if cell + len(number) <= cells and (not line or len(line) < cell):
                line += " " * (cell - len(line)) + number
        yield Segment(line)
        yield Segment.line()


class Part(NamedTuple):
    """A part of a bar: how much it is, and its sign in a full and in an ASCII terminal."""

    amount: int
    sign: str
    ascii_sign: str


class PartBar:
    """A bar of parts that together are a whole, as wide as there is room, up to a limit.

    Args:
        parts: from the left.
        limit: columns at most.
    """

    def __init__(self, parts: Sequence[Part], *, limit: int = 72) -> None:
        self._parts = parts
        self._limit = limit

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield one line; a part that is there has a column at least."""
        width = min(self._limit, max(_LEAST_WIDTH, options.max_width - 2))
        whole = max(1, sum(part.amount for part in self._parts))
        widths = [max(1, round(part.amount * width / whole)) if part.amount else 0 for part in self._parts]
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] = max(1, widths[widest] + width - sum(widths))
        signs = (part.ascii_sign if options.ascii_only else part.sign for part in self._parts)
        yield Segment("[" + "".join(sign * count for sign, count in zip(signs, widths, strict=True)) + "]")
        yield Segment.line()
