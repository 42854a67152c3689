from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.calibration import UsageCalibrator
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.token_estimate import TokenEstimator

counts = st.integers(1, 10**9)
reports = st.lists(st.tuples(counts, counts), min_size=1, max_size=20)


def calibrator_of(*pairs: tuple[int, int], window: int = 64) -> UsageCalibrator:
    calibrator = UsageCalibrator(window=window)
    for estimated, reported in pairs:
        calibrator.observe("m", estimated_tokens=estimated, reported_tokens=reported)
    return calibrator


@given(reports, st.integers(1, 30))
def test_the_factor_is_the_median_of_the_latest_ratios_within_limits(pairs: list[tuple[int, int]], window: int) -> None:
    """003-77, 003-95: the real ratio of a model is learned from what its provider reports."""
    ratios = [min(max(reported / estimated, 0.5), 2.0) for estimated, reported in pairs][-window:]
    assert calibrator_of(*pairs, window=window).factor("m") == round(statistics.median(ratios), 4)


@pytest.mark.parametrize("text", ["缓存穿透怎么解决？", "How do I fix the cache?", "用 Redis 做 cache 吗？"])
def test_a_calibrated_estimate_is_multiplied(text: str) -> None:
    base = TokenEstimator("qwen", margin=0.3)
    calibrator = UsageCalibrator(base)
    calibrator.observe("m", estimated_tokens=100, reported_tokens=150)
    assert calibrator.estimator("m") == TokenEstimator("qwen", margin=0.3, factor=1.5)
    assert abs(calibrator.estimator("m")(text * 20) - 1.5 * base(text * 20)) <= 1


def test_only_a_base_without_a_factor_is_calibrated_and_an_empty_report_teaches_nothing() -> None:
    assert calibrator_of((0, 100), (100, 0)).factor("m") == 1.0
    with pytest.raises(ConfigError, match="base must have factor 1"):
        UsageCalibrator(TokenEstimator(factor=1.5))
