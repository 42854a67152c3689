"""Lines that share a query's rarest anchors; plain string search comes first, so that long results stay cheap."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from gatekeeper_core.context.tool_results.signals import in_lower_case
from gatekeeper_core.selection.anchors import count_terms, other_forms, query_terms, term_weight

_MAX_TERMS = 48
_QUANTITY_SIGNS = ("@", "#")
_MIN_WEIGHT = 0.3  # excludes single characters and two-digit numbers, which are in every other line
_MAX_READ_CHARS = 2_000
_READ_BEFORE = 200
_MAX_CANDIDATES = 4_000  # lines whose terms are counted
_SAMPLED_LINES = 60
_EVERYWHERE = 0.25


class QueryMatcher:
    """The anchors of a query, prepared for matching lines; None or a query without anchors matches nothing.

    >>> QueryMatcher("where is the port of redis?").ranked(["redis runs", "the port of redis is 6380"], limit=1)
    [1]
    """

    def __init__(self, query: str | None) -> None:
        terms = [term for term in query_terms(query) if term_weight(term) > _MIN_WEIGHT] if query else []
        self._terms = tuple(terms[:_MAX_TERMS])
        self._has_quantities = any(term.startswith(_QUANTITY_SIGNS) for term in self._terms)
        # Every line with a term contains one of these strings. A term is a stem: the text may differ in its last letter
        # (try, tries) or, for another form of the word, in several (break, broke).
        starts: set[str] = set()
        for term in (*self._terms, *(form for stem in self._terms for form in other_forms(stem))):
            if not term.startswith(_QUANTITY_SIGNS):
                inflected = len(term) > 3 and term.isascii() and term.isalpha() and term.endswith(("y", "e"))
                starts.add(term[:-1] if inflected else term)
        self._starts = tuple(sorted(filter(None, starts), key=lambda each: (-len(each), each)))

    def places(self, line: str) -> list[int]:
        """Return up to four positions of possible anchors in a line, the longest anchors first."""
        low = line.lower()
        return [min(low.find(start), len(line)) for start in self._starts if start in low][:4]

    def spans(self, text: str, *, limit: int) -> list[tuple[int, int]]:
        """Return up to ``limit`` spans of possible anchors, the longest first; skip an anchor with more matches."""
        low = text.lower()
        spans: list[tuple[int, int]] = []
        for start in self._starts:
            if low.count(start) <= limit - len(spans):
                spans += (match.span() for match in re.finditer(re.escape(start), low))
        return spans

    def scores(self, lines: Sequence[str]) -> dict[int, float]:
        """Return by index the score of each line that shares an anchor: the sum of weight times idf.

        An anchor's idf is ``ln(1 + N / df)`` over these lines. One in over a quarter of sampled lines makes no line a
        candidate, unless all anchors are. Source: the usual form, smoothed; turns are scored in ``selection/index.py``.
        """
        sample = [line[:_MAX_READ_CHARS].lower() for line in lines[:: max(1, len(lines) // _SAMPLED_LINES)]]
        most = max(2.0, _EVERYWHERE * len(sample))
        starts = [start for start in self._starts if sum([start in low for low in sample]) <= most] or self._starts
        matches: dict[int, frozenset[str]] = {}
        document_frequency: Counter[str] = Counter()
        for before, lows, joined in in_lower_case(lines) if starts else ():
            here = [start for start in starts if start in joined]
            for index, low in enumerate(lows if here else (), before):
                first = next((low.find(start) for start in here if start in low), None)
                if first is None or len(matches) == _MAX_CANDIDATES:
                    continue
                line = lines[index]
                if len(line) > _MAX_READ_CHARS:
                    line = line[max(0, first - _READ_BEFORE) : first + _MAX_READ_CHARS]
                counted = count_terms(line, with_quantities=self._has_quantities)
                terms = frozenset(term for term in self._terms if term in counted)
                if terms:
                    matches[index] = terms
                    document_frequency.update(terms)
        idf = {term: math.log1p(len(lines) / count) for term, count in document_frequency.items()}
        return {
            index: math.fsum(term_weight(term) * idf[term] for term in self._terms if term in terms)
            for index, terms in matches.items()
        }

    def ranked(self, lines: Sequence[str], *, limit: int, share: float = 0.5) -> list[int]:
        """Return up to ``limit`` line indices with at least ``share`` of the top score, best first, ties in order."""
        scores = self.scores(lines)
        least = share * max(scores.values(), default=0.0)
        ranked = sorted((at for at in scores if scores[at] >= least), key=lambda at: (-round(scores[at], 6), at))
        return ranked[:limit]
