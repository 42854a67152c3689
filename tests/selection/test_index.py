"""The inverted index: postings, document frequencies, idf with its background share, and taking turns back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.index import BACKGROUND_TURNS, Posting, TurnIndex, unpack

Turn = tuple[dict[str, int], dict[str, int]]

VOCABULARY = ["redis", "shard", "quorum", "good", "friend", "缓存", "雪崩", "酒店", "时间", "v1.2.3", "get_user"]
fields = st.dictionaries(st.sampled_from(VOCABULARY), st.integers(1, 20), max_size=6)
histories = st.lists(st.tuples(fields, fields), max_size=12)


def index_of(turns: list[Turn]) -> TurnIndex:
    index = TurnIndex()
    for user, assistant in turns:
        index.add(user, assistant)
    return index


def read(*turns: tuple[str, str]) -> TurnIndex:
    return index_of([(count_terms(user), count_terms(assistant)) for user, assistant in turns])


def state(index: TurnIndex) -> tuple[object, ...]:
    postings = {term: list(index.postings(term)) for term in VOCABULARY}
    idf = {term: index.idf(term) for term in VOCABULARY}
    lengths = (list(index.user_lengths), list(index.assistant_lengths), index.mean_user_length)
    known = sorted(index.known_words({"redis", "shard", "quorum", "good", "bread"}))
    newest = [list(index.newest_postings(term, 2)) for term in VOCABULARY]
    among = [index.postings_among(term, [0, 2, 5], {0, 2, 5}) for term in VOCABULARY]
    return postings, idf, lengths, index.mean_assistant_length, len(index), known, newest, among


def bm25_idf(turns: float, frequency: float) -> float:
    return math.log(1 + (turns - frequency + 0.5) / (frequency + 0.5))


# --- Postings -------------------------------------------------------------------------------------------------------


def test_a_posting_tells_the_turn_and_the_counts_of_both_sides() -> None:
    """One posting for each turn that holds the term, oldest first."""
    index = index_of([({"redis": 2}, {"redis": 1, "缓存": 3}), ({"雪崩": 1}, {}), ({}, {"redis": 4})])
    assert [unpack(posting) for posting in index.postings("redis")] == [Posting(0, 2, 1), Posting(2, 0, 4)]
    assert [unpack(posting) for posting in index.postings("缓存")] == [Posting(0, 0, 3)]
    assert index.posting("redis", 2) == Posting(2, 0, 4)
    assert index.posting("redis", 1) is None
    assert index.posting("redis", 3) is None


def test_an_unknown_term_has_no_postings() -> None:
    """And looking for it leaves no trace."""
    index = index_of([({"redis": 1}, {})])
    assert list(index.postings("zanzibar")) == []
    assert index.document_frequency("zanzibar") == 0
    assert index.posting("zanzibar", 0) is None


def test_the_document_frequency_counts_turns_not_occurrences() -> None:
    """A turn that holds a term five times on both sides is one document."""
    index = index_of([({"redis": 5}, {"redis": 5}), ({}, {"redis": 1}), ({"缓存": 1}, {})])
    assert index.document_frequency("redis") == 2


@pytest.mark.parametrize("count", [14, 15, 16, 1_000_000])
def test_counts_are_capped_at_fifteen(count: int) -> None:
    """Beyond that BM25 hardly moves, and a flood does not reach the neighbour's bits."""
    index = index_of([({"redis": 1}, {}), ({"缓存": count}, {"缓存": count, "redis": count})])
    assert index.posting("缓存", 1) == Posting(1, min(count, 15), min(count, 15))
    assert index.posting("redis", 1) == Posting(1, 0, min(count, 15))


def test_lengths_count_every_occurrence_of_each_side() -> None:
    """The mean is over all turns, at least 1."""
    index = index_of([({"redis": 40, "缓存": 2}, {}), ({}, {"redis": 3})])
    assert (list(index.user_lengths), list(index.assistant_lengths)) == ([42, 0], [0, 3])
    assert (index.mean_user_length, index.mean_assistant_length) == (21.0, 1.5)
    assert (TurnIndex().mean_user_length, index_of([({}, {})]).mean_assistant_length) == (1.0, 1.0)


