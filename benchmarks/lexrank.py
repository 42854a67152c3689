"""LexRank: which sentences of a text are most like all the others, the named peer of the summaries.

Sentences are nodes, the cosine of their tf-idf vectors joins two of them where it is at least ``THRESHOLD``, and the
rank is the stationary distribution of a walk over the graph that jumps anywhere in one step of seven.

Source: Erkan and Radev 2004, "LexRank: Graph-based lexical centrality as salience in text summarization" (continuous
LexRank, with their threshold and damping). Words are those of the other peers, see ``benchmarks.peers``.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.peers import terms

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["lexrank"]

THRESHOLD = 0.1
DAMPING = 0.15
STEPS = 30


def lexrank(texts: Sequence[str]) -> list[int]:
    """Return the positions of sentences, the most central first; of equals the earlier one first.

    >>> lexrank(["The cat sat.", "A cat on a mat.", "The cat on the mat sat.", "Rain."])[0]
    2
    """
    if not texts:
        return []
    edges = _edges(_vectors(texts))
    totals = [sum(row.values()) for row in edges]
    rank = [1.0 / len(texts)] * len(texts)
    for _ in range(STEPS):
        flow = [0.0] * len(texts)
        for at, row in enumerate(edges):
            for other, weight in row.items():
                flow[other] += rank[at] * weight / totals[at]
        rank = [DAMPING / len(texts) + (1 - DAMPING) * value for value in flow]
    return sorted(range(len(texts)), key=lambda at: (-round(rank[at], 9), at))


def _vectors(texts: Sequence[str]) -> list[dict[str, float]]:
    """Return the tf-idf vectors of sentences, each of length one; of a sentence without words an empty one."""
    counts = [Counter(terms(text)) for text in texts]
    held = Counter(term for each in counts for term in each)
    vectors = []
    for each in counts:
        values = {term: count * math.log(1 + len(texts) / held[term]) for term, count in each.items()}
        length = math.sqrt(sum(value * value for value in values.values()))
        vectors.append({term: value / length for term, value in values.items()})
    return vectors


def _edges(vectors: Sequence[dict[str, float]]) -> list[dict[int, float]]:
    """Return for each sentence those that are like it, itself among them, with their cosines."""
    postings: dict[str, list[tuple[int, float]]] = {}
    for at, vector in enumerate(vectors):
        for term, value in vector.items():
            postings.setdefault(term, []).append((at, value))
    edges = []
    for at, vector in enumerate(vectors):
        cosines: dict[int, float] = {at: 0.0}
        for term, value in vector.items():
            for other, weight in postings[term]:
                cosines[other] = cosines.get(other, 0.0) + value * weight
        near = {other: cosine for other, cosine in cosines.items() if other != at and cosine >= THRESHOLD}
        edges.append({at: 1.0, **near})
    return edges
