from __future__ import annotations

import pytest

from gatekeeper_core.token_profiles import MARGINS, PROFILES, WEIGHTS


def test_every_family_has_a_margin_that_leaves_most_of_a_budget() -> None:
    """003-23: what is kept free is measured, not a fixed fifth."""
    assert tuple(MARGINS) == PROFILES
    assert all(0 < margin < 0.3 for margin in MARGINS.values())


@pytest.mark.parametrize(
    "name", ["han", "kana", "hangul", "devanagari", "other scripts", "other alphabets", "combining", "emoji", "symbol"]
)
def test_no_script_falls_to_nothing(name: str) -> None:
    assert min(WEIGHTS[name]) >= 0.25


def test_families_that_take_digits_singly_charge_each() -> None:
    digit = dict(zip(PROFILES, WEIGHTS["digit"], strict=True))
    assert min(digit["qwen"], digit["tekken"]) > 0.9 > max(digit["cl100k"], digit["o200k"], digit["llama3"])
