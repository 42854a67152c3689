"""The generated conversation: the same for the same seed, growing at its end, with the words and lengths of real talk."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import islice, pairwise

import pytest

from benchmarks.corpus import Vocabulary, generate_questions, generate_turns, stream_turns, vocabularies
from benchmarks.peers import terms
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.retrieval import read_query

SEED = 7
TURNS = generate_turns(2_000, seed=SEED)


def _terms(language: str) -> list[str]:
    return [term for turn in TURNS if turn.language == language for term in terms(f"{turn.user} {turn.assistant}")]


def test_the_same_seed_gives_the_same_turns_and_another_seed_gives_others() -> None:
    assert generate_turns(60, seed=SEED) == TURNS[:60]
    assert generate_turns(60, seed=8) != TURNS[:60]


def test_a_longer_conversation_begins_like_a_shorter_one_and_can_be_streamed() -> None:
    assert generate_turns(300, seed=SEED)[:100] == generate_turns(100, seed=SEED)
    assert list(islice(stream_turns(seed=SEED), 100)) == TURNS[:100]


def test_what_else_is_drawn_does_not_change_the_conversation() -> None:
    random.seed(1)
    first = generate_turns(20, seed=SEED)
    random.seed(2)
    assert generate_turns(20, seed=SEED) == first


@pytest.mark.parametrize(("language", "low", "high"), [("en", 0.35, 0.55), ("zh", 0.3, 0.5), ("mixed", 0.08, 0.25)])
def test_turns_are_english_chinese_and_mixed(language: str, low: float, high: float) -> None:
    share = sum(turn.language == language for turn in TURNS) / len(TURNS)
    assert low < share < high


def test_an_english_turn_has_the_length_of_a_real_one() -> None:
    english = [turn for turn in TURNS if turn.language == "en"]
    user = sorted(len(turn.user.split()) for turn in english)
    assistant = sorted(len(turn.assistant.split()) for turn in english)
    assert user[0] >= 5
    assert 10 <= user[len(user) // 2] <= 20
    assert user[-1] <= 45  # with a cue and an identifier
    assert 25 <= assistant[len(assistant) // 2] <= 60


def test_some_turns_hold_code_lists_numbers_and_identifiers() -> None:
    answers, questions = "\n".join(t.assistant for t in TURNS), "\n".join(t.user for t in TURNS)
    assert "```python\n" in answers
    assert "\n2. " in answers
    assert "job_" in questions
    assert any(word.isdigit() for word in questions.split())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_follow_the_law_of_zipf(language: str) -> None:
    """The frequency falls with the rank to a power of about one; uniform words would have a slope of 0."""
    counts = sorted(Counter(_terms(language)).values(), reverse=True)
    slope = math.log(counts[9] / counts[999]) / math.log(1000 / 10)
    assert 0.6 < slope < 1.4
    assert counts[-1] == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_new_words_keep_coming(language: str) -> None:
    """Heaps' law: four times the text has between 1.4 and 3.6 times the words; a closed vocabulary would have as many."""
    words = _terms(language)
    growth = len(set(words)) / len(set(words[: len(words) // 4]))
    assert 1.4 < growth < 3.6


@pytest.mark.parametrize("vocabulary", vocabularies())
def test_the_tail_of_the_words_has_no_end(vocabulary: Vocabulary) -> None:
    """Of running text alone, without topics: its rare words grow with the text to a power of about 0.7."""
    drawn = vocabulary.draw(random.Random(SEED), 400_000)
    known = set(vocabulary.body) | vocabulary.glue
    few, many = ({*drawn[:size]} - known for size in (len(drawn) // 8, len(drawn)))
    assert 8**0.5 < len(many) / len(few) < 8**0.9


def test_a_topic_lasts_and_some_come_back() -> None:
    """A name that no other topic has stands in adjacent turns, and of some topics again after others."""
    seen: dict[str, list[int]] = {}
    for at, turn in enumerate(TURNS):
        for word in {word for word in turn.telling if "_" in word and not word.startswith("job_")}:
            seen.setdefault(word, []).append(at)
    often = [places for places in seen.values() if len(places) > 2]
    assert sum(later - earlier <= 3 for places in often for earlier, later in pairwise(places)) > len(often)
    assert sum(places[-1] - places[0] > 40 for places in often) > len(often) / 20


def test_the_telling_words_stand_in_their_turn() -> None:
    for turn in TURNS[:200]:
        assert all(word.lower() in f"{turn.user} {turn.assistant}".lower() for word in (*turn.telling, *turn.common))


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


def test_a_question_about_a_turn_touches_several_hundred_of_a_thousand() -> None:
    """A common word of a question stands in a good part of all turns, as in real talk."""
    turns = TURNS[:1000]
    index = TurnIndex()
    for turn in turns:
        index.add(count_terms(turn.user), count_terms(turn.assistant))
    held = [set(count_terms(turn.user)) | set(count_terms(turn.assistant)) for turn in turns]
    questions = [q for q in generate_questions(turns, len(turns), 40, seed=SEED) if q.kind == "about"]
    asked = [read_query(question.text, index).idf for question in questions]
    touched = [sum(not each.isdisjoint(terms) for each in held) for terms in asked]
    assert 200 < sorted(touched)[len(touched) // 2] < 800
