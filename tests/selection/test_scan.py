"""The first look at a conversation: what the budget leaves out, and that the sums do not depend on it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.scan import Bm25, Scan, highest

BM25 = Bm25(user_weight=1.5, assistant_weight=0.7, k1=1.2, b=0.75)
VOCABULARY = ["redis", "quorum", "raft", "缓存", "雪崩", "v1.2"]
Turn = tuple[dict[str, int], dict[str, int]]

fields = st.dictionaries(st.sampled_from(VOCABULARY), st.integers(1, 20), max_size=4)
histories = st.lists(st.tuples(fields, fields), min_size=1, max_size=40)
weights = st.dictionaries(st.sampled_from(VOCABULARY), st.floats(0.01, 12.0), min_size=1)


def index_of(turns: list[Turn]) -> TurnIndex:
    index = TurnIndex()
    for user, assistant in turns:
        index.add(user, assistant)
    return index


def scan(turns: list[Turn], weighted: dict[str, float], budget: int = 10_000) -> Scan:
    return Scan(list(weighted.items()), index_of(turns), bm25=BM25, budget=budget)


@given(histories, weights, st.integers(1, 30))
def test_the_sums_of_a_turn_do_not_depend_on_the_budget(
    turns: list[Turn], weighted: dict[str, float], budget: int
) -> None:
    """Terms that were not read are looked up."""
    every = set(range(len(turns)))
    if any(term in {**user, **assistant} for term in weighted for user, assistant in turns):
        found = scan(turns, weighted, budget).hits(every)
        for turn, hits in scan(turns, weighted).hits(every).items():
            assert found[turn][2] == hits[2]
            assert found[turn][:2] == pytest.approx(hits[:2])


@given(histories, weights, st.integers(1, 30))
def test_the_rarest_term_is_read_whatever_the_budget(
    turns: list[Turn], weighted: dict[str, float], budget: int
) -> None:
    """The newest turns of it, where it has more than the budget."""
    holding = {t: [at for at, turn in enumerate(turns) if t in turn[0] or t in turn[1]] for t in weighted}
    rarest = min(filter(None, holding.values()), key=len, default=[])
    assert {*rarest[-budget:]} <= {*scan(turns, weighted, budget).sums} or any(
        len(others) == len(rarest) for others in holding.values() if others != rarest
    )


def test_a_frequent_term_brings_no_turn_of_its_own_where_the_budget_is_spent() -> None:
    """But it counts in the turns that a rarer one leads to."""
    turns: list[Turn] = [({"redis": 1, "quorum": 1} if at == 7 else {"redis": 1}, {}) for at in range(50)]
    found = scan(turns, {"redis": 1.0, "quorum": 4.0}, budget=20)
    assert list(found.leading(50)) == [7]
    assert found.hits({7})[7][2] == 0b11


@given(histories, weights, st.integers(0, 12))
def test_the_leading_turns_are_those_of_the_highest_sums(
    turns: list[Turn], weighted: dict[str, float], count: int
) -> None:
    """Of equals the newer one."""
    sums = scan(turns, weighted).sums
    best = sorted(sums, key=lambda turn: (-sums[turn], -turn))[:count]
    assert sorted(scan(turns, weighted).leading(count)) == sorted(best)


@given(histories, weights, st.integers(1, 60), st.integers(1, 12))
def test_the_sums_of_the_leading_turns_are_those_of_their_hits_where_length_does_not_count(
    turns: list[Turn], weighted: dict[str, float], budget: int, count: int
) -> None:
    """From all terms, read or looked up; one is for ranking, the other for explaining."""
    even = Scan(list(weighted.items()), index_of(turns), bm25=BM25._replace(b=0.0), budget=budget)
    leading = even.leading(count)
    for turn, (user, assistant, _) in even.hits(leading).items():
        assert leading[turn] == pytest.approx(1.5 * user + 0.7 * assistant)


@given(histories, weights, st.integers(1, 60), st.integers(0, 39))
def test_the_hits_of_one_turn_are_those_that_it_has_among_all(
    turns: list[Turn], weighted: dict[str, float], budget: int, turn: int
) -> None:
    """Of few turns long runs of postings are looked up, of many they are read through."""
    found, at = scan(turns, weighted, budget), turn % len(turns)
    assert found.hits({at})[at] == found.hits(range(len(turns)))[at]


@example([2, 2], 1)
@given(st.lists(st.integers(0, 30)), st.integers(-1, 40))
def test_the_highest_values_are_those_of_a_full_sort(values: list[int], count: int) -> None:
    """Of equals the higher key."""
    keyed = {key: float(value) for key, value in enumerate(values)}
    best = sorted(keyed, key=lambda key: (keyed[key], key), reverse=True)
    assert sorted(highest(keyed, count)) == sorted(best[: max(0, count)])
