"""The benchmark of needed turns counts what it says: turns sent whole or cut, useless tokens, changes of topic."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.everyday import (
    GROUPS,
    OWN,
    Given,
    Sent,
    Tally,
    ask,
    changes,
    measured,
    methods,
    read_everyday,
)
from gatekeeper_core.tokens import estimate_text_tokens

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.everyday import Talk

TURNS = [
    {"user": "Which port does Redis use here?", "assistant": "Redis listens on port 6380.", "topic": "redis"},
    {"user": "And the timeout?", "assistant": "The timeout of Redis is 30 seconds.", "topic": "redis"},
    {"user": "How long do I bake a sourdough loaf?", "assistant": "Bake it for 45 minutes.", "topic": "bread"},
    {"user": "At which heat?", "assistant": "Bake at 240 degrees.", "topic": "bread"},
]
QUESTIONS = [
    {"after": 1, "query": "And the timeout?", "kind": "elliptical", "needed": [0], "helpful": []},
    {"after": 2, "query": TURNS[2]["user"], "kind": "new_topic_plain", "needed": [], "helpful": []},
    {"after": 3, "query": "At which heat?", "kind": "elliptical", "needed": [2], "helpful": []},
    {
        "after": 4,
        "query": "Redis port?",
        "kind": "return_plain",
        "needed": [0],
        "helpful": [1],
        "alternatives": {"0": [1]},
    },
]


@pytest.fixture
def talks(tmp_path: Path) -> list[Talk]:
    file = tmp_path / "talks.jsonl"
    row = {"id": "en-01", "lang": "en", "turns": TURNS, "questions": QUESTIONS}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return read_everyday(file)


def test_a_turn_that_may_stand_for_a_needed_one_is_a_hit(talks: list[Talk]) -> None:
    question = talks[0].questions[3]
    outcome = measured(question, [Sent(1, "…", 10), Sent(2, "…", 7)], talks[0].blocks)
    assert (outcome.needed, outcome.tokens, outcome.useless) == (1.0, 17, 7)


def test_a_question_that_needs_nothing_has_no_share(talks: list[Talk]) -> None:
    outcome = measured(talks[0].questions[1], [Sent(0, "…", 9)], talks[0].blocks)
    assert (outcome.needed, outcome.words, outcome.useless) == (None, None, 9)


@pytest.mark.parametrize(("part", "words"), [("Redis listens on port 6380.", 1.0), ("Which … here?", 0.0)])
def test_a_cut_turn_holds_its_words_or_not(talks: list[Talk], part: str, words: float) -> None:
    outcome = measured(talks[0].questions[3], [Sent(0, part, 5, trimmed=True)], talks[0].blocks)
    assert (outcome.needed, outcome.words) == (1.0, words)


def test_means_are_taken_over_the_questions_that_need_something(talks: list[Talk]) -> None:
    question, new = talks[0].questions[0], talks[0].questions[1]
    outcomes = [measured(question, [Sent(0, "…", 20)], talks[0].blocks), measured(new, [], talks[0].blocks)]
    row = Tally(outcomes).row()
    assert (row["needed"], row["tokens"], row["tokens, all"], row["nothing"]) == (100.0, 20.0, 10.0, 50.0)


def test_a_change_is_followed_to_the_question_after_it(talks: list[Talk]) -> None:
    everything = list(ask(talks, lambda: Given(estimate_text_tokens, lambda question: range(question.after))))
    needed = list(ask(talks, lambda: Given(estimate_text_tokens, lambda q: [group[0] for group in q.needed])))
    assert changes(everything) == {"changes": 1, "old turn at the change": 100.0, "old turn after it": 100.0}
    assert changes(needed) == {"changes": 1, "old turn at the change": 0.0, "old turn after it": 0.0}


def test_every_method_is_asked_with_the_turns_before_the_question_alone(talks: list[Talk]) -> None:
    for make in methods(estimate_text_tokens, 300, peers=True).values():
        for _, question, outcome in ask(talks, make) if make else ():
            assert all(at < question.after for at in outcome.sent)


def test_our_own_questions_name_turns_before_them_and_all_kinds_occur() -> None:
    talks = read_everyday(OWN)
    for talk in talks:
        for question in talk.questions:
            named = {*question.useful}
            assert all(0 <= at < question.after <= len(talk.blocks) for at in named), (talk.name, question.text)
            assert not question.helpful & {group[0] for group in question.needed}, (talk.name, question.text)
            if question.after < len(talk.blocks):
                assert question.text == talk.blocks[question.after].user
        asked = [question.after for question in talk.questions]
        assert set(range(1, len(talk.blocks) + 1)) == set(asked), talk.name
        assert all(block.user and block.assistant for block in talk.blocks)
    kinds = {question.kind for talk in talks for question in talk.questions}
    assert kinds == {kind for group in GROUPS.values() for kind in group}
    assert [talk.language for talk in talks] == (["zh"] * 3 + ["en"] * 3 + ["mixed"] * 2) * 2


@pytest.mark.parametrize(("arguments", "status"), [(["--own", "--ours-only"], 0), ([], 2)])
def test_our_own_questions_need_no_folder(arguments: list[str], status: int) -> None:
    command = [sys.executable, "-m", "benchmarks.everyday", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == status
    assert ("270 questions to 16 conversations" in ran.stdout) is (status == 0)
    assert ("--data is needed" in ran.stderr) is (status == 2)
