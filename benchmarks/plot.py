"""Draws curves as SVG, without a package: the same figures give the same file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

WIDTH, HEIGHT = 900, 480
LEFT, TOP, RIGHT, BOTTOM = 60, 40, 320, 50
COLOURS = ("#c1272d", "#0050a0", "#2b8a3e", "#8a5a00", "#6a3d9a", "#008b8b", "#d6336c", "#555555", "#9c9c00", "#000000")
DASHES = ("none", "7 3", "2 3")
"""One for each round of colours: so no two of thirty curves look the same."""

DARK = "<style>@media (prefers-color-scheme: dark) { svg { filter: invert(.9) hue-rotate(180deg) } }</style>"
"""Dark where the reader's screen is: light turned dark, each hue as it was."""


class Axes(NamedTuple):
    """What a plot shows: both axes in words, their ticks; the axis across is logarithmic, the other one may be."""

    label: str
    across: tuple[int, ...]
    up: tuple[float, ...]
    log_up: bool = False


TIME = Axes(
    "turns (log scale); milliseconds (log scale)",
    (100, 1000, 3000, 10_000, 30_000, 100_000, 1_000_000),
    (0.1, 1, 10, 100, 1000, 10_000),
    log_up=True,
)


def write_plot(
    path: Path | None, title: str, curves: Mapping[str, Sequence[tuple[float, float]]], *, axes: Axes
) -> None:
    """Write the curves as an SVG file; without a path nothing is written."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(draw_curves(title, curves, axes=axes), encoding="utf-8")


def draw_curves(title: str, curves: Mapping[str, Sequence[tuple[float, float]]], *, axes: Axes) -> str:
    """Return an SVG with one line for each curve: by name its points, across and up."""
    drawn = {name: sorted(point for point in points if point[0] > 0) for name, points in curves.items()}
    reach = [across for points in drawn.values() for across, _ in points] or [axes.across[0], axes.across[-1]]
    low, high = min(reach) * 0.95, max(reach) * 1.05
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" style="font: 12px sans-serif">',
        DARK,
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" style="font-size: 15px">{escape(title)}</text>',
        *_axes(axes, low, high),
    ]
    for at, (name, points) in enumerate(drawn.items()):
        lines.extend(_curve(at, name, [(_across(across, low, high), _up(axes, up)) for across, up in points]))
    return "\n".join([*lines, "</svg>", ""])


def _across(value: float, low: float, high: float) -> float:
    share = math.log(value / low) / math.log(high / low)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _up(axes: Axes, value: float) -> float:
    low, high = axes.up[0], axes.up[-1]
    inside = min(high, max(low, value))
    share = math.log(inside / low) / math.log(high / low) if axes.log_up else (value - low) / (high - low)
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _axes(axes: Axes, low: float, high: float) -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = [f'<text x="{LEFT}" y="{HEIGHT - 10}">{escape(axes.label)}</text>']
    for tick in axes.up:
        y = _up(axes, tick)
        lines.append(f'<line x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in axes.across:
        if low <= tick <= high:
            x = _across(tick, low, high)
            lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="#eeeeee"/>')
            lines.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick}</text>')
    return lines


def _curve(at: int, name: str, points: Sequence[tuple[float, float]]) -> list[str]:
    colour, dash = COLOURS[at % len(COLOURS)], DASHES[at // len(COLOURS) % len(DASHES)]
    y, key = TOP + 14 + 20 * at, WIDTH - RIGHT + 14
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
    dots = [f'<circle cx="{across:.1f}" cy="{up:.1f}" r="2.5" fill="{colour}"/>' for across, up in points]
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>',
        *dots,
        f'<line x1="{key}" x2="{key + 24}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="3" '
        f'stroke-dasharray="{dash}"/>',
        f'<text x="{key + 30}" y="{y}">{escape(name)}</text>',
    ]
