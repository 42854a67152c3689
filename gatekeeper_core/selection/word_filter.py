"""A set filter for the words of a conversation: it rules out an unknown word without a look-up in the index.

A Bloom filter with one hash, 22 bits of a word's CRC-32: a word that was added is always found, and another one is
found only where both share these bits. Until words are added one by one, as after a snapshot of turns that were not
packed, the hashes are a sorted array, 4 bytes each; then they are half a megabyte of bits.

Source: Bloom 1970, "Space/time trade-offs in hash coding with allowable errors".
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MIN_WORD", "WordFilter"]

MIN_WORD = 4
"""Letters of the shortest word that is added. Source: ours: shorter ones are too alike."""

_PLACES = 1 << 22  # a million words set a fifth of them


class WordFilter:
    """The words (a to z, ``MIN_WORD`` letters or more) that were added; they are never taken back.

    >>> words = WordFilter()
    >>> words.add("redis"), words.add("缓存")
    (None, None)
    >>> words.may_hold(["redis", "radis"])
    ['redis']
    """

    __slots__ = ("_bits", "_places")

    def __init__(self) -> None:
        self._bits = bytearray()
        self._places = array("I")

    def add(self, term: str) -> None:
        """Add a term, if it is such a word."""
        if _is_word(term):
            if not self._bits:
                self._bits = bytearray(_PLACES >> 3)
                for place in self._places:
                    self._bits[place >> 3] |= 1 << (place & 7)
                self._places = array("I")
            place = crc32(term.encode()) % _PLACES
            self._bits[place >> 3] |= 1 << (place & 7)

    def may_hold(self, words: Iterable[str]) -> list[str]:
        """Return those of some such words that were added, and perhaps a few others."""
        bits, places = self._bits, self._places
        if bits:
            return [word for word in words if bits[(place := crc32(word.encode()) % _PLACES) >> 3] >> (place & 7) & 1]
        hashed = ((word, crc32(word.encode()) % _PLACES) for word in words)
        return [word for word, place in hashed if place in places[(at := bisect_left(places, place)) : at + 1]]

    def column(self, more: Iterable[str] = ()) -> array[int]:
        """Return what was added and further terms, for a snapshot: the hashes (``I``), or the bits (``B``)."""
        if self._bits:
            both = WordFilter.from_column(array("B", self._bits))
            for term in more:
                both.add(term)
            return array("B", both._bits)
        fresh = {crc32(term.encode()) % _PLACES for term in more if _is_word(term)}
        return array("I", sorted(fresh.union(self._places)))

    @classmethod
    def from_column(cls, column: array[int]) -> WordFilter:
        """Return the filter whose :meth:`column` this is.

        Raises:
            ValueError: it is the column of no word filter.
        """
        made = cls()
        if column.typecode == "I" and max(column, default=0) < _PLACES:
            made._places = column
        elif column.typecode == "B" and len(column) == _PLACES >> 3:
            made._bits = bytearray(column)
        else:
            raise ValueError("this is the column of no word filter")
        return made


def _is_word(term: str) -> bool:
    return len(term) >= MIN_WORD and term.isascii() and term.isalpha()
