"""What is read of a result that is too long to be read whole.

Both ends, even samples, and where words of failure or of the question stand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gatekeeper_core.context.tool_results.formats.json_results import Table
from gatekeeper_core.context.tool_results.formats.json_text import JsonValue, json_decoder
from gatekeeper_core.context.tool_results.formats.templates import masked
from gatekeeper_core.context.tool_results.omissions import numbered_lines
from gatekeeper_core.context.tool_results.query_match import Asked
from gatekeeper_core.context.tool_results.signals import failure_places

__all__ = ["LineSample", "sample_lines", "sample_rows"]

_SAMPLES = 24
_HITS = 2_000
_PLACES = 40_000
_LONGEST_LINE = 4_000


class LineSample(NamedTuple):
    """Some lines of a text: the lines, their numbers, and how many lines the text has."""

    lines: list[str]
    numbers: list[int]
    total: int


def sample_lines(text: str, asked: Asked, *, max_chars: int) -> LineSample:
    r"""Return all lines of a text, or of one that is longer than ``max_chars`` those worth reading.

    A text of few, very long lines comes back whole: each of its lines is cut where it is shown.

    >>> sample_lines("a\nb", Asked(None), max_chars=100)
    LineSample(lines=['a', 'b'], numbers=[1, 2], total=2)
    """
    total = text.count("\n") + 1
    if len(text) <= max_chars or len(text) > _LONGEST_LINE * total:
        return LineSample(text.split("\n"), list(range(1, total + 1)), total)
    spans = [_whole_lines(text, start, stop) for start, stop in _even(len(text), max_chars * 3 // 4)]
    room = max_chars // 4
    for start, stop in _hits(text, asked):
        room -= stop - start
        if room < 0:
            break
        spans.append((start, stop))
    lines: list[str] = []
    numbers: list[int] = []
    merged = _merged(spans)
    numbers_at = numbered_lines(text, [start for start, _ in merged])
    for (start, stop), number in zip(merged, numbers_at, strict=True):
        found = text[start:stop].split("\n")
        lines += found
        numbers += range(number, number + len(found))
    return LineSample(lines, numbers, total)


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


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
        else:
            merged.append((start, stop))
    return merged


# --- JSON -----------------------------------------------------------------------------------------------------------


def sample_rows(text: str, asked: Asked, *, max_chars: int) -> Table | None:
    """Return some objects of a long JSON list of objects that begin with the same key, or None where it is none.

    >>> sample = sample_rows('[{"id": 1}, {"id": 2}, {"id": 3}]', Asked(None), max_chars=100)
    >>> sample.numbers, sample.total
    ([0, 1, 2], 3)
    """
    decoder = json_decoder()
    opening = _opening(text)
    if opening is None:
        return None
    total = text.count(opening)
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
    numbers: list[int] = []
    number = seen = 0
    for place in places:
        number += text.count(opening, seen, place)
        numbers.append(number)
        seen = place
    return Table("", [found[place] for place in places], numbers=numbers, total=max(total, numbers[-1] + 1))


def _opening(text: str) -> str | None:
    """Return how the first object of a list begins, up to its first key."""
    start = len(text) - len(text.lstrip()[:1] and text.lstrip())
    if text[start : start + 1] != "[":
        return None
    brace = text.find("{", start, start + 200)
    quote = text.find('"', brace, brace + 200) if brace >= 0 else -1
    end = text.find('"', quote + 1, quote + 200) if quote >= 0 else -1
    opening = text[brace : end + 1]
    return (
        opening
        if end >= 0 and not text[start + 1 : brace].strip() and not opening[1:].partition('"')[0].strip()
        else None
    )


def _row_places(text: str, opening: str, asked: Asked, max_chars: int) -> Iterable[int]:
    """Yield where objects begin: those at hits, those of the even samples, the last ones."""
    for place in (*(start for start, _ in asked.spans(text, limit=200)), *failure_places(text, limit=500)):
        at = text.rfind(opening, 0, place + len(opening))
        if at >= 0:
            yield at
    last = text.rfind(opening)
    yield from (at for at in (last,) if at >= 0)
    for start, stop in _even(len(text), max_chars // 2):
        at = text.find(opening, start)
        while 0 <= at < stop:
            yield at
            at = text.find(opening, at + 1)
