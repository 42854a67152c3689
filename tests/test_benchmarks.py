"""The benchmarks measure what they say: reading, budgets, recall, and a corpus that is the same for everyone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.corpus import generate_questions, generate_turns
from benchmarks.data import Block, Question, read_locomo
from benchmarks.selection import Tally, counter, measure_ours, measure_ranking, oracle, take_in_order
from gatekeeper_core import GatekeeperConfig, estimate_text_tokens

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


def test_questions_without_an_answer_or_known_evidence_are_left_out(locomo: Path) -> None:
    (conversation,) = read_locomo(locomo)
    assert conversation.questions == (Question("What is the puppy called?", ("D1:1",), 4),)


def test_blocks_are_taken_in_order_and_what_does_not_fit_is_passed_over() -> None:
    assert take_in_order([2, 0, 1], [30, 50, 60], 100) == ([2, 0], 90)


def test_recall_and_all_hit_are_means_over_questions() -> None:
    tally = Tally()
    tally.add(("a", "b"), {"a"}, 100)
    tally.add(("c",), {"c"}, 300)
    assert tally.row() == {"recall": 75.0, "all-hit": 50.0, "tokens": 200.0}


def test_the_gatekeeper_and_the_oracle_find_the_evidence_within_the_budget(locomo: Path) -> None:
    conversations = read_locomo(locomo)
    ours = measure_ours(conversations, GatekeeperConfig(mode="fill"), (20,), estimate_text_tokens)[20].row()
    best = measure_ranking(conversations, oracle, estimate_text_tokens)[250].row()
    assert (ours["recall"], best["recall"]) == (100.0, 100.0)
    assert ours["tokens"] <= 20


def test_nothing_is_selected_where_the_budget_is_too_small(locomo: Path) -> None:
    ours = measure_ours(read_locomo(locomo), GatekeeperConfig(), (1,), estimate_text_tokens)[1].row()
    assert ours == {"recall": 0.0, "all-hit": 0.0, "tokens": 0.0}


def test_the_generated_corpus_is_the_same_for_the_same_seed_and_grows_at_its_end() -> None:
    turns = generate_turns(60, seed=7)
    assert generate_turns(60, seed=7) == turns
    assert generate_turns(90, seed=7)[:60] == turns
    assert generate_turns(60, seed=8) != turns
    assert generate_questions(turns, 5, seed=7) == generate_questions(turns, 5, seed=7)


def test_the_generated_corpus_holds_both_languages_and_identifiers() -> None:
    text = " ".join(f"{turn.user} {turn.assistant}" for turn in generate_turns(200, seed=7))
    assert "job_" in text
    assert any("\u4e00" <= char <= "\u9fff" for char in text)
    assert " the " in text


def test_the_exact_counter_asks_for_its_tables_instead_of_fetching_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    with pytest.raises(SystemExit, match="nothing is downloaded"):
        counter("cl100k")
