"""Intervals against published values and against what they promise."""

from __future__ import annotations

import random

from gatekeeper_eval.statistics import bootstrap_ratio, wilson
from tests.case_files import from_file


@from_file("hits", "total", "low", "high")
def test_wilsons_interval_is_the_published_one(hits: int, total: int, low: float, high: float) -> None:
    """Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3."""
    share = wilson(hits, total)
    assert (round(share.low, 4), round(share.high, 4)) == (low, high)


def test_the_interval_of_nothing_is_everything() -> None:
    assert wilson(0, 0)[:3] == (0.0, 0.0, 1.0)
    assert bootstrap_ratio([])[:3] == (0.0, 0.0, 1.0)
    assert bootstrap_ratio([[(-1, 2)]], lowest=-1.0)[:3] == (-0.5, -1.0, 1.0)


def test_the_bootstrap_is_the_same_for_the_same_seed_and_wider_for_turns_that_depend_on_each_other() -> None:
    draw = random.Random(7)
    single = [(int(draw.random() < 0.5), 1) for _ in range(100)]
    together = [[part] * 10 for part in single[:10]]
    one, other = (bootstrap_ratio(groups, seed=3) for groups in ([[part] for part in single], together))
    assert one == bootstrap_ratio([[part] for part in single], seed=3)
    assert other.high - other.low > 2 * (one.high - one.low)


def test_the_parts_of_few_groups_are_drawn_one_by_one() -> None:
    group = [(1, 1), (0, 1)] * 20
    assert bootstrap_ratio([group]) == bootstrap_ratio([group[:10], group[10:]])
    assert 0.2 < bootstrap_ratio([group]).low < 0.5 < bootstrap_ratio([group]).high < 0.8
