"""Expansion of a query: terms that may stand in a turn in place of the query's own.

A related term is a synonym (journey for trip), a member of a kind that the query names (guitar for instrument), or a
word of the conversation that is one edit away from a word that the conversation does not know. It never outweighs the
term that it stands for: its weight is a share of the smaller of both idf.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.anchors import stem
from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.thesaurus import kinds, synonyms
from gatekeeper_core.selection.word_filter import MIN_WORD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["MAX_RELATED", "Related", "kind_terms", "member_terms", "one_edit_away", "related_terms", "synonym_terms"]

MAX_RELATED = 40
"""Related terms of one query at most, the weightiest. Source: ours: a bound on the cost of a query."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MIN_MISSPELLED = 5
_MAX_SPELLINGS = 3


class Related(NamedTuple):
    """A term that may stand for one of the query's.

    Attributes:
        term: what is looked up.
        stands_for: the query's own term.
        weight: what it weighs in this conversation, like an idf.
        credit: which part of its own term it is taken for, 0..1.
    """

    term: str
    stands_for: str
    weight: float
    credit: float


def related_terms(
    idf: Mapping[str, float], index: TurnIndex, *, synonym: float, kind: float, misspelling: float
) -> tuple[Related, ...]:
    """Return the related terms of a query that stand in the conversation, the weightiest first, each once.

    Args:
        idf: the query's own terms with what they weigh.
        index: the conversation.
        synonym: credit of a synonym, 0..1; 0 leaves them out.
        kind: credit of a member of a kind that is named, 0..1.
        misspelling: credit of a word one edit away from an unknown one, 0..1.
    """
    found: dict[str, Related] = {}
    for term, weight in idf.items():
        for other, credit in _others(term, index, synonym=synonym, kind=kind, misspelling=misspelling):
            if credit and other not in idf and index.document_frequency(other):
                worth = round(credit * min(weight, index.idf(other)), 6)
                if worth > 0 and (other not in found or worth > found[other].weight):
                    found[other] = Related(other, term, worth, credit)
    ordered = sorted(found.values(), key=lambda related: (-related.weight, related.term))
    return tuple(ordered[:MAX_RELATED])


def one_edit_away(word: str) -> set[str]:
    """Return what one insertion, deletion, substitution or swap of neighbours makes of a word, its first letter kept.

    Words of at least ``MIN_WORD`` letters from a to z. Source: Damerau 1964, "A technique for computer detection and
    correction of spelling errors": four in five misspellings are one such edit.

    >>> sorted({"gatway", "gatewya", "getaway", "gateway"} & one_edit_away("gateway"))
    ['gatewya', 'gatway']
    """
    first, rest = word[:1], word[1:]
    found: set[str] = set()
    for at in range(len(rest) + 1):
        head, tail = rest[:at], rest[at:]
        found.update([head + letter + tail for letter in _LETTERS])
        if tail:
            found.add(head + tail[1:])
            found.update([head + letter + tail[1:] for letter in _LETTERS])
        if len(tail) > 1:
            found.add(head + tail[1] + tail[0] + tail[2:])
    found.discard(rest)
    return {first + other for other in found if len(other) + 1 >= MIN_WORD}


def _others(
    term: str, index: TurnIndex, *, synonym: float, kind: float, misspelling: float
) -> Iterator[tuple[str, float]]:
    yield from ((other, synonym) for other in synonym_terms(term))
    yield from ((other, kind) for other in member_terms(term))
    if misspelling and len(term) >= _MIN_MISSPELLED and term.isascii() and term.isalpha():
        yield from ((other, misspelling) for other in _spellings(term, index))


def _spellings(term: str, index: TurnIndex) -> tuple[str, ...]:
    """Return the words of the conversation that an unknown word may be meant for, the commonest first."""
    if index.document_frequency(term) or term in background_frequencies():
        return ()
    return tuple(
        sorted(index.known_words(one_edit_away(term)), key=lambda word: (-index.document_frequency(word), word))[
            :_MAX_SPELLINGS
        ]
    )


def synonym_terms(term: str) -> tuple[str, ...]:
    """Return the terms that may stand in the place of a term.

    >>> "cinema" in synonym_terms("film")
    True
    """
    return _stemmed_synonyms().get(term, ())


def member_terms(term: str) -> tuple[str, ...]:
    """Return the terms for members of the kind that a term names.

    >>> "football" in member_terms("sport")
    True
    """
    return _stemmed_kinds().get(term, ())


def kind_terms(term: str) -> tuple[str, ...]:
    """Return the terms for the kinds that what a term names is a member of.

    >>> "sport" in kind_terms("football")
    True
    """
    return _stemmed_members().get(term, ())


@cache
def _stemmed_synonyms() -> Mapping[str, tuple[str, ...]]:
    return _stemmed(synonyms())


@cache
def _stemmed_kinds() -> Mapping[str, tuple[str, ...]]:
    return _stemmed(kinds())


@cache
def _stemmed_members() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for kind, members in _stemmed_kinds().items():
        for member in members:
            found.setdefault(member, {})[kind] = None
    return {member: tuple(kinds_of) for member, kinds_of in found.items()}


def _stemmed(table: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return a table of words as one of terms: English stemmed, of a longer Chinese word its first pair."""
    found: dict[str, dict[str, None]] = {}
    for word, others in table.items():
        found.setdefault(_term(word), {}).update(dict.fromkeys(map(_term, others)))
    return {term: tuple(other for other in others if other != term) for term, others in found.items()}


def _term(word: str) -> str:
    return stem(word) if word.isascii() else word[:2]
