"""Confidence intervals of shares and of ratios of sums, with the standard library only."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

_RESAMPLES = 2_000
"""Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, 14.3: 1,000 or more for percentile intervals."""

_LEAST_GROUPS = 5


class Share(NamedTuple):
    """A share, 0..1 (a difference: -1..1), with its confidence interval; 0 if ``total`` is 0."""

    value: float
    low: float
    high: float
    hits: int
    total: int

    def to_dict(self) -> dict[str, float | int]:
        """Return JSON-ready values."""
        return {name: round(value, 6) for name, value in self._asdict().items()}


def wilson(hits: int, total: int, *, confidence: float = 0.95) -> Share:
    """Return a share with Wilson's score interval; 0 to 1 if ``total`` is 0.

    Source: Wilson 1927; recommended for small samples by Brown, Cai and DasGupta 2001, "Interval Estimation for a
    Binomial Proportion". It assumes independent turns.

    >>> share = wilson(8, 10)
    >>> round(share.low, 3), round(share.high, 3), wilson(0, 0)[:3]
    (0.49, 0.943, (0.0, 0.0, 1.0))
    """
    if total == 0:
        return Share(0.0, 0.0, 1.0, 0, 0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, spread = hits / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return Share(share, max(0.0, middle - half), min(1.0, middle + half), hits, total)


def bootstrap_ratio(
    groups: Sequence[Sequence[tuple[int, int]]], *, seed: int = 0, confidence: float = 0.95, lowest: float = 0.0
) -> Share:
    """Return a ratio of two sums with its percentile bootstrap interval.

    Whole groups are drawn; with fewer than five, single parts are, and the interval holds for these groups only.

    Args:
        groups: per group (a conversation), the numerator and denominator of each part (a turn).
        seed: seed of the draws.
        confidence: level of the interval.
        lowest: smallest possible ratio, for the interval of no data or a single part.

    Source: Efron and Tibshirani 1993, 13.3; groups drawn whole, since turns of one conversation depend on each other:
    Field and Welsh 2007, "Bootstrapping clustered data". The threshold of five is ours.

    >>> bootstrap_ratio([[(1, 4), (0, 4), (2, 4)]])[:3]
    (0.25, 0.0, 0.5)
    """
    parts = [part for group in groups for part in group]
    if len(groups) >= _LEAST_GROUPS:
        parts = [(sum(part[0] for part in group), sum(part[1] for part in group)) for group in groups]
    hits, total = sum(part[0] for part in parts), sum(part[1] for part in parts)
    if total == 0 or len(parts) == 1:
        return Share(hits / total if total else 0.0, lowest, 1.0, hits, total)
    draw = random.Random(seed)  # noqa: S311 - seeded draws, not cryptography
    ratios = []
    for _ in range(_RESAMPLES):
        drawn = draw.choices(parts, k=len(parts))
        if below := sum(part[1] for part in drawn):
            ratios.append(sum(part[0] for part in drawn) / below)
    ratios.sort()
    tail = round((1 - confidence) / 2 * len(ratios))
    return Share(hits / total, ratios[tail], ratios[-tail - 1], hits, total)
