"""How much a sentence tells."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.summary_sentences import is_uncommon, sentence_weight
from tests.case_files import from_file


@from_file("more", "less")
def test_what_is_rare_in_everyday_talk_tells_more(more: str, less: str) -> None:
    assert sentence_weight(more).score > sentence_weight(less).score


@from_file("text", "factor")
def test_who_whom_and_when_make_it_more(text: str, factor: float) -> None:
    assert sentence_weight(text).factor == pytest.approx(factor)


@from_file("text", "terms", "signs", "is_fact")
def test_a_fact_has_two_telling_terms_and_three_with_its_signs(
    text: str, terms: int, signs: int, is_fact: bool
) -> None:
    telling = sentence_weight(text)
    assert (len(telling.weights), telling.signs, telling.is_fact) == (terms, signs, is_fact)


@pytest.mark.parametrize("name", ["Anna: ", "小明："])
def test_the_name_in_front_of_a_message_tells_nothing(name: str) -> None:
    assert sentence_weight(f"{name}trawlers leave harbours").weights == sentence_weight("trawlers leave harbours").weights


@pytest.mark.parametrize("text", ["Hey! How are you?", "Thanks, take care!", "你好，好久不见。", "谢谢，再见！", ""])
def test_courtesies_tell_nothing(text: str) -> None:
    telling = sentence_weight(text)
    assert (telling.score, telling.is_fact, telling.names_something) == (0.0, False, False)
    assert sentence_weight(f"{text} Zenobia!").names_something is (text == ""), "beside a greeting a name is not enough"
    assert sentence_weight(f"{text} Which trawler goes to Svalbard?").names_something


def test_common_words_and_what_no_list_holds() -> None:
    assert [*filter(is_uncommon, ("good", "friend", "知道", "svalbard", "缓存"))] == ["svalbard", "缓存"]


@given(st.text(max_size=200))
def test_any_text_is_weighed_alike_each_time(text: str) -> None:
    telling = sentence_weight(text)
    assert telling == sentence_weight(text)
    assert telling.score >= 0


@pytest.mark.parametrize(
    "piece", ["keep it ", "take ", "last a ", "\ud800", "《", "I ", "年前", "Good to ", "A: ", "：", "have a good "]
)
def test_a_hostile_text_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    sentence_weight(piece * 20_000)
    assert time.process_time() - start < 5
