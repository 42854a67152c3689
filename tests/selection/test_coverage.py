"""The measures of the cover: worth, value, likeness and coverage; :mod:`tests.selection.test_planner` has the choice made with them."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core import GatekeeperConfig
from gatekeeper_core.selection import coverage
from gatekeeper_core.selection.coverage import coverage_without, likeness, value_of, worths
from gatekeeper_core.selection.retrieval import Score

POOL = 40

totals = st.lists(st.integers(0, 400), max_size=60)
tokens = st.integers(1, 2_000)
term_sets = st.frozensets(st.sampled_from(["redis", "cache", "port", "缓存", "端口", "穿透", "v1.2", "冰糖"]))


def score(turn_id: int, total: float) -> Score:
    nothing = frozenset[str]()
    return Score(turn_id, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, total, 0.0, nothing, nothing, nothing)


def ranked(figures: list[int]) -> list[Score]:
    """Return scores as retrieval gives them: best first, of equals the newer."""
    scores = [score(turn_id, figure / 10) for turn_id, figure in enumerate(figures)]
    return sorted(scores, key=lambda each: (-each.total, -each.turn_id))


def worths_of(scores: list[Score], sharpness: float) -> dict[int, float]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coverage, "_SHARPNESS", sharpness)
        return worths(scores)


def valued(worth: float, length: int, alpha: float) -> float:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coverage, "ALPHA", alpha)
        return value_of(worth, length)


# --- worth: a share of the evidence


@given(totals, st.floats(0.1, 20))
def test_the_worth_is_the_documented_share(figures: list[int], sharpness: float) -> None:
    """000-32: the formula, written down a second time; only the best forty turns share the evidence."""
    scores = ranked(figures)
    worth = worths_of(scores, sharpness)
    if not any(figures):
        assert worth == {}
        return
    best = max(figures) / 10
    mass = sum(sorted(((figure / 10 / best) ** sharpness for figure in figures), reverse=True)[:POOL])
    for turn_id, figure in enumerate(figures):
        assert worth[turn_id] == pytest.approx((figure / 10 / best) ** sharpness / mass, abs=2e-9)


# --- value: worth per length


@given(st.floats(0, 1), tokens, st.floats(0, 1))
def test_the_value_is_the_documented_formula(worth: float, length: int, alpha: float) -> None:
    """000-32: gain per length; a turn of fewer than thirty tokens counts thirty."""
    plain = worth * math.exp(alpha * (math.log(62) - math.log(max(30, length))))
    assert valued(worth, length, alpha) == pytest.approx(plain, abs=2e-9)


# --- likeness: near-equal turns


@example(frozenset({"redis", "cache"}), frozenset({"redis", "port", "缓存"}))
@given(term_sets, term_sets)
def test_likeness_is_the_share_of_common_terms(one: frozenset[str], other: frozenset[str]) -> None:
    """000-35: 0 to 1, the same both ways, 1 for equal sets only."""
    measured = likeness(one, other)
    assert measured == likeness(other, one) == (len(one & other) / len(one | other) if one | other else 0.0)
    assert (measured == 1.0) == (one == other != frozenset())


# --- coverage


@given(st.floats(0, 100, allow_nan=False), st.floats(0, 100, allow_nan=False))
def test_coverage_falls_with_the_value_that_is_missing(one: float, other: float) -> None:
    """000-33: coverage lies in 0..1 and is 1 where nothing of value is missing."""
    assert coverage_without(0.0) == 1.0
    assert 0.0 <= coverage_without(one) <= 1.0
    if one <= other:
        assert coverage_without(one) >= coverage_without(other)


def test_the_default_stops_at_85_percent() -> None:
    """000-33: eta = 0.85; 0.0225 is the value at which it stops."""
    assert GatekeeperConfig().eta == 0.85
    assert coverage_without(0.0225) >= GatekeeperConfig().eta > coverage_without(0.0227)
