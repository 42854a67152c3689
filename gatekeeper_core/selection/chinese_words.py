"""Words of Chinese text, for people to read: titles of topics and anchors that are shown.

The index needs none: it holds every pair of characters. A run of characters is cut so that the words of the lists of
this library cover as much of it as they can; what lies between them and grammar is taken for a word itself.
"""

from __future__ import annotations

from functools import cache
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.lexicon import HAN_GENERIC, HAN_LIGHT, HAN_PARTICLES
from gatekeeper_core.selection.thesaurus import kinds, simplified_characters, synonyms
from gatekeeper_core.selection.translations import translations
from gatekeeper_core.text import clean, is_han, is_wide, word_strings

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Piece", "chinese_pieces", "chinese_words", "words_by_pair"]

_GRAMMAR = HAN_PARTICLES | HAN_LIGHT
_LONGEST_UNLISTED = 4


class Piece(NamedTuple):
    """A part of a run of characters.

    Attributes:
        text: as written.
        is_listed: whether a list of this library has it as a word.
        is_word: whether it tells something: a listed word, or two to four characters between words and grammar; neither
            of them grammar, numerals and units alone.
    """

    text: str
    is_listed: bool
    is_word: bool


def chinese_words(run: str) -> list[str]:
    """Return the words of a run of Chinese characters, in order, as written.

    >>> chinese_words("那三个库存扣减的接口最后是怎么修的"), chinese_words("我们想去故宫博物馆")
    (['库存', '扣减', '接口'], ['故宫', '博物馆'])
    """
    return [piece.text for piece in chinese_pieces(run) if piece.is_word]


def words_by_pair(text: str) -> dict[str, str]:
    """Return by pair of characters the first Chinese word of a text that holds it; scripts with kana or hangul by pair.

    >>> words_by_pair("地铁口是 Exit B，博物馆")
    {'地铁': '地铁', '博物': '博物馆', '物馆': '博物馆'}
    """
    found: dict[str, str] = {}
    for run in word_strings(clean(text)):
        if is_wide(run[0]):
            for word in chinese_words(run) if all(map(is_han, run)) else map("".join, pairwise(run)):
                for pair in map("".join, pairwise(word)):
                    found.setdefault(pair, word)
    return found


def chinese_pieces(run: str) -> list[Piece]:
    """Return a run cut so that the squares of the lengths of its listed words sum to the most; all of it, in order.

    >>> [piece.text for piece in chinese_pieces("酵种要在冰箱里放多久")]
    ['酵种', '要', '在', '冰箱', '里', '放', '多', '久']
    """
    plain = run.translate(_simplifying())
    pieces: list[Piece] = []
    at = 0
    for is_listed, group in groupby(_cut(plain), key=lambda size: size > 1):
        for size in group if is_listed else _unlisted(plain[at:], sum(group)):
            text = plain[at : at + size]
            known = HAN_LIGHT if is_listed else HAN_GENERIC | HAN_PARTICLES
            is_word = size > 1 and (is_listed or size <= _LONGEST_UNLISTED) and not known.issuperset(text)
            pieces.append(Piece(run[at : at + size], is_listed, is_word))
            at += size
    return pieces


def _cut(run: str) -> list[int]:
    """Return the lengths of the pieces of a run: those of listed words, and 1 for each character between them."""
    words, longest = _listed()
    best: list[tuple[int, int]] = [(0, 0)]  # up to here: the sum of squares, the length of the last piece
    for stop in range(1, len(run) + 1):
        sizes = [size for size in range(2, min(longest, stop) + 1) if run[stop - size : stop] in words]
        best.append(max((best[stop - size][0] + (size * size if size > 1 else 0), size) for size in (1, *sizes)))
    cut, stop = [], len(run)
    while stop:
        cut.append(best[stop][1])
        stop -= best[stop][1]
    return cut[::-1]


def _unlisted(rest: str, count: int) -> Iterator[int]:
    """Yield the lengths of the pieces of so many characters that are in no listed word; grammar is cut into characters.

    A stretch leaves out the numerals and units that it begins with, and as long as two characters are left, those that
    it ends with.
    """
    for is_grammar, group in groupby(rest[:count], key=_GRAMMAR.__contains__):
        stretch = "".join(group)
        start, stop = 0, len(stretch)
        if is_grammar:
            start = stop
        while start < stop and stretch[start] in HAN_GENERIC:
            start += 1
        while stop - start > 2 and stretch[stop - 1] in HAN_GENERIC:
            stop -= 1
        yield from chain([1] * start, [stop - start] if stop > start else (), [1] * (len(stretch) - stop))


@cache
def _listed() -> tuple[frozenset[str], int]:
    """Return the words of the lists, of two characters or more, and the length of the longest."""
    lists = chain(chain.from_iterable(translations().values()), synonyms(), *kinds().values())
    words = frozenset(word for word in lists if len(word) > 1 and not word.isascii())
    return words, max(map(len, words))


@cache
def _simplifying() -> dict[int, str]:
    return {ord(char): plain for char, plain in simplified_characters().items()}
