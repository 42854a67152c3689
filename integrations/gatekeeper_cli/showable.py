"""Texts of a conversation as a terminal and a page may show them: nothing in them is obeyed or reorders a line."""

from __future__ import annotations

import re

from gatekeeper_core.notebook import UNSHOWABLE

__all__ = ["visible", "visible_lines"]

_UNSHOWABLE = re.compile(UNSHOWABLE)
_UNSHOWABLE_IN_LINES = re.compile(f"(?![\t\n]){_UNSHOWABLE.pattern}")


def visible(text: str) -> str:
    r"""Return a text on one line, with a replacement character for what a terminal would obey or cannot show.

    >>> visible("one\n  two \x1b[31m")
    'one two \ufffd[31m'
    """
    return _UNSHOWABLE.sub("\ufffd", " ".join(text.split()))


def visible_lines(text: str) -> str:
    r"""Return a text with its lines and tabs, and the same replacement character; a carriage return is left out.

    >>> visible_lines("one\r\n\ttwo \x1b[31m")
    'one\n\ttwo \ufffd[31m'
    """
    return _UNSHOWABLE_IN_LINES.sub("\ufffd", text.replace("\r", ""))
