"""The inverted index of a conversation: postings, document frequencies, lengths, and BM25 over them.

A document is a turn with two fields, the user's text and the assistant's. A posting packs a turn and the count of the
term in each field: ``turn_id << 8 | user_count << 4 | assistant_count``. The newest turns can be removed, so an index
that followed an edit equals one built from scratch.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest

from gatekeeper_core.selection.information import LEAST_RARITY, idf_among, surprise
from gatekeeper_core.selection.speakers import Speakers

FIELD_BITS = 4
TURN_BITS = 2 * FIELD_BITS
MAX_COUNT = (1 << FIELD_BITS) - 1
"""Highest count of a term in a field. Source: ours: beyond it BM25 hardly changes."""

_COUNTS = (1 << TURN_BITS) - 1
_FEW_PER_TURN = 6  # postings that can be scanned in the time of one lookup
_K1 = 1.2  # how soon repeated terms saturate: Lucene's default
_B = 0.75  # length normalisation, 0..1: Lucene's default


class TurnIndex:
    """Postings of every term, and the lengths of both fields of each turn.

    >>> index = TurnIndex()
    >>> index.add({"redis": 2}, {"redis": 1, "cache": 1})
    >>> index.document_frequency("redis"), [hex(posting) for posting in index.postings("redis")]
    (1, ['0x21'])
    """

    __slots__ = ("_postings", "assistant_lengths", "speakers", "user_lengths")

    def __init__(self) -> None:
        self._postings: dict[str, int | array[int]] = {}  # a single posting is an int, a third of the size
        self.speakers = Speakers()
        self.user_lengths = array("I")
        self.assistant_lengths = array("I")

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self.user_lengths)

    def add(
        self, user_terms: Mapping[str, int], assistant_terms: Mapping[str, int], *, texts: tuple[str, str] = ("", "")
    ) -> None:
        """Add the next turn: the counts of its terms, and the beginnings of both texts, for the speakers' names."""
        base, get = len(self) << TURN_BITS, self._postings.get
        fresh = {
            term: base | (count if count < MAX_COUNT else MAX_COUNT) << FIELD_BITS for term, count in user_terms.items()
        }
        for term, count in assistant_terms.items():
            fresh[term] = fresh.get(term, base) | (count if count < MAX_COUNT else MAX_COUNT)
        for term, posting in fresh.items():
            postings = get(term)
            if postings is None:
                self._postings[term] = posting
            elif isinstance(postings, int):
                self._postings[term] = array("I", (postings, posting))
            else:
                postings.append(posting)
        self.speakers.add(*texts)
        self.user_lengths.append(sum(user_terms.values()))
        self.assistant_lengths.append(sum(assistant_terms.values()))

    def remove_last(self, terms: Iterable[str]) -> None:
        """Remove the newest turn, given every term of its two fields once.

        Raises:
            IndexError: the index is empty.
        """
        self.speakers.remove_last()
        del self.user_lengths[-1], self.assistant_lengths[-1]
        for term in terms:
            postings = self._postings[term]
            if isinstance(postings, int) or len(postings) == 1:
                del self._postings[term]
            else:
                postings.pop()

    def postings(self, term: str) -> Sequence[int]:
        """Return the postings of a term, oldest turn first; empty for an unknown term."""
        postings = self._postings.get(term, ())
        return (postings,) if isinstance(postings, int) else postings

    def document_frequency(self, term: str) -> int:
        """Return the number of turns that contain a term."""
        postings = self._postings.get(term, ())
        return 1 if isinstance(postings, int) else len(postings)

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of any term; see ``idf_among``."""
        return idf_among(term, documents=len(self), frequency=self.document_frequency(term))

    def information(self, terms: Iterable[str]) -> dict[str, float]:
        """Return the information of each term in nats: its surprise in everyday talk times its rarity here.

        ``surprise(term) * max(0.2, ln((n + 1) / (df + 0.5)) / ln(n + 1))``. Source: ours; self-information (Shannon
        1948) and a normalised inverse document frequency.
        """
        turns = len(self) + 1
        scale = math.log(turns) or 1.0
        return {
            term: surprise(term) * max(LEAST_RARITY, math.log(turns / (self.document_frequency(term) + 0.5)) / scale)
            for term in terms
        }


def postings_among(postings: Sequence[int], turns: Sequence[int], members: Container[int]) -> Sequence[int]:
    """Return the postings of a term in the given turns, oldest turn first.

    Args:
        postings: oldest turn first.
        turns: the turns, ascending.
        members: the same turns, with a fast ``in``.
    """
    if len(postings) <= _FEW_PER_TURN * len(turns):
        return [posting for posting in postings if posting >> TURN_BITS in members]
    places = [bisect_left(postings, turn << TURN_BITS) for turn in turns]
    matches = [postings[at] for at in places if at < len(postings)]
    return [posting for turn, posting in zip(turns, matches, strict=False) if posting >> TURN_BITS == turn]


Hits = tuple[float, float, int]
"""The BM25 sums of a turn's two texts, without side weights, and its hits as bits, one per term."""


