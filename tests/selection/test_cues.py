"""Cues: what the wording of a text says, in tables of what is one and what only looks like one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.data_files import rows
from gatekeeper_core.selection import cues, lexicon
from gatekeeper_core.selection.cues import Cues, ends_with_question, read_cues, without_cues
from tests.case_files import from_file, table

if sys.version_info >= (3, 11):
    from re import _parser as parser
else:
    import sre_parse as parser

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


@pytest.mark.parametrize(
    ("text", "plain"), [("ｉｔ ｗｏｒｋｓ", "it works"), ("刚\u200b才", "刚才"), ("THAT’S wrong", "that's wrong")]
)
def test_full_width_zero_width_and_case_change_nothing(text: str, plain: str) -> None:
    """000-22: cues are read from the cleaned text."""
    assert read_cues(text) == read_cues(plain)


@from_file("text", "asks")
def test_an_answer_may_end_with_a_question(text: str, asks: bool) -> None:
    """Then the next turn most likely answers it."""
    assert ends_with_question(text) is asks


# --- What is left ---------------------------------------------------------------------------------------------------


@from_file("text", "left")
def test_without_its_cues_a_text_says_what_it_is_about(text: str, left: str) -> None:
    """In 换个话题 the topic is no anchor."""
    assert without_cues(text).strip() == left


# --- Any text -------------------------------------------------------------------------------------------------------


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
    left = iter(text)
    assert all(char in left for char in without_cues(text) if char != " ")


@pytest.mark.parametrize("text", ["", "   ", "。", "42"])
def test_a_text_without_wording_has_no_cues(text: str) -> None:
    """Nothing to go by."""
    assert read_cues(text) == Cues()


@pytest.mark.parametrize(
    "piece", ["that ", "这个", "总结一下的", "what have we ", "'", "is that ", "a" * 50, "to ", "。", "it's "]
)
def test_only_the_beginning_of_a_long_text_is_read(piece: str) -> None:
    """2,000 characters, so that a text of any length takes a bounded time; what comes later is left as it is."""
    long = piece * (2_000_000 // len(piece))
    assert read_cues(long) == read_cues(long[:2_000])
    assert without_cues(long)[-1_900_000:] == long[-1_900_000:]
    assert read_cues("x" * 2_000 + " 换个话题").switch is None


GROUPS = sorted({key.removesuffix(" english") for key, _ in rows("cues.tsv") if key.endswith(" english")})


def beginnings(nodes: Sequence[tuple[object, Any]]) -> Iterator[str]:
    """Yield how the matches of a parsed pattern may begin, up to the end of their first word."""
    if not nodes:
        yield ""
        return
    (kind, value), rest = nodes[0], nodes[1:]
    name = str(kind)
    if name in ("LITERAL", "IN"):
        assert all(str(what) == "LITERAL" for what, _ in (value if name == "IN" else ()))
        for char in [chr(value)] if name == "LITERAL" else [chr(code) for _, code in value]:
            if re.match(r"[0-9a-z_']", char):
                yield from (char + more for more in beginnings(rest))
            else:
                yield "" if char.isascii() else char
    elif name == "SUBPATTERN":
        yield from beginnings([*value[3], *rest])
    elif name == "BRANCH":
        for alternative in value[1]:
            yield from beginnings([*alternative, *rest])
    elif name == "MAX_REPEAT":
        assert value[1] == 1, "a wording must not begin with a repetition"
        if value[0] == 0:
            yield from beginnings(rest)
        yield from beginnings([*value[2], *rest])
    else:
        assert name in ("ASSERT", "ASSERT_NOT"), name
        yield from beginnings(rest)


@pytest.mark.parametrize("name", GROUPS)
def test_the_words_that_wordings_begin_with_are_listed_beside_them(name: str) -> None:
    """000-19: what is not listed would never be found; what is listed in vain would cost time."""
    words = lexicon.wordings(name)
    begins = set(beginnings(parser.parse(words.english).data))
    chinese = {word[0] for word in words.chinese}
    assert begins - chinese == set(words.begins) - chinese


@pytest.mark.parametrize("name", GROUPS)
@given(st.data())
def test_a_wording_is_found_where_a_search_of_the_whole_text_finds_it(name: str, data: st.DataObject) -> None:
    """000-19: that most texts are ruled out by how the wordings begin changes nothing."""
    pattern, words = cues._pattern(name), lexicon.wordings(name)
    pieces = sorted(
        {piece for piece in re.split(r"[^\w' ]+", "|".join([*words.chinese, words.english]).replace(" ", "|")) if piece}
    )
    drawn = data.draw(st.lists(st.sampled_from([*pieces, "?", ",", ". ", "'s", "-", "that"]), max_size=40))
    for text in (" ".join(drawn), "".join(drawn)):
        found = [match.span() for match in cues._Search(text).matches(name)]
        assert found == [match.span() for match in pattern.finditer(text)]
