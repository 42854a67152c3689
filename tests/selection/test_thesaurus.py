"""The tables of related words: what they hold, and that they are well formed."""

from __future__ import annotations

import unicodedata

import pytest

from gatekeeper_core.selection.anchors import count_terms, folded
from gatekeeper_core.selection.thesaurus import kinds, simplified_characters, synonyms


def test_synonyms_go_both_ways_and_never_name_the_word_itself() -> None:
    table = synonyms()
    for word, others in table.items():
        assert others
        assert word not in others
        assert all(word in table[other] for other in others)


@pytest.mark.parametrize(
    ("kind", "member"), [("instrument", "guitar"), ("career", "nurse"), ("水果", "苹果"), ("体育", "篮球")]
)
def test_a_kind_has_its_common_members(kind: str, member: str) -> None:
    assert member in kinds()[kind]


def test_every_word_of_the_tables_can_be_found_in_a_text() -> None:
    """A word that gives no term (a function word) would be dead weight."""
    for table in (synonyms(), kinds()):
        words = {*table, *(other for others in table.values() for other in others)}
        assert [word for word in sorted(words) if not count_terms(word)] == []


def test_a_traditional_character_has_one_simplified_form_that_is_simplified_already() -> None:
    table = simplified_characters()
    assert all(len(one) == len(other) == 1 and one != other for one, other in table.items())
    assert not set(table) & set(table.values())
    assert all(unicodedata.category(char) == "Lo" for pair in table.items() for char in pair)


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("訂單與發貨", "订单与发货"),
        ("用Redis做緩存", "用Redis做缓存"),
        ("環境變數設定", "环境变数设定"),
        ("plain text", "plain text"),
    ],
)
def test_both_scripts_give_the_same_terms(traditional: str, simplified: str) -> None:
    assert count_terms(traditional) == count_terms(simplified)
    assert folded(traditional) == folded(simplified)
