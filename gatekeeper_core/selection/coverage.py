"""Minimum coverage: the fewest candidates that hold what matters, and where to stop.

Each candidate has a value, its gain per unit of length::

    q_i = m_i / sum of m over the pool,   m_i = (score_i / best score) ** sharpness
    v_i = q_i * (unit_tokens / tokens_i) ** alpha * min(1, known / known_enough)

``q_i`` is the share of the evidence that the turn is likely to hold, ``known`` the share of the query's idf that the
best single turn holds: where no turn knows the question, no turn is worth much. Candidates are taken by falling value;

    coverage = 1 - sqrt(largest value not yet taken)

and selection stops at ``coverage >= eta`` or when nothing more fits. So ``eta`` is a knob on the marginal value of the
next turn, the way from few turns to many; it is no promise that 85 % of the evidence is there.

Source: specification 3.4 (greedy gain per length, eta 0.85) for the frame; the measures are ours, because one
mention per anchor stops long before the evidence is together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.errors import check_range

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Candidate", "CoverageConfig", "Valued", "choose", "coverage_without", "value_candidates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageConfig:
    """Where selection stops and what length costs.

    Attributes:
        eta: the coverage at which ``minimal`` selection stops, 0..1; lower gives fewer turns. Source: the
            specification (3.4).
        alpha: how much length counts against a turn, 0..1. Source: the form is the specification's, the value ours.
        sharpness: how fast the likely share of the evidence falls with the score, 0.1..20. Source: ours.
        pool: over how many of the best turns the shares are taken, >= 1. Source: ours.
        unit_tokens: the length at which a turn costs nothing extra, >= 1. Source: ours, a usual turn of chat.
        known_enough: share of the query's idf in one turn that counts as knowing the question, 0..1. Source: ours.
    """

    eta: float = 0.85
    alpha: float = 0.7
    sharpness: float = 2.3
    pool: int = 40
    unit_tokens: int = 60
    known_enough: float = 0.4

    def __post_init__(self) -> None:
        check_range(self, "eta", "alpha", "known_enough", low=0, high=1)
        check_range(self, "sharpness", low=0.1, high=20)
        check_range(self, "pool", "unit_tokens", low=1, whole=True)


class Candidate(NamedTuple):
    """A turn that may be taken.

    Attributes:
        turn_id: 0-based position.
        score: its evidence, >= 0.
        tokens: what its excerpt costs, >= 1.
    """

    turn_id: int
    score: float
    tokens: int


class Valued(NamedTuple):
    """A candidate with its value; see the module's formula."""

    turn_id: int
    value: float


def value_candidates(candidates: Sequence[Candidate], *, known: float, config: CoverageConfig) -> tuple[Valued, ...]:
    """Return the candidates with their values, rounded to nine digits, highest first; of equals the newer one first.

    Args:
        candidates: in any order.
        known: share of the query's idf that the best single turn holds, 0..1.
        config: the form of the value.

    >>> pair = [Candidate(0, 4.0, 60), Candidate(1, 2.0, 60)]
    >>> [(v.turn_id, round(v.value, 3)) for v in value_candidates(pair, known=1.0, config=CoverageConfig())]
    [(0, 0.831), (1, 0.169)]
    """
    best = max((candidate.score for candidate in candidates), default=0.0)
    if best <= 0:
        return ()
    sharp = [(candidate.score / best) ** config.sharpness for candidate in candidates]
    mass = sum(sorted(sharp, reverse=True)[: config.pool])
    knowing = min(1.0, known / config.known_enough) if config.known_enough else 1.0
    valued = [
        Valued(
            candidate.turn_id,
            round(share / mass * (config.unit_tokens / candidate.tokens) ** config.alpha * knowing, 9),
        )
        for share, candidate in zip(sharp, candidates, strict=True)
    ]
    return tuple(sorted(valued, key=lambda each: (-each.value, -each.turn_id)))


def coverage_without(value: float) -> float:
    """Return the coverage of a selection whose most valuable missing candidate has this value, 0..1.

    >>> coverage_without(0.0225), coverage_without(4.0)
    (0.85, 0.0)
    """
    return round(max(0.0, 1.0 - math.sqrt(value)), 4)


def choose(valued: Sequence[Valued], *, eta: float, take: Callable[[int], bool]) -> tuple[Valued, ...]:
    """Take candidates by falling value until the coverage is reached; return those that it was reached without.

    At least one candidate is taken where one can be, however little it is worth.

    Args:
        valued: the candidates, highest value first.
        eta: the coverage to stop at, 0..1; above 1 every candidate is offered.
        take: takes a turn if there is room and need for it, and returns whether it did.
    """
    taken = False
    for at, candidate in enumerate(valued):
        if taken and coverage_without(candidate.value) >= eta:
            return tuple(valued[at:])
        taken = take(candidate.turn_id) or taken
    return ()
