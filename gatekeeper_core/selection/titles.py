"""Titles of topics: the few terms of a segment that tell best what it is about, as they were written.

A term is worth how many of the segment's turns hold it, times how much it tells against everyday talk, times the share
of its turns that lie in the segment. Chinese is cut into words (:mod:`gatekeeper_core.selection.chinese_words`); two
neighbours that come together in more than one turn are one, too. In other scripts without spaces a stretch between
function characters, or its first or last pair, stands for a word. Made on demand; selection never asks for a title.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from gatekeeper_core.selection.anchors import extract_anchors
from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.chinese_words import chinese_pieces
from gatekeeper_core.selection.cues import without_cues
from gatekeeper_core.selection.information import is_generic
from gatekeeper_core.selection.lexicon import HAN_GENERIC, HAN_LIGHT, HAN_PARTICLES, KANA_PARTICLES
from gatekeeper_core.text import HAN, LazyPattern, clean, is_wide, word_strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["TITLE_ANCHORS", "titles"]

TITLE_ANCHORS = 3
"""Anchors of a title at most. Source: ours."""

_MAX_READ = 2_000  # characters of one side of a turn
_LONGEST = 6  # characters of a stretch that is taken for a word
_UNLISTED = 3e-5
_ONCE = 0.3  # what a guess counts that stands once
_GENERIC = 0.25
_ASKED = 1.5  # what a word of the user counts
_KINDS = frozenset({"word", "identifier", "version"})
_GRAMMAR = HAN_PARTICLES | HAN_LIGHT | KANA_PARTICLES
_CHINESE = LazyPattern(f"[{HAN}]+")
_Form = Literal["word", "guess", "part"]


class _Term(NamedTuple):
    """A word of a turn, as written: whether it is known to be a word, and whether the user said it."""

    text: str
    form: _Form
    is_asked: bool


def titles(segments: Sequence[Sequence[tuple[str, str]]]) -> tuple[tuple[str, ...], ...]:
    """Return a title for each segment: up to three anchors as written, the most telling first.

    Args:
        segments: by topic or subject, its turns as (user's text, assistant's text).

    >>> titles([[("Which port does Redis use?", "Redis listens on 6379.")], [("西湖要门票吗？", "西湖不要门票。")]])
    (('Redis', 'port', 'listens'), ('西湖', '门票'))
    """
    held = [[_terms_of(user, assistant) for user, assistant in turns] for turns in segments]
    everywhere = Counter(term for turns in held for terms in turns for term in terms)
    return tuple(_title(turns, everywhere) for turns in held)


def _title(turns: Sequence[Mapping[str, _Term]], everywhere: Mapping[str, int]) -> tuple[str, ...]:
    """Return the title of one segment, given the terms of each of its turns."""
    here = Counter(term for terms in turns for term in terms)
    asked = {term for terms in turns for term, found in terms.items() if found.is_asked}
    first: dict[str, _Term] = {}
    for terms in turns:
        first = {**terms, **first}
    worth = {}
    for term, count in here.items():
        steadiness = {"word": 1.0, "guess": _ONCE, "part": 0.0}[first[term].form] if count == 1 else count * count
        steadiness *= _ASKED if term in asked else 1.0
        worth[term] = round(steadiness / everywhere[term] * _telling(term), 6)
    chosen: list[str] = []
    for term in sorted(here, key=lambda term: (-worth[term], -len(term))):  # of equals the one that comes first
        if len(chosen) < TITLE_ANCHORS and worth[term] > 0 and not any(_overlap(term, other) for other in chosen):
            chosen.append(term)
    return tuple(first[term].text.removesuffix("'s") for term in chosen)


def _overlap(term: str, other: str) -> bool:
    """Return whether two terms say partly the same: one holds the other, or stretches that share a pair."""
    if term in other or other in term:
        return True
    return is_wide(term[0]) and any(term[at : at + 2] in other for at in range(len(term) - 1))


def _telling(term: str) -> float:
    """Return how much a term tells against everyday talk, in nats above the commonest; a quarter for a generic one."""
    common, wide = background_frequencies(), is_wide(term[0])
    parts = [term[at : at + 2] for at in range(len(term) - 1)] if wide else [term]
    nats = -math.fsum(math.log(common.get(part, _UNLISTED)) for part in parts) / len(parts) - 4.0
    return max(0.0, nats) * (_GENERIC if (HAN_GENERIC.issuperset(term) if wide else is_generic(term)) else 1.0)


def _terms_of(user: str, assistant: str) -> dict[str, _Term]:
    """Return the terms of one turn, the user's first."""
    terms: dict[str, _Term] = {}
    for text, is_asked in ((without_cues(user[:_MAX_READ]), True), (assistant[:_MAX_READ], False)):
        tokens = word_strings(clean(text))
        for anchor in extract_anchors(" ".join(token for token in tokens if not is_wide(token[0]))):
            if anchor.kind in _KINDS and _names_something(anchor.text):
                terms.setdefault(anchor.term, _Term(anchor.text, "word", is_asked))
        for token in tokens:
            if is_wide(token[0]):
                for word, form in _words(token) if _CHINESE.fullmatch(token) else _stretches(token):
                    known = terms.setdefault(word, _Term(word, form, is_asked))
                    if known.form == "guess" and known.is_asked != is_asked:  # both sides say it
                        terms[word] = known._replace(form="word")
    return terms


def _names_something(text: str) -> bool:
    """Return whether a word may stand in a title: no decimal number (1.7), no short form of two letters (Ms)."""
    return len(text) > 2 - text.isupper() and (any(map(str.isalpha, text)) or text.count(".") > 1)


def _words(run: str) -> Iterator[tuple[str, _Form]]:
    """Yield the words of a run of Chinese, and as parts what is a word only where it comes again."""
    pieces = chinese_pieces(run)
    for piece in pieces:
        if piece.is_word:
            yield piece.text, "word" if piece.is_listed else "guess"
        if piece.is_word and not piece.is_listed and len(piece.text) > 2:
            yield piece.text[:2], "part"
            yield piece.text[-2:], "part"
    for one, other in pairwise(pieces):
        joined = one.text + other.text
        if (one.is_word or other.is_word) and len(joined) <= _LONGEST and _GRAMMAR.isdisjoint(joined):
            yield joined, "part"


def _stretches(run: str) -> Iterator[tuple[str, _Form]]:
    """Yield what may be words in a run of another script without spaces."""
    for stretch in "".join(" " if char in _GRAMMAR else char for char in run).split():
        if 2 <= len(stretch) <= _LONGEST:
            yield stretch, "guess" if len(stretch) == 2 else "word"
        if len(stretch) > 2:
            yield stretch[:2], "guess"
            yield stretch[-2:], "guess"
