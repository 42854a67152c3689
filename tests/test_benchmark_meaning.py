"""The benchmark of meaning measures words alone and with an embedder, each part of it, and what it costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import meaning, meaning_cost
from benchmarks.data import Block, Conversation, MemoryQuery, Question
from benchmarks.everyday import read_everyday
from benchmarks.meaning import (
    MEANING_PARTS,
    WITH_MODEL,
    WORDS,
    ablation_tables,
    everyday_tables,
    locomo_tables,
    memory_tables,
    within_limits,
)
from benchmarks.meaning_cost import DIMENSIONS, cost_tables, drawn_vectors
from benchmarks.selection import BUDGETS, ETAS
from gatekeeper_core.selection import gatekeeper, planner
from gatekeeper_core.selection import meaning as selection_meaning
from gatekeeper_core.tokens import estimate_text_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.everyday import Talk

SUBJECTS = (("puppy", "小狗", "canine"), ("bread", "馍馍", "loaf"), ("flight", "航班", "aeroplane"))


def by_subject(texts: Sequence[str]) -> list[list[float]]:
    """Return vectors that are near each other where texts are about one of the subjects, in whatever words."""
    vectors = drawn_vectors(texts)
    for text, vector in zip(texts, vectors, strict=True):
        for place, words in enumerate(SUBJECTS):
            if any(word in text for word in words):
                vector[place] += 3000.0
    return vectors


TURNS = [
    ("We adopted a puppy called Biscuit.", "How sweet!", "pets"),
    ("How long do I bake bread?", "For 45 minutes.", "food"),
    ("When does my flight to Oslo leave?", "On Friday at nine.", "travel"),
    ("Which film won the prize?", "The one about the lighthouse.", "films"),
]
QUESTIONS = [
    ("paraphrase", "Tell me the canine name", [0]),
    ("cross_lingual", "馍馍多久", [1]),
    ("off_topic", "Is gold heavier than lead?", []),
]
MEMORIES = {
    "1": [Block(("a",), "家里养了小狗", ""), Block(("b",), "自己烤面包", ""), Block(("c",), "看了一场电影", "")]
}
QUERIES = [MemoryQuery("1", ("你好", "my canine"), ("a",))]
CONVERSATION = Conversation(
    "1",
    tuple(Block((str(at),), user, assistant) for at, (user, assistant, _) in enumerate(TURNS)),
    (Question("What is the canine called?", ("0",), 4, "Biscuit"),),
)


@pytest.fixture
def talks(tmp_path: Path) -> list[Talk]:
    row = {
        "id": "mixed-01",
        "lang": "mixed",
        "turns": [{"user": user, "assistant": assistant, "topic": topic} for user, assistant, topic in TURNS],
        "questions": [
            {"after": len(TURNS), "query": query, "kind": kind, "needed": needed, "helpful": []}
            for kind, query, needed in QUESTIONS
        ],
    }
    file = tmp_path / "talks.jsonl"
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return read_everyday(file)


def by_key(rows: list[dict[str, Any]], key: str) -> dict[str, dict[str, Any]]:
    return {row[key]: row for row in rows}


def test_each_kind_of_question_is_asked_by_words_alone_and_with_the_embedder(talks: list[Talk]) -> None:
    tables = everyday_tables(talks, estimate_text_tokens, 300, within_limits(by_subject), peers=False)
    groups = by_key(tables["everyday, minimal"], "group")
    for kind in ("paraphrase", "other language"):
        assert (groups[kind]["needed, words"], groups[kind]["needed, with model"]) == (0.0, 100.0)
    assert groups["off-topic"]["needed, words"] is None
    assert [row["method"] for row in tables["everyday, fill"]] == [WORDS, WITH_MODEL]


def test_both_curves_of_long_conversations_have_each_budget_and_each_eta() -> None:
    tables = locomo_tables([CONVERSATION], estimate_text_tokens, within_limits(by_subject), peers=False)
    for row in tables["LoCoMo, fill"]:
        assert row["mean"] == pytest.approx(sum(row[str(budget)] for budget in BUDGETS) / len(BUDGETS))
    assert len(tables["LoCoMo, minimal"]) == len(ETAS)
    assert all(row["recall, with model"] == 100.0 for row in tables["LoCoMo, minimal"])


def test_memories_are_ranked_by_both_without_the_embedder_and_with_it() -> None:
    rows = memory_tables(MEMORIES, QUERIES, by_subject, peers=False)["memory"]
    last = {row["method"]: row["R@5"] for row in rows if row["query"] == "last turn"}
    assert last[WORDS] == 0.0
    assert last[WITH_MODEL] == 100.0
    assert len(rows) == 2 * len(last) == 8


def test_each_part_of_meaning_is_off_once_and_back_afterwards(talks: list[Talk]) -> None:
    before = (gatekeeper.Meaning, gatekeeper.Planner)
    tables = ablation_tables(talks, [CONVERSATION], MEMORIES, QUERIES, estimate_text_tokens, within_limits(by_subject))
    rows, gains = by_key(tables["ablation"], "part"), by_key(tables["ablation, gain"], "part")
    assert list(rows) == ["everything on", *MEANING_PARTS, "words alone"]
    assert rows["everything on"]["paraphrase"] == 100.0
    for part in ("no candidates by meaning", "no evidence by meaning", "words alone"):
        assert (rows[part]["paraphrase"], gains[part]["paraphrase"]) == (0.0, 100.0), part
    assert rows["no candidates by meaning"]["R@10, last turn"] == 0.0
    assert (gatekeeper.Meaning, gatekeeper.Planner) == before == (selection_meaning.Meaning, planner.Planner)


@pytest.mark.adapters  # numpy comes with LlamaIndex
def test_cost_is_measured_at_each_size_and_the_vectors_are_what_is_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning_cost, "QUICK_SIZES", (30, 60))
    tables = cost_tables(quick=True, model=by_subject)
    assert [(row["turns"], row["call"]) for row in tables["cost, time"]] == [
        (size, call) for size in (30, 60) for call in ("selection", "turn added")
    ]
    for row in tables["cost, size"]:
        assert DIMENSIONS + 4 <= int(row["bytes a turn"]) < int(row["with the encoder's cache"].replace(",", ""))
    assert tables["cost, model"][0]["turns read"] == 60
    assert {*tables} <= {*meaning.TITLES}
