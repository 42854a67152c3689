"""The newest turns that fit: no hole but for turns that no budget of this size could hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.strategies import newest_turns

costs_of_turns = st.lists(st.integers(0, 60), max_size=12)
budgets = st.integers(-5, 150)


@given(costs_of_turns, budgets)
def test_the_window_fits_and_has_no_hole_but_for_turns_that_are_too_large_by_themselves(
    costs: list[int], budget_tokens: int
) -> None:
    kept = newest_turns(costs, budget_tokens=budget_tokens)
    fitting = [turn for turn, cost in enumerate(costs) if cost <= budget_tokens]
    assert list(kept) == fitting[len(fitting) - len(kept) :]
    assert sum(costs[turn] for turn in kept) <= max(0, budget_tokens)
    if len(kept) < len(fitting):
        assert sum(costs[turn] for turn in fitting[len(fitting) - len(kept) - 1 :]) > budget_tokens
