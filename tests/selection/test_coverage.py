"""The measures of the cover: worth, value, likeness and coverage; :mod:`tests.selection.test_planner` has the choice made with them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core import GatekeeperConfig
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.selection import coverage
from gatekeeper_core.selection.anchors import count_terms
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


@pytest.mark.parametrize(("turns", "share"), [(1, 1.0), (10, 0.1), (40, 0.025), (80, 0.025)])
def test_turns_beyond_the_pool_take_no_share_of_the_others(turns: int, share: float) -> None:
    """000-32: a long conversation does not water down its best turns."""
    assert set(worths(ranked([50] * turns)).values()) == {share}


@given(totals, st.randoms(use_true_random=False))
def test_which_turn_has_a_score_does_not_change_its_worth(figures: list[int], random: Any) -> None:
    """000-35: the same scores, given to other turns, are worth the same."""
    shuffled = random.sample(figures, len(figures))
    worth, other = (worths(ranked(each)) for each in (figures, shuffled))
    assert sorted(worth.values()) == sorted(other.values())


def test_candidates_without_a_score_are_worth_nothing() -> None:
    """000-35: zero gain is never selected."""
    assert worths([]) == {}
    assert worths(ranked([0, 0])) == {}


# --- value: worth per length


@given(st.floats(0, 1), tokens, st.floats(0, 1))
def test_the_value_is_the_documented_formula(worth: float, length: int, alpha: float) -> None:
    """000-32: gain per length; a turn of fewer than thirty tokens counts thirty."""
    plain = worth * math.exp(alpha * (math.log(62) - math.log(max(30, length))))
    assert valued(worth, length, alpha) == pytest.approx(plain, abs=2e-9)


@given(st.integers(30, 2_000), st.integers(30, 2_000))
def test_of_equal_worth_the_shorter_turn_has_more_value(one: int, other: int) -> None:
    """000-31, 000-32: gain per unit of length."""
    first, second = (valued(0.5, length, 0.85) for length in (one, other))
    assert (first > second) == (one < other)


def test_alpha_zero_makes_length_free_and_alpha_one_counts_it_in_full() -> None:
    """000-32: ``cost ** alpha``."""
    assert valued(0.4, 62, 0.0) == valued(0.4, 620, 0.0) == 0.4
    assert valued(0.4, 62, 1.0) == 10 * valued(0.4, 620, 1.0)


@pytest.mark.parametrize("length", [1, 10, 29, 30])
def test_a_very_short_turn_gains_nothing_more(length: int) -> None:
    """000-32: or a bare "ok" would be worth more than any answer."""
    assert valued(0.5, length, 1.0) == valued(0.5, 30, 1.0) == 1.033333333


# --- likeness: near-equal turns


@example(frozenset({"redis", "cache"}), frozenset({"redis", "port", "缓存"}))
@given(term_sets, term_sets)
def test_likeness_is_the_share_of_common_terms(one: frozenset[str], other: frozenset[str]) -> None:
    """000-35: 0 to 1, the same both ways, 1 for equal sets only."""
    measured = likeness(one, other)
    assert measured == likeness(other, one) == (len(one & other) / len(one | other) if one | other else 0.0)
    assert (measured == 1.0) == (one == other != frozenset())


@pytest.mark.parametrize(
    ("one", "near", "far"),
    [
        ("缓存的端口是 6380。", "缓存的端口是 6381。", "红烧肉要放冰糖。"),
        ("The cache listens on port 6380.", "The cache listens on port 6381.", "Braise the pork with sugar."),
        ("Redis 缓存用 port 6380。", "Redis 缓存用 port 6381。", "红烧肉 needs 冰糖。"),
    ],
)
def test_turns_that_say_almost_the_same_are_alike(one: str, near: str, far: str) -> None:
    """000-35."""
    terms, near_terms, far_terms = (count_terms(text).keys() for text in (one, near, far))
    assert likeness(terms, near_terms) > 0.5 > likeness(terms, far_terms) == 0.0


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


# --- the settings


@pytest.mark.parametrize("eta", [-0.01, 1.01, math.nan])
def test_an_impossible_setting_is_refused_with_its_name(eta: float) -> None:
    """000-32, 000-33."""
    with pytest.raises(ConfigError, match=r"GatekeeperConfig\.eta"):
        GatekeeperConfig(eta=eta)
