"""What is read of a result that is too long to be read whole.

Both ends, even samples, and where words of failure or of the question stand.
"""

from __future__ import annotations

from collections.abc import Iterable

from gatekeeper_core.context.tool_results.digest import Lines
from gatekeeper_core.context.tool_results.formats.json_results import Table
from gatekeeper_core.context.tool_results.formats.json_text import JsonValue, json_decoder
from gatekeeper_core.context.tool_results.formats.templates import masked
from gatekeeper_core.context.tool_results.omissions import merged
from gatekeeper_core.context.tool_results.query_match import Asked
from gatekeeper_core.context.tool_results.signals import failure_places
from gatekeeper_core.text import LazyPattern

__all__ = ["sample_lines", "sample_rows"]

_SAMPLES = 24
_HITS = 2_000
_PLACES = 40_000
_LONGEST_LINE = 4_000
_OPENING = LazyPattern(r'\s*\[\s{0,198}(\{\s{0,198}"[^"]{0,198}")')  # of a list of objects, up to the first key


def sample_lines(text: str, asked: Asked, *, max_chars: int) -> Lines:
    r"""Return all lines of a text, or of one that is longer than ``max_chars`` those worth reading.

    A text of few, very long lines comes back whole: each of its lines is cut where it is shown.

    >>> sample_lines("a\nb", Asked(None), max_chars=100)
    Lines(texts=['a', 'b'], numbers=range(1, 3), total=2)
    """
    total = text.count("\n") + 1
    if len(text) <= max_chars or len(text) > _LONGEST_LINE * total:
        return Lines.whole(text.split("\n"))
    spans = [_whole_lines(text, start, stop) for start, stop in _even(len(text), max_chars * 3 // 4)]
    room = max_chars // 4
    for start, stop in _hits(text, asked):
        room -= stop - start
        if room < 0:
            break
        spans.append((start, stop))
    texts: list[str] = []
    numbers: list[int] = []
    pieces = merged(spans, joins=1)
    before = _counts_before(text, "\n", [start for start, _ in pieces])
    for (start, stop), count in zip(pieces, before, strict=True):
        found = text[start:stop].split("\n")
        texts += found
        numbers += range(count + 1, count + 1 + len(found))
    return Lines(texts, numbers, total)


def _even(length: int, chars: int) -> list[tuple[int, int]]:
    """Return spans of so many characters together: half of it the beginning, a quarter the end, the rest between."""
    head, tail, each = chars // 2, chars // 4, chars // 4 // _SAMPLES
    between = [head + at * (length - head - tail) // _SAMPLES for at in range(_SAMPLES)]
    return [(0, head), *((start, start + each) for start in between), (length - tail, length)]


def _whole_lines(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return a span widened to whole lines, where these are not too long."""
    before = text.rfind("\n", max(0, start - _LONGEST_LINE), start)
    after = text.find("\n", stop, stop + _LONGEST_LINE)
    return (before + 1 if before >= 0 else start, after if after >= 0 else min(len(text), stop))


def _hits(text: str, asked: Asked) -> Iterable[tuple[int, int]]:
    """Yield the lines in which the question's words stand, then one line of each kind that tells of a failure."""
    for start, stop in asked.spans(text, limit=_HITS):
        yield _whole_lines(text, start, stop)
    seen: set[str] = set()
    reached = -1
    for place in failure_places(text, limit=_PLACES):
        if place < reached:
            continue
        start, reached = _whole_lines(text, place, place)
        kind = masked(text[start : min(reached, start + 400)])
        if kind not in seen and len(seen) < _HITS:
            seen.add(kind)
            yield start, reached


def _counts_before(text: str, mark: str, places: Iterable[int]) -> list[int]:
    """Return how often a mark occurs before each of some places, which ascend."""
    counts: list[int] = []
    count = seen = 0
    for place in places:
        count += text.count(mark, seen, place)
        counts.append(count)
        seen = place
    return counts


# --- JSON -----------------------------------------------------------------------------------------------------------


def sample_rows(text: str, asked: Asked, *, max_chars: int) -> Table | None:
    """Return some objects of a long JSON list of objects that begin with the same key, or None where it is none.

    >>> sample = sample_rows('[{"id": 1}, {"id": 2}, {"id": 3}]', Asked(None), max_chars=100)
    >>> sample.numbers, sample.total
    ([0, 1, 2], 3)
    """
    decoder = json_decoder()
    begins = _OPENING.match(text)
    if begins is None:
        return None
    opening = begins[1]
    found: dict[int, dict[str, JsonValue]] = {}
    room = max_chars
    for place in _row_places(text, opening, asked, max_chars):
        if place in found or room <= 0:
            continue
        try:
            row, stop = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found[place] = row
            room -= stop - place
    if not found:
        return None
    places = sorted(found)
    numbers = _counts_before(text, opening, places)
    return Table("", [found[place] for place in places], numbers, max(text.count(opening), numbers[-1] + 1))


def _row_places(text: str, opening: str, asked: Asked, max_chars: int) -> Iterable[int]:
    """Yield where objects begin: those at hits, the last one, those of the even samples."""
    for place in (*(start for start, _ in asked.spans(text, limit=200)), *failure_places(text, limit=500)):
        at = text.rfind(opening, 0, place + len(opening))
        if at >= 0:
            yield at
    yield text.rfind(opening)
    for start, stop in _even(len(text), max_chars // 2):
        at = text.find(opening, start)
        while 0 <= at < stop:
            yield at
            at = text.find(opening, at + 1)
