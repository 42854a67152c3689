from __future__ import annotations

import json
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.calibration import UsageCalibrator
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.token_estimate import TokenEstimator
from tests.case_files import from_file

counts = st.integers(1, 10**9)
reports = st.lists(st.tuples(counts, counts), min_size=1, max_size=20)


def calibrator_of(*pairs: tuple[int, int], window: int = 64, model: str = "m") -> UsageCalibrator:
    calibrator = UsageCalibrator(window=window)
    for estimated, reported in pairs:
        calibrator.observe(model, estimated_tokens=estimated, reported_tokens=reported)
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


@given(reports, st.text(max_size=5), st.integers(1, 30))
def test_what_was_learned_survives_json(pairs: list[tuple[int, int]], model: str, window: int) -> None:
    calibrator = calibrator_of(*pairs, window=window, model=model)
    stored = json.loads(json.dumps(calibrator.to_dict()))
    again = UsageCalibrator.from_dict(stored)
    assert again.to_dict() == calibrator.to_dict()
    assert again.factor(model) == calibrator.factor(model)
    again.observe(model, estimated_tokens=1, reported_tokens=2)
    calibrator.observe(model, estimated_tokens=1, reported_tokens=2)
    assert again.to_dict() == calibrator.to_dict()


GOOD: dict[str, Any] = calibrator_of((100, 120)).to_dict()


@from_file("change")
def test_values_that_cannot_be_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="start a new UsageCalibrator"):
        UsageCalibrator.from_dict({**GOOD, **change})
