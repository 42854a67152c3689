"""The inverted index: postings, document frequencies, idf with its background share, and taking turns back."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.index import TurnIndex, postings_among
from gatekeeper_core.selection.lexicon import background_frequencies

Turn = tuple[dict[str, int], dict[str, int]]

VOCABULARY = ["redis", "shard", "quorum", "good", "friend", "缓存", "雪崩", "酒店", "时间", "v1.2.3", "get_user"]
fields = st.dictionaries(st.sampled_from(VOCABULARY), st.integers(1, 20), max_size=6)
histories = st.lists(st.tuples(fields, fields), max_size=40)


def index_of(turns: list[Turn]) -> TurnIndex:
    index = TurnIndex()
    for user, assistant in turns:
        index.add(user, assistant)
    return index


def state(index: TurnIndex) -> tuple[object, ...]:
    postings = {term: list(index.postings(term)) for term in VOCABULARY}
    idf = {term: index.idf(term) for term in VOCABULARY}
    return postings, idf, list(index.user_lengths), list(index.assistant_lengths), len(index)


def bm25_idf(turns: float, frequency: float) -> float:
    return math.log(1 + (turns - frequency + 0.5) / (frequency + 0.5))


@given(histories, st.sets(st.integers(0, 45)))
def test_the_index_is_what_a_plain_reading_of_the_turns_gives(turns: list[Turn], some: set[int]) -> None:
    """One posting for each turn that holds a term, oldest first, with both counts, capped at fifteen; lengths are not."""
    index = index_of(turns)
    for term in VOCABULARY:
        expected = [
            turn_id << 8 | min(15, user.get(term, 0)) << 4 | min(15, assistant.get(term, 0))
            for turn_id, (user, assistant) in enumerate(turns)
            if term in user or term in assistant
        ]
        assert list(index.postings(term)) == expected
        assert index.document_frequency(term) == len(expected)
        among = [posting for posting in expected if posting >> 8 in some]
        assert list(postings_among(index.postings(term), sorted(some), some)) == among
    sides = list(zip(*turns, strict=True)) or [(), ()]
    lengths = [[sum(field.values()) for field in side] for side in sides]
    assert [list(index.user_lengths), list(index.assistant_lengths)] == lengths


@given(histories)
def test_the_idf_of_an_unlisted_term_is_the_plain_formula_over_the_turns_and_the_background(turns: list[Turn]) -> None:
    """000-14: ``ln(1 + (N - df + 0.5) / (df + 0.5))``, N being the turns and twenty turns of everyday talk."""
    index = index_of(turns)
    for term in ("redis", "shard", "缓存", "v1.2.3"):
        assert term not in background_frequencies()
        frequency = sum(term in user or term in assistant for user, assistant in turns)
        assert index.idf(term) == round(bm25_idf(len(turns) + 20, frequency), 6) > 0


@given(histories, st.lists(st.tuples(st.integers(0, 45), histories), max_size=3))
def test_taking_the_newest_turns_back_restores_the_state_before(
    turns: list[Turn], edits: list[tuple[int, list[Turn]]]
) -> None:
    """000-10: cut back and go on, time and again: the same as an index of what is left."""
    index, kept = index_of(turns), turns
    for drop, more in edits:
        keep = max(0, len(kept) - drop)
        for user, assistant in reversed(kept[keep:]):
            index.remove_last({**user, **assistant})
        assert state(index) == state(index_of(kept[:keep]))
        for user, assistant in more:
            index.add(user, assistant)
        kept = kept[:keep] + more
        assert state(index) == state(index_of(kept))
