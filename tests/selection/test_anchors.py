"""Anchors: what can be looked for again in each script, whole tokens, and that any text gives them in linear time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.anchors import (
    MAX_QUERY_ANCHORS,
    MAX_SCANNED_CHARACTERS,
    MAX_TURN_ANCHORS,
    count_terms,
    extract_anchors,
    has_whole,
    telling_terms,
)
from gatekeeper_core.selection.lexicon import ENGLISH_STOP_WORDS
from tests.case_files import rows, table

INDEXED = {"word", "number", "identifier", "version", "pair", "character"}
INVISIBLE = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u202e", "\u202c", "\u2066", "\u2069"]
PIECES = [piece for group in rows("anchors", "piece") for piece in group]
any_text = st.one_of(st.text(st.characters(exclude_categories=())), st.lists(st.sampled_from(PIECES)).map("".join))
HAN = "缓存命中率雪崩过期"


TERMS = {"identifier", "number", "version"}


@pytest.mark.parametrize(("what", "text", "expected"), table("anchors"))
def test_a_text_has_these_anchors_and_no_others(what: str, text: str, expected: str) -> None:
    """000-11, 000-12, 000-13, 000-27: ``tests/cases/anchors.tsv``.

    Terms, anchors of a kind, terms of full weight, or a phrase that is a whole token of the text or only a part of one.
    """
    if what in ("whole", "part"):
        assert has_whole(expected, text) is (what == "whole")
    else:
        terms = {"terms": list(count_terms(text)), "telling": sorted(telling_terms(text))}
        found = [anchor for anchor in extract_anchors(text) if anchor.kind == what]
        shown = [anchor.term if what in TERMS else anchor.text for anchor in found]
        assert " | ".join(terms.get(what, shown)) == expected


@given(st.text(HAN + "，。、；「」 \n-7aZ.", max_size=40))
def test_the_pairs_of_a_text_are_just_the_neighbours_that_stand_side_by_side(text: str) -> None:
    """000-11: every two neighbouring characters are a pair, every three a triple, and nothing else is."""
    wide = [set(part) <= set(HAN) for part in text]
    pairs = {first + second for (first, a), (second, b) in pairwise(zip(text, wide, strict=True)) if a and b}
    triples = {text[at : at + 3] for at in range(len(text) - 2) if all(wide[at : at + 3])}
    found = extract_anchors(text, limit=10_000)
    assert {anchor.term for anchor in found if anchor.kind == "pair"} == pairs
    assert {anchor.term for anchor in found if anchor.kind == "triple"} == triples


def test_function_words_are_no_anchors() -> None:
    """000-12: the stop list, however it is written."""
    assert count_terms("What would you do with the one that is on it? We'd say: DON'T, it's THEIRS.") == {}
    assert all(count_terms(word) == {} for word in ENGLISH_STOP_WORDS)


# --- Whole tokens ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["Redis 缓存命中率 v1.2.3", "get_user “主从复制” 用Redis做缓存", "キャッシュ 설정 cached"]
)
@given(st.data())
def test_invisible_characters_change_nothing(text: str, data: st.DataObject) -> None:
    """000-12, 000-13: zero-width and bidirectional characters inside a word are not seen."""
    places = data.draw(st.lists(st.tuples(st.integers(0, len(text)), st.sampled_from(INVISIBLE)), max_size=6))
    dirty = text
    for at, invisible in sorted(places, reverse=True):
        dirty = dirty[:at] + invisible + dirty[at:]
    assert extract_anchors(dirty) == extract_anchors(text)
    assert count_terms(dirty) == count_terms(text)


@given(any_text)
def test_the_anchors_of_the_indexed_kinds_are_just_the_counted_terms(text: str) -> None:
    """000-11 to 000-13: what a reader sees and what the index holds are one; no text raises."""
    anchors = [anchor for anchor in extract_anchors(text, limit=100_000) if anchor.kind in INDEXED]
    assert [anchor.term for anchor in anchors] == list(count_terms(text, limit=100_000))
    assert len({anchor.term for anchor in anchors}) == len(anchors)


def test_a_turn_keeps_its_first_terms_up_to_the_cap() -> None:
    """000-13: a flood of anchors is cut, and what was kept is still counted to the end."""
    flood = " ".join(f"item{number}x" for number in range(5_000)) + " item0x"
    terms = count_terms(flood)
    assert len(terms) == MAX_TURN_ANCHORS
    assert terms["item0x"] == 2
    assert "item4999x" not in terms


def test_a_query_keeps_its_first_anchors_up_to_the_cap() -> None:
    """000-13: 100,000 words of a query give 256 anchors."""
    anchors = extract_anchors(" ".join(f"word{number}" for number in range(100_000)))
    assert len(anchors) == MAX_QUERY_ANCHORS
    assert anchors[0].term == "word0"


@pytest.mark.parametrize(
    ("filler", "needle"), [("lorem ", "zanzibar"), ("天地", " zanzibar"), ("用Go写", "，zanzibar")]
)
def test_the_beginning_and_the_end_of_a_long_text_are_read(filler: str, needle: str) -> None:
    """000-13: 100,000 characters of a text are read, a quarter of them from its end; the middle is not."""
    long = filler * MAX_SCANNED_CHARACTERS
    assert "zanzibar" in count_terms(long + needle)
    assert "zanzibar" in count_terms(needle + " " + long)
    assert "zanzibar" not in count_terms(long + needle + " " + long)


@pytest.mark.parametrize("piece", ["x", "1.", "a_", "缓", "-a"])
def test_a_term_is_never_longer_than_120_characters(piece: str) -> None:
    """A token without end does not become a key without end."""
    assert max(map(len, count_terms(piece * 50_000)), default=0) <= 120


ascii_pieces = st.sampled_from(
    ["don't", "--dry-run", "x--y", "v1.2.3", "1,000", "1,2", "getUser", "C++", "a" * 130, "a.b"]
)
ascii_texts = st.lists(ascii_pieces | st.text(st.characters(max_codepoint=127)), max_size=8)


@given(ascii_texts, st.sampled_from([" ", "", "\n", "\x1c", ", "]))
def test_a_text_read_piece_by_piece_has_the_anchors_of_the_whole(pieces: list[str], joiner: str) -> None:
    """000-12, 000-21: plain English text is cut at white space first; beside a sign of another script it is read as one."""
    text = joiner.join(pieces)
    beside = f"{text} \u00b7"
    assert list(count_terms(text).items()) == list(count_terms(beside).items())
    assert extract_anchors(text) == extract_anchors(beside)
