"""Small HTML tables for ``_repr_html_`` in notebooks: no script, no style sheet, everything escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MAX_ROWS = 100
_MAX_CHARACTERS = 120
UNSHOWABLE = (
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""A pattern of characters shown as U+FFFD: control, bidirectional and tag characters, lone surrogates."""


def beginning(text: str) -> str:
    r"""Return the beginning of a text on one line, with U+FFFD for unprintable characters.

    >>> beginning("one\n  two \x1b[31m"), len(beginning("x" * 500))
    ('one two \ufffd[31m', 121)
    """
    line = " ".join(text[: 4 * _MAX_CHARACTERS].split())
    shown = line if len(line) <= _MAX_CHARACTERS else line[:_MAX_CHARACTERS] + "…"
    return re.sub(UNSHOWABLE, "\ufffd", shown)


def notebook_table(caption: str, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return an HTML table: of over 100 rows the first and last 50, ints right-aligned, other values cut short.

    >>> notebook_table("two <turns>", ["turn"], [[1234]])
    '<table><caption>two &lt;turns&gt;</caption><thead><tr><th scope="col">turn</th></tr></thead>\
<tbody><tr><td align="right">1,234</td></tr></tbody></table>'
    """
    from html import escape  # here, because only notebooks need it

    def cell(value: object) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            return f'<td align="right">{value:,}</td>'
        return f'<td align="left" dir="auto">{escape(beginning(str(value)))}</td>'

    half, hidden = _MAX_ROWS // 2, len(rows) - _MAX_ROWS
    lines = ["".join(map(cell, row)) for row in (rows if hidden <= 0 else (*rows[:half], *rows[-half:]))]
    if hidden > 0:
        lines.insert(half, f'<td colspan="{len(headings)}" align="left">… {hidden:,} more</td>')
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<table><caption>{escape(beginning(caption))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
