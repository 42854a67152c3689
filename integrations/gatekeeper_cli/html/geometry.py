"""Where the marks of the charts stand, in pixels of their drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_cli.token_use import UsePoint

__all__ = [
    "ROW_HEIGHT",
    "Cell",
    "LineChart",
    "bar_parts",
    "cell_width",
    "cells_of",
    "line_chart",
    "nice_ticks",
    "ticks_of",
]

ROW_HEIGHT = 22
_LEAST_HEIGHT = 4
_WIDTH, _HEIGHT = 780, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 760, 14, 246
_TICKS = 4
_ROW_WIDTH = 600  # what a page of 1,280 pixels has beside the names of the topics
_NARROWEST, _WIDEST = 5, 14


class Cell(NamedTuple):
    """The mark of a turn in a row."""

    turn_id: int
    x: int
    y: int
    height: int


class Tick(NamedTuple):
    """A number at an axis."""

    at: float
    value: int


class Line(NamedTuple):
    """One line of a chart, its label and its last value."""

    kind: str
    points: str
    label: str
    last: int


class LineChart(NamedTuple):
    """A chart of lines over the model calls."""

    width: int
    height: int
    left: int
    right: int
    bottom: int
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    summary: str


def cell_width(turn_count: int) -> int:
    """Return how wide the cell of a turn is: as wide as a row of a page has room for, 5 to 14 pixels.

    >>> [cell_width(count) for count in (10, 60, 100, 5_000)]
    [14, 10, 6, 5]
    """
    return max(_NARROWEST, min(_WIDEST, _ROW_WIDTH // max(1, turn_count)))


def cells_of(turn_ids: Sequence[int], turn_tokens: Sequence[int]) -> list[Cell]:
    """Return a mark for each turn of a row, as high as the turn is long, at least as high as can be seen."""
    width, most = cell_width(len(turn_tokens)), max(turn_tokens, default=1)
    cells = []
    for turn_id in turn_ids:
        height = max(_LEAST_HEIGHT, round(turn_tokens[turn_id] * (ROW_HEIGHT - 2) / most))
        cells.append(Cell(turn_id, turn_id * width, ROW_HEIGHT - 1 - height, height))
    return cells


def ticks_of(turn_count: int) -> list[dict[str, int]]:
    """Return the turns that have their number over a row."""
    width = cell_width(turn_count)
    return [{"turn_id": at, "x": at * width} for at in range(0, turn_count, 10 if width >= _NARROWEST + 1 else 20)]


def nice_ticks(most: int) -> list[int]:
    """Return up to six round numbers from 0 to a number that is at least the given one.

    >>> nice_ticks(4064), nice_ticks(7), nice_ticks(0)
    ([0, 1000, 2000, 3000, 4000, 5000], [0, 2, 4, 6, 8], [0, 1])
    """
    step = 1
    while step * (_TICKS + 1) < most:
        step = _next_step(step)
    return list(range(0, max(step, -(-most // step) * step) + 1, step))


def _next_step(step: int) -> int:
    """Return the next of the steps 1, 2, 5, 10, 20, 50 and so on."""
    first = int(str(step)[0])
    return step * 5 // 2 if first == 2 else step * 2


def line_chart(use: Sequence[UsePoint], *, labels: dict[str, str], summary: str) -> LineChart:
    """Return the chart of what each model call would have sent.

    Args:
        use: the points, at least one.
        labels: what each line is called, by the field of a point: ``full``, ``window``, ``selected``.
        summary: the chart in a sentence, for those who do not see it.
    """
    numbers = nice_ticks(max(max(point.full, point.window, point.selected) for point in use))
    last = max(1, use[-1].call)

    def x(call: int) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * call / last, 1)

    def y(tokens: int) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * tokens / numbers[-1], 1)

    lines = []
    for kind, label in labels.items():
        points = " ".join(f"{x(point.call)},{y(getattr(point, kind))}" for point in use)
        lines.append(Line(kind, points, label, getattr(use[-1], kind)))
    y_ticks = tuple(Tick(y(number), number) for number in numbers)
    x_ticks = tuple(Tick(x(number), number) for number in nice_ticks(last) if number <= last)
    return LineChart(_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BOTTOM, y_ticks, x_ticks, tuple(lines), summary)


def bar_parts(turn_tokens: Sequence[tuple[int, str, int]], *, free: int, margin: int) -> list[dict[str, Any]]:
    """Return the parts of a bar of 1,000 pixels: each kept turn, what is free, and the margin.

    Args:
        turn_tokens: by kept turn its number, the class of its mark, and its tokens.
        free: tokens that are left.
        margin: tokens that are kept free.
    """
    whole = max(1, sum(tokens for _, _, tokens in turn_tokens) + free + margin)
    parts, x = [], 0.0
    for turn_id, kind, tokens in (*turn_tokens, (None, "free", free), (None, "margin", margin)):
        width = 1000 * tokens / whole
        if tokens:
            parts.append({"turn_id": turn_id, "kind": kind, "x": round(x, 1), "width": round(max(0.5, width - 2), 1)})
        x += width
    return parts
