"""A term tells more the rarer it is in everyday talk and in its conversation; generic words tell little."""

from __future__ import annotations

import pytest

from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.information import LEAST_INFORMATION, RARE_WORD, information, is_generic, surprise
from tests.case_files import from_file


def index_of(*texts: str) -> TurnIndex:
    index = TurnIndex()
    for text in texts:
        index.add(count_terms(text), {})
    return index


@pytest.mark.parametrize(
    ("telling", "generic"), [("gateway", "week"), ("缓存", "一周"), ("nginx", "first"), ("灵隐", "几天")]
)
def test_a_generic_word_tells_less_than_half_of_a_rare_one(telling: str, generic: str) -> None:
    assert 0 < 2 * surprise(generic) < surprise(telling) <= RARE_WORD + 0.1


@from_file("term", "generic")
def test_a_han_pair_is_generic_by_all_of_its_characters_or_by_a_light_one(term: str, generic: bool) -> None:
    assert is_generic(term) is generic


@pytest.mark.parametrize("common", ["good", "work", "love"])
def test_a_word_of_everyday_talk_tells_less_than_an_unlisted_one(common: str) -> None:
    (term,) = count_terms(common)
    assert surprise(term) < surprise("zanzibar")


@pytest.mark.parametrize(("everywhere", "once"), [("redis", "kafka"), ("缓存", "雪崩"), ("redis", "雪崩")])
def test_what_every_turn_holds_tells_less_than_what_one_holds(everywhere: str, once: str) -> None:
    index = index_of(*(f"{everywhere}。" for _ in range(9)), f"{everywhere} {once}。")
    worth = information([everywhere, once], index)
    assert worth[everywhere] < worth[once]
    assert worth[everywhere] >= 0.2 * surprise(everywhere) - 1e-9


def test_an_empty_conversation_gives_every_term_its_worth() -> None:
    assert information(["redis"], TurnIndex())["redis"] > 0


def test_a_number_alone_is_less_than_the_least_that_a_question_tells() -> None:
    assert sum(information(["two", "day"], index_of("two days")).values()) < LEAST_INFORMATION
