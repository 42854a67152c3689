"""Words of a text for people to read: whole ones, in every script, and nothing that crosses two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_cli.topics import chinese_words, words_of
from tests.case_files import from_file


@from_file("run", "words")
def test_words_are_whole_and_neither_grammar_nor_units(run: str, words: list[str]) -> None:
    assert [word for word in chinese_words(run) if word in words or not words] == words


@pytest.mark.parametrize(
    ("run", "cut"), [("这次博物馆", "次博"), ("去博物馆看", "物馆"), ("地铁口是", "口是"), ("三个库存", "个库")]
)
def test_no_word_crosses_two(run: str, cut: str) -> None:
    assert cut not in chinese_words(run)


def test_a_decimal_number_and_a_short_form_are_no_words() -> None:
    found = words_of("Ms. Hart wants 1.7 times the dose of 2.14.3", "Ms. Hart's 1.7 is fine, says the FBI.")
    words = {word.text for word in found.values()}
    assert {"Hart", "dose", "FBI"} <= words
    assert not {"Ms", "1.7", "2.14.3", "Hart's"} & words


@given(
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF))
    | st.text("我们的库存扣减接口三个是在博物馆這資料")
)
def test_words_stand_in_the_run_in_their_order(run: str) -> None:
    at = 0
    for word in chinese_words(run):
        assert len(word) > 1
        at = run.index(word, at) + len(word)
