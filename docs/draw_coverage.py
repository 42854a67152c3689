"""Draw the picture of the front page: the coverage asked for, and the coverage that came.

python docs/draw_coverage.py           writes docs/pictures/coverage.svg and coverage.zh.svg
python docs/draw_coverage.py --check   exits with status 1 if they do not show the figures of benchmarks/results

The figures come from ``benchmarks.everyday``: two groups of authors, each with the weights fitted on the other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from write_or_check import write_or_check

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS.parent / "benchmarks" / "results" / "everyday.json"

WORDS = (
    (
        "Ask for 85 %, get 83 to 87 %",
        "chats that the weights were not fitted on, 1,686 questions",
        "asked: share of what the answer needs (coverage=)",
        "sent",
        ("first authors", "second authors"),
        "27 % of the tokens",
    ),
    (
        "要求 85 %，得到 83 到 87 %",
        "权重没有在这些对话上拟合过，1,686 个问题",
        "要求：回答所需内容的份额（coverage=）",
        "发出",
        ("第一组作者", "第二组作者"),
        "只用 27 % 的 token",
    ),
)
"""In English and in Chinese: title, the line below it, both axes, the two groups, and the share of tokens at 85 %."""
WIDTH, HEIGHT, LEFT, TOP, SIDE = 420, 350, 58, 84, 210
LOW, HIGH = 65, 100
"""The range of both axes, in per cent."""


def rows() -> tuple[list[dict[str, float]], float]:
    """Return the points of the plot, and the share of the tokens that 85 % takes, in per cent.

    Raises:
        ValueError: the file of results has no such table.
    """
    tables: list[list[dict[str, Any]]] = list(json.loads(RESULTS.read_text(encoding="utf-8"))["tables"].values())
    points = next((table for table in tables if table and "asked" in table[0]), None)
    tokens = {row["method"]: row["tokens"] for row in tables[0]}
    if points is None or not {"context-gatekeeper", "everything"} <= tokens.keys():
        raise ValueError(f"{RESULTS.name} has no table of the coverage asked for")
    return points, 100 * tokens["context-gatekeeper"] / tokens["everything"]


def place(asked: float, sent: float) -> tuple[float, float]:
    """Return where a point is drawn."""
    scale = SIDE / (HIGH - LOW)
    return round(LEFT + (asked - LOW) * scale, 1), round(TOP + (HIGH - sent) * scale, 1)


def picture(language: int) -> str:
    """Return the plot as SVG, in the style of the other pictures; 0 is English, 1 is Chinese."""
    style = (DOCS / "pictures" / "selection.svg").read_text(encoding="utf-8")
    style = style[style.index("<style>") : style.index("</style>") + len("</style>")]
    title, below, across, up, groups, share = WORDS[language]
    points, tokens = rows()
    if f"{tokens:.0f} %" not in share:
        raise ValueError(f"at 85 % the share of the tokens is {tokens:.0f} %: change WORDS")
    bottom = TOP + SIDE
    lines = [
        # Drawn larger than its coordinates: its letters stay readable on a phone.
        f'<svg class="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH * 6 // 5}" height="{HEIGHT * 6 // 5}">',
        style,
        # A ground of its own: a page that stays white in the dark does not swallow the letters.
        f'<rect class="box" x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="8"/>',
        f'<text class="bold" x="14" y="26">{title}</text>',
        f'<text class="small" x="14" y="45">{below}</text>',
        f'<path class="line" d="M{LEFT} {TOP} V{bottom} H{LEFT + SIDE}"/>',
        f'<path class="out" d="M{LEFT} {bottom} L{LEFT + SIDE} {TOP}"/>',
    ]
    for tick in range(70, HIGH + 1, 10):
        x, y = place(tick, tick)
        lines += [
            f'<text class="small mid" x="{x}" y="{bottom + 17}">{tick} %</text>',
            f'<text class="small end" x="{LEFT - 6}" y="{y + 4}">{tick} %</text>',
        ]
    for at, (column, name) in enumerate(zip(("first", "second"), groups, strict=True)):
        drawn = [place(row["asked"], row[column]) for row in points]
        line, dot, bold = ("lead", "leadtip", " bold") if at else ("line", "tip", "")
        lines.append(f'<path class="{line}" d="M{" L".join(f"{x} {y}" for x, y in drawn)}"/>')
        lines += [
            f'<rect class="{dot}" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" rx="4"/>' for x, y in drawn
        ]
        x, y = drawn[-1]
        lines.append(f'<text class="small{bold}" x="{x + 34}" y="{y + 4}">{name}</text>')
    x, y = next(place(row["asked"], row["second"]) for row in points if row["asked"] == 85)
    lines += [
        f'<path class="limit" d="M{x} {y + 6} V{y + 46} H{x + 36}"/>',
        f'<text class="small" x="{x + 42}" y="{y + 50}">{share}</text>',
        f'<text class="small" x="{LEFT}" y="{HEIGHT - 14}">{across}</text>',
        f'<text class="small end" x="{LEFT - 6}" y="{TOP - 12}">{up}</text>',
    ]
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    """Write the pictures, or check them."""
    names = ("coverage.svg", "coverage.zh.svg")
    write_or_check({DOCS / "pictures" / name: picture(language) for language, name in enumerate(names)})


if __name__ == "__main__":
    main()
