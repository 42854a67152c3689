"""Recalled turns as the text of a memory block."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gatekeeper_core.fences import fence

__all__ = ["RecalledText", "tag_of"]


class RecalledText(str):
    """The text of a block, with the turns that it is made of: position and text, the one to give up first last."""

    __slots__ = ("turns",)
    turns: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, turns: Sequence[tuple[int, str]], *, tag: str) -> RecalledText:
        r"""Return the turns in their order, a blank line between them, inside a fence; no turns give no text.

        >>> RecalledText.of([(7, "user: b"), (2, "user: a")], tag="recalled")
        '<recalled-205450522988>\nuser: a\n\nuser: b\n</recalled-205450522988>'
        """
        text = fence("\n\n".join(text for _, text in sorted(turns)), tag=tag) if turns else ""
        recalled = cls(text)
        recalled.turns = tuple(turns)
        return recalled


def tag_of(name: str) -> str:
    """Return a tag that a fence takes: the block's name where it can be one.

    >>> tag_of("recalled turns"), tag_of("记忆")
    ('recalled_turns', 'recalled_turns')
    """
    tag = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]
    return tag if re.match("[A-Za-z]", tag) else "recalled_turns"
