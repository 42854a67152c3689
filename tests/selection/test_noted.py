"""Words that were noted are found again, in either form and from a snapshot."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.noted import NotedWords

words = st.lists(st.text("abcdexyz", min_size=4, max_size=9), max_size=40)
others = ["", "abc", "abcd1", "缓存缓存", "\ud800abc", "Ünicode"]


def noted_of(noted: list[str]) -> NotedWords:
    made = NotedWords()
    for word in noted:
        made.note(word)
    return made


@given(words, words, words)
def test_every_word_that_was_noted_is_known_and_no_other(before: list[str], more: list[str], asked: list[str]) -> None:
    """Whether it was noted here, before a snapshot or for it; two words of one place are rare enough to miss here."""
    came_back = NotedWords.from_column(noted_of([]).column([*before, *others]))
    assert came_back.may_hold(asked) == [word for word in asked if word in before]
    put_away = NotedWords.from_column(came_back.column(more))
    assert put_away.may_hold(asked) == [word for word in asked if word in {*before, *more}]
    for word in more:
        came_back.note(word)
    assert came_back.may_hold(asked) == put_away.may_hold(asked)
    assert NotedWords.from_column(came_back.column(asked)).may_hold(asked) == asked


def test_few_words_take_four_bytes_each() -> None:
    column = NotedWords().column(["redis", "cache", "redis", *others])
    assert (column.typecode, len(column)) == ("I", 2)


def test_to_put_words_away_changes_nothing() -> None:
    noted = noted_of(["redis"])
    noted.column(["cache"])
    assert noted.may_hold(["redis", "cache"]) == ["redis"]


@pytest.mark.parametrize("column", [array("I", [1, 1 << 22]), array("B", [0]), array("H", [1])])
def test_what_are_no_noted_words_is_refused(column: array[int]) -> None:
    with pytest.raises(ValueError, match="noted"):
        NotedWords.from_column(column)
