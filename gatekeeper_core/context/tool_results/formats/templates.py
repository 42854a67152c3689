"""Templates of lines: a line with its numbers, ids and addresses masked.

Source: the first step of log parsers such as Drain (He et al. 2017, "Drain: An Online Log Parsing Approach with Fixed
Depth Tree"): mask variable parts by their form. The second step, merging similar ones, is not needed to find rare ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gatekeeper_core.text import LazyPattern

_MAX_CHARS = 400
_MIN_IDF = math.log(2)  # words in more than half of the lines are boilerplate
# Runs with a digit: ids, hashes, dates, versions, addresses, paths. A lone 0 stays: "0 failed" is not "3 failed".
_VARIABLE = LazyPattern(r"(?<![A-Za-z_])(?!0(?![\w.:/@%+-]))[A-Za-z_]{0,40}[0-9][\w.:/@%+-]*")
_WORD = LazyPattern(r"[^\W\d_]{2,}")


def masked(line: str) -> str:
    """Return the template of a line, with its variable parts masked; a long line is cut first.

    >>> masked("10:02:11 GET /users/17 took 12ms id=a7f3-99"), masked("0 failed")
    ('# GET /users/# took # id=#', '0 failed')
    """
    return " ".join(_VARIABLE.sub("#", line[:_MAX_CHARS]).split())


class Template(NamedTuple):
    """A template of lines: its text, the ascending indices of its lines, and its rarity among them."""

    text: str
    places: Sequence[int]
    rarity: float

    @property
    def note(self) -> str:
        """The count at the end of the line that represents the template."""
        return f" …×{len(self.places)}" if len(self.places) > 1 else ""


def templates_of(lines: Iterable[str]) -> list[Template]:
    """Return the templates of some lines, in order of first occurrence."""
    places: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        places.setdefault(masked(line), []).append(index)
    rated = rarities({text: len(indices) for text, indices in places.items()}, surplus=1)
    return [Template(text, indices, rated[text]) for text, indices in places.items()]


def has_words(text: str) -> bool:
    """Return whether a text has a word of two or more letters."""
    return _WORD.search(text) is not None


def rarities(counts: Mapping[str, int], *, surplus: int = 0) -> dict[str, float]:
    """Return how rare templates are: idf, plus the mean idf of their three rarest words and of their telling words.

    Telling words are in at most half of the lines (or all words). ``surplus`` adds to the total, so no rarity is 0.
    """
    total = sum(counts.values()) + surplus
    words = {template: frozenset(_WORD.findall(template)) for template in counts}
    frequencies: Counter[str] = Counter()
    for template, count in counts.items():
        frequencies.update(dict.fromkeys(words[template], count))
    rated: dict[str, float] = {}
    for template, count in counts.items():
        rarity = math.log(total / count)
        idf = sorted([math.log(total / frequencies[word]) for word in words[template]], reverse=True)
        if idf:
            telling = [each for each in idf if each >= _MIN_IDF] or idf
            rarity = round(rarity + math.fsum(idf[:3]) / len(idf[:3]) + math.fsum(telling) / len(telling), 6)
        rated[template] = rarity
    return rated
