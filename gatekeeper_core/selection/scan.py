"""The first look at a conversation: which turns share most with the query, whatever its length.

The terms of a query are read rarest first, until a budget of postings is spent; what is more frequent than that only
tells more about the turns that the rarer terms have reached. A turn's first score is the sum of the weights of its
terms, times occurrences dampened as in a text of mean length. Only for the turns that lead by it are both BM25 sums
worked out, from all terms.

So the cost of a query depends on the budget, not on the conversation; below the budget nothing is left out.

Source: ours; to read the rarest terms first is what Moffat and Zobel 1996 ("Self-indexing inverted files for fast text
retrieval") call the continue strategy.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.segments import FIELD_BITS, MAX_COUNT, TURN_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["Bm25", "Hits", "Scan", "sum_up"]

_SCALE = 1 << 16  # first scores are whole numbers, so that the order of adding them does not matter
_LOW_BYTE = (1 << TURN_BITS) - 1


class Bm25(NamedTuple):
    """The constants of BM25 and the weights of both fields."""

    user_weight: float
    assistant_weight: float
    k1: float
    b: float


class Hits(NamedTuple):
    """Both BM25 sums of a turn, unweighted, and its hits as bits, in the order of the terms."""

    user: float
    assistant: float
    bits: int


class Scan:
    """The turns that share a term with a query.

    Args:
        weighted: the terms with their weights, each once.
        index: the conversation.
        bm25: the constants.
        budget: postings that are read in full, >= 1.
    """

    def __init__(self, weighted: Sequence[tuple[str, float]], index: TurnIndex, *, bm25: Bm25, budget: int) -> None:
        self._index = index
        self._bm25 = bm25
        self._width = len(weighted)
        self._read: list[tuple[int, float, list[int]]] = []
        self._looked_up: list[tuple[int, float, str]] = []
        self._first: dict[int, int] = {}
        self._read_terms(weighted, budget)

    def __len__(self) -> int:
        """Return how many turns were reached."""
        return len(self._first)

    def leading(self, count: int) -> list[int]:
        """Return the turns with the highest first scores, highest first; of equals the newer one first."""
        shift, first = self._width, self._first
        if len(first) <= count:
            return sorted(first, key=lambda turn: (-(first[turn] >> shift), -turn))
        return nlargest(count, first, key=lambda turn: (first[turn] >> shift, turn))

    def first_score(self, turn: int) -> float:
        """Return the first score of a turn, 0.0 where it was not reached."""
        return (self._first.get(turn, 0) >> self._width) / _SCALE

    def first_hits(self, turn: int) -> int:
        """Return which of the terms that were read a turn holds, as bits."""
        return self._first.get(turn, 0) & (1 << self._width) - 1

    def hits(self, turns: Set[int]) -> dict[int, Hits]:
        """Return the BM25 sums and the hits of some of the turns, from all terms of the query."""
        rising = sorted(turns)
        held = [
            (1 << place, weight, [posting for posting in postings if posting >> TURN_BITS in turns])
            for place, weight, postings in self._read
        ]
        held += [
            (1 << place, weight, self._index.postings_among(term, rising, turns))
            for place, weight, term in self._looked_up
        ]
        return sum_up(held, self._index, rising, bm25=self._bm25)

    def _read_terms(self, weighted: Sequence[tuple[str, float]], budget: int) -> None:
        """Read the rarest terms; of the rarest of all at least the newest turns that the budget allows."""
        index = self._index
        counted = sorted((index.document_frequency(term), place) for place, (term, _) in enumerate(weighted))
        for frequency, place in counted:
            term, weight = weighted[place]
            if 0 < frequency <= budget:
                postings = index.postings(term)
                self._add(place, weight, postings)
                self._read.append((place, weight, postings))
            elif frequency:
                if not self._first:
                    self._add(place, weight, index.newest_postings(term, budget))
                self._looked_up.append((place, weight, term))
            budget -= frequency

    def _add(self, place: int, weight: float, postings: list[int]) -> None:
        first, get, worth = self._first, self._first.get, _Worth(weight, 1 << place, self._width, self._bm25)
        for posting in postings:
            turn = posting >> TURN_BITS
            first[turn] = get(turn, 0) + worth[posting & _LOW_BYTE]


class _Worth(dict[int, int]):
    """What a hit of one term adds by its counts in both fields: the score above, its bit below."""

    def __init__(self, weight: float, bit: int, width: int, bm25: Bm25) -> None:
        self._weight = weight
        self._bit = bit
        self._width = width
        self._bm25 = bm25

    def __missing__(self, counts: int) -> int:
        k1 = self._bm25.k1
        user, assistant = counts >> FIELD_BITS, counts & MAX_COUNT
        tf = self._bm25.user_weight * user / (user + k1) if user else 0.0
        tf += self._bm25.assistant_weight * assistant / (assistant + k1) if assistant else 0.0
        worth = self[counts] = int(self._weight * (k1 + 1) * tf * _SCALE) << self._width | self._bit
        return worth


def sum_up(
    held: Iterable[tuple[int, float, Sequence[int]]], index: TurnIndex, turns: Iterable[int], *, bm25: Bm25
) -> dict[int, Hits]:
    """Return the BM25 sums of both fields of some turns, and their hits.

    Args:
        held: of each term its bit, its weight (an idf) and its postings in these turns, no other.
        index: the conversation, for the lengths.
        turns: the turns, each once.
        bm25: the constants.

    Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", formula 3.15.
    """
    k1 = bm25.k1
    flat, top = k1 * (1 - bm25.b), k1 + 1
    user_slope, assistant_slope = k1 * bm25.b / index.mean_user_length, k1 * bm25.b / index.mean_assistant_length
    user_lengths, assistant_lengths = index.user_lengths, index.assistant_lengths
    bits = dict.fromkeys(turns, 0)
    user, assistant = dict.fromkeys(bits, 0.0), dict.fromkeys(bits, 0.0)
    for bit, weight, postings in held:
        factor = weight * top
        for posting in postings:
            turn, count = posting >> TURN_BITS, posting >> FIELD_BITS & MAX_COUNT
            bits[turn] |= bit
            if count:
                user[turn] += factor * count / (count + flat + user_slope * user_lengths[turn])
            count = posting & MAX_COUNT
            if count:
                assistant[turn] += factor * count / (count + flat + assistant_slope * assistant_lengths[turn])
    return {turn: Hits(user[turn], assistant[turn], hit) for turn, hit in bits.items()}
