from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.token_budget import TokenBudgetTracker


def test_a_category_may_have_a_cap() -> None:
    """004-09, 001-64: the cap counts what the category has already; other categories know only the total."""
    tracker = TokenBudgetTracker(100, caps={"recall": 30})
    assert tracker.allocate("recall", 20)
    assert not tracker.allocate("recall", 11)
    assert tracker.breakdown == {"recall": 20}
    assert tracker.allocate("recall", 10)
    assert tracker.allocate("system", 70)
    assert not tracker.allocate("system", 1)


@given(st.integers(1, 200), st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 80)), max_size=20))
def test_the_books_always_balance(total: int, wishes: list[tuple[str, int]]) -> None:
    """001-63."""
    tracker = TokenBudgetTracker(total, caps={"a": 50})
    given_away = 0
    for category, tokens in wishes:
        if tracker.allocate(category, tokens):
            given_away += tokens
        assert tracker.used == sum(tracker.breakdown.values()) == given_away <= total
        assert tracker.remaining == total - given_away
        assert tracker.breakdown.get("a", 0) <= 50


def test_the_tracker_refuses_impossible_numbers() -> None:
    """001-63: negative tokens are a ValueError."""
    tracker = TokenBudgetTracker(10)
    with pytest.raises(ValueError, match="tokens must be at least 0, got -1"):
        tracker.allocate("a", -1)
    assert tracker.breakdown == {}
    for total in (0, -5):
        with pytest.raises(ConfigError, match="total must be at least 1"):
            TokenBudgetTracker(total)
    with pytest.raises(ConfigError, match=r"caps\['a'\] must be at least 0, got -1"):
        TokenBudgetTracker(10, caps={"a": -1})
