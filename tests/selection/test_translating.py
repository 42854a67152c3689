"""Translations: questions in one language about conversations in the other, or in both."""

from __future__ import annotations

import pytest

from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.expansion import translated_terms
from gatekeeper_core.selection.index import TurnIndex
from tests.case_files import from_file, rows

TALKS = [(name, (question, answer)) for name, question, answer in rows("translating", "talk")]
CHINESE, ENGLISH = (tuple(turn for talk, turn in TALKS if talk == name) for name in ("CHINESE", "ENGLISH"))


def gatekeeper_of(turns: tuple[tuple[str, str], ...]) -> ContextGatekeeper:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(turns)
    return gatekeeper


def translated(query: str, *texts: str) -> dict[str, tuple[tuple[str, ...], float]]:
    index = TurnIndex()
    for text in texts:
        index.add(count_terms(text), {})
    return {term: (own, credit) for term, own, credit in translated_terms(count_terms(query), index)}


def best(turns: tuple[tuple[str, str], ...], query: str) -> int:
    scores = [each.score for each in gatekeeper_of(turns).explain(query).decisions if each.score is not None]
    return max(scores, key=lambda score: score.total).turn_id


@from_file("query", "turn")
def test_a_question_in_english_finds_its_chinese_turn(query: str, turn: int) -> None:
    assert best(CHINESE, query) == turn


@pytest.mark.parametrize(("query", "turn"), [("航班是哪天的", 0), ("洗衣机修好了", 1), ("生日礼物", 2), ("五花肉", 3)])
def test_a_question_in_chinese_finds_its_english_turn(query: str, turn: int) -> None:
    assert best(ENGLISH, query) == turn


@from_file("query", "turns")
def test_a_question_in_both_languages_finds_turns_of_both(query: str, turns: tuple[int, ...]) -> None:
    mixed = (CHINESE[0], ENGLISH[1], CHINESE[2], ENGLISH[3])
    decisions = gatekeeper_of(mixed).explain(query).decisions
    assert {each.turn_id for each in decisions if each.shared or each.related} == {*turns}


def test_the_explanation_names_the_words_of_the_turn() -> None:
    found = gatekeeper_of(CHINESE).explain("Which flight was it?").decision(0)
    assert (found.outcome, found.shared, found.related) == ("kept", (), ("航班",))
    found = gatekeeper_of(ENGLISH).explain("洗衣机").decision(1)
    assert (found.outcome, found.shared, set(found.related)) == ("kept", (), {"washing", "machine"})


def test_a_word_that_the_conversation_does_not_know_counts_most_and_a_rarer_one_less() -> None:
    assert translated("flight", "航班") == {"航班": (("flight",), 0.8)}
    assert translated("flight", "航班", "航班", "flight") == {"航班": (("flight",), 0.4)}
    assert translated("flight", "航班", "flight") == {}


def test_a_chinese_word_stands_for_its_pairs_and_characters_and_two_words_share_its_credit() -> None:
    own = ("洗衣", "衣机", "洗", "衣", "机")
    assert translated("洗衣机", "the washing machine") == {"wash": (own, 0.4), "machin": (own, 0.4)}
    assert translated("洗衣机", "a machine") == {}


def test_of_a_longer_chinese_word_all_pairs_must_be_there_and_the_rarest_counts() -> None:
    assert translated("washing machine", "洗衣机", "洗衣") == {"衣机": (("wash", "machin"), 0.8)}
    assert translated("washing machine", "洗衣") == {}


def test_a_character_counts_half_since_it_may_be_part_of_another_word() -> None:
    assert translated("a cat", "养了一只猫") == {"猫": (("cat",), 0.4)}


def test_of_words_inside_of_each_other_the_longest_is_translated() -> None:
    assert translated("牛奶", "milk from a cow") == {"milk": (("牛奶", "牛", "奶"), 0.8)}
    assert translated("养牛", "milk from a cow") == {"cow": (("牛",), 0.8)}
