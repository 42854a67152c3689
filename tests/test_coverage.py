from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.selection.coverage import (
    Candidate,
    CoverageConfig,
    Valued,
    choose,
    coverage_without,
    value_candidates,
)

CONFIG = CoverageConfig()


@st.composite
def candidate_lists(draw: st.DrawFn) -> list[Candidate]:
    figures = draw(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 900)), max_size=8))
    return [Candidate(turn_id, score / 10, tokens) for turn_id, (score, tokens) in enumerate(figures)]


knowing = st.floats(0, 1, allow_nan=False)
etas = st.floats(0, 1, allow_nan=False)


def plain_value(candidate: Candidate, candidates: list[Candidate], known: float, config: CoverageConfig) -> float:
    """The formula of the module, written down a second time and without any short cut."""
    best = max(each.score for each in candidates)
    pool = sorted(((each.score / best) ** config.sharpness for each in candidates), reverse=True)[: config.pool]
    share = (candidate.score / best) ** config.sharpness / math.fsum(pool)
    return share * (config.unit_tokens / candidate.tokens) ** config.alpha * min(1.0, known / config.known_enough)


def taken_within(candidates: list[Candidate], budget: int, left: list[int]) -> Callable[[int], bool]:
    """Return a ``take`` that pays from a budget, and records what it took in ``left``."""
    room = [budget]

    def take(turn_id: int) -> bool:
        if candidates[turn_id].tokens > room[0]:
            return False
        room[0] -= candidates[turn_id].tokens
        left.append(turn_id)
        return True

    return take


def chosen(candidates: list[Candidate], *, eta: float, budget: int = 10**9, known: float = 1.0) -> list[int]:
    taken: list[int] = []
    valued = value_candidates(candidates, known=known, config=CONFIG)
    choose(valued, eta=eta, take=taken_within(candidates, budget, taken))
    return taken


# --- the value


@given(candidate_lists(), knowing)
def test_the_value_is_the_documented_formula(candidates: list[Candidate], known: float) -> None:
    """000-32: gain per length, with every factor as the module states it."""
    valued = value_candidates(candidates, known=known, config=CONFIG)
    if max((each.score for each in candidates), default=0.0) == 0:
        assert valued == ()
    for turn_id, value in valued:
        assert value == pytest.approx(plain_value(candidates[turn_id], candidates, known, CONFIG), abs=2e-9)


def test_only_the_pool_shares_the_evidence() -> None:
    """000-32: the shares are taken over the best ``pool`` turns, however many there are."""
    candidates = [Candidate(turn_id, 5.0, 60) for turn_id in range(10)]
    assert {v.value for v in value_candidates(candidates, known=1.0, config=CoverageConfig(pool=4))} == {0.25}
    assert {v.value for v in value_candidates(candidates, known=1.0, config=CoverageConfig(pool=10))} == {0.1}


@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 500))
def test_of_equal_length_the_better_score_is_worth_more(one: int, other: int, tokens: int) -> None:
    """000-32."""
    pair = [Candidate(0, float(one), tokens), Candidate(1, float(other), tokens)]
    value = dict(value_candidates(pair, known=1.0, config=CoverageConfig(unit_tokens=500)))
    if one > other:
        assert value[0] > value[1] or value[0] == pytest.approx(value[1], abs=1e-6)
    assert (value[0] >= value[1]) == (one >= other) or value[0] == value[1]


@given(st.integers(1, 500), st.integers(1, 500))
def test_of_equal_score_the_shorter_turn_is_worth_more(one: int, other: int) -> None:
    """000-31, 000-32: gain per unit of length."""
    value = dict(value_candidates([Candidate(0, 3.0, one), Candidate(1, 3.0, other)], known=1.0, config=CONFIG))
    assert (value[0] > value[1]) == (one < other)


def test_alpha_zero_makes_length_free_and_alpha_one_counts_it_in_full() -> None:
    """000-32: ``cost ** alpha``."""
    pair = [Candidate(0, 3.0, 60), Candidate(1, 3.0, 120)]
    flat = dict(value_candidates(pair, known=1.0, config=CoverageConfig(alpha=0.0)))
    full = dict(value_candidates(pair, known=1.0, config=CoverageConfig(alpha=1.0)))
    assert flat[0] == flat[1]
    assert full[0] == 2 * full[1]


def test_where_no_turn_knows_the_question_no_turn_is_worth_much() -> None:
    """000-32: the factor ``min(1, known / known_enough)``."""
    one = [Candidate(0, 3.0, 60)]
    by_known = [value_candidates(one, known=known, config=CONFIG)[0].value for known in (0.0, 0.1, 0.2, 0.4, 1.0)]
    assert by_known == [0.0, 0.25, 0.5, 1.0, 1.0]
    assert value_candidates(one, known=0.0, config=CoverageConfig(known_enough=0.0))[0].value == 1.0


def test_equals_are_ordered_newest_first() -> None:
    """000-35: tie -> newer."""
    candidates = [Candidate(turn_id, 2.0, 30) for turn_id in (3, 0, 2, 1)]
    assert [each.turn_id for each in value_candidates(candidates, known=1.0, config=CONFIG)] == [3, 2, 1, 0]


