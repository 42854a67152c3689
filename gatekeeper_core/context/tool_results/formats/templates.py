"""Kinds of lines: what stays of a line when its numbers, ids and addresses are masked.

Source: the first step of log parsers such as Drain (He et al. 2017, "Drain: An Online Log Parsing Approach with Fixed
Depth Tree"): mask what is variable by its form. Their second step, merging what is left by similarity, is not needed
to tell what is common from what is rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gatekeeper_core.text import LazyPattern

__all__ = ["Kinds", "has_words", "idfs", "kinds_of", "masked", "rarities"]

_MAX_CHARS = 400
_LEAST_IDF = math.log(2)  # words of more than half the lines are their form
# Runs that hold a digit, with what ids, hashes, dates, versions, addresses and paths are made of around it.
# A lone zero stays: "0 failed" and "3 failed" are of two kinds.
_VARIABLE = LazyPattern(r"(?<![A-Za-z_])(?!0(?![\w.:/@%+-]))[A-Za-z_]{0,40}[0-9][\w.:/@%+-]*")
_WORD = LazyPattern(r"[^\W\d_]{2,}")


def masked(line: str) -> str:
    """Return the kind of a line: its variable parts masked; of a long line, its beginning.

    >>> masked("10:02:11 GET /users/17 took 12ms id=a7f3-99"), masked("0 failed")
    ('# GET /users/# took # id=#', '0 failed')
    """
    return " ".join(_VARIABLE.sub("#", line[:_MAX_CHARS]).split())


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of some lines.

    Attributes:
        total: how many lines there are.
        templates: the kinds, in the order in which they first occur.
        first, last: by kind the indices of its first and last line.
        counts: by kind how many lines it has.
        words: by kind its words, as indices in ``frequencies``.
        frequencies: in how many lines each word stands.
    """

    total: int
    templates: Sequence[str]
    first: Sequence[int]
    last: Sequence[int]
    counts: Sequence[int]
    words: Sequence[Sequence[int]]
    frequencies: Sequence[int]

    def rarity(self, kind: int) -> float:
        """Return how unusual a kind is among these lines: the mean idf of its three rarest words, plus its own.

        >>> kinds = kinds_of(["job done", "job done", "job done", "quota of tenant exceeded"])
        >>> kinds.rarity(1) > kinds.rarity(0)
        True
        """
        return _rarity(self.total + 1, self.counts[kind], [self.frequencies[word] for word in self.words[kind]])


def _rarity(total: int, count: int, frequencies: Sequence[int]) -> float:
    """Return the idf of a template, plus the mean idf of its three rarest words, plus that of all its words."""
    own = math.log(total / count)
    idf = sorted([math.log(total / frequency) for frequency in frequencies], reverse=True)
    telling = [each for each in idf if each >= _LEAST_IDF] or idf
    return round(own + math.fsum(idf[:3]) / len(idf[:3]) + math.fsum(telling) / len(telling), 6) if idf else own


def has_words(text: str) -> bool:
    """Return whether a text has a word of two letters or more."""
    return _WORD.search(text) is not None


def idfs(counts: Mapping[str, int]) -> dict[str, float]:
    """Return the idf of each text of a column by how often it stands there."""
    total = sum(counts.values())
    return {text: math.log(total / count) for text, count in counts.items()}


def rarities(counts: Mapping[str, int]) -> dict[str, float]:
    """Return how unusual each template of a column is, as ``Kinds.rarity`` has it, on the scale of one idf."""
    words, frequencies = _words_of(counts, counts.values())
    total = sum(counts.values())
    return {
        template: _rarity(total, count, [frequencies[word] for word in held]) / (3 if held else 1)
        for (template, count), held in zip(counts.items(), words, strict=True)
    }


def kinds_of(lines: Iterable[str]) -> Kinds:
    """Return the kinds of some lines.

    >>> kinds_of(["GET /1", "GET /2", "POST /1"]).counts
    [2, 1]
    """
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
    return Kinds(sum(counts), tuple(numbers), first, last, counts, *_words_of(numbers, counts))


def _words_of(templates: Iterable[str], counts: Iterable[int]) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the words of some kinds, each word as its number, and in how many lines each word stands."""
    numbers: dict[str, int] = {}
    frequencies: list[int] = []
    words: list[tuple[int, ...]] = []
    for template, count in zip(templates, counts, strict=True):
        held = [numbers.setdefault(word, len(numbers)) for word in set(_WORD.findall(template))]
        frequencies += [0] * (len(numbers) - len(frequencies))
        for word in held:
            frequencies[word] += count
        words.append(tuple(held))
    return words, frequencies
