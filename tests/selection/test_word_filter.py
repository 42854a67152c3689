"""Words that were added are found again, in either form and from a snapshot."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.word_filter import WordFilter

words = st.lists(st.text("abcdexyz", min_size=4, max_size=9), max_size=40)
others = ["", "abc", "abcd1", "缓存缓存", "\ud800abc", "Ünicode"]


def filter_of(added: list[str]) -> WordFilter:
    made = WordFilter()
    for word in added:
        made.add(word)
    return made


@given(words, words, words)
def test_every_word_that_was_added_is_found_and_no_other(before: list[str], more: list[str], asked: list[str]) -> None:
    """Whether it was added here, before a snapshot or for it; two words of one hash are rare enough to miss here."""
    came_back = WordFilter.from_column(filter_of([]).column([*before, *others]))
    assert came_back.may_hold(asked) == [word for word in asked if word in before]
    put_away = WordFilter.from_column(came_back.column(more))
    assert put_away.may_hold(asked) == [word for word in asked if word in {*before, *more}]
    for word in more:
        came_back.add(word)
    assert came_back.may_hold(asked) == put_away.may_hold(asked)
    assert WordFilter.from_column(came_back.column(asked)).may_hold(asked) == asked


def test_few_words_take_four_bytes_each() -> None:
    column = WordFilter().column(["redis", "cache", "redis", *others])
    assert (column.typecode, len(column)) == ("I", 2)


def test_to_put_words_away_changes_nothing() -> None:
    held = filter_of(["redis"])
    held.column(["cache"])
    assert held.may_hold(["redis", "cache"]) == ["redis"]


@pytest.mark.parametrize("column", [array("I", [1, 1 << 22]), array("B", [0]), array("H", [1])])
def test_what_is_the_column_of_no_word_filter_is_refused(column: array[int]) -> None:
    with pytest.raises(ValueError, match="no word filter"):
        WordFilter.from_column(column)
