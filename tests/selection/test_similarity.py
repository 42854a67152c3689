"""How alike two texts are: a cosine of their terms that reads the same both ways."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.expansion import thesaurus
from gatekeeper_core.selection.information import idf_among
from gatekeeper_core.selection.similarity import TermVector
from tests.case_files import rows

words = st.sampled_from(rows("similarity", "word")[0])
texts = st.one_of(st.text(max_size=60), st.lists(words, max_size=12).map(" ".join))


def similarity(first: str, second: str) -> float:
    return TermVector(count_terms(first)).similarity(count_terms(second))


@given(texts, texts)
def test_a_similarity_lies_in_0_to_1_reads_the_same_both_ways_and_keeps_its_bound(first: str, second: str) -> None:
    """001-26, 004-34: the similarity of two texts is a cosine, without a model too."""
    value = similarity(first, second)
    assert 0.0 <= value == similarity(second, first) <= 1.0
    assert value <= TermVector(count_terms(first)).at_most(count_terms(second).keys()) + 1e-6
    assert similarity(first, first) == bool(count_terms(first))


@pytest.mark.parametrize(
    ("first", "second", "credit"), [("film", "movie", 0.3), ("football", "sport", 0.4), ("水果", "香蕉", 0.4)]
)
def test_related_words_count_a_part_the_same_both_ways(first: str, second: str, credit: float) -> None:
    assert 0.0 < similarity(f"a good {first}", f"a good {second}") < 1.0
    assert 0.0 < similarity(first, second) <= credit + 1e-6


@given(st.lists(words, max_size=12), st.lists(words, max_size=12))
def test_related_words_never_pass_what_equal_words_count(first: list[str], second: list[str]) -> None:
    if set(count_terms(" ".join(first))) != set(count_terms(" ".join(second))):
        assert similarity(" ".join(first), " ".join(second)) < 1.0


def test_a_word_is_in_one_pair_at_most_and_in_none_if_both_texts_hold_it() -> None:
    members = dict.fromkeys(thesaurus().members["sport"], 1)
    assert len(members) > 4
    assert TermVector({"sport": 1}).similarity(members) <= 0.4
    other = thesaurus().synonyms["film"][0]
    film, cinema = (idf_among(term, documents=1, frequency=1) for term in ("film", other))
    plain = film / math.hypot(film, cinema)
    assert TermVector({"film": 1}).similarity({"film": 1, other: 1}) == pytest.approx(plain, abs=1e-6)


def test_a_word_that_stands_in_every_text_weighs_little() -> None:
    query = count_terms("bart kite")
    common = TermVector(query, documents=100, frequencies={"bart": 100, "kite": 1})
    assert common.similarity(count_terms("bart swims")) < common.similarity(count_terms("a kite flies"))
    assert TermVector(query).similarity(count_terms("bart swims")) > common.similarity(count_terms("bart swims"))
