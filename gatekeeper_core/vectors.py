"""Vectors of length 1, so that a dot product is the cosine: 32-bit floats as stores keep them, or packed in bytes."""

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
        """Return the sum of the products of two arrays of one length."""
        return sum(map(mul, first, second))


MAX_DIMENSIONS = 16_384
"""Numbers of one embedding at most. Source: ours; models give 256 to 4,096."""

_LARGEST_PRODUCT = 1.001


def unit_vector(numbers: Iterable[float]) -> array[float] | None:
    """Return numbers as a vector of length 1, or None if no direction can be read from them.

    That is so where there are none, too many, one that is no finite number, or only zeros.

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
    """Return the cosine of two vectors of length 1, 0.0 to 1.0: what points apart or differs in dimension is 0.0.

    Rounded to six digits. Source: specification 004, long-term memory (cosine similarity); a negative cosine says no
    more than "unrelated" here.

    >>> from array import array
    >>> cosine(array("f", [0.6, 0.8]), array("f", [0.8, 0.6])), cosine(array("f", [1.0]), array("f", [-1.0]))
    (0.96, 0.0)
    """
    if len(first) != len(second):
        return 0.0
    product = 0.0
    for number, other in zip(first, second, strict=True):  # `sum` adds otherwise from Python 3.12 on
        product += number * other
    if not 0.0 < product < _LARGEST_PRODUCT:  # also what a damaged store gave back, with NaN or of another length
        return 0.0
    return round(min(1.0, product), 6)


class PackedVector(NamedTuple):
    """A vector of length 1 in a byte for each number.

    Attributes:
        numbers: -127 to 127, the largest of them in magnitude 127; an ``array("b")``.
        scale: ``numbers`` times this is the vector.
    """

    numbers: array[int]
    scale: float


def packed(vector: Sequence[float]) -> PackedVector:
    """Return a vector as bytes: scaled so that its largest magnitude is 127, and rounded.

    Args:
        vector: finite numbers, not all of them 0.

    >>> packed([0.6, -0.8])
    PackedVector(numbers=array('b', [95, -127]), scale=0.006305165226339933)
    """
    largest = max(map(abs, vector))
    numbers = array("b", [round(number / largest * 127) for number in vector])
    return PackedVector(numbers, 1.0 / math.sqrt(sumprod(numbers, numbers)))


def dot(first: PackedVector, second: PackedVector) -> float:
    """Return the cosine of two vectors, -1.0 to 1.0, rounded to six digits; 0.0 where they differ in dimension.

    The sum of products is one of whole numbers: the same on every machine.

    >>> dot(packed([0.6, 0.8]), packed([0.8, 0.6])), dot(packed([1.0, 0.0]), packed([-1.0, 0.0]))
    (0.959291, -1.0)
    """
    if len(first.numbers) != len(second.numbers):
        return 0.0
    return round(sumprod(first.numbers, second.numbers) * first.scale * second.scale, 6)
