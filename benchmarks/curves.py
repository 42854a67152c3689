"""Curves of recall against mean tokens: reading one at any number of tokens, and comparing two."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Comparison", "compare", "recall_at"]

STEPS = 100


class Comparison(NamedTuple):
    """How far one curve lies above another: mean and smallest difference in points, and the range compared."""

    mean: float
    worst: float
    worst_at: float
    low: float
    high: float


def recall_at(curve: Sequence[tuple[float, float]], tokens: float) -> float:
    """Return the recall of a curve at a number of tokens, interpolated linearly in log tokens.

    Args:
        curve: points (mean tokens, recall), in any order.
        tokens: lies within the curve's reach.

    Raises:
        ValueError: it does not.
    """
    points = sorted(curve)
    for (low, recall_low), (high, recall_high) in pairwise(points):
        if low <= tokens <= high:
            share = math.log(tokens / low) / math.log(high / low) if high > low else 1.0
            return recall_low + share * (recall_high - recall_low)
    raise ValueError(f"{tokens} tokens lie outside of the curve")


def compare(
    ours: Sequence[tuple[float, float]], other: Sequence[tuple[float, float]], *, low: float, high: float
) -> Comparison | None:
    """Return how far our curve lies above the other at equal mean tokens, or None where they share no range.

    The differences are taken at 101 points at equal distances in log tokens, from ``low`` to ``high`` or as far as both
    curves reach.
    """
    low = max(low, min(ours)[0], min(other)[0])
    high = min(high, max(ours)[0], max(other)[0])
    if not 0 < low < high:
        return None
    grid = [min(high, max(low, low * (high / low) ** (step / STEPS))) for step in range(STEPS + 1)]
    gains = [recall_at(ours, tokens) - recall_at(other, tokens) for tokens in grid]
    worst = min(range(len(grid)), key=gains.__getitem__)
    return Comparison(sum(gains) / len(gains), gains[worst], grid[worst], low, high)
