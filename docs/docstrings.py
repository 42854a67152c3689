"""How the API reference reads our docstrings: examples become blocks of code, Sphinx roles become names.

mkdocstrings loads this file (``extensions`` in mkdocs.yml). Google style would have examples in a section of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from griffe import Extension

if TYPE_CHECKING:
    from griffe import Object

ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|exc):`(~?)([\w.]+)`")
LITERAL_BLOCK = re.compile(r"^( *)::\n\n((?:\1 +.*\n|\n)+)", re.MULTILINE)


class Docstrings(Extension):
    """Rewrites each docstring in Markdown, before it is parsed."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Change the docstring of a function, class, attribute or module."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(named(obj.docstring.value))


def named(docstring: str) -> str:
    """Return the docstring with its Sphinx roles as names; a tilde leaves the last part of one."""
    return ROLE.sub(lambda role: f"`{role[2].rpartition('.')[2] if role[1] else role[2]}`", docstring)


def fenced(docstring: str) -> str:
    """Return the docstring with its literal blocks and its examples (``>>>``, up to the next blank line) in fences."""
    text = LITERAL_BLOCK.sub(
        lambda block: f"{block[1]}```text\n{block[2].rstrip()}\n{block[1]}```\n\n", docstring + "\n"
    )
    lines: list[str] = []
    is_inside = False
    for line in [*text.rstrip("\n").splitlines(), ""]:
        if not is_inside and line.lstrip().startswith(">>> "):
            lines += ["", "```pycon"]
            is_inside = True
        elif is_inside and not line.strip():
            lines += ["```"]
            is_inside = False
        lines.append(line)
    return "\n".join(lines)
