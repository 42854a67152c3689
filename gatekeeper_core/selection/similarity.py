"""Similarity of two short texts without a model: the cosine of their terms, 0.0 to 1.0.

A text is a vector with one number per indexed term: the logarithm of its count, times its weight, times its idf. Shared
terms add to the cosine; so do, to a lesser degree, pairs of related terms (synonyms, a kind and its member), each term
in at most one pair, so that the cosine does not exceed 1.0. Source: Salton and Buckley 1988, "Term-weighting approaches
in automatic text retrieval" (tf-idf vectors, their cosine); Sidorov et al. 2014, "Soft similarity and soft cosine
measure" (related terms); the matching in pairs is ours.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from gatekeeper_core.selection.anchors import term_weight
from gatekeeper_core.selection.expansion import thesaurus
from gatekeeper_core.selection.information import idf_among

# Credit of a pair of related terms, relative to a shared term. Source: as in ``expansion``.
_SYNONYM_CREDIT = 0.3
_KIND_CREDIT = 0.4


class TermVector:
    """A text as a vector of its terms, for comparison with other texts.

    Args:
        counts: counts of its terms; a count below 1 is the worth of one occurrence.
        documents: number of texts in the collection, at least 0.
        frequencies: number of these texts that contain each term; 1 for a missing term.

    >>> from gatekeeper_core.selection.anchors import count_terms
    >>> vector = TermVector(count_terms("I keep a cat"))
    >>> vector.similarity(count_terms("My cat is called Tom")) > vector.similarity(count_terms("I like tea"))
    True
    """

    __slots__ = ("_credits", "_documents", "_frequencies", "_length", "_values", "_weights")

    def __init__(
        self, counts: Mapping[str, float], *, documents: int = 0, frequencies: Mapping[str, int] | None = None
    ) -> None:
        self._documents = max(1, documents)
        self._frequencies = frequencies or {}
        self._weights: dict[str, float] = {}
        self._values = self._valued(counts)
        self._length = _length(self._values)
        self._credits = {term: related for term in self._values if (related := _related_credits(term))}

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of the text, highest value first."""
        return tuple(sorted(self._values, key=lambda term: (-self._values[term], term)))

    def similarity(self, counts: Mapping[str, int]) -> float:
        """Return the cosine with another text, given the counts of its terms: 0.0 to 1.0, rounded to six digits."""
        values = self._valued(counts)
        both = self._length * _length(values)
        if not both:
            return 0.0
        shared = math.fsum(value * values[term] for term, value in self._values.items() if term in values)
        return round(min(1.0, (shared + self._by_related(values)) / both), 6)

    def at_most(self, terms: Collection[str]) -> float:
        """Return an upper bound of the cosine with any text of some terms: the length of what can match, by its own.

        By the Cauchy-Schwarz inequality; a related term counts no more than the original.
        """
        matching = {
            term: value
            for term, value in self._values.items()
            if term in terms or (term in self._credits and not self._credits[term].keys().isdisjoint(terms))
        }
        return _length(matching) / self._length if self._length else 0.0

    def _valued(self, counts: Mapping[str, float]) -> dict[str, float]:
        for term in counts.keys() - self._weights.keys():
            frequency = min(self._documents, max(1, self._frequencies.get(term, 1)))
            idf = idf_among(term, documents=self._documents, frequency=frequency)
            self._weights[term] = idf * term_weight(term)
        weights = self._weights
        return {term: (1.0 + math.log(n) if n > 1 else n) * weights[term] for term, n in counts.items() if n > 0}

    def _by_related(self, values: Mapping[str, float]) -> float:
        """Return the part from pairs of related terms, best pairs first, no term in two pairs."""
        pairs = [
            (-credit * (self._values[term] * values[other]), min(term, other), max(term, other))
            for term, others in self._credits.items()
            if term not in values
            for other, credit in others.items()
            if other in values and other not in self._values
        ]
        added = 0.0
        paired: set[str] = set()
        for worth, first, second in sorted(pairs):
            if first not in paired and second not in paired:
                paired |= {first, second}
                added -= worth
        return added


def related_to(terms: Collection[str]) -> tuple[str, ...]:
    """Return the terms that are related to the given terms and not among them, each once.

    >>> "journey" in related_to(["trip", "tea"]), related_to(["api-gateway"])
    (True, ())
    """
    found = dict.fromkeys(other for term in terms for other in _related_credits(term))
    return tuple(other for other in found if other not in terms)


def _related_credits(term: str) -> dict[str, float]:
    table = thesaurus()
    found = dict.fromkeys(table.synonyms.get(term, ()), _SYNONYM_CREDIT)
    found.update(dict.fromkeys((*table.members.get(term, ()), *table.kinds.get(term, ())), _KIND_CREDIT))
    found.pop(term, None)
    return found


def _length(values: Mapping[str, float]) -> float:
    return math.sqrt(math.fsum(value * value for value in values.values()))
