"""How alike two texts are: a cosine of their terms that reads the same both ways."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.expansion import member_terms, synonym_terms
from gatekeeper_core.selection.index import idf_among
from gatekeeper_core.selection.similarity import KIND_CREDIT, TermVector, related_credits, related_to, text_similarity
from tests.case_files import from_file, rows

words = st.sampled_from(rows("similarity", "word")[0])
texts = st.one_of(st.text(max_size=60), st.lists(words, max_size=12).map(" ".join))


@given(texts, texts)
def test_a_similarity_lies_in_0_to_1_and_reads_the_same_both_ways(first: str, second: str) -> None:
    """001-26, 004-34: the similarity of two texts is a cosine, without a model too."""
    value = text_similarity(first, second)
    assert 0.0 <= value == text_similarity(second, first) <= 1.0


@given(texts)
def test_a_text_is_wholly_like_itself(text: str) -> None:
    """001-26: one and the same text has the similarity 1.0."""
    assert text_similarity(text, text) == 1.0
    if counts := count_terms(text):
        assert TermVector(counts).similarity(counts) == 1.0


@from_file("text", "like", "unlike")
def test_what_shares_rare_words_is_nearer(text: str, like: str, unlike: str) -> None:
    assert text_similarity(text, like) > text_similarity(text, unlike)


@pytest.mark.parametrize(
    ("first", "second"), [("a good film", "a good movie"), ("playing football", "my sport"), ("住酒店", "住宾馆")]
)
def test_related_words_count_a_part(first: str, second: str) -> None:
    assert 0.0 < text_similarity(first, second) < 1.0


@given(st.lists(words, max_size=12), st.lists(words, max_size=12))
def test_related_words_never_pass_what_equal_words_count(first: list[str], second: list[str]) -> None:
    vector = TermVector(count_terms(" ".join(first)))
    counts = count_terms(" ".join(second))
    if set(count_terms(" ".join(first))) != set(counts):
        assert vector.similarity(counts) < 1.0


def test_a_pair_of_related_words_reads_the_same_both_ways() -> None:
    for term in ("film", "sport", "footbal", "football", "水果", "香蕉"):
        for other, credit in related_credits(term).items():
            assert related_credits(other)[term] == credit
    assert related_credits("sport")["tennis"] == KIND_CREDIT


@given(texts, texts)
def test_no_similarity_passes_its_bound(first: str, second: str) -> None:
    vector, counts = TermVector(count_terms(first)), count_terms(second)
    assert vector.similarity(counts) <= vector.at_most(counts.keys()) + 1e-6


def test_the_bound_tells_what_cannot_be_alike() -> None:
    vector = TermVector(count_terms("green tea with milk"))
    assert vector.at_most(["tea"]) < 0.85 < vector.at_most(["green", "tea", "milk"])
    assert TermVector({"trip": 1}).at_most(["journey"]) == 1.0
    assert vector.at_most([]) == TermVector({}).at_most(["tea"]) == 0.0


def test_a_word_is_in_one_pair_at_most() -> None:
    members = dict.fromkeys(member_terms("sport"), 1)
    assert len(members) > 4
    assert TermVector({"sport": 1}).similarity(members) <= KIND_CREDIT


def test_a_word_that_both_texts_hold_is_in_no_pair() -> None:
    other = next(iter(synonym_terms("film")))
    film, cinema = (idf_among(term, documents=1, frequency=1) for term in ("film", other))
    plain = film / math.hypot(film, cinema)
    assert TermVector({"film": 1}).similarity({"film": 1, other: 1}) == pytest.approx(plain, abs=1e-6)


def test_a_word_that_stands_in_every_text_weighs_little() -> None:
    query = count_terms("bart kite")
    common = TermVector(query, documents=100, frequencies={"bart": 100, "kite": 1})
    assert common.similarity(count_terms("bart swims")) < common.similarity(count_terms("a kite flies"))
    assert TermVector(query).similarity(count_terms("bart swims")) > common.similarity(count_terms("bart swims"))


def test_the_weightiest_terms_come_first() -> None:
    vector = TermVector(count_terms("the friend of gatwick"))
    assert vector.terms == ("gatwick", "friend")
    assert TermVector({}).terms == related_to([]) == ()
    assert TermVector({}).similarity({"a": 1}) == TermVector({"a": 1}).similarity({}) == 0.0


@pytest.mark.parametrize("text", ["\ud800 tea", "tea\x00", "\u202etea", "。。。", ""])
def test_any_text_has_a_similarity(text: str) -> None:
    assert 0.0 <= text_similarity(text, "tea") <= 1.0
    assert text_similarity(text, text) == 1.0


def test_a_share_of_a_count_weighs_less_than_one_occurrence() -> None:
    whole, share = TermVector({"kite": 1, "sea": 1}), TermVector({"kite": 0.5, "sea": 1})
    assert share.similarity({"sea": 1}) > whole.similarity({"sea": 1})
