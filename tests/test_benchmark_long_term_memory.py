"""The benchmark of long-term memory measures the search itself, and what a threshold keeps."""

from __future__ import annotations

from benchmarks.data import Block, MemoryQuery
from benchmarks.long_term_memory import OURS, measure, run

MEMORIES = {
    "1": [Block(("a",), "在海边放风筝", ""), Block(("b",), "参加钢琴比赛", ""), Block(("c",), "养了一只乌龟", "")],
    "2": [Block(("d",), "去山上看星星", ""), Block(("e",), "在海边捡贝壳", "")],
}
QUERIES = [
    MemoryQuery("1", ("今天风很大,可以放风筝", "我想再弹一次钢琴"), ("a", "b")),
    MemoryQuery("2", ("我喜欢星星",), ("d",)),
]


def test_recall_is_a_mean_over_dialogues_each_among_its_own_users_memories() -> None:
    # "a" of "a" and "b", then "d" of "d": (0.5 + 1) / 2.
    assert measure(MEMORIES, QUERIES, lambda *_: [0], "last turn") == {"R@5": 75.0, "R@10": 75.0}


def test_each_variant_is_asked_among_the_users_own_memories() -> None:
    """004-17, 004-34: recall of the search itself; the earlier turns find the kite."""
    rows = [row for row in run(MEMORIES, QUERIES, peers=False) if row["method"] == OURS]
    assert [(row["query"], row["R@5"]) for row in rows] == [("last turn", 75.0), ("with earlier turns", 100.0)]