@given(histories)
def test_the_postings_are_the_counts_of_the_turns(turns: list[Turn]) -> None:
    """Against a plain reading of the turns, whatever they hold."""
    index = index_of(turns)
    for term in VOCABULARY:
        expected = [
            Posting(turn_id, min(15, user.get(term, 0)), min(15, assistant.get(term, 0)))
            for turn_id, (user, assistant) in enumerate(turns)
            if term in user or term in assistant
        ]
        assert [unpack(posting) for posting in index.postings(term)] == expected
        assert index.document_frequency(term) == len(expected)


# --- idf ------------------------------------------------------------------------------------------------------------


@given(histories)
def test_the_idf_of_an_unlisted_term_is_the_plain_formula_over_the_turns_and_the_background(turns: list[Turn]) -> None:
    """000-14: ``ln(1 + (N - df + 0.5) / (df + 0.5))``, N being the turns and twenty turns of everyday talk."""
    index = index_of(turns)
    for term in ("redis", "shard", "缓存", "v1.2.3"):
        assert term not in background_frequencies()
        frequency = sum(term in user or term in assistant for user, assistant in turns)
        assert index.idf(term) == pytest.approx(bm25_idf(len(turns) + 20, frequency), abs=1e-6)


@given(histories)
def test_a_listed_term_stands_in_its_share_of_the_background_turns(turns: list[Turn]) -> None:
    """000-14: a background turn has 25 terms, and no term is taken to stand in more than 90 % of them."""
    index = index_of(turns)
    for term in ("good", "friend", "酒店", "时间"):
        share = min(0.9, 25 * background_frequencies()[term])
        frequency = sum(term in user or term in assistant for user, assistant in turns) + 20 * share
        assert index.idf(term) == pytest.approx(bm25_idf(len(turns) + 20, frequency), abs=1e-6)
    assert BACKGROUND_TURNS == 20


@pytest.mark.parametrize(
    ("turns", "common", "rare"),
    [
        (
            [
                ("Is Kafka a good broker?", "Kafka is a good choice."),
                ("What is a quorum?", "A majority of the nodes."),
                ("Thanks", "Bye"),
            ],
            "good",
            "kafka",
        ),
        (
            [("缓存雪崩是什么", "缓存在同一时间失效。"), ("换一天说", "好的。"), ("再见", "再见。")],
            "时间",
            "缓存",
        ),
        (
            [("Redis 的电话会议几点", "下午三点。"), ("用 Kafka 吗", "用。"), ("好", "好。")],
            "电话",
            "redis",
        ),
    ],
)
def test_a_common_term_weighs_less_than_a_rare_one_in_a_conversation_of_three_turns(
    turns: list[tuple[str, str]], common: str, rare: str
) -> None:
    """000-14: three turns cannot tell a generic word, the background can."""
    index = read(*turns)
    assert index.document_frequency(rare) == index.document_frequency(common) == 1
    assert index.idf(common) < index.idf(rare)


def test_a_term_that_stands_everywhere_in_the_conversation_loses_its_weight() -> None:
    """000-14: what is generic here is found out here; the idf never falls to 0."""
    index = index_of([({"redis": 1}, {"shard": 1} if turn == 7 else {}) for turn in range(300)])
    assert 0.0 < index.idf("redis") < 0.1 < 4.0 < index.idf("shard") < index.idf("zanzibar")


@given(histories, st.sampled_from([*VOCABULARY, "zanzibar"]))
def test_an_idf_is_positive_and_rounded_to_six_digits(turns: list[Turn], term: str) -> None:
    """000-14: rounded when stored, so that every platform ranks alike."""
    idf = index_of(turns).idf(term)
    assert idf > 0.0
    assert idf == round(idf, 6)


