"""One self-contained page: its style and script inline, and a policy that lets nothing else be loaded or run.

Texts of the conversation pass through jinja's escaping and through ``visible_lines``: markup in them is text, and what
would reorder a line is shown as a replacement character.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from gatekeeper_cli.showable import visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_cli.texts import Texts
    from gatekeeper_core.messages import Turn

__all__ = ["GENERATOR", "MAX_TEXT_BYTES", "Said", "fitted", "policy_hash", "render", "source", "with_texts"]

GENERATOR = "Context Gatekeeper report"
"""How a page says what made it; a file that says so may be replaced by a newer report."""

MAX_TEXT_BYTES = 450_000
"""What the texts of a page may take together, escaped. Source: ours; with the marks, 1,000 turns stay under 1 MB."""

_FOLDER = Path(__file__).parent
_LENGTHS = tuple(200_000 >> halvings for halvings in range(13))


class Said(NamedTuple):
    """A text as a page shows it: its beginning, and how many characters are left out after it."""

    text: str
    hidden: int


def fitted(texts: Sequence[str], *, max_bytes: int = MAX_TEXT_BYTES) -> list[Said]:
    """Return texts that take so many bytes together, escaped: short ones whole, long ones cut at one common length.

    Args:
        texts: any texts.
        max_bytes: for all of them; each may have 48 characters whatever that comes to.

    >>> fitted(["abc", "x" * 100], max_bytes=60) == [("abc", 0), ("x" * 48, 52)]
    True
    """
    for limit in _LENGTHS:
        said = [Said(visible_lines(text[:limit]), max(0, len(text) - limit)) for text in texts]
        if sum(len(str(escape(part.text)).encode()) for part in said) <= max_bytes:
            break
    return said


def with_texts(
    rows: Sequence[dict[str, Any]], turns: Sequence[Turn], *, max_bytes: int = MAX_TEXT_BYTES
) -> list[dict[str, Any]]:
    """Return rows of turns, each of its ``turn_id``, with what ``user`` and ``assistant`` said, as far as it fits."""
    shown = [turns[row["turn_id"]] for row in rows]
    said = iter(fitted([text for turn in shown for text in (turn.user_text, turn.assistant_text)], max_bytes=max_bytes))
    return [{**row, "user": next(said), "assistant": next(said)} for row in rows]


def render(template: str, *, texts: Texts, **values: Any) -> str:
    """Return a page.

    Args:
        template: the name of its file without endings: ``timeline`` or ``explanation``.
        texts: in which language.
        values: what the template asks for; a value that is missing is an error.
    """
    style, script = source("report.css"), source("report.js")
    page = _environment().get_template(f"{template}.html.j2")
    shared = {"say": texts, "policy": _policy(style, script), "generator": GENERATOR}
    # Both are files of ours, and the policy lets run and apply just these: nothing in them is to be escaped.
    inline = {"style": Markup(style), "script": Markup(script)}  # noqa: S704
    return page.render(**shared, **inline, **values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def source(name: str) -> str:
    """Return the style or the script that every page holds inline: ``report.css``, ``report.js``."""
    # A browser reads every line end as a line feed before it takes the hash.
    return (_FOLDER / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {policy_hash(style)}; script-src {policy_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def policy_hash(inline: str) -> str:
    """Return how a Content-Security-Policy names an inline style or script that it allows."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"