class Scan:
    """The turns that share a term with a query, by BM25.

    Terms are read rarest first until a budget of postings is spent; each adds its BM25 in a text of mean length to its
    turns. The leading turns are then scored exactly, with all terms. So the cost of a query depends on the budget, not
    on the conversation; within the budget every turn that shares a term is reached.

    Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", formula 3.15; reading
    the rarest terms first is the continue strategy of Moffat and Zobel 1996 ("Self-indexing inverted files for fast
    text retrieval").

    Args:
        weighted: the terms with their weights, each once.
        index: the conversation.
        sides: the weights of the user's text and the assistant's.
        budget: number of postings to read, >= 1.

    Attributes:
        sums: weighted BM25 of each turn reached, from the terms read, as if of mean length.
    """

    def __init__(
        self, weighted: Sequence[tuple[str, float]], index: TurnIndex, *, sides: tuple[float, float], budget: int
    ) -> None:
        self._index = index
        self._values = _values(*sides)
        self._terms: list[tuple[int, float, str]] = []
        self._unread: list[tuple[float, str]] = []
        self.sums: dict[int, float] = {}
        lengths = index.user_lengths, index.assistant_lengths
        self._mean_lengths = [max(1.0, sum(side) / (len(index) or 1)) for side in lengths]
        # Rarest terms first; if even the rarest exceeds the budget, its newest turns are reached, with a sum of 0.
        for frequency, place in sorted((index.document_frequency(term), at) for at, (term, _) in enumerate(weighted)):
            term, weight = weighted[place]
            if frequency:
                self._terms.append((place, weight, term))
            if 0 < frequency <= budget:
                self._add(self.sums, weight, index.postings(term))
            elif frequency:
                if not self.sums:
                    self.sums = {posting >> TURN_BITS: 0.0 for posting in index.postings(term)[-budget:]}
                self._unread.append((weight, term))
            budget -= frequency

    def leading(self, count: int) -> dict[int, float]:
        """Return the turns with the highest sums, completed with the terms that were not read."""
        leading = {turn: self.sums[turn] for turn in highest(self.sums, count)}
        rising = sorted(leading)
        for weight, term in self._unread:
            self._add(leading, weight, postings_among(self._index.postings(term), rising, leading))
        return leading

    def hits(self, turns: Collection[int]) -> dict[int, Hits]:
        """Return the exact BM25 sums and the hits of some turns, from all terms of the query."""
        members, rising = frozenset(turns), sorted(turns)
        index, slope, top = self._index, _K1 * _B, _K1 + 1
        flat, user_lengths, assistant_lengths = _K1 - slope, index.user_lengths, index.assistant_lengths
        user_slope, assistant_slope = (slope / mean for mean in self._mean_lengths)
        matches = dict.fromkeys(members, (0.0, 0.0, 0))
        for place, weight, term in self._terms:
            best, bit = weight * top, 1 << place
            for posting in postings_among(index.postings(term), rising, members):
                turn = posting >> TURN_BITS
                user, assistant, bits = matches[turn]
                count = posting >> FIELD_BITS & MAX_COUNT
                if count:
                    user += best * count / (count + flat + user_slope * user_lengths[turn])
                count = posting & MAX_COUNT
                if count:
                    assistant += best * count / (count + flat + assistant_slope * assistant_lengths[turn])
                matches[turn] = user, assistant, bits | bit
        return matches

    def _add(self, sums: dict[int, float], weight: float, postings: Iterable[int]) -> None:
        """Add the BM25 of a term, in a text of mean length, to its turns; most time is spent here."""
        values, get = self._values, sums.get
        for posting in postings:
            turn = posting >> TURN_BITS
            sums[turn] = get(turn, 0.0) + weight * values[posting & _COUNTS]


def highest(values: Mapping[int, float], count: int) -> list[int]:
    """Return the keys of the highest values, highest first; of equal values, the higher key first.

    >>> highest({3: 1.0, 4: 2.0, 5: 1.0}, 2)
    [4, 5]
    """
    return nlargest(count, values, key=lambda key: (values[key], key))


@lru_cache(maxsize=16)
def _values(user_weight: float, assistant_weight: float) -> tuple[float, ...]:
    """Return the BM25 of a term of weight 1 in texts of mean length, by the two counts as packed in a posting."""
    saturated = [0.0, *(count * (_K1 + 1) / (count + _K1) for count in range(1, MAX_COUNT + 1))]
    users, assistants = [user_weight * x for x in saturated], [assistant_weight * x for x in saturated]
    return tuple(user + assistant for user in users for assistant in assistants)
