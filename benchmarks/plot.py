"""Draws curves of recall against tokens as SVG, without a package: the same figures give the same file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["draw_curves", "write_plot"]

WIDTH, HEIGHT = 860, 480
LEFT, TOP, RIGHT, BOTTOM = 60, 40, 280, 50
COLOURS = ("#c1272d", "#0050a0", "#2b8a3e", "#8a5a00", "#6a3d9a", "#008b8b", "#d6336c", "#555555", "#9c9c00", "#000000")
TICKS = (50, 100, 250, 500, 1000, 2000, 4000)


def write_plot(path: Path | None, title: str, curves: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Write the curves as an SVG file; without a path nothing is written."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(draw_curves(title, curves), encoding="utf-8")


def draw_curves(title: str, curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Return an SVG with one line for each curve.

    Args:
        title: stands above.
        curves: by name the points (tokens, recall in per cent); tokens are drawn on a log scale.
    """
    drawn = {name: sorted(point for point in points if point[0] > 0) for name, points in curves.items()}
    reach = [tokens for points in drawn.values() for tokens, _ in points] or [TICKS[0], TICKS[-1]]
    low, high = min(reach) * 0.95, max(reach) * 1.05
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" style="font: 12px sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" style="font-size: 15px">{escape(title)}</text>',
        *_axes(low, high),
    ]
    for at, (name, points) in enumerate(drawn.items()):
        lines.extend(_curve(at, name, [(_across(tokens, low, high), _up(recall)) for tokens, recall in points]))
    return "\n".join([*lines, "</svg>", ""])


def _across(tokens: float, low: float, high: float) -> float:
    share = math.log(tokens / low) / math.log(high / low)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _up(recall: float) -> float:
    return HEIGHT - BOTTOM - recall / 100 * (HEIGHT - TOP - BOTTOM)


def _axes(low: float, high: float) -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = [f'<text x="{LEFT}" y="{HEIGHT - 10}">mean tokens (log scale); recall in per cent</text>']
    for recall in range(0, 101, 20):
        y = _up(recall)
        lines.append(f'<line x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{recall}</text>')
    for tokens in TICKS:
        if low <= tokens <= high:
            x = _across(tokens, low, high)
            lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="#eeeeee"/>')
            lines.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tokens}</text>')
    return lines


def _curve(at: int, name: str, points: Sequence[tuple[float, float]]) -> list[str]:
    colour, y, key = COLOURS[at % len(COLOURS)], TOP + 14 + 20 * at, WIDTH - RIGHT + 14
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
    dots = [f'<circle cx="{across:.1f}" cy="{up:.1f}" r="2.5" fill="{colour}"/>' for across, up in points]
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *dots,
        f'<line x1="{key}" x2="{key + 24}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="3"/>',
        f'<text x="{key + 30}" y="{y}">{escape(name)}</text>',
    ]
