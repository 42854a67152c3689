"""The first look at a conversation: which turns share most with the query, whatever its length.

The terms of a query are read rarest first, until a budget of postings is spent: each adds its weighted BM25 to the
turns that hold it. What is more frequent than that only adds to the turns that lead by the rarer terms. So the cost of
a query depends on the budget, not on the conversation; below the budget nothing is left out.

Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", formula 3.15; to read the
rarest terms first is what Moffat and Zobel 1996 ("Self-indexing inverted files for fast text retrieval") call the
continue strategy.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.segments import FIELD_BITS, MAX_COUNT, TURN_BITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["Adder", "Bm25", "Hits", "Scan"]

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
        budget: postings that are read, >= 1.

    Attributes:
        adder: what adds up the terms here, for further ones.
    """

    def __init__(self, weighted: Sequence[tuple[str, float]], index: TurnIndex, *, bm25: Bm25, budget: int) -> None:
        self._index = index
        self.adder = Adder(index, bm25)
        self._read: list[tuple[int, float, list[int]]] = []
        self._looked_up: list[tuple[int, float, str]] = []
        self._sums: dict[int, float] = {}
        self._read_terms(weighted, budget)

    def __len__(self) -> int:
        """Return how many turns were reached."""
        return len(self._sums)

    @property
    def sums(self) -> Mapping[int, float]:
        """The weighted BM25 of each turn that was reached, from the terms that were read."""
        return self._sums

    def leading(self, count: int) -> dict[int, float]:
        """Return the turns with the highest sums, with what all terms of the query add to them."""
        sums = self._sums
        if len(sums) > count:
            best = nlargest(count, sums, key=lambda turn: (round(sums[turn], 6), turn))
            sums = {turn: sums[turn] for turn in best}
        elif self._looked_up:
            sums = dict(sums)
        rising = sorted(sums) if self._looked_up else []
        for _, weight, term in self._looked_up:
            self.adder.add(sums, weight, self._index.postings_among(term, rising, sums))
        return sums

    def hits(self, turns: Collection[int]) -> dict[int, Hits]:
        """Return the BM25 sums and the hits of some of the turns, from all terms of the query."""
        members = frozenset(turns)
        held = [
            (place, weight, [p for p in postings if p >> TURN_BITS in members])
            for place, weight, postings in self._read
        ]
        rising = sorted(members)
        for place, weight, term in self._looked_up:
            held.append((place, weight, self._index.postings_among(term, rising, members)))
        return self.adder.by_field(held, rising)

    def _read_terms(self, weighted: Sequence[tuple[str, float]], budget: int) -> None:
        """Read the rarest terms; of the rarest of all at least the newest turns that the budget allows."""
        index = self._index
        counted = sorted((index.document_frequency(term), place) for place, (term, _) in enumerate(weighted))
        for frequency, place in counted:
            term, weight = weighted[place]
            if 0 < frequency <= budget:
                postings = index.postings(term)
                self.adder.add(self._sums, weight, postings)
                self._read.append((place, weight, postings))
            elif frequency:
                if not self._sums:
                    for posting in index.newest_postings(term, budget):
                        self._sums[posting >> TURN_BITS] = 0.0
                self._looked_up.append((place, weight, term))
            budget -= frequency


class Adder:
    """BM25 with its constants taken out, for the lengths of one conversation as they are now."""

    __slots__ = ("_assistant_lengths", "_assistant_slope", "_bm25", "_flat", "_user_lengths", "_user_slope")

    def __init__(self, index: TurnIndex, bm25: Bm25) -> None:
        slope = bm25.k1 * bm25.b
        self._bm25 = bm25
        self._flat = bm25.k1 * (1 - bm25.b)
        self._user_slope, self._assistant_slope = slope / index.mean_user_length, slope / index.mean_assistant_length
        self._user_lengths, self._assistant_lengths = index.user_lengths, index.assistant_lengths

    def add(self, sums: dict[int, float], weight: float, postings: Iterable[int]) -> None:
        """Add the weighted BM25 of a term to the turns that hold it.

        Args:
            sums: by turn; turns that are not there yet are put there.
            weight: of the term, an idf.
            postings: packed, each of another turn.
        """
        user_weight = weight * (self._bm25.k1 + 1) * self._bm25.user_weight
        assistant_weight = weight * (self._bm25.k1 + 1) * self._bm25.assistant_weight
        flat, user_slope, assistant_slope = self._flat, self._user_slope, self._assistant_slope
        user_lengths, assistant_lengths = self._user_lengths, self._assistant_lengths
        once, get = 1 + flat, sums.get
        for posting in postings:
            turn, counts = posting >> TURN_BITS, posting & _LOW_BYTE
            if counts == 1:
                value = assistant_weight / (once + assistant_slope * assistant_lengths[turn])
            elif counts == _USER_ONCE:
                value = user_weight / (once + user_slope * user_lengths[turn])
            else:
                user, assistant = counts >> FIELD_BITS, counts & MAX_COUNT
                value = user_weight * user / (user + flat + user_slope * user_lengths[turn]) if user else 0.0
                if assistant:
                    norm = flat + assistant_slope * assistant_lengths[turn]
                    value += assistant_weight * assistant / (assistant + norm)
            sums[turn] = get(turn, 0.0) + value

    def by_field(self, held: Iterable[tuple[int, float, Iterable[int]]], turns: Iterable[int]) -> dict[int, Hits]:
        """Return the BM25 sums of both fields and the hits of some turns.

        Args:
            held: of each term its place, its weight and its postings in these turns, no other.
            turns: the turns, each once.
        """
        bits = dict.fromkeys(turns, 0)
        user, assistant = dict.fromkeys(bits, 0.0), dict.fromkeys(bits, 0.0)
        flat, top = self._flat, self._bm25.k1 + 1
        for place, weight, postings in held:
            for posting in postings:
                turn, count = posting >> TURN_BITS, posting >> FIELD_BITS & MAX_COUNT
                bits[turn] |= 1 << place
                if count:
                    norm = flat + self._user_slope * self._user_lengths[turn]
                    user[turn] += weight * top * count / (count + norm)
                count = posting & MAX_COUNT
                if count:
                    norm = flat + self._assistant_slope * self._assistant_lengths[turn]
                    assistant[turn] += weight * top * count / (count + norm)
        return {turn: Hits(user[turn], assistant[turn], hit) for turn, hit in bits.items()}
