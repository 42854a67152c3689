"""The generated conversation: the same for the same seed, growing at its end, with the words and lengths of real talk."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from benchmarks.corpus import generate_questions, generate_turns, stream_turns
from gatekeeper_core.selection.anchors import count_terms

SEED = 7
TURNS = generate_turns(2_000, seed=SEED)


def test_the_same_seed_gives_the_same_turns_streamed_or_not_and_a_longer_talk_begins_like_a_shorter_one() -> None:
    assert generate_turns(100, seed=SEED) == TURNS[:100] == list(islice(stream_turns(seed=SEED), 100))
    assert generate_turns(60, seed=8) != TURNS[:60]


def test_questions_are_the_same_for_the_same_seed_and_name_their_turn() -> None:
    questions = generate_questions(TURNS, len(TURNS), 50, seed=SEED)
    assert generate_questions(iter(TURNS), len(TURNS), 50, seed=SEED) == questions
    assert Counter(question.kind for question in questions) == {"about": 40, "follow-up": 10}
    assert {question.language for question in questions} == {"en", "zh", "mixed"}
    for question in questions:
        turn = TURNS[question.target]
        held = set(count_terms(turn.user)) | set(count_terms(turn.assistant))
        assert len(held & set(count_terms(question.text))) >= 2
        assert question.kind == "about" or question.target == len(TURNS) - 1
