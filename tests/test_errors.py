"""The error family, and the one check of a settings object's ranges."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper_core.errors import BudgetError, ConfigError, ConstraintLimitError, GatekeeperError, MessageFormatError


@pytest.mark.parametrize("error", [BudgetError, ConfigError, ConstraintLimitError, MessageFormatError])
def test_every_error_belongs_to_the_family_and_is_a_value_error(error: type[Exception]) -> None:
    assert issubclass(error, GatekeeperError)
    assert issubclass(error, ValueError)


@pytest.mark.parametrize(
    ("kind", "advice"),
    [(BudgetError, "raise the limit"), (ConstraintLimitError, "shorten this one")],
)
def test_an_error_of_a_limit_carries_its_numbers_and_says_what_to_do(kind: Any, advice: str) -> None:
    error = kind(needed_tokens=700, available_tokens=512)
    assert (error.needed_tokens, error.available_tokens) == (700, 512)
    assert "700" in str(error)
    assert advice in str(error)
