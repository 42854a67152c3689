"""The shares of a token budget come out in whole tokens, exactly as specified."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.prompt.budget import BudgetShares, ContextBudget
from gatekeeper_core.errors import ConfigError


def test_the_shares_of_48000_tokens_are_exact() -> None:
    """001-02, 001-06 to 001-12, 001-45 to 001-48, 004-24: 20, 10, 10, 55, 5 and 0 %."""
    assert BudgetShares().of(48_000) == ContextBudget(9600, 4800, 4800, 26_400, 2400, 0)


@given(st.integers(0, 10**9), st.lists(st.integers(0, 166), min_size=6, max_size=6))
def test_shares_never_come_to_more_than_the_budget(total: int, parts: list[int]) -> None:
    shares = BudgetShares(**dict(zip(ContextBudget._fields, parts, strict=True))).of(total)
    assert sum(shares) <= total
    assert all(part * total // 1000 == share for part, share in zip(parts, shares, strict=True))


def test_shares_of_more_than_all_are_refused() -> None:
    with pytest.raises(ConfigError, match="1000 thousandths at most, got 1001"):
        BudgetShares(summary=101)


@pytest.mark.parametrize("value", [-1, 1001])
def test_a_share_outside_its_range_is_refused(value: int) -> None:
    with pytest.raises(ConfigError, match=r"BudgetShares\.reserved"):
        BudgetShares(reserved=value)


def test_a_share_that_is_no_whole_number_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"BudgetShares\.summary"):
        BudgetShares(summary=0.1)  # type: ignore[arg-type]
