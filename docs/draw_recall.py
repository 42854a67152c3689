"""Draw the picture of the front page: how much of the evidence each method finds with 1,000 tokens.

python docs/draw_recall.py           writes docs/pictures/recall.svg and recall.zh.svg
python docs/draw_recall.py --check   exits with status 1 if they do not show what benchmarks/results says today

The figures are those of ``benchmarks.selection`` (``strategy="fill"``) and, for ``trim_messages``, of
``benchmarks.builder``: the same conversations, questions and counter of tokens.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS.parent / "benchmarks" / "results"
BUDGET = "1000"

WORDS = (
    (
        "Evidence found with 1,000 tokens",
        "of conversations of about 20,000 tokens, 760 questions",
        "Evidence recall, mode fill; LoCoMo, development part",
    ),
    (
        "用 1,000 个 token 找回多少证据",
        "对话约 2 万 token，760 个问题",
        "证据召回率，fill 模式；LoCoMo 开发集",
    ),
)
"""In English and in Chinese: the title, the line below it, and the line below the bars."""
WIDTH, TOP, STEP, BAR = 420, 62, 27, 17
LEFT, FULL = 192, 180
"""Where a bar begins, and how long one of 100 % would be."""


class Bar(NamedTuple):
    """One method: its file of results, row and column, and its name in English and in Chinese."""

    page: str
    row: str
    column: str
    names: tuple[str, str]


BARS = (
    Bar("selection", "context-gatekeeper", BUDGET, ("Context Gatekeeper", "Context Gatekeeper")),
    Bar("selection", "bm25s + MiniLM, fused", BUDGET, ("bm25s + MiniLM, fused", "bm25s 与 MiniLM 融合")),
    Bar("selection", "bm25s + stop words + stemming", BUDGET, ("bm25s, stemmed", "bm25s，加词干")),
    Bar("selection", "MiniLM", BUDGET, ("MiniLM embeddings", "MiniLM 向量")),
    Bar("builder", "trim_messages, newest 1,000 tokens", "recall", ("trim_messages", "trim_messages")),
    Bar("selection", "recency window", BUDGET, ("window of newest turns", "窗口：最新几轮")),
)


def figure(bar: Bar) -> str:
    """Return the figure of a method of its file of results.

    Raises:
        ValueError: the file has no such row and column.
    """
    tables = json.loads((RESULTS / f"{bar.page}.json").read_text(encoding="utf-8"))["tables"].values()
    for row in (row for rows in tables for row in rows):
        if row.get("method") == bar.row and bar.column in row:
            return str(row[bar.column])
    raise ValueError(f"benchmarks/results/{bar.page}.json has no row {bar.row!r} with a column {bar.column!r}")


def picture(language: int) -> str:
    """Return the bars as SVG, in the style of the other pictures; 0 is English, 1 is Chinese."""
    style = (DOCS / "pictures" / "selection.svg").read_text(encoding="utf-8")
    style = style[style.index("<style>") : style.index("</style>") + len("</style>")]
    height = TOP + STEP * len(BARS) + 28
    title, below, foot = WORDS[language]
    lines = [
        # Drawn larger than its coordinates: its letters stay readable on a phone.
        f'<svg class="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH * 6 // 5}" height="{height * 6 // 5}">',
        style,
        # A ground of its own: a page that stays white in the dark does not swallow the letters.
        f'<rect class="box" x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="8"/>',
        f'<text class="bold" x="14" y="26">{title}</text>',
        f'<text class="small" x="14" y="45">{below}</text>',
    ]
    for at, bar in enumerate(BARS):
        value, y = figure(bar), TOP + STEP * at
        length = FULL * float(value) / 100
        fill, name, number = ("leadtip", "end bold", "bold") if at == 0 else ("tip", "end", "small")
        lines += [
            f'<text class="{name}" x="{LEFT - 10}" y="{y + 13}">{bar.names[language]}</text>',
            f'<rect class="{fill}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="3"/>',
            f'<text class="{number}" x="{LEFT + length + 7:.1f}" y="{y + 13}">{value} %</text>',
        ]
    return "\n".join([*lines, f'<text class="small" x="14" y="{height - 14}">{foot}</text>', "</svg>", ""])


def main() -> None:
    """Write the pictures, or check them."""
    files = {
        DOCS / "pictures" / name: picture(language) for language, name in enumerate(("recall.svg", "recall.zh.svg"))
    }
    if "--check" not in sys.argv[1:]:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8", newline="\n")
        return
    stale = [path.name for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    if stale:
        sys.exit(f"not what the results say: {', '.join(stale)}; run python docs/draw_recall.py")


if __name__ == "__main__":
    main()
