"""Words of a query that the conversation has in the other language, English or Chinese.

A word is translated where the conversation does not know it, and where it has a translation in more turns than the word
itself. A word of Chinese is found by its pairs of characters, all of which must be there; of words inside of each other
the longest counts.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.anchors import stem
from gatekeeper_core.selection.lexicon import translations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["Translation", "translated_terms"]

# What a translation counts in place of a word, 0..1; 0 switches it off for a measurement. Ours, fitted.
_UNKNOWN_WEIGHT = 0.8  # of a word that the conversation does not know
_RARER_WEIGHT = 0.4  # of a word that it has in fewer turns than the translation
_CHARACTER_SHARE = 0.5  # of that, for a translation of one character, which may be part of another word

_Terms = tuple[str, ...]


class Translation(NamedTuple):
    """A term of the conversation that translates a word of the query.

    Attributes:
        term: the term: of a word of several pairs the rarest of them.
        stands_for: the terms of the query that the word is made of.
        credit: which part of the word it is taken for, 0..1; the parts of a translation of two words share it.
    """

    term: str
    stands_for: _Terms
    credit: float


def translated_terms(
    terms: Collection[str], index: TurnIndex, *, among: Set[str] | None = None
) -> Iterator[Translation]:
    """Yield what the conversation has of the words of a query in the other language.

    Args:
        terms: the indexed terms of the query, in their order, for a quick ``in``.
        index: the conversation.
        among: only words that hold one of these terms; None takes all.
    """
    frequency = index.document_frequency
    for own, needed, others in chain(_english_words(terms), _chinese_words(terms)):
        if among is not None and among.isdisjoint(own):
            continue
        known = min(map(frequency, needed))
        credit = _RARER_WEIGHT if known else _UNKNOWN_WEIGHT
        for other in others:
            if min(map(frequency, other)) <= known or not credit:
                continue
            if other[0].isascii():
                yield from (Translation(part, own, credit / len(other)) for part in other)
            else:
                term = min(other, key=frequency)
                yield Translation(term, own, credit if len(term) > 1 else credit * _CHARACTER_SHARE)


class _Word(NamedTuple):
    """A word of the query: its terms, those without which it is not there, and the terms of its translations."""

    terms: _Terms
    needed: _Terms
    translations: Iterable[_Terms]


def _english_words(terms: Collection[str]) -> Iterator[_Word]:
    """Yield the English words of the table among some terms, those of two parts first."""
    english = [term for term in terms if term.isascii()]
    table = _from_english() if english else {}
    in_pairs: set[str] = set()
    for pair in pairwise(english):
        if others := table.get("_".join(pair)):
            in_pairs.update(pair)
            yield _Word(pair, pair, map(_pairs, others))
    for term in english:
        if term not in in_pairs and (others := table.get(term)):
            yield _Word((term,), (term,), map(_pairs, others))


def _chinese_words(terms: Collection[str]) -> Iterator[_Word]:
    """Yield the Chinese words of the table among some terms, the longest of those inside of each other."""
    chinese = [term for term in terms if not term.isascii()]
    table = _from_chinese() if chinese else {}
    found = [word for term in chinese for word in table.get(term, ()) if all(part in terms for part in _pairs(word))]
    inside = {word[at:end] for word in found for at in range(len(word)) for end in range(at + 1, len(word) + (at > 0))}
    for word in found:
        if word not in inside:
            pairs, others = _pairs(word), table[word[:2]][word]
            characters = (character for character in word if character in terms)
            yield _Word(tuple(dict.fromkeys((*pairs, *characters))), pairs, map(_stems, others))


@lru_cache(maxsize=4096)
def _pairs(word: str) -> _Terms:
    """Return the terms of a Chinese word: its pairs, or the character that it is."""
    return tuple(map("".join, pairwise(word))) or (word,)


def _stems(word: str) -> _Terms:
    """Return the terms of an English word of the table."""
    return tuple(map(stem, word.split("_")))


@cache
def _from_english() -> Mapping[str, Sequence[str]]:
    """Return the Chinese words by the stems of the English one, joined by ``_``; words of one stem share theirs."""
    found: dict[str, tuple[str, ...]] = {}
    for word, others in translations().items():
        stems = "_".join(map(stem, word.split("_")))
        found[stems] = found.get(stems, ()) + others
    return found


@cache
def _from_chinese() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the English words by beginning (a pair, or the character that is the word) and Chinese word."""
    found: dict[str, dict[str, list[str]]] = {}
    for word, others in translations().items():
        for other in others:
            found.setdefault(other[:2], {}).setdefault(other, []).append(word)
    return found
