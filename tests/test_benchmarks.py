"""The selection benchmark measures what it says: reading, budgets, peers, recall."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.data import Block, read_locomo
from benchmarks.selection import Tally, messages_sent
from gatekeeper_core import SelectedTurn

if TYPE_CHECKING:
    from pathlib import Path

TURNS = [
    ("D1:1", 1, "Ann", "We adopted a puppy called Biscuit."),
    ("D1:2", 1, "Ben", "How sweet!"),
    ("D1:3", 1, "Ann", "I also started pottery lessons."),
    ("D2:1", 2, "Ben", "My flight to Oslo leaves on Friday."),
    ("D2:2", 2, "Ann", "Have a good trip!"),
]
QUESTIONS = [
    {"question": "What is the puppy called?", "answer": "Biscuit", "evidence": ["D1:1"], "category": 4},
    {"question": "Who sings?", "answer": "", "evidence": ["D1:2"], "category": 5},
    {"question": "No evidence?", "answer": "", "evidence": ["D9:9"], "category": 1},
]


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    turns = [{"id": i, "session": s, "date": "", "speaker": who, "text": text} for i, s, who, text in TURNS]
    path = tmp_path / "locomo.jsonl"
    path.write_text(json.dumps({"conv": "1", "turns": turns, "qa": QUESTIONS}) + "\n", encoding="utf-8")
    return path


def test_a_block_is_two_adjacent_messages_of_one_session(locomo: Path) -> None:
    (conversation,) = read_locomo(locomo)
    assert [block.ids for block in conversation.blocks] == [("D1:1", "D1:2"), ("D1:3",), ("D2:1", "D2:2")]
    assert conversation.blocks[1] == Block(("D1:3",), "Ann: I also started pottery lessons.", "")


def test_recall_and_all_hit_are_means_over_questions() -> None:
    tally = Tally()
    tally.add(("a", "b"), {"a"}, 100)
    tally.add(("c",), (), 300, cut={"c"})
    assert tally.row() == {"recall": 75.0, "all-hit": 50.0, "verbatim": 25.0, "tokens": 200.0}


LONG = Block(("m1", "m2"), "Our dog Biscuit snores. 饼干住在青岛。", "He eats salmon.")


@pytest.mark.parametrize(
    ("user", "answer", "full", "cut"),
    [
        (LONG.user, "Biscuit", {"m1", "m2"}, set()),
        ("Our dog Biscuit snores. …", "Biscuit, the dog", {"m2"}, {"m1"}),
        ("… 饼干住在青岛。", "在青岛", {"m2"}, {"m1"}),
        ("… 饼干住在青岛。", "Biscuit", {"m2"}, set()),
        ("Our dog Biscuit snores. …", "Biscuit 住在青岛", {"m2"}, set()),
        ("Our dog Biscuit snores. …", "a cat", {"m2"}, set()),
        ("Our dog Biscuit snores. …", "", {"m2"}, set()),
    ],
    ids=["whole", "en, kept", "zh, kept", "en, cut away", "mixed, half of it", "other words", "no answer"],
)
def test_a_message_in_part_counts_where_the_words_of_the_answer_are_sent(
    user: str, answer: str, full: set[str], cut: set[str]
) -> None:
    turn = SelectedTurn(0, user, LONG.assistant, 20, trimmed=user != LONG.user)
    assert messages_sent([LONG], [turn], answer) == (full, cut)
