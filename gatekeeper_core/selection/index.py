"""The inverted index of a conversation: postings, document frequencies and lengths.

A document is a turn with two fields, the user's text and the assistant's. A posting packs a turn and how often it holds
the term in either field: ``turn_id << 8 | user_count << 4 | assistant_count``. The newest turns can be taken back, so
that an index that followed an edit equals one that was built from the start.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING

from gatekeeper_core.selection.lexicon import background_frequencies
from gatekeeper_core.selection.speakers import Speakers

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

__all__ = ["BACKGROUND_TURNS", "FIELD_BITS", "MAX_COUNT", "TURN_BITS", "TurnIndex", "idf_among", "postings_among"]

BACKGROUND_TURNS = 20.0
"""How many turns of everyday talk the background frequencies stand for in an idf.

Source: ours: a young conversation knows too little to tell a common word; after a hundred turns its own counts rule.
"""

FIELD_BITS = 4
TURN_BITS = 2 * FIELD_BITS
MAX_COUNT = (1 << FIELD_BITS) - 1
"""Occurrences of a term in a field that are counted. Source: ours: beyond it BM25 hardly moves."""

_BACKGROUND_TURN_LENGTH = 25.0
_MAX_BACKGROUND_SHARE = 0.9
_FEW_PER_TURN = 6  # postings that are read through in the time of one look-up


def idf_among(term: str, *, documents: int, frequency: int) -> float:
    """Return the inverse document frequency of a term, known or not.

    ``ln(1 + (N - df + 0.5) / (df + 0.5))`` over the documents and ``BACKGROUND_TURNS`` turns of everyday talk, in which
    the term has its background frequency. Rounded to six digits, so that every platform ranks alike.

    Args:
        term: an indexed term.
        documents: how many documents there are, at least 0.
        frequency: how many of them hold the term, 0 to ``documents``.

    Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework" (the form is Lucene's, never
    negative); the background share is ours.

    >>> idf_among("friend", documents=0, frequency=0) < idf_among("gateway", documents=0, frequency=0)
    True
    """
    turns = documents + BACKGROUND_TURNS
    held = frequency + _background_turns().get(term, 0.0)
    return round(math.log1p((turns - held + 0.5) / (held + 0.5)), 6)


def postings_among(postings: Sequence[int], turns: Sequence[int], members: Container[int]) -> Sequence[int]:
    """Return those of the postings of a term that are of some turns, oldest turn first.

    Args:
        postings: oldest turn first.
        turns: the turns, rising.
        members: the same turns, for a quick ``in``.
    """
    if len(postings) <= _FEW_PER_TURN * len(turns):
        return [posting for posting in postings if posting >> TURN_BITS in members]
    places = [bisect_left(postings, turn << TURN_BITS) for turn in turns]
    found = [postings[at] for at in places if at < len(postings)]
    return [posting for turn, posting in zip(turns, found, strict=False) if posting >> TURN_BITS == turn]


@cache
def _background_turns() -> Mapping[str, float]:
    """Return by term in how many of the ``BACKGROUND_TURNS`` it stands, where it is listed."""
    shares = background_frequencies().items()
    return {
        term: BACKGROUND_TURNS * min(_MAX_BACKGROUND_SHARE, _BACKGROUND_TURN_LENGTH * share) for term, share in shares
    }


class TurnIndex:
    """Postings of every term, by turn, and the lengths of both fields of each turn.

    >>> index = TurnIndex()
    >>> index.add({"redis": 2}, {"redis": 1, "cache": 1})
    >>> index.document_frequency("redis"), [hex(posting) for posting in index.postings("redis")]
    (1, ['0x21'])
    """

    __slots__ = ("_assistant_total", "_postings", "_user_total", "assistant_lengths", "speakers", "user_lengths")

    def __init__(self) -> None:
        self._postings: dict[str, int | array[int]] = {}  # one posting: an int, a third of the size
        self._user_total = self._assistant_total = 0
        self.speakers = Speakers()
        self.user_lengths = array("I")
        self.assistant_lengths = array("I")

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self.user_lengths)

    @property
    def mean_user_length(self) -> float:
        """Terms of a user's text on average, at least 1."""
        return max(1.0, self._user_total / (len(self) or 1))

    @property
    def mean_assistant_length(self) -> float:
        """Terms of an assistant's text on average, at least 1."""
        return max(1.0, self._assistant_total / (len(self) or 1))

    def add(
        self, user_terms: Mapping[str, int], assistant_terms: Mapping[str, int], *, texts: tuple[str, str] = ("", "")
    ) -> None:
        """Add the next turn.

        Args:
            user_terms: the counts of the terms of the user's text.
            assistant_terms: the same of the assistant's text.
            texts: how both texts begin, for the names of the speakers.
        """
        base, known = len(self) << TURN_BITS, self._postings.get
        fresh = {
            term: base | (count if count < MAX_COUNT else MAX_COUNT) << FIELD_BITS for term, count in user_terms.items()
        }
        for term, count in assistant_terms.items():
            fresh[term] = fresh.get(term, base) | (count if count < MAX_COUNT else MAX_COUNT)
        for term, posting in fresh.items():
            postings = known(term)
            if postings is None:
                self._postings[term] = posting
            elif isinstance(postings, int):
                self._postings[term] = array("I", (postings, posting))
            else:
                postings.append(posting)
        self.speakers.add(*texts)
        self.user_lengths.append(sum(user_terms.values()))
        self.assistant_lengths.append(sum(assistant_terms.values()))
        self._user_total += self.user_lengths[-1]
        self._assistant_total += self.assistant_lengths[-1]

    def remove_last(self, terms: Iterable[str]) -> None:
        """Take the newest turn back.

        Args:
            terms: every term of the turn (both fields), each once.

        Raises:
            IndexError: the index is empty.
        """
        self.speakers.remove_last()
        self._user_total -= self.user_lengths.pop()
        self._assistant_total -= self.assistant_lengths.pop()
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
        """Return how many turns hold a term."""
        postings = self._postings.get(term, ())
        return 1 if isinstance(postings, int) else len(postings)

    def idf(self, term: str) -> float:
        """Return what a term tells among the turns of this conversation, known or not; see :func:`idf_among`."""
        return idf_among(term, documents=len(self), frequency=self.document_frequency(term))
