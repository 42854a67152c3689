"""The benchmarks' curves: read between their points, compared at equal tokens, drawn the same each time."""

from __future__ import annotations

import pytest

from benchmarks.curves import compare, recall_at

CURVE = [(100.0, 40.0), (400.0, 60.0), (1600.0, 70.0)]


@pytest.mark.parametrize(("tokens", "recall"), [(100, 40.0), (200, 50.0), (400, 60.0), (800, 65.0), (1600, 70.0)])
def test_a_curve_is_read_linearly_in_log_tokens(tokens: float, recall: float) -> None:
    assert recall_at(list(reversed(CURVE)), tokens) == pytest.approx(recall)


def test_the_worst_place_and_the_mean_of_two_crossing_curves_are_found() -> None:
    # The difference falls linearly in log tokens from +4 at 100 to -2 at 10,000: mean +1, worst at the right end.
    result = compare([(100, 4.0), (10_000, 8.0)], [(100, 0.0), (10_000, 10.0)], low=1, high=1e6)
    assert result is not None
    assert result.mean == pytest.approx(1.0)
    assert (result.worst, result.worst_at) == (pytest.approx(-2.0), pytest.approx(10_000))
    assert (result.low, result.high) == (100, 10_000)
