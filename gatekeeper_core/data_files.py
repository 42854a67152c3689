"""The tables under ``gatekeeper_core/data`` (word lists, patterns, prices and the like), read on first use.

Files are UTF-8: a row per line, tabs between columns. Lines that begin with ``# `` are comments, on columns and origin.
"""

from __future__ import annotations

import re
from functools import cache
from os.path import dirname, join
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def text(name: str) -> str:
    """Return the text of a data file, from a folder or a zip archive."""
    # The loader of this module, because importing ``importlib.resources`` costs as much as all tables.
    loader = cast("Any", __spec__).loader
    return cast("bytes", loader.get_data(join(dirname(__file__), "data", name))).decode("utf-8")


def rows(name: str) -> list[list[str]]:
    """Return the rows of a data file, each as a list of columns.

    >>> rows("translations.tsv")[0]
    ['ability', '能力 本领']
    """
    return [line.split("\t") for line in text(name).splitlines() if line and not line.startswith("# ")]


@cache
def _entries(name: str) -> Mapping[str, Sequence[str]]:
    """Return the second column of a data file by its first."""
    entries: dict[str, list[str]] = {}
    for key, value in rows(name):
        entries.setdefault(key, []).append(value)
    return entries


def words(name: str, key: str) -> tuple[str, ...]:
    """Return the words of a list: those of all rows of the file with this key.

    >>> words("words.tsv", "words after an object")
    ('again', 'already', 'instead', 'please', 'too')
    """
    return tuple(" ".join(_entries(name)[key]).split())


def pattern(name: str, key: str) -> str:
    """Return a regular expression: the rows of the file with this key, joined."""
    return expanded(name, "".join(_entries(name)[key]))


def expanded(name: str, source: str) -> str:
    """Return a regular expression with each ``{NAME}`` replaced by the one of that name in a file."""
    return re.sub(r"\{([A-Z_]+)\}", lambda part: pattern(name, part[1]), source)
