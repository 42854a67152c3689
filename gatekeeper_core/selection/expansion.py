"""Expansion of a query: terms that a turn may contain instead of the query's own.

A related term is a synonym (journey for trip), a member of a kind that the query names (guitar for instrument), or a
translation (航班 for flight). It never outweighs the original: its weight is a share of the smaller of the two idfs. A
word is translated if more turns contain the translation than the word. A Chinese word is found by its pairs of
characters, all of which must be present; of nested words the longest counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from gatekeeper_core.selection.anchors import stem
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.lexicon import kinds, synonyms, translations

MAX_RELATED = 40
"""Maximum number of related terms of a query, by weight. Source: ours: a bound on the cost of a query."""

# Credit of a related term, 0..1; 0 switches it off for a measurement. Ours, fitted; the gains are measured as in
# :mod:`gatekeeper_core.selection.retrieval`.
_SYNONYM_WEIGHT = 0.3  # gain 0.6
_KIND_WEIGHT = 0.4  # gain 0.7
_UNKNOWN_WEIGHT = 0.8  # translation of a word that is not in the conversation
_RARER_WEIGHT = 0.4  # translation of a word that is in fewer turns than the translation
_CHARACTER_SHARE = 0.5  # of that, for a translation of one character, which may be part of another word

_Terms = tuple[str, ...]


class Related(NamedTuple):
    """A term that may replace one of the query's.

    Attributes:
        term: the term to look up.
        query_terms: the query's own term; for a translation, the terms of the word.
        weight: weight in this conversation, like an idf.
        credit: share of the original's weight, 0..1.
    """

    term: str
    query_terms: tuple[str, ...]
    weight: float
    credit: float


def related_terms(idf: Mapping[str, float], index: TurnIndex) -> tuple[Related, ...]:
    """Return the related terms of a query that occur in the conversation, each once, highest weight first."""
    result: dict[str, Related] = {}
    table = thesaurus()
    in_its_language = [
        (other, (term,), credit)
        for term in idf
        for others, credit in ((table.synonyms, _SYNONYM_WEIGHT), (table.members, _KIND_WEIGHT))
        for other in others.get(term, ())
    ]
    for other, own, credit in (*in_its_language, *translated_terms(idf, index)):
        if other not in idf and index.document_frequency(other):
            worth = round(credit * min(max(map(idf.__getitem__, own)), index.idf(other)), 6)
            if worth > 0 and (other not in result or worth > result[other].weight):
                result[other] = Related(other, own, worth, credit)
    ordered = sorted(result.values(), key=lambda related: (-related.weight, related.term))
    return tuple(ordered[:MAX_RELATED])


class Thesaurus(NamedTuple):
    """Related terms by term.

    Attributes:
        synonyms: terms that may replace a term.
        members: terms for the members of the kind that a term names.
        kinds: terms for the kinds that a term belongs to.
    """

    synonyms: Mapping[str, _Terms]
    members: Mapping[str, _Terms]
    kinds: Mapping[str, _Terms]


@cache
def thesaurus() -> Thesaurus:
    """Return the tables of related terms.

    >>> "cinema" in thesaurus().synonyms["film"], "football" in thesaurus().members["sport"]
    (True, True)
    """
    members = _stemmed(kinds())
    kinds_of: dict[str, dict[str, None]] = {}
    for kind, of_kind in members.items():
        for member in of_kind:
            kinds_of.setdefault(member, {})[kind] = None
    return Thesaurus(_stemmed(synonyms()), members, {member: tuple(of_it) for member, of_it in kinds_of.items()})


def _stemmed(table: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return a table of words as a table of terms: English stemmed, Chinese cut to the first pair."""
    terms = {word: stem(word) if word.isascii() else word[:2] for word in chain(table, *table.values())}
    result: dict[str, dict[str, None]] = {}
    for word, others in table.items():
        result.setdefault(terms[word], {}).update(dict.fromkeys(terms[other] for other in others))
    return {term: tuple(other for other in others if other != term) for term, others in result.items()}


def translated_terms(
    terms: Collection[str], index: TurnIndex, *, among: Set[str] | None = None
) -> Iterator[tuple[str, _Terms, float]]:
    """Yield the terms of the conversation that translate a word of a query, each with the word's terms and the credit.

    A Chinese translation gives its rarest pair; the parts of an English one of two words share the credit.

    Args:
        terms: indexed terms of the query, in order, with a fast ``in``.
        index: the conversation.
        among: only words with one of these terms; None: all words.
    """
    frequency = index.document_frequency
    for own, needed, others in _words(terms):
        if among is not None and among.isdisjoint(own):
            continue
        least = min(map(frequency, needed))
        credit = _RARER_WEIGHT if least else _UNKNOWN_WEIGHT
        for other in others:
            if min(map(frequency, other)) <= least or not credit:
                continue
            if other[0].isascii():
                yield from ((part, own, credit / len(other)) for part in other)
            else:
                term = min(other, key=frequency)
                yield term, own, credit if len(term) > 1 else credit * _CHARACTER_SHARE


_Word = tuple[_Terms, _Terms, "Iterable[_Terms]"]
"""A word of the query: its terms, those that must be present, and the terms of its translations."""


def _words(terms: Collection[str]) -> Iterator[_Word]:
    """Yield the words of the tables that some terms contain: English ones, pairs first; the longest Chinese ones."""
    english = [term for term in terms if term.isascii()]
    from_english = _from_english() if english else {}
    in_pairs: set[str] = set()
    for pair in pairwise(english):
        if others := from_english.get("_".join(pair)):
            in_pairs.update(pair)
            yield pair, pair, map(_pairs, others)
    for term in english:
        if term not in in_pairs and (others := from_english.get(term)):
            yield (term,), (term,), map(_pairs, others)
    if len(english) == len(terms):
        return
    table, chinese = _from_chinese(), (term for term in terms if not term.isascii())
    words = [word for term in chinese for word in table.get(term, ()) if all(part in terms for part in _pairs(word))]
    inside = {word[at:end] for word in words for at in range(len(word)) for end in range(at + 1, len(word) + (at > 0))}
    for word in words:
        if word not in inside:
            pairs, translations_of_it = _pairs(word), table[word[:2]][word]
            characters = (character for character in word if character in terms)
            stems = (tuple(map(stem, other.split("_"))) for other in translations_of_it)
            yield tuple(dict.fromkeys((*pairs, *characters))), pairs, stems


@lru_cache(maxsize=4096)
def _pairs(word: str) -> _Terms:
    return tuple(map("".join, pairwise(word))) or (word,)


@cache
def _from_english() -> Mapping[str, Sequence[str]]:
    """Return the Chinese words by the stems of the English one, joined by ``_``; words of the same stem are merged."""
    result: dict[str, tuple[str, ...]] = {}
    for word, others in translations().items():
        stems = "_".join(map(stem, word.split("_")))
        result[stems] = result.get(stems, ()) + others
    return result


@cache
def _from_chinese() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the English words by the beginning of the Chinese word (up to two characters), then by the word."""
    result: dict[str, dict[str, list[str]]] = {}
    for word, others in translations().items():
        for other in others:
            result.setdefault(other[:2], {}).setdefault(other, []).append(word)
    return result
