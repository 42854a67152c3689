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
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["Bm25", "Hits", "Scan", "saturated", "weighted_sums"]

_SCALE = 1 << 16  # first scores are whole numbers, so that the order of adding them does not matter
_LOW_BYTE = (1 << TURN_BITS) - 1
_USER_ONCE = 1 << FIELD_BITS


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

    def reached(self) -> Set[int]:
        """Return all turns that were reached."""
        return self._first.keys()

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
        user, assistant = dict.fromkeys(turns, 0.0), dict.fromkeys(turns, 0.0)
        bits = dict.fromkeys(turns, 0)
        norms = Norms(turns, self._index, self._bm25)
        top = self._bm25.k1 + 1
        for place, weight, postings in self._held(turns):
            for posting in postings:
                turn, counts = posting >> TURN_BITS, posting & _LOW_BYTE
                bits[turn] |= 1 << place
                if counts > MAX_COUNT:
                    user[turn] += weight * top * saturated(counts >> FIELD_BITS, norms.user[turn])
                if counts & MAX_COUNT:
                    assistant[turn] += weight * top * saturated(counts & MAX_COUNT, norms.assistant[turn])
        return {turn: Hits(user[turn], assistant[turn], hit) for turn, hit in bits.items()}

    def sums(self, turns: Set[int], factors: Mapping[int, tuple[float, float]]) -> dict[int, float]:
        """Return the weighted BM25 sums of some of the turns, from all terms of the query.

        Args:
            turns: turns that were reached.
            factors: what the sides of a turn count more; turns that are not listed count 1.0.
        """
        held = [(weight, postings) for _, weight, postings in self._held(turns)]
        return weighted_sums(held, self._index, turns, factors, bm25=self._bm25)

    def _held(self, turns: Set[int]) -> Iterator[tuple[int, float, list[int]]]:
        """Yield each term's place and weight with its postings in some turns."""
        everything = len(turns) == len(self._first)
        for place, weight, postings in self._read:
            yield place, weight, postings if everything else [p for p in postings if p >> TURN_BITS in turns]
        rising = sorted(turns) if self._looked_up else []
        for place, weight, term in self._looked_up:
            yield place, weight, self._index.postings_among(term, rising, turns)

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


class Norms:
    """What the lengths of some turns add to a count in the denominator of BM25, by turn and field."""

    __slots__ = ("assistant", "user")

    def __init__(self, turns: Iterable[int], index: TurnIndex, bm25: Bm25) -> None:
        flat, slope = bm25.k1 * (1 - bm25.b), bm25.k1 * bm25.b
        user_slope, assistant_slope = slope / index.mean_user_length, slope / index.mean_assistant_length
        user_lengths, assistant_lengths = index.user_lengths, index.assistant_lengths
        self.user = {turn: flat + user_slope * user_lengths[turn] for turn in turns}
        self.assistant = {turn: flat + assistant_slope * assistant_lengths[turn] for turn in turns}


def saturated(count: int, norm: float) -> float:
    """Return how much a count counts in a field of some length, 0..1.

    Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", formula 3.15; times
    ``k1 + 1`` and the idf it is the weight of a term.
    """
    return count / (count + norm) if count else 0.0


def weighted_sums(
    held: Iterable[tuple[float, Sequence[int]]],
    index: TurnIndex,
    turns: Collection[int],
    factors: Mapping[int, tuple[float, float]],
    *,
    bm25: Bm25,
) -> dict[int, float]:
    """Return the weighted BM25 sums of both fields of some turns.

    Args:
        held: of each term its weight (an idf) and its postings in these turns, no other.
        index: the conversation, for the lengths.
        turns: the turns, each once.
        factors: what the sides of a turn count more; turns that are not listed count 1.0.
        bm25: the constants.
    """
    norms, top = Norms(turns, index, bm25), bm25.k1 + 1
    once = {turn: bm25.user_weight * top / (1 + norm) for turn, norm in norms.user.items()}
    once_assistant = {turn: bm25.assistant_weight * top / (1 + norm) for turn, norm in norms.assistant.items()}
    for turn, (user, assistant) in factors.items():
        once[turn] *= user
        once_assistant[turn] *= assistant
    sums = dict.fromkeys(turns, 0.0)
    for weight, postings in held:
        for posting in postings:
            turn, counts = posting >> TURN_BITS, posting & _LOW_BYTE
            if counts == 1:
                sums[turn] += weight * once_assistant[turn]
            elif counts == _USER_ONCE:
                sums[turn] += weight * once[turn]
            else:
                more, count = norms.user[turn], counts >> FIELD_BITS
                sums[turn] += weight * once[turn] * saturated(count, more) * (1 + more)
                more, count = norms.assistant[turn], counts & MAX_COUNT
                sums[turn] += weight * once_assistant[turn] * saturated(count, more) * (1 + more)
    return sums
