"""The background table: read when it is first needed, shares of everyday talk in two languages, never changed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.lexicon import HAN_PARTICLES


@pytest.mark.parametrize("term", ["good", "friend", "work", "电话", "时间", "酒店"])
def test_a_common_term_is_listed_in_both_languages(term: str) -> None:
    """000-14: the prior that a conversation of three turns cannot have."""
    assert background_frequencies()[term] > 1e-4


@pytest.mark.parametrize("term", ["kubernet", "postgr", "quorum", "雪崩", "分片", "get_user", "v1.2.3"])
def test_a_technical_term_is_not_listed(term: str) -> None:
    """What is not listed counts as rare."""
    assert term not in background_frequencies()


def test_every_value_is_a_share_and_each_language_sums_to_less_than_all_talk() -> None:
    """Relative frequencies, 0..1."""
    table = background_frequencies()
    assert all(0.0 < share < 0.02 for share in table.values())
    assert sum(share for term, share in table.items() if term.isascii()) < 1.0
    assert sum(share for term, share in table.items() if not term.isascii()) < 1.0


def test_both_languages_have_as_many_terms() -> None:
    """1,500 each, English stems and Chinese pairs."""
    english = [term for term in background_frequencies() if term.isascii()]
    chinese = [term for term in background_frequencies() if not term.isascii()]
    assert len(english) == len(chinese) == 1500
    assert {len(term) for term in chinese} == {2}
    assert all(term == term.casefold() for term in english)


def test_particles_and_function_words_are_absent() -> None:
    """000-11, 000-12: they are no anchors, so their frequency is of no use."""
    table = background_frequencies()
    function_words = {
        "the",
        "and",
        "of",
        "to",
        "in",
        "is",
        "are",
        "was",
        "you",
        "it",
        "that",
        "he",
        "she",
        "we",
        "they",
    }
    function_words |= {
        "do",
        "does",
        "did",
        "have",
        "has",
        "be",
        "with",
        "for",
        "on",
        "at",
        "would",
        "could",
        "i'm",
        "don't",
    }
    assert table.keys().isdisjoint(function_words)
    assert [term for term in table if not HAN_PARTICLES.isdisjoint(term)] == []


def test_the_table_cannot_be_changed() -> None:
    """One table for every gatekeeper of the process."""
    with pytest.raises(TypeError):
        background_frequencies()["good"] = 1.0  # type: ignore[index]


def test_the_table_is_read_on_first_use_and_only_once() -> None:
    """Importing the library reads nothing."""
    program = (
        "import gatekeeper_core\n"
        "from gatekeeper_core.selection.background import background_frequencies as table\n"
        "assert table.cache_info().currsize == 0, 'read by the import'\n"
        "assert table() is table()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
