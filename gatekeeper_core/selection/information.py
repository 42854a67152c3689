"""Information: what a term of a question tells, against everyday talk and against its conversation.

A share of a question's information says how much of it a turn holds; "two" or "how many weeks" hardly tell one topic
from another, a name does.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from gatekeeper_core.selection.anchors import stem, term_weight
from gatekeeper_core.selection.lexicon import GENERIC_WORDS, HAN_GENERIC, HAN_LIGHT, background_frequencies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["LEAST_INFORMATION", "LEAST_RARITY", "RARE_WORD", "information", "is_generic", "surprise"]

_UNLISTED_FREQUENCY = 3e-5
_COMMONEST = 4.0  # nats: about what the commonest listed word tells
_GENERIC = 0.25
RARE_WORD = 6.4
"""The information of an unlisted word above the commonest, in nats: -ln(3e-5) - 4."""

LEAST_INFORMATION = 2 * RARE_WORD
"""The least information of a question, in nats, so that "two" alone is no evidence. Source: ours: two rare words."""

LEAST_RARITY = 0.2
"""What :func:`information` takes a term's rarity for at least, 0..1. Source: ours."""


def information(terms: Iterable[str], index: TurnIndex) -> dict[str, float]:
    """Return by term what it tells, in nats: its surprise in everyday talk times its rarity in the conversation.

    ::

        surprise(term) * max(0.2, ln((n + 1) / (df + 0.5)) / ln(n + 1))

    Source: ours; self-information (Shannon 1948) and a normalised inverse document frequency.
    """
    turns = len(index) + 1
    scale = math.log(turns) or 1.0
    return {
        term: surprise(term) * max(LEAST_RARITY, math.log(turns / (index.document_frequency(term) + 0.5)) / scale)
        for term in terms
    }


@lru_cache(maxsize=16_384)
def surprise(term: str) -> float:
    """Return what a term tells in everyday talk, in nats above the commonest; a quarter of it for a generic one.

    >>> surprise("gateway") > 3 * surprise("week") > 0
    True
    """
    nats = max(0.0, -math.log(background_frequencies().get(term, _UNLISTED_FREQUENCY)) - _COMMONEST)
    return term_weight(term) * nats * (_GENERIC if is_generic(term) else 1.0)


def is_generic(term: str) -> bool:
    """Return whether a term hardly tells one topic from another: numbers, units, times, plain verbs.

    >>> is_generic("week"), is_generic("多久"), is_generic("gateway")
    (True, True, False)
    """
    if term.isascii():
        return term in _generic_stems()
    return HAN_GENERIC.issuperset(term) or not HAN_LIGHT.isdisjoint(term)


@cache
def _generic_stems() -> frozenset[str]:
    return frozenset(map(stem, GENERIC_WORDS))
