"""A small embedder for tests, the same on every machine: spellings, and some words that mean the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from tests.case_files import rows

SAME = rows("tiny_embedder", "same")
"""Words that mean the same, in both languages."""

DIMENSIONS = 32

_CONCEPT = {word: f"={place}" for place, words in enumerate(SAME) for word in words}
_TOKEN = re.compile("|".join(sorted(_CONCEPT, key=len, reverse=True)) + r"|[a-z0-9]+|[\u4e00-\u9fff]")
_CONCEPT_WEIGHT, _GRAM_WEIGHT = 4.0, 0.3


class TinyEmbedder:
    """Texts as sums of random directions of 32 signs: of their words with a known meaning and of their trigrams.

    Args:
        name: tells it from others.
        dimensions: of its vectors, at most 512.

    Attributes:
        texts: all that it was asked for, in order.
    """

    def __init__(self, name: str = "tiny", *, dimensions: int = DIMENSIONS) -> None:
        self.name = name
        self.dimensions = dimensions
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str], /) -> list[list[float]]:
        self.texts += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        folded = text.casefold()
        concepts = {_CONCEPT[token] for token in _TOKEN.findall(folded) if token in _CONCEPT}
        grams = {folded[at : at + 3] for at in range(max(1, len(folded) - 2))}
        for weight, features in ((_CONCEPT_WEIGHT, concepts), (_GRAM_WEIGHT, grams)):
            for feature in sorted(features):
                digest = blake2b(feature.encode("utf-8", "surrogatepass")).digest()
                bits = int.from_bytes(digest, "big")
                for place in range(self.dimensions):
                    vector[place] += weight if bits >> place & 1 else -weight
        return vector