@given(st.lists(st.tuples(fields, fields), min_size=1, max_size=40), st.integers(1, 5), st.floats(0.0, 5.0))
def test_an_idf_that_is_no_less_than_asked_for_is_exact_and_any_other_below(
    turns: list[Turn], live_turns: int, least: float
) -> None:
    """However far packing has come, and whether the term was looked up before or not."""
    index = TurnIndex(live_turns=live_turns)
    for user, assistant in turns:
        index.add(user, assistant)
    sooner = {term: [index.idf(term, least=least), index.document_frequency(term, most=2)] for term in VOCABULARY}
    for term, (idf, frequency) in sooner.items():
        exact = index.idf(term)
        assert idf == exact or max(idf, exact) < least
        assert frequency == index.document_frequency(term) or frequency > 2
        assert index.idf(term, least=least) == idf or exact < least
        assert index.highest_idf([term])[term] >= exact or not index.document_frequency(term)


# --- Taking turns back ----------------------------------------------------------------------------------------------


@given(histories, st.data())
def test_taking_the_newest_turns_back_restores_the_state_before(turns: list[Turn], data: st.DataObject) -> None:
    """000-10: add n and remove k equals built from the first n - k; what is added then is indexed as ever."""
    keep = data.draw(st.integers(0, len(turns)))
    index = index_of(turns)
    for user, assistant in reversed(turns[keep:]):
        index.remove_last({**user, **assistant})
    assert state(index) == state(index_of(turns[:keep]))
    more = data.draw(histories)
    for user, assistant in more:
        index.add(user, assistant)
    assert state(index) == state(index_of(turns[:keep] + more))


def test_the_known_ones_of_some_words_are_found() -> None:
    index = read(("redis reads radish", "缓存 readers v1.2.3 redo"), ("bread", ""))
    assert sorted(index.known_words({"redis", "radis", "bread", "redo", "reads"})) == ["bread", "redis", "redo"]


def test_an_empty_index_has_no_turn_to_take_back() -> None:
    """An error, not a negative length."""
    with pytest.raises(IndexError):
        TurnIndex().remove_last([])


# --- Packing --------------------------------------------------------------------------------------------------------


def packed(turns: list[Turn], live_turns: int) -> TurnIndex:
    """Return an index that packs early, with as much packed as there is time for."""
    index = TurnIndex(live_turns=live_turns)
    for user, assistant in turns:
        index.add(user, assistant)
    return index


long_histories = st.lists(st.tuples(fields, fields), min_size=10, max_size=120)


@given(long_histories, st.integers(1, 7))
def test_packing_changes_no_answer(turns: list[Turn], live_turns: int) -> None:
    assert state(packed(turns, live_turns)) == state(index_of(turns))


@given(long_histories, st.integers(1, 7), st.lists(st.tuples(st.integers(0, 130), st.integers(0, 30)), max_size=4))
def test_taking_turns_back_from_a_packed_index_changes_no_answer(
    turns: list[Turn], live_turns: int, edits: list[tuple[int, int]]
) -> None:
    """Cut back and go on, time and again: what is half packed is not lost and nothing comes back."""
    index, kept = packed(turns, live_turns), list(turns)
    for drop, more in edits:
        for user, assistant in reversed(kept[max(0, len(kept) - drop) :]):
            index.remove_last({**user, **assistant})
        kept = kept[: max(0, len(kept) - drop)]
        for user, assistant in turns[:more]:
            index.add(user, assistant)
        kept += turns[:more]
        assert state(index) == state(index_of(kept))


def test_many_turns_stand_in_few_segments() -> None:
    """Merged by eight: at most seven of each size and what is in the making."""
    index = packed([({f"w{at}": 1, "redis": 1}, {"缓存": 2}) for at in range(3000)], 16)
    assert index.document_frequency("redis") == 3000
    assert index.segment_count <= 7 + 7 + 3
