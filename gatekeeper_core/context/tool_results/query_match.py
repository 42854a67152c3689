"""Lines that match a query: those that share its rarest anchors.

Anchors are found by the one extractor (``selection/anchors.py``); a line is read for them only where it holds the first
letters of one, so that a long result costs little more than a search for plain strings.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from gatekeeper_core.context.tool_results.signals import in_lower_case, lowered
from gatekeeper_core.selection.anchors import count_terms, query_terms, term_weight
from gatekeeper_core.selection.prefilter import other_forms

__all__ = ["Asked"]

_MAX_TERMS = 48
_QUANTITY_SIGNS = ("@", "#")
_LIGHTEST = 0.3  # single characters and numbers of two digits stand in every other line
_MAX_READ_CHARS = 2_000
_READ_BEFORE = 200
_WORTH_READING = 4_000  # candidate lines whose terms are counted
_SAMPLED_LINES = 60
_EVERYWHERE = 0.25


class Asked:
    """The anchors of a question, ready to be looked for in lines.

    Args:
        query: the question; None or one without anchors finds nothing.

    >>> Asked("where is the port of redis?").ranked(["redis runs", "the port of redis is 6380"], limit=1)
    [1]
    """

    __slots__ = ("_has_quantities", "_starts", "_terms", "_wanted")

    def __init__(self, query: str | None) -> None:
        terms = [term for term in query_terms(query) if term_weight(term) > _LIGHTEST] if query else []
        self._terms = tuple(terms[:_MAX_TERMS])
        self._wanted = frozenset(self._terms)
        self._has_quantities = any(term.startswith(_QUANTITY_SIGNS) for term in self._terms)
        self._starts = _starts_of(self._terms)

    def __bool__(self) -> bool:
        return bool(self._starts)

    def places(self, line: str, *, limit: int = 4) -> list[int]:
        """Return where anchors may stand in a line, the first places of the longest ones first."""
        low = lowered(line)
        found = [min(low.find(start), len(line)) for start in self._starts if start in low]
        return found[:limit]

    def spans(self, text: str, *, limit: int) -> list[tuple[int, int]]:
        """Return where anchors may stand in a text, at most so many: all places of the longest ones first.

        An anchor that stands in more places than that is left out: it tells nothing.
        """
        low = lowered(text) if self._starts else ""
        found: list[tuple[int, int]] = []
        for start in self._starts:
            if low.count(start) <= limit - len(found):
                found += (found_at.span() for found_at in re.finditer(re.escape(start), low))
        return found

    def scores(self, lines: Sequence[str]) -> dict[int, float]:
        """Return by index the score of each line that shares an anchor: the sum of weight times idf.

        The idf of an anchor is ``ln(1 + N / df)`` over these lines. An anchor that seems to stand in every other line
        makes no line a candidate. Source: the usual form, smoothed; see ``selection/index.py`` for the one that turns
        are found by.
        """
        sample = [line[:_MAX_READ_CHARS].lower() for line in lines[:: max(1, len(lines) // _SAMPLED_LINES)]]
        most = max(2.0, _EVERYWHERE * len(sample))
        starts = [start for start in self._starts if sum([start in low for low in sample]) <= most]
        held: dict[int, frozenset[str]] = {}
        document_frequency: Counter[str] = Counter()
        for index, first in _first_places(lines, starts or self._starts):
            line = lines[index]
            if len(line) > _MAX_READ_CHARS:
                line = line[max(0, first - _READ_BEFORE) : first + _MAX_READ_CHARS]
            terms = self._wanted & count_terms(line, with_quantities=self._has_quantities).keys()
            if terms:
                held[index] = terms
                document_frequency.update(terms)
                if len(held) == _WORTH_READING:
                    break
        idf = {term: math.log1p(len(lines) / count) for term, count in document_frequency.items()}
        return {
            index: math.fsum(term_weight(term) * idf[term] for term in self._terms if term in terms)
            for index, terms in held.items()
        }

    def ranked(self, lines: Sequence[str], *, limit: int, share: float = 0.5) -> list[int]:
        """Return the indices of the lines that answer best, best first, the earlier one first where two are equal.

        Args:
            lines: where to look.
            limit: most lines to return.
            share: a line must have this share of the best score.
        """
        scores = self.scores(lines)
        least = share * max(scores.values(), default=0.0)
        ranked = sorted((at for at in scores if scores[at] >= least), key=lambda at: (-round(scores[at], 6), at))
        return ranked[:limit]


def _first_places(lines: Sequence[str], starts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the index of each line that holds one of the strings, and where the first of them stands."""
    before = 0
    for lows, all_of_them in in_lower_case(lines) if starts else ():
        here = [start for start in starts if start in all_of_them]
        for at, low in enumerate(lows if here else ()):
            for start in here:
                if start in low:
                    yield before + at, low.find(start)
                    break
        before += len(lows)


def _starts_of(terms: Sequence[str]) -> tuple[str, ...]:
    """Return strings of which every line that holds one of the terms has at least one, the longest first.

    A term is a stem, and a stem can differ from what is written by its last letter (try, tries) or, for another form
    of the word, in all of them.
    """
    starts: set[str] = set()
    for term in (*terms, *(form for stem in terms for form in other_forms(stem))):
        if not term.startswith(_QUANTITY_SIGNS):
            inflected = len(term) > 3 and term.isascii() and term.isalpha() and term.endswith(("y", "e"))
            starts.add(term[:-1] if inflected else term)
    return tuple(sorted(filter(None, starts), key=lambda each: (-len(each), each)))
