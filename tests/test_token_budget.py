from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.token_budget import TokenBudgetTracker


def test_the_tracker_gives_tokens_until_the_total_is_reached() -> None:
    """001-63: false and no change beyond the total; categories accumulate."""
    tracker = TokenBudgetTracker(100)
    assert tracker.allocate("历史", 60)
    assert not tracker.allocate("memory", 41)
    assert (tracker.used, tracker.remaining, tracker.breakdown) == (60, 40, {"历史": 60})
    assert tracker.allocate("memory", 30)
    assert tracker.allocate("历史", 10)
    assert (tracker.total, tracker.used, tracker.remaining) == (100, 100, 0)
    assert tracker.breakdown == {"历史": 70, "memory": 30}
    assert not tracker.allocate("memory", 1)
    assert tracker.allocate("memory", 0)


def test_a_category_may_have_a_cap() -> None:
    """004-09, 001-64: the cap counts what the category has already; other categories know only the total."""
    tracker = TokenBudgetTracker(100, caps={"recall": 30})
    assert tracker.allocate("recall", 20)
    assert not tracker.allocate("recall", 11)
    assert tracker.breakdown == {"recall": 20}
    assert tracker.allocate("recall", 10)
    assert tracker.allocate("system", 70)
    assert not tracker.allocate("system", 1)


def test_the_breakdown_is_a_copy() -> None:
    tracker = TokenBudgetTracker(10)
    tracker.breakdown["x"] = 5
    assert tracker.breakdown == {}


def test_caps_are_fixed_when_the_tracker_is_made() -> None:
    caps = {"a": 1}
    tracker = TokenBudgetTracker(10, caps=caps)
    caps["a"] = 10
    assert not tracker.allocate("a", 2)


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


@pytest.mark.parametrize(
    ("argument", "use"),
    [
        ("total", lambda: TokenBudgetTracker(1.5)),  # type: ignore[arg-type]
        ("a category of caps", lambda: TokenBudgetTracker(1, caps={1: 1})),  # type: ignore[dict-item]
        ("category", lambda: TokenBudgetTracker(1).allocate(None, 1)),  # type: ignore[arg-type]
        ("tokens", lambda: TokenBudgetTracker(1).allocate("a", True)),
    ],
)
def test_the_tracker_names_the_argument_of_a_wrong_type(argument: str, use: Any) -> None:
    with pytest.raises(TypeError, match=f"^{argument} must be"):
        use()
