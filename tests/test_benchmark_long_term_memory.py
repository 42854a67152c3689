"""The benchmark of long-term memory measures the search itself, and what a threshold keeps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from benchmarks.data import Block, MemoryQuery
from benchmarks.long_term_memory import (
    OURS,
    SELECTION,
    THRESHOLDS,
    measure,
    recall_at,
    related_cosine,
    run,
    threshold_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MEMORIES = {
    "1": [Block(("a",), "在海边放风筝", ""), Block(("b",), "参加钢琴比赛", ""), Block(("c",), "养了一只乌龟", "")],
    "2": [Block(("d",), "去山上看星星", ""), Block(("e",), "在海边捡贝壳", "")],
}
QUERIES = [
    MemoryQuery("1", ("今天风很大,可以放风筝", "我想再弹一次钢琴"), ("a", "b")),
    MemoryQuery("2", ("我喜欢星星",), ("d",)),
]


@pytest.mark.parametrize(
    ("ranked", "depth", "share"),
    [(["x", "a", "b"], 2, 0.5), (["x", "a", "b"], 3, 1.0), (["x"], 5, 0.0), ([], 5, 0.0), (["a"], 1, 0.5)],
)
def test_recall_at_k_is_the_share_of_gold_among_the_first_k(ranked: list[str], depth: int, share: float) -> None:
    assert recall_at(ranked, ["a", "b"], depth) == share


def test_recall_is_a_mean_over_dialogues_each_among_its_own_users_memories() -> None:
    # "a" of "a" and "b", then "d" of "d": (0.5 + 1) / 2.
    assert measure(MEMORIES, QUERIES, lambda *_: [0], "last turn") == {"R@5": 75.0, "R@10": 75.0}


def test_peers_the_selection_and_an_oracle_have_their_rows() -> None:
    rows = {(row["method"], row["query"]): row for row in run(MEMORIES, QUERIES, peers=True)}
    assert (SELECTION, "with earlier turns") in rows
    assert rows["oracle", "last turn"]["R@5"] == 100.0


def test_each_variant_is_asked_among_the_users_own_memories() -> None:
    """004-17, 004-34: recall of the search itself; the earlier turns find the kite."""
    rows = [row for row in run(MEMORIES, QUERIES, peers=False) if row["method"] == OURS]
    assert [(row["query"], row["R@5"]) for row in rows] == [("last turn", 75.0), ("with earlier turns", 100.0)]


def test_a_higher_threshold_keeps_less() -> None:
    rows = threshold_rows(MEMORIES, QUERIES, ["再弹一次钢琴", "订一张机票"])
    assert [row["threshold"] for row in rows] == [f"{each:.2f}" for each in THRESHOLDS]
    assert rows[0]["a gold memory found"] == 100.0
    assert rows[0]["unrelated with a hit"] == 50.0
    shares = [row["a gold memory found"] for row in rows]
    assert shares == sorted(shares, reverse=True)


def test_what_counts_as_related_is_what_one_of_ten_others_reaches() -> None:
    def embedder(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, at / 4] if text.startswith("其他") else [0.0, 1.0] for at, text in enumerate(texts)]

    others = [f"其他 {at}" for at in range(20)]
    cosines = sorted(at / 4 / math.hypot(1, at / 4) for at in range(20))
    assert related_cosine(MEMORIES, others, embedder) == pytest.approx(cosines[-2], abs=1e-6)
    assert related_cosine(MEMORIES, [], embedder) is None
