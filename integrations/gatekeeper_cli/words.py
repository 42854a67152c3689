"""Words of a text, for people to read: titles of topics and anchors that are shown.

The index needs no Chinese words: it holds every pair of characters. Here the longest word of the lists of this library
is taken where one begins, and two to four characters between words and grammar for a word.
"""

from __future__ import annotations

from functools import cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection import lexicon
from gatekeeper_core.selection.anchors import extract_anchors, folded
from gatekeeper_core.selection.cues import without_cues
from gatekeeper_core.text import clean, is_wide, word_strings

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Word", "chinese_words", "words_by_pair", "words_of"]

_MAX_READ = 2_000  # characters of one side of a turn
_LONGEST_UNLISTED = 4
_GRAMMAR = lexicon.HAN_PARTICLES | lexicon.HAN_LIGHT | lexicon.HAN_GENERIC | lexicon.KANA_PARTICLES


class Word(NamedTuple):
    """A word as it was first written, whether the user says it, and whether it is one only if it comes again."""

    text: str
    is_asked: bool
    is_guess: bool = False


def words_of(user: str, assistant: str) -> dict[str, Word]:
    """Return the words of a turn by the term that stands for all their forms, the user's first.

    >>> [(term, word.text, word.is_asked) for term, word in words_of("Which ports?", "端口是 6380，one port").items()]
    [('port', 'ports', True), ('端口', '端口', False)]
    """
    found: dict[str, Word] = {}
    for text, is_asked in ((without_cues(user[:_MAX_READ]), True), (assistant[:_MAX_READ], False)):
        tokens = word_strings(clean(text))
        for anchor in extract_anchors(" ".join(token for token in tokens if not is_wide(token[0]))):
            if anchor.kind in ("word", "identifier") and (len(anchor.text) > 2 or anchor.text.isupper()):
                found.setdefault(anchor.term, Word(anchor.text.removesuffix("'s"), is_asked))
        for word in chain.from_iterable(chinese_words(token) for token in tokens if is_wide(token[0])):
            found.setdefault(word, Word(word, is_asked))
            for part in () if folded(word) in _listed()[0] else (word[:2], word[-2:]):  # 西湖 in 西湖边住
                found.setdefault(part, Word(part, is_asked, is_guess=True))
    return found


def words_by_pair(text: str) -> dict[str, str]:
    """Return by pair of characters the first word of a text in a script without spaces that holds it.

    >>> words_by_pair("地铁口是 Exit B，博物馆")
    {'地铁': '地铁', '博物': '博物馆', '物馆': '博物馆'}
    """
    found: dict[str, str] = {}
    for run in word_strings(clean(text)):
        for word in chinese_words(run) if is_wide(run[0]) else ():
            for pair in map("".join, pairwise(word)):
                found.setdefault(pair, word)
    return found


def chinese_words(run: str) -> list[str]:
    """Return the words of a run of characters of a script without spaces, in order, as written.

    >>> chinese_words("那三个库存扣减的接口最后是怎么修的"), chinese_words("我们想去故宫博物馆")
    (['库存', '扣减', '接口'], ['故宫', '博物馆'])
    """
    (words, longest), plain = _listed(), folded(run)
    found: list[str] = []
    begin = at = 0  # of the characters that are in no listed word, and where to look
    while at < len(run):
        size = next((size for size in range(longest, 1, -1) if plain[at : at + size] in words), 0)
        if size or plain[at] in _GRAMMAR:
            found += [run[begin:at], run[at : at + size]]
            begin = at = at + max(1, size)
        else:
            at += 1
    found.append(run[begin:])
    return [word for word in found if len(word) > 1 and (folded(word) in words or len(word) <= _LONGEST_UNLISTED)]


@cache
def _listed() -> tuple[frozenset[str], int]:
    """Return the words of the lists that are more than grammar and numerals, and the length of the longest."""
    lists: Iterable[str] = chain(
        chain.from_iterable(lexicon.translations().values()), lexicon.synonyms(), *lexicon.kinds().values()
    )
    words = frozenset(word for word in lists if len(word) > 1 and not word.isascii() and not _GRAMMAR.issuperset(word))
    return words, max(map(len, words))
