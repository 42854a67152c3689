"""Embeddings are kept as vectors of length 1, and what is no direction is refused."""

from __future__ import annotations

import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.vectors import MAX_DIMENSIONS, cosine, dot, packed, unit_vector

numbers = st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=12)


@given(numbers, numbers)
def test_a_cosine_lies_in_0_to_1_and_is_symmetric(first: list[float], second: list[float]) -> None:
    """004-34: similarity is a cosine."""
    one, other = unit_vector(first), unit_vector(second)
    if one is not None and other is not None:
        assert 0.0 <= cosine(one, other) == cosine(other, one) <= 1.0
        assert cosine(one, one) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    "values", [[], [0.0], [math.nan, 1.0], [math.inf], ["a"], [None], [10**400], [1.0] * (MAX_DIMENSIONS + 1)]
)
def test_what_has_no_direction_is_no_vector(values: list[float]) -> None:
    assert unit_vector(values) is None


@pytest.mark.parametrize("damaged", [[math.nan, 1.0], [math.inf, 1.0], [math.inf, -math.inf], [30.0, 40.0]])
def test_a_vector_that_is_damaged_is_near_to_nothing(damaged: list[float]) -> None:
    assert cosine(array("f", damaged), array("f", [0.6, 0.8])) == 0.0


two_vectors = st.integers(1, 40).flatmap(
    lambda size: st.tuples(*[st.lists(st.floats(-1e3, 1e3), min_size=size, max_size=size)] * 2)
)


@given(two_vectors)
def test_packed_vectors_have_nearly_the_same_cosine(given_vectors: tuple[list[float], list[float]]) -> None:
    """Each number is off by 1/254 of the largest at most, so a vector of n numbers by sqrt(n) / 254."""
    first, second = map(unit_vector, given_vectors)
    if first is None or second is None:
        return
    one, other = packed(first), packed(second)
    exact = math.fsum(a * b for a, b in zip(first, second, strict=True))
    assert dot(one, other) == pytest.approx(exact, abs=4 * math.sqrt(len(first)) / 254)
    assert -1.0 <= dot(one, other) == dot(other, one) <= 1.0
    assert dot(one, one) == 1.0
    assert max(map(abs, one.numbers)) == 127
