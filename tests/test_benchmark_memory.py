"""The benchmark of memories measures recall@k of each user's gold memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.data import Block, MemoryQuery
from benchmarks.memory import OURS, measure, recall_at, run

if TYPE_CHECKING:
    from collections.abc import Sequence

MEMORIES = {
    "1": [Block(("a",), "在海边放风筝", ""), Block(("b",), "参加钢琴比赛", ""), Block(("c",), "养了一只乌龟", "")],
    "2": [Block(("d",), "去山上看星星", ""), Block(("e",), "在海边捡贝壳", "")],
}
QUERIES = [
    MemoryQuery("1", ("今天风很大,可以放风筝", "我想再去一次海边"), ("a", "b")),
    MemoryQuery("2", ("我喜欢星星",), ("d",)),
]


@pytest.mark.parametrize(
    ("ranked", "depth", "share"),
    [(["x", "a", "b"], 2, 0.5), (["x", "a", "b"], 3, 1.0), (["x"], 5, 0.0), ([], 5, 0.0), (["a"], 1, 0.5)],
)
def test_recall_at_k_is_the_share_of_gold_among_the_first_k(ranked: list[str], depth: int, share: float) -> None:
    assert recall_at(ranked, ["a", "b"], depth) == share


def test_recall_is_a_mean_over_dialogues_each_among_its_own_users_memories() -> None:
    def first(_turns: Sequence[str], _query: MemoryQuery) -> list[int]:
        return [0]

    # "a" of "a" and "b", then "d" of "d": (0.5 + 1) / 2.
    row = measure(MEMORIES, QUERIES, {"1": first, "2": first}, "last turn")
    assert row == {"R@5": 75.0, "R@10": 75.0}


def test_every_method_has_a_row_for_each_variant() -> None:
    rows = run(MEMORIES, QUERIES, peers=True)
    ours = [row for row in rows if row["method"] == OURS]
    assert [row["query"] for row in ours] == ["last turn", "with earlier turns"]
    best = [row for row in rows if row["method"] == "oracle"]
    assert {row["R@5"] for row in best} == {100.0}
