"""Minimum coverage: the fewest candidates that hold what matters, and where to stop.

Each candidate has a worth, the share of the evidence that it is likely to hold, and a value, its gain per length::

    worth_i = m_i / sum of m over the pool,   m_i = (score_i / best score) ** sharpness
    value_i = worth_i * novelty_i * (62 / max(30, tokens_i)) ** alpha
    novelty_i = product over the kept turns k of (1 - likeness(i, k) ** 2)

``likeness`` is the Jaccard index of two turns' terms, so near-equal turns cost one. Candidates are taken by falling
value;

    coverage = 1 - sqrt(largest value not yet taken)

and selection stops at ``coverage >= eta`` or when nothing more fits. So ``eta`` is a knob on the marginal value of the
next turn, the way from few turns to many; it is no promise that 85 % of the evidence is there.

Source: specification 3.4 (greedy gain per length, eta 0.85) for the frame; the measures are ours, because one
mention per anchor stops long before the evidence is together.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from gatekeeper_core.selection.retrieval import Score

__all__ = ["ALPHA", "coverage_without", "likeness", "value_of", "worths"]

ALPHA = 0.85
"""The exponent of a turn's length in its value, 0..1. Source: the form is the specification's, the value ours."""

_SHARPNESS = 3.0  # how fast the likely share of the evidence falls with the score; ours
_POOL = 40  # of how many of the best turns the shares are taken
_UNIT_TOKENS = 62  # the length at which a turn costs nothing extra; it says how many tokens an ``eta`` stands for
_LEAST_TOKENS = 30  # what the shortest turn counts


def worths(scores: Sequence[Score]) -> dict[int, float]:
    """Return by turn the share of the evidence that it is likely to hold, 0..1, rounded to nine digits.

    Args:
        scores: those of all turns that share a term with the query, best first.
    """
    best = scores[0].total if scores else 0.0
    if best <= 0:
        return {}
    sharp = {score.turn_id: (max(0.0, score.total) / best) ** _SHARPNESS for score in scores}
    mass = math.fsum(islice(sharp.values(), _POOL))
    return {turn_id: round(share / mass, 9) for turn_id, share in sharp.items()}


def value_of(worth: float, tokens: int) -> float:
    """Return the value of a candidate: its worth per length, rounded to nine digits.

    >>> value_of(0.5, 62), value_of(0.5, 124)
    (0.5, 0.277392368)
    """
    price: float = (_UNIT_TOKENS / max(_LEAST_TOKENS, tokens)) ** ALPHA
    return round(worth * price, 9)


def likeness(terms: Set[str], other: Set[str]) -> float:
    """Return how alike two turns are, 0..1: the Jaccard index of their terms, 0.0 for two turns without terms.

    Source: Jaccard 1912, "The distribution of the flora in the alpine zone".

    >>> likeness({"redis", "port"}, {"redis", "cache"})
    0.3333333333333333
    """
    shared = len(terms & other)
    return shared / (len(terms) + len(other) - shared) if shared else 0.0


def coverage_without(value: float) -> float:
    """Return the coverage of a selection whose most valuable missing candidate has this value, 0..1.

    >>> coverage_without(0.0225), coverage_without(4.0)
    (0.85, 0.0)
    """
    return round(max(0.0, 1.0 - math.sqrt(value)), 4)
