"""The benchmark of memories measures recall@k of each user's gold memories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.data import Block, MemoryQuery, read_memories
from benchmarks.memory import OURS, ablation_rows, asked, measure, recall_at, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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


def test_the_query_is_the_last_user_turn_alone_or_with_those_before_it() -> None:
    assert asked(QUERIES[0], "last turn") == ("我想再去一次海边",)
    assert asked(QUERIES[0], "with earlier turns") == QUERIES[0].turns


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


def test_each_part_is_switched_off_for_both_variants() -> None:
    rows = ablation_rows(MEMORIES, QUERIES)
    assert len(rows) == 2 * len({row["method"] for row in rows})


def test_memories_and_dialogues_are_read_by_user(tmp_path: Path) -> None:
    memories = [
        {"id": "a", "user": 1, "time": "", "event": "放风筝"},
        {"id": "d", "user": 2, "time": "", "event": "看星星"},
    ]
    context = [["Ming", "你好"], ["Assistant", "你好!"], ["Ming", "风很大"]]
    query = {"id": 0, "user": 1, "context": context, "next": ["Assistant", ""], "gold": ["a"]}
    for name, rows in (("memories", memories), ("queries_dev", [query])):
        path = tmp_path / f"madial_zh_{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    by_user, queries = read_memories(tmp_path)
    assert by_user == {"1": [Block(("a",), "放风筝", "")], "2": [Block(("d",), "看星星", "")]}
    assert queries == [MemoryQuery("1", ("你好", "风很大"), ("a",))]
