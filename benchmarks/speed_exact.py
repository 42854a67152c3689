"""The specification's formula over every turn that shares a term: what an index that leaves turns out is compared with.

A second implementation of the formula: it takes from the library how texts become terms and what a term weighs, and
scores by itself. A turn is scored in full as long as the most that whole hits and recency can add would still bring
it among the best, so nothing that belongs there is missed.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from benchmarks.speed_methods import TOP, WEIGHTS, Subject
from gatekeeper_core.selection import retrieval
from gatekeeper_core.selection.anchors import count_terms, extract_anchors, folded, has_whole
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.retrieval import read_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core.selection.anchors import Anchor
    from gatekeeper_core.selection.retrieval import Query

__all__ = ["Exhaustive"]

_MAX_COUNT = 15  # what a posting can hold
_SURE_KINDS = ("identifier", "version", "number")
_LOOKED_FOR = ("word", *_SURE_KINDS, "quote", "code", "triple")


class Exhaustive(Subject):
    """Scores every turn that shares a term with the question."""

    def __init__(self) -> None:
        self._index = TurnIndex()  # for the weights of terms alone
        self._postings: dict[str, list[tuple[int, int, int]]] = {}
        self._user_lengths, self._assistant_lengths = array("L"), array("L")
        self._texts: list[tuple[str, str]] = []

    def add(self, user: str, assistant: str) -> None:
        sides = count_terms(user), count_terms(assistant)
        self._index.add(*sides, texts=(user, assistant))
        for term in {**sides[0], **sides[1]}:
            counts = [min(_MAX_COUNT, side.get(term, 0)) for side in sides]
            self._postings.setdefault(term, []).append((len(self._texts), counts[0], counts[1]))
        for lengths, side in zip((self._user_lengths, self._assistant_lengths), sides, strict=True):
            lengths.append(sum(side.values()))
        self._texts.append((user, assistant))

    def ask(self, question: str) -> Sequence[int]:
        return [turn for _, turn in self.rank(question, TOP)]

    def rank(self, question: str, limit: int) -> list[tuple[float, int]]:
        """Return the best turns as (score, position), best first; of equal turns the newer one first."""
        query = read_query(question, self._index)
        lexical, held = self._lexical(query)
        phrases = _phrases(query)
        most = sum(worth for _, worth in phrases) * WEIGHTS.exact_weight + WEIGHTS.recency_weight
        best: list[tuple[float, int]] = []
        for value, turn in sorted(((value, turn) for turn, value in lexical.items()), reverse=True):
            if len(best) == limit and value + most < best[-1][0]:
                break
            best.append((self._total(value, turn, phrases, held[turn]), turn))
            best = sorted(best, reverse=True)[:limit]
        return best

    def _lexical(self, query: Query) -> tuple[dict[int, float], dict[int, set[str]]]:
        """Return by turn both weighted BM25 parts together, and the terms that it holds."""
        found: dict[int, float] = {}
        held: dict[int, set[str]] = {}
        user_norms = _norms(self._user_lengths, self._index.mean_user_length)
        assistant_norms = _norms(self._assistant_lengths, self._index.mean_assistant_length)
        for term, idf in query.idf.items():
            user_factor, assistant_factor = (
                weight * idf * (retrieval._K1 + 1) for weight in (WEIGHTS.user_weight, WEIGHTS.assistant_weight)
            )
            for turn, user, assistant in self._postings.get(term, ()):
                value = user_factor * user / (user + user_norms[turn])
                value += assistant_factor * assistant / (assistant + assistant_norms[turn])
                found[turn] = found.get(turn, 0.0) + value
                held.setdefault(turn, set()).add(term)
        return found, held

    def _total(self, value: float, turn: int, phrases: list[tuple[Anchor, float]], held: set[str]) -> float:
        text = folded("\n".join(self._texts[turn]))
        exact = sum(worth for anchor, worth in phrases if _stands_whole(anchor, text, held))
        recency = turn / max(1, len(self._texts) - 1)
        return round(value + WEIGHTS.exact_weight * exact + WEIGHTS.recency_weight * recency, 6)


def _norms(lengths: array[int], mean: float) -> list[float]:
    """Return what stands beside the count below the line of BM25, by turn."""
    flat, slope = retrieval._K1 * (1 - retrieval._B), retrieval._K1 * retrieval._B / mean
    return [flat + slope * length for length in lengths]


def _phrases(query: Query) -> list[tuple[Anchor, float]]:
    """Return what is looked for word for word: a word counts half its idf, a triple a quarter of its rarer pair's."""
    found = []
    for anchor in query.anchors:
        if anchor.kind not in _LOOKED_FOR:
            continue
        if anchor.kind == "triple":
            worth = 0.25 * min(query.idf.get(anchor.term[:2], 0.0), query.idf.get(anchor.term[1:], 0.0))
        elif anchor.term in query.idf:
            worth = query.idf[anchor.term]
        else:
            worth = sum(query.idf.get(term, 0.0) for term in {part.term for part in extract_anchors(anchor.text)})
        found.append((anchor, worth / 2 if anchor.kind == "word" else worth))
    return [(anchor, worth) for anchor, worth in found if worth > 0]


def _stands_whole(anchor: Anchor, text: str, held: set[str]) -> bool:
    if anchor.kind in _SURE_KINDS:
        return anchor.term in held
    if anchor.kind == "triple":
        return anchor.term in text
    return (anchor.kind in ("quote", "code") or anchor.term in held) and has_whole(folded(anchor.text), text)
