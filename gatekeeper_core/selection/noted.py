"""Which words a conversation may hold: a mark for each, by which an unknown word is told without a look-up.

A word's place is 22 bits of its CRC-32, which other words may share. In a snapshot of a conversation of which nothing
was packed, and in what comes back from it, the places stand in a sorted array, 4 bytes each; once words are noted one
by one, in half a megabyte of bits.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MIN_WORD", "NotedWords"]

MIN_WORD = 4
"""Letters of the shortest word that is noted. Source: ours: shorter ones are too alike."""

_PLACES = 1 << 22  # a million words set a fifth of them


class NotedWords:
    """The words (a to z, ``MIN_WORD`` letters or more) that were noted; they are never taken back.

    >>> noted = NotedWords()
    >>> noted.note("redis"), noted.note("缓存")
    (None, None)
    >>> noted.may_hold(["redis", "radis"])
    ['redis']
    """

    __slots__ = ("_bits", "_places")

    def __init__(self) -> None:
        self._bits = bytearray()
        self._places = array("I")

    def note(self, term: str) -> None:
        """Note a term, if it is such a word."""
        if _is_word(term):
            if not self._bits:
                self._bits, self._places = self._as_bits(), array("I")
            place = crc32(term.encode()) % _PLACES
            self._bits[place >> 3] |= 1 << (place & 7)

    def may_hold(self, words: Iterable[str]) -> list[str]:
        """Return those of some such words that were noted, and perhaps a few others."""
        bits, places = self._bits, self._places
        if bits:
            return [word for word in words if bits[(place := crc32(word.encode()) % _PLACES) >> 3] >> (place & 7) & 1]
        return [word for word in words if _holds(places, crc32(word.encode()) % _PLACES)]

    def column(self, more: Iterable[str] = ()) -> array[int]:
        """Return what was noted and further terms, for a snapshot: the places (``I``), or the bits (``B``)."""
        if self._bits:
            both = NotedWords.from_column(array("B", self._bits))
            for term in more:
                both.note(term)
            return array("B", both._bits)
        fresh = {crc32(term.encode()) % _PLACES for term in more if _is_word(term)}
        return array("I", sorted(fresh.union(self._places)))

    @classmethod
    def from_column(cls, column: array[int]) -> NotedWords:
        """Return the words whose :meth:`column` this is.

        Raises:
            ValueError: it is none.
        """
        made = cls()
        if column.typecode == "I" and max(column, default=0) < _PLACES:
            made._places = column
        elif column.typecode == "B" and len(column) == _PLACES >> 3:
            made._bits = bytearray(column)
        else:
            raise ValueError("these are no noted words")
        return made

    def _as_bits(self) -> bytearray:
        bits = bytearray(_PLACES >> 3)
        for place in self._places:
            bits[place >> 3] |= 1 << (place & 7)
        return bits


def _is_word(term: str) -> bool:
    return len(term) >= MIN_WORD and term.isascii() and term.isalpha()


def _holds(places: array[int], place: int) -> bool:
    at = bisect_left(places, place)
    return at < len(places) and places[at] == place
