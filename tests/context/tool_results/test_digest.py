"""The shelf: lines are kept in the order of their worth, as long as the budget goes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.digest import Lines, Shelf, Task
from gatekeeper_core.context.tool_results.query_match import Asked


def task_of(budget_tokens: int) -> Task:
    return Task(Asked(None), budget_tokens, len, 20)


@given(st.lists(st.text(alphabet="ab 中", max_size=30), min_size=1, max_size=20), st.integers(0, 600), st.randoms())
def test_what_is_kept_stays_within_the_budget_and_in_order(lines: list[str], budget: int, random: object) -> None:
    shelf = Shelf(Lines.whole(lines), task_of(budget))
    kept = [index for index in reversed(range(len(lines))) if shelf.add(index)]
    assert sorted(shelf.kept) == sorted(index + 1 for index in kept)
    if kept and not shelf.is_whole:
        assert len(shelf.text()) <= budget + 40  # one mark may be longer than the estimate of a mark
    if shelf.is_whole:
        assert shelf.text() == "\n".join(lines)


def test_a_line_that_is_kept_costs_nothing_again() -> None:
    shelf = Shelf(Lines.whole(["a", "b"]), task_of(100))
    assert shelf.add(0)
    left = shelf.left
    assert shelf.add(0)
    assert shelf.left == left


def test_a_failure_may_go_over_the_budget_but_not_without_bound() -> None:
    shelf = Shelf(Lines.whole(["x" * 90] * 50), task_of(60))
    kept = sum(shelf.add(index, least_left=shelf.overdraft) for index in range(50))
    assert 0 < kept < 5
