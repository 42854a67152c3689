from __future__ import annotations

import json
import statistics
import threading
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


def test_an_unknown_model_is_taken_as_estimated() -> None:
    assert calibrator_of((100, 150)).factor("another") == 1.0
    assert UsageCalibrator().estimator("m") == TokenEstimator()


@given(reports, st.integers(1, 30))
def test_the_factor_is_the_median_of_the_latest_ratios_within_limits(pairs: list[tuple[int, int]], window: int) -> None:
    """003-77, 003-95: the real ratio of a model is learned from what its provider reports."""
    ratios = [min(max(reported / estimated, 0.5), 2.0) for estimated, reported in pairs][-window:]
    assert calibrator_of(*pairs, window=window).factor("m") == round(statistics.median(ratios), 4)


def test_odd_reports_change_nothing() -> None:
    """A report of a picture, or of a cache that is not counted, is outvoted."""
    assert calibrator_of(*[(100, 110)] * 5, (100, 90_000), (100, 1)).factor("m") == 1.1


@pytest.mark.parametrize("pair", [(0, 10), (10, 0), (0, 0)])
def test_a_count_of_nothing_teaches_nothing(pair: tuple[int, int]) -> None:
    assert calibrator_of(pair).factor("m") == 1.0


@pytest.mark.parametrize("text", ["缓存穿透怎么解决？", "How do I fix the cache?", "用 Redis 做 cache 吗？"])
def test_a_calibrated_estimate_is_multiplied(text: str) -> None:
    base = TokenEstimator("qwen", margin=0.3)
    calibrator = UsageCalibrator(base)
    calibrator.observe("m", estimated_tokens=100, reported_tokens=150)
    assert calibrator.estimator("m") == TokenEstimator("qwen", margin=0.3, factor=1.5)
    assert abs(calibrator.estimator("m")(text * 20) - 1.5 * base(text * 20)) <= 1


def test_models_are_learned_apart() -> None:
    calibrator = calibrator_of((100, 120))
    calibrator.observe("n", estimated_tokens=100, reported_tokens=80)
    assert (calibrator.factor("m"), calibrator.factor("n")) == (1.2, 0.8)


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


def test_a_model_must_have_a_name() -> None:
    with pytest.raises(ConfigError, match="start a new UsageCalibrator"):
        UsageCalibrator.from_dict({**GOOD, "ratios": {3: [1.0]}})


@pytest.mark.parametrize("missing", sorted(GOOD))
def test_values_that_lack_one_are_refused(missing: str) -> None:
    with pytest.raises(ConfigError, match="start a new UsageCalibrator"):
        UsageCalibrator.from_dict({name: value for name, value in GOOD.items() if name != missing})


def test_wrong_types_are_named() -> None:
    with pytest.raises(TypeError, match="base must be a TokenEstimator"):
        UsageCalibrator("o200k")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="base must have the factor 1"):
        UsageCalibrator(TokenEstimator(factor=1.5))
    with pytest.raises(TypeError, match="window must be a whole number"):
        UsageCalibrator(window=1.5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"window must lie in 1\.\.10000"):
        UsageCalibrator(window=0)
    with pytest.raises(TypeError, match="model must be a str"):
        UsageCalibrator().factor(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="reported_tokens must be int"):
        UsageCalibrator().observe("m", estimated_tokens=1, reported_tokens=1.5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="estimated_tokens must be at least 0"):
        UsageCalibrator().observe("m", estimated_tokens=-1, reported_tokens=1)
    with pytest.raises(TypeError, match="data must be a mapping"):
        UsageCalibrator.from_dict([])  # type: ignore[arg-type]


def test_many_threads_may_report_at_once() -> None:
    calibrator = UsageCalibrator(window=10_000)

    def report() -> None:
        for at in range(500):
            calibrator.observe(f"m{at % 5}", estimated_tokens=100, reported_tokens=120)
            calibrator.factor(f"m{at % 5}")

    threads = [threading.Thread(target=report) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(ratios) for ratios in calibrator.to_dict()["ratios"].values()] == [400] * 5
