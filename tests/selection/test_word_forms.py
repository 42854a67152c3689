"""The forms of words, in English and in either Chinese script: what is one term and what only looks alike."""

from __future__ import annotations

from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.selection.anchors import count_terms, folded, stem
from tests.case_files import from_file


@from_file("form", "other")
def test_the_forms_of_a_word_are_one_term(form: str, other: str) -> None:
    assert stem(form) == stem(other)


@from_file("word", "other")
def test_words_that_look_alike_stay_apart(word: str, other: str) -> None:
    assert stem(word) != stem(other)


def test_won_is_a_word_and_what_it_is_part_of_is_none() -> None:
    assert count_terms("Who won? We've won it; I won\u2019t, he won't.") == {"win": 2}
    assert count_terms("她 won 了比赛，我 won't 去") == count_terms("她 win 了比赛，我 去")


@from_file("query", "text")
def test_a_turn_is_found_by_another_form_of_its_word(query: str, text: str) -> None:
    gatekeeper = ContextGatekeeper()
    for user in (text, "Water the ferns twice a week.", "下午去接孩子"):
        gatekeeper.add_turn(user, "ok")
    assert [each.turn_id for each in gatekeeper.explain(query).decisions if each.score and each.score.matched] == [0]


@from_file("traditional", "simplified")
def test_both_scripts_give_the_same_terms(traditional: str, simplified: str) -> None:
    assert count_terms(traditional) == count_terms(simplified)
    assert folded(traditional) == folded(simplified)


@from_file("what", "text", "term")
def test_a_term_is_not_missed_however_it_is_written(what: str, text: str, term: str) -> None:
    assert term in count_terms(text)
