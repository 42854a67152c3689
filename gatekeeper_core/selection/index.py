"""The inverted index of a conversation: postings, document frequencies, lengths.

A document is a turn with two fields, the user's text and the assistant's. A posting is one integer: the turn's
position and how often the term stands in each field. Adding a turn is linear in its terms and touches nothing else;
the newest turns can be taken back, so that an index that followed an edit equals one that was built anew.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.speakers import Speakers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["BACKGROUND_TURNS", "Posting", "TurnIndex", "unpack"]

BACKGROUND_TURNS = 20.0
"""How many turns of everyday talk the background frequencies stand for in an idf.

Source: ours: a young conversation knows too little to tell a common word; after a hundred turns its own counts rule.
"""

_BACKGROUND_TURN_LENGTH = 25.0
_MAX_BACKGROUND_SHARE = 0.9
_FIELD_BITS = 4
_MAX_COUNT = (1 << _FIELD_BITS) - 1
_MIN_LISTED = 4


class Posting(NamedTuple):
    """One turn that holds a term.

    Attributes:
        turn_id: 0-based position of the turn.
        user_count: occurrences in the user's text, at most 15.
        assistant_count: occurrences in the assistant's text, at most 15.
    """

    turn_id: int
    user_count: int
    assistant_count: int


def unpack(posting: int) -> Posting:
    """Return the fields of a packed posting.

    >>> unpack(3 << 8 | 2 << 4 | 1)
    Posting(turn_id=3, user_count=2, assistant_count=1)
    """
    return Posting(posting >> 8, posting >> 4 & _MAX_COUNT, posting & _MAX_COUNT)


class TurnIndex:
    """Postings of every term, by turn, and the lengths of both fields of each turn.

    >>> index = TurnIndex()
    >>> index.add({"redis": 2}, {"redis": 1, "cache": 1})
    >>> index.document_frequency("redis"), [unpack(p) for p in index.postings("cache")]
    (1, [Posting(turn_id=0, user_count=0, assistant_count=1)])
    """

    __slots__ = (
        "_assistant_total",
        "_postings",
        "_user_total",
        "_words",
        "assistant_lengths",
        "speakers",
        "user_lengths",
    )

    def __init__(self) -> None:
        self._postings: dict[str, list[int]] = {}
        self._words: dict[tuple[str, int], set[str]] = {}
        self.speakers = Speakers()
        self._user_total = 0
        self._assistant_total = 0
        self.user_lengths = array("L")
        self.assistant_lengths = array("L")

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self.user_lengths)

    @property
    def mean_user_length(self) -> float:
        """Terms of a user's text on average, at least 1."""
        return max(1.0, self._user_total / len(self)) if len(self) else 1.0

    @property
    def mean_assistant_length(self) -> float:
        """Terms of an assistant's text on average, at least 1."""
        return max(1.0, self._assistant_total / len(self)) if len(self) else 1.0

    def add(
        self,
        user_terms: Mapping[str, int],
        assistant_terms: Mapping[str, int],
        *,
        texts: tuple[str, str] = ("", ""),
    ) -> None:
        """Add the next turn.

        Args:
            user_terms: the counts of the terms of the user's text.
            assistant_terms: the same of the assistant's text.
            texts: how both texts begin, for the names of the speakers.
        """
        self.speakers.add(*texts)
        base = len(self.user_lengths) << 2 * _FIELD_BITS
        for term, count in user_terms.items():
            packed = base | min(count, _MAX_COUNT) << _FIELD_BITS | min(assistant_terms.get(term, 0), _MAX_COUNT)
            self._postings_of(term).append(packed)
        for term, count in assistant_terms.items():
            if term not in user_terms:
                self._postings_of(term).append(base | min(count, _MAX_COUNT))
        self._record_lengths(sum(user_terms.values()), sum(assistant_terms.values()))

    def remove_last(self, terms: Iterable[str]) -> None:
        """Take the newest turn back.

        Args:
            terms: every term of the turn (both fields), each at least once.

        Raises:
            IndexError: the index is empty.
        """
        self.speakers.remove_last()
        self._user_total -= self.user_lengths.pop()
        self._assistant_total -= self.assistant_lengths.pop()
        turn_id = len(self.user_lengths)
        for term in terms:
            postings = self._postings.get(term)
            if postings and postings[-1] >> 2 * _FIELD_BITS == turn_id:
                postings.pop()
                if not postings:
                    del self._postings[term]
                    if _is_listed(term):
                        self._words[term[0], len(term)].discard(term)

    def postings(self, term: str) -> Sequence[int]:
        """Return the packed postings of a term, oldest turn first; empty for an unknown term."""
        return self._postings.get(term, ())

    def posting(self, term: str, turn_id: int) -> Posting | None:
        """Return the posting of a term in one turn, or None where the turn does not hold it."""
        postings = self._postings.get(term, ())
        at = bisect_left(postings, turn_id << 2 * _FIELD_BITS)
        if at < len(postings) and postings[at] >> 2 * _FIELD_BITS == turn_id:
            return unpack(postings[at])
        return None

    def document_frequency(self, term: str) -> int:
        """Return in how many turns a term stands."""
        return len(self._postings.get(term, ()))

    def words_like(self, word: str) -> set[str]:
        """Return the English words here with the same first letter, one letter longer or shorter at most."""
        sizes = range(len(word) - 1, len(word) + 2)
        return set().union(*(self._words.get((word[0], size), ()) for size in sizes))

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term, known or not.

        ``ln(1 + (N - df + 0.5) / (df + 0.5))`` over the turns of this conversation and ``BACKGROUND_TURNS`` turns of
        everyday talk, in which the term has its background frequency. Rounded to six digits, so that every platform
        ranks alike.

        Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework" (the form is Lucene's, never
        negative); the background share is ours.
        """
        share = min(_MAX_BACKGROUND_SHARE, _BACKGROUND_TURN_LENGTH * background_frequencies().get(term, 0.0))
        turns = len(self) + BACKGROUND_TURNS
        frequency = self.document_frequency(term) + BACKGROUND_TURNS * share
        return round(math.log1p((turns - frequency + 0.5) / (frequency + 0.5)), 6)

    def _postings_of(self, term: str) -> list[int]:
        postings = self._postings.get(term)
        if postings is None:
            postings = self._postings[term] = []
            if _is_listed(term):
                self._words.setdefault((term[0], len(term)), set()).add(term)
        return postings

    def _record_lengths(self, user_length: int, assistant_length: int) -> None:
        self.user_lengths.append(user_length)
        self.assistant_lengths.append(assistant_length)
        self._user_total += user_length
        self._assistant_total += assistant_length


def _is_listed(term: str) -> bool:
    """Return whether a term is an English word that may be meant by a misspelt one."""
    return len(term) >= _MIN_LISTED and term.isascii() and term.isalpha()
