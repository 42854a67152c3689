"""The benchmark of growth finds the public functions, tells a linear one from a quadratic one, and fails on the latter."""

from __future__ import annotations

import random
from functools import partial

import pytest

from benchmarks import doubling
from benchmarks.doubling import Case, growth


def work(power: int, rng: random.Random, size: int) -> partial[object]:
    del rng
    return partial(sum, range((size // 10) ** power))


def test_a_quadratic_function_is_told_from_a_linear_one(monkeypatch: pytest.MonkeyPatch) -> None:
    linear, quadratic = (Case(f"power {power}", "talk", "characters", partial(work, power)) for power in (1, 2))
    exponents = [growth(case).exponent or 0 for case in (linear, quadratic)]
    assert exponents[0] < 1.5 < exponents[1]
    monkeypatch.setattr(doubling, "cases", lambda: [quadratic])
    assert doubling.main(["--limit", "1.5"]) == 1
    monkeypatch.setattr(doubling, "cases", lambda: [linear])
    assert doubling.main(["--limit", "1.5"]) == 0
