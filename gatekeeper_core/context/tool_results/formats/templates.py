"""Templates of lines: a line with its numbers, ids and addresses masked.

Source: the first step of log parsers such as Drain (He et al. 2017, "Drain: An Online Log Parsing Approach with Fixed
Depth Tree"): mask what is variable by its form. Their second step, merging the rest by similarity, is not needed to
tell what is common from what is rare.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gatekeeper_core.text import LazyPattern

_MAX_CHARS = 400
_MIN_IDF = math.log(2)  # words of more than half the lines are their form
# Runs that hold a digit, with what ids, hashes, dates, versions, addresses and paths are made of around it.
# A lone zero stays: "0 failed" and "3 failed" are of two kinds.
_VARIABLE = LazyPattern(r"(?<![A-Za-z_])(?!0(?![\w.:/@%+-]))[A-Za-z_]{0,40}[0-9][\w.:/@%+-]*")
_WORD = LazyPattern(r"[^\W\d_]{2,}")
_SIGNS = {
    **dict.fromkeys(range(65, 91), "A"),
    **dict.fromkeys(range(97, 123), "a"),
    **dict.fromkeys(range(48, 58), "9"),
}
_NOT_ASCII = LazyPattern("[^\x00-\x7f]+")
_REPEATED = LazyPattern(r"(?<=(.))\1+", re.DOTALL)


def masked(line: str) -> str:
    """Return the template of a line: its variable parts masked; of a long line, its beginning.

    >>> masked("10:02:11 GET /users/17 took 12ms id=a7f3-99"), masked("0 failed")
    ('# GET /users/# took # id=#', '0 failed')
    """
    return " ".join(_VARIABLE.sub("#", line[:_MAX_CHARS]).split())


def shape(text: str) -> str:
    """Return the form of a text: each run of capitals, small letters, digits or other characters as one sign.

    >>> shape("AB-1042 已付")
    'A-9 字'
    """
    flat = text[:200].translate(_SIGNS)
    if not flat.isascii():
        flat = _NOT_ASCII.sub("字", flat)
    return _REPEATED.sub("", flat)


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of some lines, in the order in which they first occur.

    By template: the indices of its first and last line, how many lines it has, and how unusual it is among them.
    """

    texts: Sequence[str]
    first: Sequence[int]
    last: Sequence[int]
    counts: Sequence[int]
    rarities: Sequence[float]


def templates_of(lines: Iterable[str]) -> Templates:
    """Return the templates of some lines."""
    numbers: dict[str, int] = {}
    first: list[int] = []
    last: list[int] = []
    counts: list[int] = []
    substitute = _VARIABLE.sub
    for index, line in enumerate(lines):
        kind = numbers.setdefault(" ".join(substitute("#", line[:_MAX_CHARS]).split()), len(numbers))
        if kind == len(counts):
            first.append(index)
            last.append(index)
            counts.append(0)
        counts[kind] += 1
        last[kind] = index
    rated = _rarities(dict(zip(numbers, counts, strict=True)), sum(counts) + 1)
    return Templates(tuple(numbers), first, last, counts, rated)


def has_words(text: str) -> bool:
    """Return whether a text has a word of two letters or more."""
    return _WORD.search(text) is not None


def idfs(counts: Mapping[str, int]) -> dict[str, float]:
    """Return the idf of each text of a column, by its frequency there."""
    total = sum(counts.values())
    return {text: math.log(total / count) for text, count in counts.items()}


def rarities(counts: Mapping[str, int]) -> dict[str, float]:
    """Return how unusual each template of a column is, as ``Templates.rarities`` has it, on the scale of one idf."""
    rated = zip(counts, _rarities(counts, sum(counts.values())), strict=True)
    return {template: rarity / (3 if has_words(template) else 1) for template, rarity in rated}


def _rarities(counts: Mapping[str, int], total: int) -> list[float]:
    """Return how unusual templates are: their idf, plus the mean idf of their three rarest and of all their words."""
    words = [frozenset(_WORD.findall(template)) for template in counts]
    frequencies: Counter[str] = Counter()
    for own, count in zip(words, counts.values(), strict=True):
        frequencies.update(dict.fromkeys(own, count))
    rated: list[float] = []
    for own, count in zip(words, counts.values(), strict=True):
        rarity = math.log(total / count)
        idf = sorted([math.log(total / frequencies[word]) for word in own], reverse=True)
        if idf:
            telling = [each for each in idf if each >= _MIN_IDF] or idf
            rarity = round(rarity + math.fsum(idf[:3]) / len(idf[:3]) + math.fsum(telling) / len(telling), 6)
        rated.append(rarity)
    return rated
