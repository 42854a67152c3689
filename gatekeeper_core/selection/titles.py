"""Titles of topics: the few terms of a segment that tell best what it is about, as they were written.

A term is worth how many of the segment's turns hold it, times how much it tells against everyday talk, times the share
of its turns that lie in the segment. In scripts without spaces there are no words to take; a stretch between function
characters, or its first or last pair, stands for one. Made on demand; selection never asks for a title.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from gatekeeper_core.selection.anchors import extract_anchors
from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.cues import without_cues
from gatekeeper_core.selection.lexicon import HAN_LIGHT, HAN_PARTICLES, KANA_PARTICLES
from gatekeeper_core.text import clean, is_wide, word_strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["TITLE_ANCHORS", "titles"]

TITLE_ANCHORS = 3
"""Anchors of a title at most. Source: ours."""

_MAX_READ = 2_000  # characters of one side of a turn
_LONGEST = 6  # characters of a stretch that is taken for a word
_UNLISTED = 3e-5
_ONCE = 0.3  # what a pair of characters counts that stands once
_KINDS = frozenset({"word", "identifier", "version"})
_GRAMMAR = HAN_PARTICLES | HAN_LIGHT | KANA_PARTICLES


def titles(segments: Sequence[Sequence[tuple[str, str]]]) -> tuple[tuple[str, ...], ...]:
    """Return a title for each segment: up to three anchors as written, the most telling first.

    Args:
        segments: by topic, its turns as (user's text, assistant's text).

    >>> titles([[("Which port does Redis use?", "Redis listens on 6379.")], [("西湖要门票吗？", "西湖不要门票。")]])
    (('Redis', 'port', 'listens'), ('西湖', '门票'))
    """
    held = [[_terms_of(user, assistant) for user, assistant in turns] for turns in segments]
    everywhere = Counter(term for turns in held for terms in turns for term in terms)
    return tuple(_title(turns, everywhere) for turns in held)


def _title(turns: Sequence[Mapping[str, str]], everywhere: Mapping[str, int]) -> tuple[str, ...]:
    """Return the title of one segment, given the terms of each of its turns."""
    here = Counter(term for terms in turns for term in terms)
    written = {term: text for terms in reversed(turns) for term, text in terms.items()}
    worth = {}
    for term, count in here.items():
        half_a_word = count == 1 and len(term) == 2 and is_wide(term[0])
        steadiness = _ONCE if half_a_word else float(count * count)
        worth[term] = round(steadiness / everywhere[term] * _telling(term), 6)
    chosen: list[str] = []
    for term in sorted(worth, key=lambda term: (-worth[term], -len(term), term)):
        if len(chosen) < TITLE_ANCHORS and worth[term] > 0 and not any(_overlap(term, other) for other in chosen):
            chosen.append(term)
    return tuple(written[term] for term in chosen)


def _overlap(term: str, other: str) -> bool:
    """Return whether two terms say partly the same: one holds the other, or stretches that share a pair."""
    if term in other or other in term:
        return True
    return is_wide(term[0]) and any(term[at : at + 2] in other for at in range(len(term) - 1))


def _telling(term: str) -> float:
    """Return how much a term tells against everyday talk, in nats above the commonest."""
    common = background_frequencies()
    if not is_wide(term[0]):
        return max(0.0, -math.log(common.get(term, _UNLISTED)) - 4.0)
    pairs = [common.get(term[at : at + 2], _UNLISTED) for at in range(len(term) - 1)]
    return max(0.0, -math.fsum(map(math.log, pairs)) / len(pairs) - 4.0)


def _terms_of(user: str, assistant: str) -> dict[str, str]:
    """Return the terms of one turn, each with how it is written, the user's first."""
    terms: dict[str, str] = {}
    for text in (without_cues(user[:_MAX_READ]), assistant[:_MAX_READ]):
        for anchor in extract_anchors(text):
            if anchor.kind in _KINDS and len(anchor.term) > 1 and not is_wide(anchor.term[0]):
                terms.setdefault(anchor.term, anchor.text)
        for token in word_strings(clean(text)):
            if is_wide(token[0]):
                terms.update((stretch, stretch) for stretch in _stretches(token))
    return terms


def _stretches(run: str) -> Iterator[str]:
    """Yield what may be words in a run of a script without spaces."""
    for stretch in "".join(" " if char in _GRAMMAR else char for char in run).split():
        if 2 <= len(stretch) <= _LONGEST:
            yield stretch
        if len(stretch) > 2:
            yield stretch[:2]
            yield stretch[-2:]
