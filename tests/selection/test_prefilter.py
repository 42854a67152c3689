"""The prefilter: what it finds and what it rules out is what the extraction of terms finds, in every script."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.anchors import count_terms, folded
from gatekeeper_core.selection.prefilter import Prefilter, literals
from gatekeeper_core.text import Span, clean, sentences
from tests.case_files import from_file, rows

WRITTEN = rows("prefilter", "a_term_is_not_missed_however_it_is_written")

pieces = st.sampled_from(
    [
        *[text for _, text, _ in WRITTEN],
        *"prune O' 's ies ied tr 的 我们 麼 が ก 第一 5 月 元 百 3.5km 。 - _ . / ' ’ İ ﬁ ŉ".split(" "),  # noqa: SIM905 - as above
        *[" ", " ", ". ", "\n", "\u200b", "\u3000", "\ud800", "\u0301"],
    ]
)
texts = st.lists(pieces, max_size=24).map("".join) | st.text(max_size=60)


@from_file("what", "text", "term")
def test_a_term_is_not_missed_however_it_is_written(what: str, text: str, term: str) -> None:
    assert term in count_terms(text)
    assert Prefilter(text, [term]).may_hold(Span(0, len(text)))


@given(texts)
def test_every_term_of_a_text_leaves_one_of_its_literals(text: str) -> None:
    low = folded(clean(text)).replace("’", "'")
    for term in count_terms(text):
        assert any(literal in low for literal in literals(term))


@given(texts, texts, st.data())
def test_no_sentence_that_holds_a_term_is_ruled_out(text: str, other: str, data: st.DataObject) -> None:
    """The extraction of terms is the second implementation."""
    drawn = sorted({*count_terms(text), *count_terms(other)})
    terms = data.draw(st.lists(st.sampled_from(drawn), max_size=4) if drawn else st.just([]))
    prefilter = Prefilter(text, terms)
    for span in sentences(text):
        if not count_terms(text[span.start : span.stop]).keys().isdisjoint(terms):
            assert prefilter.may_hold(span)
