"""The first look at a conversation: which turns share most with the query, whatever its length.

The terms of a query are read rarest first, until a budget of postings is spent: each adds to the turns that hold it
what it would count in a text of mean length. The turns that lead by that are counted exactly, what is more frequent
included. So the cost of a query depends on the budget, not on the conversation; below the budget every turn that shares
a term is reached.

Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", formula 3.15; to read the
rarest terms first is what Moffat and Zobel 1996 ("Self-indexing inverted files for fast text retrieval") call the
continue strategy.
"""

from __future__ import annotations

from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.index import FIELD_BITS, MAX_COUNT, TURN_BITS, postings_among

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["Bm25", "Hits", "Scan", "highest"]

_COUNTS = (1 << TURN_BITS) - 1


class Bm25(NamedTuple):
    """The constants of BM25 and the weights of both fields."""

    user_weight: float
    assistant_weight: float
    k1: float
    b: float


Hits = tuple[float, float, int]
"""Both BM25 sums of a turn, unweighted (the user's text, the assistant's), and its hits as bits, term by term."""


class Scan:
    """The turns that share a term with a query.

    Args:
        weighted: the terms with their weights, each once.
        index: the conversation.
        bm25: the constants.
        budget: postings that are read, >= 1.
    """

    def __init__(self, weighted: Sequence[tuple[str, float]], index: TurnIndex, *, bm25: Bm25, budget: int) -> None:
        self._index = index
        self._bm25 = bm25
        self._terms: list[tuple[int, float, str]] = []
        self._unread: list[tuple[float, str]] = []
        self._sums: dict[int, float] = {}
        # The rarest terms first; of the rarest of all at least the newest turns that the budget allows.
        for frequency, place in sorted((index.document_frequency(term), at) for at, (term, _) in enumerate(weighted)):
            term, weight = weighted[place]
            if frequency:
                self._terms.append((place, weight, term))
            if 0 < frequency <= budget:
                self._add(self._sums, weight, index.postings(term))
            elif frequency:
                if not self._sums:
                    self._sums = {posting >> TURN_BITS: 0.0 for posting in index.postings(term)[-budget:]}
                self._unread.append((weight, term))
            budget -= frequency

    def __len__(self) -> int:
        """Return how many turns were reached."""
        return len(self._sums)

    @property
    def sums(self) -> Mapping[int, float]:
        """The weighted BM25 of each turn that was reached, from the terms that were read, as if of mean length."""
        return self._sums

    def leading(self, count: int) -> dict[int, float]:
        """Return the turns with the highest sums, with what the terms that were not read add to them."""
        leading = {turn: self._sums[turn] for turn in highest(self._sums, count)}
        rising = sorted(leading)
        for weight, term in self._unread:
            self._add(leading, weight, postings_among(self._index.postings(term), rising, leading))
        return leading

    def hits(self, turns: Collection[int]) -> dict[int, Hits]:
        """Return the exact BM25 sums and the hits of some of the turns, from all terms of the query."""
        members, rising = frozenset(turns), sorted(turns)
        index, slope, top = self._index, self._bm25.k1 * self._bm25.b, self._bm25.k1 + 1
        flat, user_lengths, assistant_lengths = self._bm25.k1 - slope, index.user_lengths, index.assistant_lengths
        user_slope, assistant_slope = slope / index.mean_user_length, slope / index.mean_assistant_length
        found = dict.fromkeys(members, (0.0, 0.0, 0))
        for place, weight, term in self._terms:
            best, bit = weight * top, 1 << place
            for posting in postings_among(index.postings(term), rising, members):
                turn = posting >> TURN_BITS
                user, assistant, bits = found[turn]
                count = posting >> FIELD_BITS & MAX_COUNT
                if count:
                    user += best * count / (count + flat + user_slope * user_lengths[turn])
                count = posting & MAX_COUNT
                if count:
                    assistant += best * count / (count + flat + assistant_slope * assistant_lengths[turn])
                found[turn] = user, assistant, bits | bit
        return found

    def _add(self, sums: dict[int, float], weight: float, postings: Iterable[int]) -> None:
        """Add what a term counts in a text of mean length to the turns that hold it: where most time is spent."""
        values, known = _values(self._bm25), sums.get
        for posting in postings:
            turn = posting >> TURN_BITS
            sums[turn] = known(turn, 0.0) + weight * values[posting & _COUNTS]


def highest(values: Mapping[int, float], count: int) -> list[int]:
    """Return the keys of the highest values, highest first; of equals the higher key.

    >>> highest({3: 1.0, 4: 2.0, 5: 1.0}, 2)
    [4, 5]
    """
    return nlargest(count, values, key=lambda key: (values[key], key))


@lru_cache(maxsize=16)
def _values(bm25: Bm25) -> tuple[float, ...]:
    """Return by both counts, as a posting packs them, what a term of weight 1 counts in texts of mean length."""
    saturated = [0.0, *(count * (bm25.k1 + 1) / (count + bm25.k1) for count in range(1, MAX_COUNT + 1))]
    users, assistants = [bm25.user_weight * x for x in saturated], [bm25.assistant_weight * x for x in saturated]
    return tuple(user + assistant for user in users for assistant in assistants)
