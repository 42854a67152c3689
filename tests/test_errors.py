"""The error family, and the one check of a settings object's ranges."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gatekeeper_core.errors import (
    BudgetError,
    ConfigError,
    ConstraintLimitError,
    GatekeeperError,
    MessageFormatError,
    check_range,
)


@pytest.mark.parametrize("error", [BudgetError, ConfigError, ConstraintLimitError, MessageFormatError])
def test_every_error_belongs_to_the_family_and_is_a_value_error(error: type[Exception]) -> None:
    assert issubclass(error, GatekeeperError)
    assert issubclass(error, ValueError)


@pytest.mark.parametrize(
    ("kind", "advice"),
    [(BudgetError, "raise the limit"), (ConstraintLimitError, "shorten the value")],
)
def test_an_error_of_a_limit_carries_its_numbers_and_says_what_to_do(kind: Any, advice: str) -> None:
    error = kind(needed_tokens=700, available_tokens=512)
    assert (error.needed_tokens, error.available_tokens) == (700, 512)
    assert "700" in str(error)
    assert advice in str(error)


@pytest.mark.parametrize(("value", "allowed"), [(-0.1, "lie in 0..1"), (1.1, "lie in 0..1"), (float("nan"), "lie in")])
def test_a_number_outside_its_range_is_a_config_error_that_names_it(value: float, allowed: str) -> None:
    with pytest.raises(ConfigError, match=rf"SimpleNamespace\.coverage must {allowed}"):
        check_range(SimpleNamespace(coverage=value), "coverage", low=0, high=1)
