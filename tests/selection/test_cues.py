"""Cues: what the wording of a text says, in tables of what is one and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.cues import ends_with_question, read_cues, without_cues
from tests.case_files import from_file, table

PIECES = ["这个", "其它", "that", " that ", "that's", "it", "换个话题", "back to", "我们聊了", "what have we ", "总结"]
PIECES += ["'", "’", " ", "的", "。", "?", "？", "\n", "Redis", "缓存", "\u200b", "\ud800", "\x00", "ｉｔ", "expand"]
PIECES += ["上面", "summary of our chat"]
any_text = st.one_of(st.text(st.characters(exclude_categories=())), st.lists(st.sampled_from(PIECES)).map("".join))


@pytest.mark.parametrize(("cue", "wording", "text"), table("cues"))
def test_a_wording_is_read_as_its_cue_and_what_only_looks_like_it_is_not(cue: str, wording: str, text: str) -> None:
    """000-22, 000-23, 000-24, 000-52: ``tests/cases/cues.tsv``; any wording is "+", none "-".

    A guarded wording (其它, 这个月, 继续教育, "that" as a conjunction, "it" of the weather) hides no real one.
    """
    found = next(filter(None, (getattr(read_cues(text), name) for name in cue.split(" or "))), None)
    assert found == wording or (wording == "+" and found) or (wording == "-" and found is None)


@from_file("text", "asks")
def test_an_answer_may_end_with_a_question(text: str, asks: bool) -> None:
    """Then the next turn most likely answers it."""
    assert ends_with_question(text) is asks


@from_file("text", "rest")
def test_without_its_cues_a_text_says_what_it_is_about(text: str, rest: str) -> None:
    """In 换个话题 the topic is no anchor."""
    assert without_cues(text).strip() == rest


@given(any_text)
def test_no_text_raises_and_the_same_text_has_the_same_cues(text: str) -> None:
    """Each cue is a wording of the cleaned text, or None."""
    cues = read_cues(text)
    assert cues == read_cues(text)
    assert all(cue is None or cue for cue in cues)
    ends_with_question(text)


@given(any_text)
def test_taking_the_cues_out_leaves_only_what_was_there(text: str) -> None:
    """Nothing is added but spaces."""
    rest = iter(text)
    assert all(char in rest for char in without_cues(text) if char != " ")


@pytest.mark.parametrize(
    "piece", ["that ", "这个", "总结一下的", "what have we ", "'", "is that ", "a" * 50, "to ", "。", "it's "]
)
def test_only_the_beginning_of_a_long_text_is_read(piece: str) -> None:
    """2,000 characters, so that a text of any length takes a bounded time; what comes later is left as it is."""
    long = piece * (2_000_000 // len(piece))
    assert read_cues(long) == read_cues(long[:2_000])
    assert without_cues(long)[-1_900_000:] == long[-1_900_000:]
    assert read_cues("x" * 2_000 + " 换个话题").switch is None
