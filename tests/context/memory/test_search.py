"""A search is bounded and never fails on what a store or an embedder gives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.memory import LongTermMemory, MemoryHits, question_terms
from gatekeeper_core.storage.base import Memory, MemoryRecord, MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore

ANN = MemoryScope("default", "ann")

TALKS = [
    ("english", "I prefer green tea in the morning", "My cat is called Tom", "Which tea shall I buy?"),
    ("chinese", "我早上喜欢喝绿茶", "我的猫叫汤姆", "买哪种绿茶好？"),
    ("mixed", "早上 I prefer 绿茶", "Redis 监听 6380", "推荐一种绿茶 please"),
]
each_script = pytest.mark.parametrize(("liked", "other", "question"), [t[1:] for t in TALKS], ids=[t[0] for t in TALKS])

DIRECTIONS = {"tea": [1.0, 0.0, 0.0], "coffee": [0.9, 0.44, 0.0], "cat": [0.0, 0.0, 1.0]}


def by_word(texts: Any) -> list[list[float]]:
    """An embedder that knows three words."""
    return [next((v for word, v in DIRECTIONS.items() if word in text), [0.0, 1.0, 0.0]) for text in texts]


class Named:
    name = "old"

    def __call__(self, texts: Any) -> list[list[float]]:
        return by_word(texts)


def filled(memory: LongTermMemory, *texts: str) -> LongTermMemory:
    for text in texts:
        memory.add(ANN, text, category="user_preference")
    return memory


def texts_of(hits: MemoryHits) -> list[str]:
    return [hit.memory.text for hit in hits]


@each_script
def test_what_a_question_is_about_is_found_and_the_rest_is_not(liked: str, other: str, question: str) -> None:
    """004-02, 004-17, 004-34, 001-26: the right memory is found by its terms, with a cosine in 0..1."""
    hits = filled(LongTermMemory(InMemoryStore()), liked, other).search(ANN, question)
    assert texts_of(hits) == [liked]
    assert 0.0 < hits[0].similarity <= 1.0
    assert (hits.status, hits.reason, hits[0].kind) == ("sparse", None, "sparse")


def test_at_most_three_hits_the_best_first_and_above_a_measured_threshold() -> None:
    """001-26, 001-69: three hits by default, each at or above the threshold."""
    drinks = ("green tea", "tea with milk", "tea in the garden", "iced tea at noon", "tea for two")
    memory = filled(LongTermMemory(InMemoryStore()), *drinks, "a grey cat")
    hits = memory.search(ANN, "tea in a garden")
    assert len(hits) == 3
    assert hits[0].memory.text == "tea in the garden"
    assert [hit.similarity for hit in hits] == sorted((hit.similarity for hit in hits), reverse=True)
    assert len(memory.search(ANN, "tea in a garden", min_similarity=0.99)) == 1
    assert len(memory.search(ANN, "tea in a garden", limit=9, min_similarity=0)) == 5
    hits = memory.search(ANN, "tea in a garden", limit=9)
    assert [*hits] == [*memory.search(ANN, "tea in a garden", limit=9, min_similarity=0.6)]
    strict = filled(LongTermMemory(InMemoryStore(), min_similarity=0.99), *drinks)
    assert len(strict.search(ANN, "tea in a garden")) == 1


def test_one_category_or_all() -> None:
    """001-25, 004-33: the categories that are asked for; None asks for all four."""
    memory = LongTermMemory(InMemoryStore())
    memory.add(ANN, "green tea", category="user_preference")
    memory.add(ANN, "the tea shop", category="fact")
    assert texts_of(memory.search(ANN, "tea", categories=["fact"])) == ["the tea shop"]
    assert len(memory.search(ANN, "tea")) == 2
    assert not memory.search(ANN, "tea", categories=[])
    assert not memory.search(ANN, "tea", categories=["skill"])


def test_what_was_said_before_counts_for_less() -> None:
    memory = filled(LongTermMemory(InMemoryStore()), "green tea", "a grey cat")
    assert not memory.search(ANN, "and what about it?")
    assert texts_of(memory.search(ANN, "and what about it?", before=["my tea"])) == ["green tea"]
    assert texts_of(memory.search(ANN, "the cat?", before=["my tea"])) == ["a grey cat", "green tea"]
    assert question_terms("cat", ["sea", "cat"]) == {"cat": 1, "sea": pytest.approx(0.81)}
    assert len(question_terms("a b", [f"word{n} other{n}" for n in range(999)])) <= 256


@given(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=40).filter(str.strip), max_size=5))
def test_no_text_fails_a_search_and_each_similarity_lies_in_0_to_1(question: str, remembered: list[str]) -> None:
    """004-34: whatever is asked."""
    memory = filled(LongTermMemory(InMemoryStore()), *remembered)
    for hit in memory.search(ANN, question, min_similarity=0.0, limit=9):
        assert 0.0 < hit.similarity <= 1.0


# --- embedders -------------------------------------------------------------------------------------------------------


def test_embeddings_find_what_shares_no_word() -> None:
    """004-17, 001-26: the cosine of embeddings, from 0.6 up."""
    memory = filled(LongTermMemory(InMemoryStore(), embedder=by_word), "likes tea", "keeps a cat")
    hits = memory.search(ANN, "coffee or not?")
    assert texts_of(hits) == ["likes tea"]
    assert (hits.status, hits[0].kind) == ("dense", "dense")
    assert hits[0].similarity == pytest.approx(0.898, abs=1e-3)
    assert not memory.search(ANN, "coffee or not?", min_similarity=0.95)


def fails(_texts: object) -> Any:
    raise TimeoutError("a model that is down")


@pytest.mark.parametrize(
    ("embedder", "reason"),
    [
        (fails, "error: TimeoutError"),
        (lambda texts: [[math.nan, 0.0, 1.0]], "no_vector"),
        (lambda texts: [], "wrong_count"),
        (lambda texts: [[1.0, 0.0]], "other_dimensions"),
    ],
)
@pytest.mark.parametrize("min_similarity", [None, 0.6])
def test_an_embedder_that_fails_leaves_the_terms(embedder: Any, reason: str, min_similarity: float | None) -> None:
    """004-66: the search goes on with terms and says why; it raises nothing."""
    store = InMemoryStore()
    filled(
        LongTermMemory(store, embedder=by_word),
        "likes green tea in the morning with fresh milk and honey",
        "keeps a cat",
    )
    memory = LongTermMemory(store, embedder=by_word, query_embedder=embedder)
    hits = memory.search(ANN, "which green tea?", min_similarity=min_similarity)
    assert texts_of(hits) == ["likes green tea in the morning with fresh milk and honey"]
    assert (hits.status, hits.reason, hits[0].kind) == ("fallback", reason, "sparse")


@pytest.mark.parametrize(
    ("embedder", "texts", "status", "reason"),
    [
        (Named(), ["likes tea"], "fallback", "stale_vectors"),
        (None, ["likes tea"], "fallback", "no_stored_vectors"),
        (None, [], "dense", None),
    ],
)
def test_a_search_says_why_no_vectors_were_compared(
    embedder: Any, texts: list[str], status: str, reason: str | None
) -> None:
    store = InMemoryStore()
    filled(LongTermMemory(store, embedder=embedder), *texts)
    hits = LongTermMemory(store, embedder=by_word).search(ANN, "tea")
    assert (hits.status, hits.reason, [hit.kind for hit in hits]) == (status, reason, ["sparse"] * len(texts))


def test_words_and_vectors_are_compared_on_one_scale() -> None:
    store = InMemoryStore()
    filled(LongTermMemory(store), "tea, tea and again tea")
    memory = filled(LongTermMemory(store, embedder=by_word), "coffee with milk")
    assert [(hit.memory.text, hit.kind) for hit in memory.search(ANN, "tea")] == [
        ("tea, tea and again tea", "sparse"),
        ("coffee with milk", "dense"),
    ]


@pytest.mark.parametrize(
    ("related", "similarity"), [(None, 0.4), (0.4, 0.6), (0.2, 0.7), (0.8, 0.3)], ids=["unknown", "at", "over", "under"]
)
def test_an_embedder_says_which_cosine_counts_as_related(related: float | None, similarity: float) -> None:
    """001-24, 001-26: 0.6 is a point of the scale, and an embedder without a calibration is taken as it is."""

    def embedder(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "茶" in text else [0.4, math.sqrt(0.84)] for text in texts]

    if related is not None:
        embedder.related_cosine = related  # type: ignore[attr-defined]
    memory = filled(LongTermMemory(InMemoryStore(), embedder=embedder), "likes coffee")
    (hit,) = memory.search(ANN, "喝茶吗？", min_similarity=0)
    assert (hit.similarity, hit.kind) == (pytest.approx(similarity), "dense")
    assert bool(memory.search(ANN, "喝茶吗？")) == (similarity >= 0.6)


def test_a_name_is_found_by_its_words_whatever_the_vectors_say() -> None:
    memory = filled(LongTermMemory(InMemoryStore(), embedder=by_word), "the cat of project kestrel")
    (hit,) = memory.search(ANN, "kestrel 是什么？")
    assert (hit.kind, hit.similarity > 0.6) == ("sparse", True)


# --- stores ----------------------------------------------------------------------------------------------------------


def test_ties_are_broken_by_time_then_place_then_id() -> None:
    def hit(memory_id: str, valid_from: float, seq: int) -> MemoryRecord:
        return MemoryRecord(Memory(memory_id, "tea", "fact", seq=seq, valid_from=valid_from), ("tea",))

    records = [hit("b", 1.0, 3), hit("a", 1.0, 3), hit("c", 1.0, 4), hit("d", 2.0, 0)]
    for order in itertools.permutations(records):
        store = InMemoryStore()
        store.put_memories(ANN, order)
        found = LongTermMemory(store).search(ANN, "tea", limit=9)
        assert [each.memory.id for each in found] == ["d", "c", "a", "b"]
