"""Nearness in meaning, by its formula and against plain second implementations."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.meaning import NEAREST, Asked, Meaning, TurnVectors, excerpt
from gatekeeper_core.vectors import MAX_DIMENSIONS, PackedVector, dot, packed

Vectors = list[PackedVector | None]

EAST, NORTH = packed([1.0, 0.0]), packed([0.0, 1.0])
PRIOR = 20


def of(vectors: Vectors) -> TurnVectors:
    """Return the vectors of turns that came one after another."""
    made = TurnVectors()
    for turn_id, vector in enumerate(vectors):
        made.extend(1)
        if vector:
            made.put(turn_id, vector)
    return made


def asked(vector: PackedVector = EAST, *, mean: float = 0.0, deviation: float = 0.1) -> Asked:
    return Asked("tiny", vector, mean, deviation)


def at(angle: float) -> PackedVector:
    """Return a direction, in degrees from east."""
    return packed([math.cos(math.radians(angle)), math.sin(math.radians(angle))])


def some(count: int, *, seed: int = 0, dimensions: int = 32) -> list[PackedVector]:
    random = Random(seed)
    return [packed([random.gauss(0, 1) for _ in range(dimensions)]) for _ in range(count)]


def by_definition(cosines: list[float], cosine: float, *, mean: float, deviation: float) -> float:
    """Return the strength of a cosine, from the docstring: 20 further values of this mean and deviation."""
    further = [mean - deviation, mean + deviation] * (PRIOR // 2)
    values = cosines + further
    middle = sum(values) / len(values)
    spread = math.sqrt(sum((value - middle) ** 2 for value in values) / len(values))
    return max(0.0, (cosine - middle) / spread / 3)


# --- what is embedded


@pytest.mark.parametrize(
    ("user", "assistant", "read"),
    [
        ("哪个端口？", "6380。", "哪个端口？\n6380。"),
        ("Which port?", "", "Which port?"),
        (" \n", "", ""),
        ("", "Redis 的 port", "Redis 的 port"),
        ("问" * 700, "答" * 700, "问" * 600 + "\n" + "答" * 599),
        ("word " * 500, "", ("word " * 240).strip()),
        ("\ud800", "x" * 5_000, "\ud800\n" + "x" * 1_198),
    ],
)
def test_long_texts_are_read_by_their_beginning(user: str, assistant: str, read: str) -> None:
    assert excerpt(user, assistant) == read


# --- the formula


@pytest.mark.parametrize(("deviations", "strength"), [(0.6, 0.2), (1.5, 0.5), (3.0, 1.0), (4.2, 1.4)])
def test_three_deviations_are_evidence(deviations: float, strength: float) -> None:
    """One turn of cosine 1: the deviation of the unrelated sentences is chosen so that it is so many away."""
    mean = 1 / (PRIOR + 1)
    spread = (PRIOR + 1) * ((1 - mean) / deviations) ** 2 - (1 - mean) ** 2 - PRIOR * mean**2
    meaning = Meaning(asked(deviation=math.sqrt(spread / PRIOR)), of([EAST]))
    assert meaning.strength(0) == pytest.approx(strength, abs=2e-6)
    assert meaning.cosine(0) == 1.0


@given(
    st.lists(st.integers(0, 360), min_size=1, max_size=80),
    st.floats(-0.5, 0.5, allow_nan=False),
    st.floats(0.01, 0.5, allow_nan=False),
)
def test_strengths_are_those_of_the_definition(angles: list[int], mean: float, deviation: float) -> None:
    vectors = [at(angle) for angle in angles]
    meaning = Meaning(asked(mean=mean, deviation=deviation), of([*vectors]))
    cosines = [dot(vector, EAST) for vector in vectors]
    for turn_id, cosine in enumerate(cosines):
        expected = by_definition(cosines, cosine, mean=mean, deviation=deviation)
        assert meaning.strength(turn_id) == pytest.approx(expected, abs=2e-6)
    near = [turn_id for turn_id in range(len(angles)) if meaning.strength(turn_id) > 0]
    assert list(meaning.nearest) == sorted(near, key=lambda t: (-meaning.strength(t), -t))[:NEAREST]


@pytest.mark.parametrize("count", [1, 5, 200])
def test_where_all_is_alike_nothing_is_near(count: int) -> None:
    meaning = Meaning(asked(mean=1.0, deviation=0.0), of([EAST] * count))
    assert (meaning.nearest, meaning.missed, meaning.cosine(0)) == ((), "", 1.0)
    assert meaning.strength(0) == 0.0


def test_turns_without_vectors_are_neither_near_nor_counted() -> None:
    with_gaps, alone = Meaning(asked(), of([None, at(20), None, at(100)])), Meaning(asked(), of([at(20), at(100)]))
    assert [with_gaps.cosine(turn_id) for turn_id in range(4)] == [None, alone.cosine(0), None, alone.cosine(1)]
    assert (with_gaps.strength(1), with_gaps.strength(0)) == (alone.strength(0), 0.0)
    assert with_gaps.nearest == (1,)


@pytest.mark.parametrize("vectors", [[], [None], [None] * 200, [packed([1.0, 0.0, 0.0])] * 3])
def test_without_any_vector_to_compare_it_says_so(vectors: Vectors) -> None:
    """Also where the turns have vectors of another dimension than the question."""
    meaning = Meaning(asked(), of(vectors))
    assert (meaning.missed, meaning.nearest, meaning.embedder) == ("no_vectors", (), "tiny")
    assert [meaning.strength(turn_id) for turn_id in range(len(vectors))] == [0.0] * len(vectors)


def test_a_question_without_a_vector_says_why() -> None:
    meaning = Meaning(Asked("tiny", missed="late"), of([EAST]))
    assert (meaning.missed, meaning.nearest, meaning.cosine(0), meaning.strength(0)) == ("late", (), None, 0.0)


# --- long conversations


@pytest.mark.parametrize("count", [40, 80, 200])
def test_at_most_forty_are_near_and_of_equals_the_newer(count: int) -> None:
    vectors: Vectors = [EAST] * count
    meaning = Meaning(asked(), of(vectors + [at(180)] * 2 * count))
    assert meaning.nearest == tuple(range(count - 1, count - 41, -1))
    assert (meaning.cosine(count - 1), meaning.cosine(3 * count - 1)) == (1.0, -1.0)


# --- the columns


@given(st.integers(1, 600), st.integers(0, 2**32))
def test_a_cosine_is_the_dot_product_to_the_digit(dimensions: int, seed: int) -> None:
    """The way by the distance loses nothing."""
    first, second = some(2, seed=seed, dimensions=dimensions)
    assert of([first, None, second]).cosines(second) == [dot(first, second), None, 1.0]


def test_the_largest_vectors_lose_nothing_either() -> None:
    one, other = packed([1.0] * MAX_DIMENSIONS), packed([1.0, -1.0] * (MAX_DIMENSIONS // 2))
    third = packed([-1.0] * (MAX_DIMENSIONS - 1) + [1.0])
    assert of([one, other, third]).cosines(one) == [1.0, 0.0, dot(one, third)]


@given(st.lists(st.none() | st.integers(0, 360), max_size=20), st.integers(0, 20), st.lists(st.integers(0, 360)))
def test_vectors_that_were_cut_back_grow_as_if_nothing_had_been(
    angles: list[int | None], keep: int, more: list[int]
) -> None:
    vectors = [None if angle is None else at(angle) for angle in angles]
    grown = of(vectors)
    cut = grown.first(keep)
    kept = [*vectors[:keep], *map(at, more)]
    for angle in more:
        cut.extend(1)
        cut.put(len(cut) - 1, at(angle))
    assert cut.cosines(EAST) == of(kept).cosines(EAST)
    assert (cut.missing(), len(cut)) == ([turn_id for turn_id, vector in enumerate(kept) if not vector], len(kept))
    assert grown.cosines(EAST) == [None if vector is None else dot(vector, EAST) for vector in vectors]


def test_vectors_may_come_in_any_order() -> None:
    late = of([None] * 4)
    for turn_id, angle in ((2, 200), (0, 10), (3, 20), (1, 170)):
        late.put(turn_id, at(angle))
    assert late.cosines(EAST) == of([at(10), at(170), at(200), at(20)]).cosines(EAST)
    assert late.missing() == []


def test_another_dimension_takes_the_place_of_all() -> None:
    turns = of([EAST, NORTH, at(45)])
    turns.put(1, packed([0.0, 0.0, 1.0]))
    assert (turns.missing(), turns.cosines(EAST)) == ([0, 2], [None] * 3)
    assert turns.cosines(packed([0.0, 1.0, 1.0])) == [None, 0.707107, None]