@given(candidate_lists(), knowing, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(candidates: list[Candidate], known: float, random: Any) -> None:
    """000-35: the same turns in another order give the same values in the same order."""
    shuffled = random.sample(candidates, len(candidates))
    assert value_candidates(shuffled, known=known, config=CONFIG) == value_candidates(
        candidates, known=known, config=CONFIG
    )


# --- where it stops


@given(st.floats(0, 100, allow_nan=False), st.floats(0, 100, allow_nan=False))
def test_coverage_falls_with_the_value_that_is_missing(one: float, other: float) -> None:
    """000-33: coverage lies in 0..1 and is 1 where nothing of value is missing."""
    assert coverage_without(0.0) == 1.0
    assert 0.0 <= coverage_without(one) <= 1.0
    if one <= other:
        assert coverage_without(one) >= coverage_without(other)


@given(candidate_lists(), etas, etas)
def test_a_lower_eta_gives_a_part_of_what_a_higher_one_gives(
    candidates: list[Candidate], one: float, other: float
) -> None:
    """000-33: eta is a knob from few turns to many."""
    lower, higher = sorted((one, other))
    few, many = chosen(candidates, eta=lower), chosen(candidates, eta=higher)
    assert many[: len(few)] == few


@given(candidate_lists(), etas)
def test_choosing_stops_as_soon_as_the_coverage_is_reached_and_not_before(
    candidates: list[Candidate], eta: float
) -> None:
    """000-33: with room for all, a turn is taken exactly where the coverage without it lies below eta."""
    valued = value_candidates(candidates, known=1.0, config=CONFIG)
    taken = chosen(candidates, eta=eta)
    needed = [each.turn_id for each in valued if coverage_without(each.value) < eta]
    assert taken == (needed or [each.turn_id for each in valued[:1]])


def test_the_default_stops_at_85_percent() -> None:
    """000-33: eta = 0.85; 0.0225 is the value at which it stops."""
    offered: list[int] = []
    valued = [Valued(2, 0.9), Valued(1, 0.0226), Valued(0, 0.0225)]
    rest = choose(valued, eta=CONFIG.eta, take=lambda turn_id: not offered.append(turn_id))
    assert CONFIG.eta == 0.85
    assert offered == [2, 1]
    assert rest == (Valued(0, 0.0225),)


def test_one_candidate_is_taken_however_little_it_is_worth() -> None:
    """000-33: a set of nothing answers nothing."""
    offered: list[int] = []
    choose([Valued(1, 1e-9), Valued(0, 1e-9)], eta=0.0, take=lambda turn_id: not offered.append(turn_id))
    assert offered == [1]


def test_an_eta_above_one_offers_every_candidate() -> None:
    """000-33: the way to use the whole budget."""
    offered: list[int] = []
    valued = [Valued(turn_id, 10.0**-turn_id) for turn_id in range(9)]
    assert choose(valued, eta=2.0, take=lambda turn_id: not offered.append(turn_id)) == ()
    assert offered == list(range(9))


def test_nothing_to_choose_from_gives_nothing() -> None:
    assert value_candidates([], known=1.0, config=CONFIG) == ()
    assert choose((), eta=0.85, take=lambda turn_id: True) == ()


def test_candidates_without_a_score_are_worth_nothing() -> None:
    """000-35: zero gain is never selected."""
    nothing = [Candidate(0, 0.0, 10), Candidate(1, 0.0, 20)]
    assert value_candidates(nothing, known=1.0, config=CONFIG) == ()


# --- the budget


def test_a_candidate_that_does_not_fit_is_passed_over_and_the_next_is_tried() -> None:
    """000-34."""
    candidates = [Candidate(0, 9.0, 500), Candidate(1, 8.0, 40), Candidate(2, 7.0, 90)]
    assert chosen(candidates, eta=1.0, budget=100) == [1]
    assert chosen(candidates, eta=1.0, budget=130) == [1, 2]


@given(candidate_lists(), etas, st.integers(1, 1_500))
def test_what_is_taken_stays_within_the_budget(candidates: list[Candidate], eta: float, budget: int) -> None:
    """000-34."""
    assert sum(candidates[turn_id].tokens for turn_id in chosen(candidates, eta=eta, budget=budget)) <= budget


@given(candidate_lists(), st.integers(1, 1_500))
def test_no_turn_that_would_still_fit_is_worth_more_than_one_that_was_taken_after_it(
    candidates: list[Candidate], budget: int
) -> None:
    """000-31, against a plain greedy: always the most valuable turn that fits what is left."""
    value = dict(value_candidates(candidates, known=1.0, config=CONFIG))
    room, expected, open_turns = budget, [], set(value)
    while fitting := [turn_id for turn_id in open_turns if candidates[turn_id].tokens <= room]:
        best = max(fitting, key=lambda turn_id: (value[turn_id], turn_id))
        expected.append(best)
        open_turns.remove(best)
        room -= candidates[best].tokens
    assert chosen(candidates, eta=2.0, budget=budget) == expected


# --- the settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, value) for name in ("eta", "alpha", "known_enough") for value in (-0.01, 1.01, math.nan)],
        *[("sharpness", value) for value in (0, -1.0, math.nan)],
        *[(name, 0) for name in ("pool", "unit_tokens")],
    ],
)
def test_an_impossible_setting_is_refused_with_its_name(name: str, value: float) -> None:
    """000-32, 000-33."""
    with pytest.raises(ConfigError, match=f"CoverageConfig.{name}"):
        CoverageConfig(**{name: value})  # type: ignore[arg-type]


def test_the_ends_of_the_ranges_are_possible() -> None:
    CoverageConfig(eta=0.0, alpha=0.0, known_enough=0.0, pool=1, unit_tokens=1)
    CoverageConfig(eta=1.0, alpha=1.0, known_enough=1.0)
