"""The table of translations: that it is in order, and that every word of it can be found in a text."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from gatekeeper_core.selection import translations as module
from gatekeeper_core.selection.anchors import count_terms, folded, stem, term_weight
from gatekeeper_core.selection.information import is_generic
from gatekeeper_core.selection.lexicon import ENGLISH_STOP_WORDS
from gatekeeper_core.selection.translations import translations
from gatekeeper_core.text import HAN

ENTRIES = [" ".join(entry.split()) for entry in module._TABLE.split("|")]
CHINESE = sorted({*chain.from_iterable(translations().values())})


@pytest.mark.parametrize(("english", "chinese"), [("fridge", "冰箱"), ("washing_machine", "洗衣机"), ("cat", "猫")])
def test_everyday_words_are_in_the_table(english: str, chinese: str) -> None:
    assert chinese in translations()[english]


def test_every_entry_has_english_words_a_colon_and_up_to_six_chinese_words() -> None:
    form = re.compile(rf"[a-z]+(_[a-z]+)?( [a-z]+(_[a-z]+)?)*:( [{HAN}]{{1,4}}){{1,6}}")
    assert [entry for entry in ENTRIES if not form.fullmatch(entry)] == []


def test_the_entries_and_the_words_of_each_are_in_order_and_nothing_is_there_twice() -> None:
    assert sorted(ENTRIES) == ENTRIES
    sides = [entry.partition(":")[::2] for entry in ENTRIES]
    assert [words for words, _ in sides if sorted(words.split()) != words.split()] == []
    english = [word for words, _ in sides for word in words.split()]
    assert len(english) == len(set(english)) == len(translations())
    assert [others for others in translations().values() if len(set(others)) < len(others)] == []
    assert len({others for _, others in sides}) == len(sides)


def test_an_english_word_is_one_that_a_text_can_be_searched_for() -> None:
    """Function words are no terms, and generic ones hardly tell one topic from another."""
    words = [(word, word.split("_")) for word in translations()]
    assert [word for word, parts in words if not ENGLISH_STOP_WORDS.isdisjoint(parts)] == []
    assert [word for word, parts in words if len(parts) == 1 and is_generic(stem(word))] == []


def test_a_chinese_word_is_simplified_and_one_that_a_text_can_be_searched_for() -> None:
    assert [word for word in CHINESE if folded(word) != word] == []
    for word in CHINESE:
        pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
        assert not set(pairs) - count_terms(word).keys(), word
    assert [
        word for word in CHINESE if all(map(is_generic, word)) and term_weight(word[:2]) < 1.0 and len(word) < 3
    ] == []
