"""Nearness in meaning, by its formula and against plain second implementations."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.meaning import NEAREST, Meaning, QueryVector, excerpt
from gatekeeper_core.vectors import PackedVector, dot, packed

EAST = packed([1.0, 0.0])
PRIOR = 20


def query(*, mean: float = 0.0, deviation: float = 0.1) -> QueryVector:
    return QueryVector("tiny", EAST, mean, deviation)


def at(angle: float) -> PackedVector:
    """Return a direction, in degrees from east."""
    return packed([math.cos(math.radians(angle)), math.sin(math.radians(angle))])


@pytest.mark.parametrize(
    ("user", "assistant", "read"),
    [
        ("哪个端口？", "6380。", "哪个端口？\n6380。"),
        ("Which port?", "", "Which port?"),
        ("", "Redis 的 port", "Redis 的 port"),
        ("问" * 700, "答" * 700, "问" * 600 + "\n" + "答" * 599),
        ("word " * 500, "", ("word " * 240).strip()),
    ],
)
def test_long_texts_are_read_by_their_beginning(user: str, assistant: str, read: str) -> None:
    assert excerpt(user, assistant) == read


@given(
    st.lists(st.integers(0, 360), min_size=1, max_size=80),
    st.floats(-0.5, 0.5, allow_nan=False),
    st.floats(0.01, 0.5, allow_nan=False),
)
def test_strengths_are_those_of_the_definition(angles: list[int], mean: float, deviation: float) -> None:
    """The deviations from the mean of the turns and of 20 further values of this mean and deviation, by three."""
    vectors = [at(angle) for angle in angles]
    meaning = Meaning(query(mean=mean, deviation=deviation), vectors)
    found = [dot(vector, EAST) for vector in vectors]
    values = found + [mean - deviation, mean + deviation] * (PRIOR // 2)
    middle = sum(values) / len(values)
    spread = math.sqrt(sum((value - middle) ** 2 for value in values) / len(values))
    for turn_id, cosine in enumerate(found):
        assert meaning.strength(turn_id) == pytest.approx(max(0.0, (cosine - middle) / spread / 3), abs=2e-6)
    near = [turn_id for turn_id in range(len(angles)) if meaning.strength(turn_id) > 0]
    assert list(meaning.nearest) == sorted(near, key=lambda t: (-meaning.strength(t), -t))[:NEAREST]


def test_where_all_is_alike_nothing_is_near() -> None:
    meaning = Meaning(query(mean=1.0, deviation=0.0), [EAST] * 5)
    assert (meaning.nearest, meaning.missed, meaning.cosine(0), meaning.strength(0)) == ((), "", 1.0, 0.0)


@pytest.mark.parametrize("vectors", [[], [None] * 200, [packed([1.0, 0.0, 0.0])] * 3])
def test_without_any_vector_to_compare_it_says_so(vectors: list[PackedVector | None]) -> None:
    """Also where the turns have vectors of another dimension than the question."""
    meaning = Meaning(query(), vectors)
    assert (meaning.missed, meaning.nearest, meaning.embedder) == ("no_vectors", (), "tiny")
    assert [meaning.strength(turn_id) for turn_id in range(len(vectors))] == [0.0] * len(vectors)


def test_a_question_without_a_vector_says_why() -> None:
    meaning = Meaning(QueryVector("tiny", missed="late"), [EAST])
    assert (meaning.missed, meaning.nearest, meaning.cosine(0), meaning.strength(0)) == ("late", (), None, 0.0)
