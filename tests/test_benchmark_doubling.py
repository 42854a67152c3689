"""The benchmark of growth finds the public functions, tells a linear one from a quadratic one, and fails on the latter."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import partial

import pytest

from benchmarks import doubling
from benchmarks.doubling import Case
from gatekeeper_core import GatekeeperError


def work(power: int, rng: random.Random, size: int) -> partial[object]:
    del rng
    return partial(sum, range((size // 10) ** power))


def test_every_public_function_reads_or_refuses_a_short_input_of_each_kind() -> None:
    for case in doubling.cases():
        with suppress(GatekeeperError, ValueError):
            case.make(random.Random(1), 40)()


def test_a_quadratic_function_is_told_from_a_linear_one(monkeypatch: pytest.MonkeyPatch) -> None:
    linear, quadratic = (Case(f"power {power}", "talk", "characters", partial(work, power)) for power in (1, 2))
    monkeypatch.setattr(doubling, "cases", lambda: [linear])
    assert doubling.main(["--limit", "1.5"]) == 0
    monkeypatch.setattr(doubling, "cases", lambda: [quadratic])
    monkeypatch.setattr(doubling, "_REPEATED", 1)
    assert doubling.main(["--limit", "1.2"]) == 1
