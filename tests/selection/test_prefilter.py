"""The prefilter: what it finds and what it rules out is what the extraction of terms finds, in every script."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.anchors import MAX_TURN_ANCHORS, count_terms, folded, stem
from gatekeeper_core.selection.lexicon import family_heads, irregular_forms
from gatekeeper_core.selection.prefilter import Prefilter, literals
from gatekeeper_core.text import Span, clean, sentences
from tests.case_files import from_file, rows
from tests.timing import assert_linear

WRITTEN = rows("prefilter", "a_term_is_not_missed_however_it_is_written")

pieces = st.sampled_from(
    [
        *[text for _, text, _ in WRITTEN],
        *"prune O' 's ies ied tr 的 我们 麼 が ก 第一 5 月 元 百 3.5km 。 - _ . / ' ’ İ ﬁ ŉ".split(" "),  # noqa: SIM905 - as above
        *[" ", " ", ". ", "\n", "\u200b", "\u3000", "\ud800", "\u0301"],
    ]
)
texts = st.lists(pieces, max_size=24).map("".join) | st.text(max_size=60)


def holds(text: str, *terms: str) -> bool | None:
    return Prefilter(text, terms).holds(Span(0, len(text)))


@from_file("what", "text", "term")
def test_a_term_is_not_missed_however_it_is_written(what: str, text: str, term: str) -> None:
    assert term in count_terms(text)
    assert not Prefilter(text, [term]).empty
    assert holds(text, term) is not False


def test_a_word_is_not_missed_in_any_of_its_forms() -> None:
    forms = [*irregular_forms(), *family_heads(), "organizing", "organises", "analysed", "analyzes"]
    wrong = [
        form
        for form in forms  # "became" is a stop word
        if holds(f"they {form} it", stem(form)) is not (True if stem(form) in count_terms(form) else None)
    ]
    assert wrong == []


@given(texts)
def test_every_term_of_a_text_leaves_one_of_its_literals(text: str) -> None:
    low = folded(clean(text)).replace("’", "'")
    for term in count_terms(text):
        assert any(literal in low for literal in literals(term))


@given(texts, texts, st.data())
def test_what_is_said_of_a_sentence_is_what_its_extraction_says(text: str, other: str, data: st.DataObject) -> None:
    known = sorted({*count_terms(text), *count_terms(other)})
    terms = data.draw(st.lists(st.sampled_from(known), max_size=4) if known else st.just([]))
    prefilter = Prefilter(text, terms)
    for span in sentences(text):
        held = count_terms(text[span.start : span.stop])
        told, truth = prefilter.holds(span), any(term in held for term in terms)
        assert told is None or told == truth
        assert not (prefilter.empty and truth)


def test_a_pair_and_a_word_between_spaces_need_no_extraction() -> None:
    assert holds("我们用缓存", "缓存") is True
    assert holds("We cache it.", "cach") is True
    assert holds("We prune it.", "run") is None
    assert holds("We keep it.", "run") is False


def test_two_letters_and_a_single_character_are_no_pair() -> None:
    assert holds("a taxicab", "ab") is None
    assert holds("カメラ", "メ") is None


def test_one_of_several_terms_is_enough() -> None:
    assert holds("We cache it.", "redis", "缓存", "cach") is True
    assert holds("We cache it.") is False


def test_a_stretch_that_may_hold_more_terms_than_are_kept_proves_nothing() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + MAX_TURN_ANCHORS + 100))) + "缓存"
    assert "缓存" not in count_terms(text)
    assert holds(text, "缓存") is None


def test_only_what_stands_in_the_stretch_counts() -> None:
    text = "缓存. Redis runs."
    prefilter = Prefilter(text, ["缓存", "run"])
    assert [prefilter.holds(span) for span in sentences(text)] == [True, True]
    assert prefilter.holds(Span(4, 9)) is False
    assert prefilter.holds(Span(1, 3)) is False


@pytest.mark.parametrize("before", ["\u200b" * 9, "ß" * 9, "\u200bß" * 9])
def test_what_cleaning_and_folding_move_is_found_in_its_own_stretch(before: str) -> None:
    text = f"{before}. Redis runs. 我们用缓存。 O’Brien."
    for at, term in enumerate(("run", "缓存", "obrien"), start=1):
        prefilter = Prefilter(text, [term])
        assert [prefilter.holds(span) is False for span in sentences(text)] == [at != place for place in range(4)]


@pytest.mark.parametrize("unit", ["run. ", "prune. ", "缓存。", "O'", "ß. ", "\u200b。", "5月3日。", "x" * 200 + ". "])
def test_a_long_text_is_searched_in_linear_time(unit: str) -> None:
    terms = ["run", "缓存", "obrien", "@05-03", "#60元", *(f"word{at}" for at in range(200))]

    def searched(text: str) -> None:
        prefilter = Prefilter(text, terms)
        for span in sentences(text):
            prefilter.holds(span)

    assert_linear(lambda size: partial(searched, unit * (size // len(unit))), small=10_000, large=40_000)
