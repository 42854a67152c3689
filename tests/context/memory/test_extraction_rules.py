"""What a clause says about who wrote it, in Chinese and English."""

from __future__ import annotations

from functools import partial

import pytest

from gatekeeper_core.context.memory import extraction
from gatekeeper_core.context.memory.extraction import read_clause
from gatekeeper_core.text import LazyPattern
from tests.case_files import from_file
from tests.timing import assert_linear


@from_file("category", "clause")
def test_a_clause_says_something_of_its_category(category: str, clause: str) -> None:
    """004-33: preferences, facts, skills and the project, in Chinese and English."""
    said = read_clause(clause)
    assert said is not None
    assert said.category == category


@from_file("clause")
def test_a_clause_about_something_else_says_nothing(clause: str) -> None:
    assert read_clause(clause) is None


@from_file("first", "second")
def test_two_answers_to_one_question_have_one_key(first: str, second: str) -> None:
    """004-65: a contradiction is told by the key."""
    one, other = read_clause(first), read_clause(second)
    assert one is not None
    assert other is not None
    assert one.key == other.key is not None


@from_file("first", "second")
def test_answers_to_two_questions_have_two_keys(first: str, second: str) -> None:
    one, other = read_clause(first), read_clause(second)
    assert one is not None
    assert other is not None
    assert one.key != other.key


PATTERNS = {name: value for name, value in vars(extraction).items() if isinstance(value, LazyPattern)}


@pytest.mark.parametrize(
    "unit", ["a ", "i really ", "my ", "我", "我们的", "please ", "(", "remember ", "忘掉", "\ud800", ",", "I have "]
)
def test_long_clauses_take_no_longer_than_their_length(unit: str) -> None:
    def read(text: str) -> None:
        read_clause(text)
        read_clause(f"I have {text}")
        read_clause(f"我{text}")
        for pattern in PATTERNS.values():
            pattern.match(text)

    assert_linear(lambda size: partial(read, unit * (size // len(unit))), small=10_000, large=100_000)


@pytest.mark.parametrize("text", ["forget it", "forget about that", "忘了吧", "don't store it"])
def test_to_forget_nothing_is_no_request(text: str) -> None:
    match = extraction._FORGET.match(text)
    assert match is None or extraction._NOTHING_TO_FORGET.match(match[match.lastgroup or 0])
