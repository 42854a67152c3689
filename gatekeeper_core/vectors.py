"""Unit vectors, so that a dot product is the cosine: 32-bit floats as in stores, or packed in bytes."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from operator import mul
from typing import NamedTuple

if sys.version_info >= (3, 12):
    from math import sumprod
else:

    def sumprod(first: array[int], second: array[int], /) -> int:
        """Return the sum of the products of two arrays of equal length."""
        return sum(map(mul, first, second))


MAX_DIMENSIONS = 16_384
"""Most numbers of one embedding. Source: ours; models give 256 to 4,096."""

_LARGEST_PRODUCT = 1.001


def unit_vector(numbers: Iterable[float]) -> array[float] | None:
    """Return numbers as a vector of length 1; None if they are none, too many, not all finite numbers, or all zero.

    >>> unit_vector([3.0, 4.0])
    array('f', [0.6000000238418579, 0.800000011920929])
    >>> unit_vector([0.0, 0.0]), unit_vector([1.0, float("nan")]), unit_vector([])
    (None, None, None)
    """
    read: list[float] = []
    try:
        for number in numbers:
            if len(read) == MAX_DIMENSIONS:
                return None
            read.append(float(number))
    except (TypeError, ValueError, OverflowError):
        return None
    largest = max(map(abs, read), default=0.0)
    if not 0.0 < largest < math.inf or not all(map(math.isfinite, read)):
        return None
    scaled = [number / largest for number in read]  # so that no square leaves the range of floats
    length = math.sqrt(math.fsum(map(mul, scaled, scaled)))
    return array("f", [number / length for number in scaled])


def cosine(first: array[float], second: array[float]) -> float:
    """Return the cosine of two unit vectors, 0.0 to 1.0, to six digits; 0.0 if it is negative or the dimensions differ.

    Source: specification 004, long-term memory (cosine similarity); a negative cosine means just "unrelated" here.

    >>> from array import array
    >>> cosine(array("f", [0.6, 0.8]), array("f", [0.8, 0.6])), cosine(array("f", [1.0]), array("f", [-1.0]))
    (0.96, 0.0)
    """
    if len(first) != len(second):
        return 0.0
    product = 0.0
    for number, other in zip(first, second, strict=True):  # `sum` rounds differently from Python 3.12 on
        product += number * other
    if not 0.0 < product < _LARGEST_PRODUCT:  # also a vector from a damaged store, with NaN or of another length
        return 0.0
    return round(min(1.0, product), 6)


class PackedVector(NamedTuple):
    """A unit vector with one byte per number.

    Attributes:
        numbers: -127 to 127, the largest in magnitude 127; an ``array("b")``.
        scale: ``numbers`` times this is the vector.
    """

    numbers: array[int]
    scale: float


def packed(vector: Sequence[float]) -> PackedVector:
    """Return a vector packed in bytes: scaled to a largest magnitude of 127, and rounded.

    Args:
        vector: finite numbers, not all 0.

    >>> packed([0.6, -0.8])
    PackedVector(numbers=array('b', [95, -127]), scale=0.006305165226339933)
    """
    largest = max(map(abs, vector))
    numbers = array("b", [round(number / largest * 127) for number in vector])
    return PackedVector(numbers, 1.0 / math.sqrt(sumprod(numbers, numbers)))


def dot(first: PackedVector, second: PackedVector) -> float:
    """Return the cosine of two vectors, -1.0 to 1.0, to six digits, equal on every machine; 0.0 if dimensions differ.

    >>> dot(packed([0.6, 0.8]), packed([0.8, 0.6])), dot(packed([1.0, 0.0]), packed([-1.0, 0.0]))
    (0.959291, -1.0)
    """
    if len(first.numbers) != len(second.numbers):
        return 0.0
    return round(sumprod(first.numbers, second.numbers) * first.scale * second.scale, 6)
