"""Information of terms, in everyday talk and among documents: "how many weeks" hardly marks a topic, a name does."""

from __future__ import annotations

import math
from functools import cache, lru_cache

from gatekeeper_core.selection.anchors import stem, term_weight
from gatekeeper_core.selection.lexicon import GENERIC_WORDS, HAN_GENERIC, HAN_LIGHT, background_frequencies

BACKGROUND_TURNS = 20.0
"""Turns of everyday talk that are added to the documents of an idf. Source: ours: a young conversation is too short to
show which words are common; after a hundred turns its own counts dominate."""

_BACKGROUND_TURN_LENGTH = 25.0
_MAX_BACKGROUND_SHARE = 0.9
_UNLISTED_FREQUENCY = 3e-5
_COMMONEST = 4.0  # nats: about the surprise of the commonest listed word
_GENERIC = 0.25
RARE_WORD = 6.4
"""Information of an unlisted word above the commonest, in nats: -ln(3e-5) - 4."""

LEAST_INFORMATION = 2 * RARE_WORD
"""Minimum information of a question, in nats, so that "two" alone is no evidence. Source: ours: two rare words."""

LEAST_RARITY = 0.2
"""Minimum rarity of a term in its conversation, 0..1. Source: ours."""


def idf_among(term: str, *, documents: int, frequency: int) -> float:
    """Return the inverse document frequency of a term, even if no document contains it.

    ``ln(1 + (N - df + 0.5) / (df + 0.5))`` over the documents and ``BACKGROUND_TURNS`` turns of everyday talk, in which
    the term has its background frequency; rounded to six digits, so that all platforms rank alike. Source: Robertson
    and Zaragoza 2009, "The Probabilistic Relevance Framework" (the form is Lucene's, never negative); the background
    share is ours.

    Args:
        term: an indexed term.
        documents: number of documents, at least 0.
        frequency: number of documents that contain the term, 0 to ``documents``.

    >>> idf_among("friend", documents=0, frequency=0) < idf_among("gateway", documents=0, frequency=0)
    True
    """
    turns = documents + BACKGROUND_TURNS
    share = min(_MAX_BACKGROUND_SHARE, _BACKGROUND_TURN_LENGTH * background_frequencies().get(term, 0.0))
    containing = frequency + BACKGROUND_TURNS * share
    return round(math.log1p((turns - containing + 0.5) / (containing + 0.5)), 6)


@lru_cache(maxsize=16_384)
def surprise(term: str) -> float:
    """Return a term's weighted surprise in everyday talk, in nats above the commonest; a quarter for a generic term.

    >>> surprise("gateway") > 3 * surprise("week") > 0
    True
    """
    nats = max(0.0, -math.log(background_frequencies().get(term, _UNLISTED_FREQUENCY)) - _COMMONEST)
    return term_weight(term) * nats * (_GENERIC if is_generic(term) else 1.0)


def is_generic(term: str) -> bool:
    """Return whether a term hardly marks a topic: numbers, units, times, plain verbs.

    >>> is_generic("week"), is_generic("多久"), is_generic("gateway")
    (True, True, False)
    """
    if term.isascii():
        return term in _generic_stems()
    return HAN_GENERIC.issuperset(term) or not HAN_LIGHT.isdisjoint(term)


@cache
def _generic_stems() -> frozenset[str]:
    return frozenset(map(stem, GENERIC_WORDS))
