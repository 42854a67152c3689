"""Expansion of a query: terms that may stand in a turn in place of the query's own.

A related term is a synonym (journey for trip), a member of a kind that the query names (guitar for instrument), or a
translation (航班 for flight). It never outweighs what it stands for: its weight is a share of the smaller of both idf.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.anchors import stem
from gatekeeper_core.selection.lexicon import kinds, synonyms
from gatekeeper_core.selection.translating import translated_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["MAX_RELATED", "Related", "kind_terms", "member_terms", "related_terms", "synonym_terms"]

MAX_RELATED = 40
"""Related terms of one query at most, the weightiest. Source: ours: a bound on the cost of a query."""

# What a related term counts in place of its own, 0..1; 0 switches it off for a measurement. Ours, fitted; the gains are
# measured as in :mod:`gatekeeper_core.selection.retrieval`.
_SYNONYM_WEIGHT = 0.3  # gain 0.6
_KIND_WEIGHT = 0.4  # gain 0.7


class Related(NamedTuple):
    """A term that may stand for one of the query's.

    Attributes:
        term: what is looked up.
        stands_for: the query's own term; for a translation the terms of the word.
        weight: what it weighs in this conversation, like an idf.
        credit: which part of what it stands for it is taken for, 0..1.
    """

    term: str
    stands_for: tuple[str, ...]
    weight: float
    credit: float


def related_terms(idf: Mapping[str, float], index: TurnIndex) -> tuple[Related, ...]:
    """Return the related terms of a query that stand in the conversation, the weightiest first, each once.

    Args:
        idf: the query's own terms with what they weigh.
        index: the conversation.
    """
    found: dict[str, Related] = {}
    for other, own, credit in (*_in_its_language(idf, index), *translated_terms(idf, index)):
        if other not in idf:
            worth = round(credit * min(max(map(idf.__getitem__, own)), index.idf(other)), 6)
            if worth > 0 and (other not in found or worth > found[other].weight):
                found[other] = Related(other, own, worth, credit)
    ordered = sorted(found.values(), key=lambda related: (-related.weight, related.term))
    return tuple(ordered[:MAX_RELATED])


def _in_its_language(terms: Iterable[str], index: TurnIndex) -> Iterator[tuple[str, tuple[str], float]]:
    """Yield the synonyms and members that stand in the conversation, with their term and their credit."""
    for term in terms:
        others = [(other, _SYNONYM_WEIGHT) for other in synonym_terms(term)]
        others += [(other, _KIND_WEIGHT) for other in member_terms(term)]
        for other, credit in others:
            if index.document_frequency(other):
                yield other, (term,), credit


def synonym_terms(term: str) -> tuple[str, ...]:
    """Return the terms that may stand in the place of a term.

    >>> "cinema" in synonym_terms("film")
    True
    """
    return _tables().synonyms.get(term, ())


def member_terms(term: str) -> tuple[str, ...]:
    """Return the terms for members of the kind that a term names.

    >>> "football" in member_terms("sport")
    True
    """
    return _tables().members.get(term, ())


def kind_terms(term: str) -> tuple[str, ...]:
    """Return the terms for the kinds that what a term names is a member of.

    >>> "sport" in kind_terms("football")
    True
    """
    return _tables().kinds.get(term, ())


class _Tables(NamedTuple):
    synonyms: Mapping[str, tuple[str, ...]]
    members: Mapping[str, tuple[str, ...]]
    kinds: Mapping[str, tuple[str, ...]]


@cache
def _tables() -> _Tables:
    members = _stemmed(kinds())
    kinds_of: dict[str, dict[str, None]] = {}
    for kind, of_kind in members.items():
        for member in of_kind:
            kinds_of.setdefault(member, {})[kind] = None
    return _Tables(_stemmed(synonyms()), members, {member: tuple(of_it) for member, of_it in kinds_of.items()})


def _stemmed(table: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return a table of words as one of terms: English stemmed, of a longer Chinese word its first pair."""
    terms = {word: stem(word) if word.isascii() else word[:2] for word in chain(table, *table.values())}
    found: dict[str, dict[str, None]] = {}
    for word, others in table.items():
        found.setdefault(terms[word], {}).update(dict.fromkeys(terms[other] for other in others))
    return {term: tuple(other for other in others if other != term) for term, others in found.items()}
