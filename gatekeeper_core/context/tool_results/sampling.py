"""Samples of a result that is too long to read in full: both ends, even samples, words of failure and of the query."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import merge
from itertools import accumulate, chain, islice, pairwise

from gatekeeper_core.context.tool_results.digest import Lines, merged
from gatekeeper_core.context.tool_results.formats.json_results import Parts, Table, parts_of
from gatekeeper_core.context.tool_results.formats.json_text import JsonValue, read_json, read_json_at
from gatekeeper_core.context.tool_results.formats.templates import masked
from gatekeeper_core.context.tool_results.query_match import QueryMatcher
from gatekeeper_core.context.tool_results.signals import failure_places
from gatekeeper_core.text import LazyPattern

ANALYSED_CHARS = 600_000
"""Characters that are read of a longer result. Source: ours."""

_SAMPLES = 24
_HITS = 2_000
_PLACES = 40_000
_LONGEST_LINE = 4_000
_KIND_CHARS = 400
_CHARS_BEFORE = 12
_OBJECT = r'(\{\s{0,198}"[^"]{0,198}")'  # up to its first key
_FIRST = LazyPattern(rf"\s*(\[)?\s{{0,198}}{_OBJECT}")
_VALUE = LazyPattern(rf'"([^"\\]{{0,198}})"\s{{0,9}}:\s{{0,9}}(\[)?(?=\s{{0,198}}{_OBJECT})')
_KEY_BEFORE = LazyPattern(r'"([^"\\]{0,198})"\s{0,9}:\s{0,198}\Z')
_KEY_CHARS = 400
_MISSES = 24  # failed reads beyond the number of rows, after which the text counts as no JSON
_STATUS = LazyPattern(r"5[0-9]{2}(?<![\w.-]...)(?![\w.-])")  # perhaps an HTTP status: the column decides later


def sample_lines(text: str, query: QueryMatcher, *, max_chars: int = ANALYSED_CHARS) -> Lines:
    """Return all lines of a text, or samples if it is longer than ``max_chars`` (unless its lines are few and long)."""
    total = text.count("\n") + 1
    if len(text) <= max_chars or len(text) > _LONGEST_LINE * total:
        return Lines.of(text.split("\n"))

    def line_span(start: int, stop: int) -> tuple[int, int]:
        """Widen a span to complete lines, unless they are too long."""
        before = text.rfind("\n", max(0, start - _LONGEST_LINE), start)
        after = text.find("\n", stop, stop + _LONGEST_LINE)
        return (before + 1 if before >= 0 else start, after if after >= 0 else min(len(text), stop))

    spans = [line_span(start, stop) for start, stop in _even(len(text), max_chars * 3 // 4)]
    room = max_chars // 4
    matches = [line_span(start, stop) for start, stop in query.spans(text, limit=_HITS)]
    for start, stop in chain(matches, _failures(text, lambda place: line_span(place, place))):
        room -= stop - start
        if room < 0:
            break
        spans.append((start, stop))
    pieces = merged(spans, joins=1)
    texts = [text[start:stop].split("\n") for start, stop in pieces]
    before = _counts_before(text, "\n", [start for start, _ in pieces])
    numbers = (range(count + 1, count + 1 + len(lines)) for count, lines in zip(before, texts, strict=True))
    return Lines(list(chain(*texts)), list(chain(*numbers)), total)


def sample_rows(text: str, query: QueryMatcher, *, max_chars: int = ANALYSED_CHARS) -> Parts | None:
    """Return a sample of the objects in a long JSON text, and the values beside them; None for other texts.

    The objects begin with the same key: those of a list, of JSON Lines, or of a list or map in an object. A quarter of
    the characters are rows with words of the query or of failure, the rest even samples. The values have their paths.

    >>> text = '{"total": 9, "rows": [%s], "next": null}' % ", ".join(['{"id": 1}'] * 9)
    >>> [table], around = sample_rows(text, QueryMatcher(None), max_chars=100)
    >>> table.path, table.total, around
    ('rows[]', 9, [('total', '9'), ('next', None)])
    """
    if (layout := _layout(text)) is None:
        return None
    path, opening, list_at = layout
    rows: dict[int, dict[str, JsonValue]] = {}
    misses = 0

    def read(place: int) -> int:
        """Return the number of characters read for a row; 0 if it was read before or is not a row."""
        nonlocal misses
        if place < 0 or misses > _MISSES + len(rows):
            return 0
        key = _KEY_BEFORE.search(text, max(0, place - _KEY_CHARS), place) if list_at < 0 else None
        if place in rows or (key is None and list_at < 0):
            return 0
        value = read_json_at(text, place)
        if value is None or not isinstance(row := value[0], dict):
            misses += 1
            return 0
        rows[place] = {"key": key[1], **row} if key else row
        return value[1] - place

    def row_span(place: int) -> tuple[int, int]:
        after = text.find(opening, place + 1)
        return text.rfind(opening, 0, place + len(opening)), after if after >= 0 else len(text)

    # The last row, query matches, one row of each kind of failure; then even samples.
    matches = (row_span(start)[0] for start, _ in query.spans(text, limit=200))
    failures = (start for start, _ in _failures(text, row_span))
    room = max_chars
    for place in chain([text.rfind(opening)], matches, failures):
        room -= read(place)
        if room <= max_chars * 3 // 4:
            break
    for start, stop in _even(len(text), room):
        at = text.find(opening, start)
        while 0 <= at < stop:
            read(at)
            at = text.find(opening, at + 1)
    if not rows:
        return None
    places = sorted(rows)
    numbers = _counts_before(text, opening, places)
    total = max(text.count(opening), numbers[-1] + 1)
    last = read_json_at(text, text.rfind(opening)) if path and list_at >= 0 else None
    around = read_json(f"{text[:list_at]}[{text[last[1] :]}") if last else None  # the value without its list
    values = [(at, value) for at, value in parts_of(around)[1] if value != []] if around else []
    return [Table(path, [rows[place] for place in places], numbers, total)], values


def _layout(text: str) -> tuple[str, str, int] | None:
    """Return where the objects of a list, of JSON Lines, or of the outermost list or map over half the text are.

    That is: the list's path, as in tables; how each object begins, up to its first key; the list's start (-1: a map).
    """

    def is_spread(opening: str, start: int) -> bool:
        return text.rfind(opening) - start > len(text) // 2

    first = _FIRST.match(text)
    if first is None:
        return None
    if first[1] or is_spread(first[2], first.start(2)):
        return "", first[2], max(first.start(1), 0)
    for value in _VALUE.finditer(text, 0, _LONGEST_LINE):
        if is_spread(value[3], value.start(3)):
            return f"{value[1]}[]" if value[2] else "*", value[3], value.start(2)
    return None


def _even(length: int, chars: int) -> list[tuple[int, int]]:
    """Return spans of ``chars`` characters in all: half at the beginning, a quarter at the end, the rest in between."""
    head, tail, each = chars // 2, chars // 4, chars // 4 // _SAMPLES
    between = [head + at * (length - head - tail) // _SAMPLES for at in range(_SAMPLES)]
    return [(0, head), *((start, start + each) for start in between), (length - tail, length)]


def _failures(text: str, span_of: Callable[[int], tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """Yield one line or row of each kind with a word of failure or a number like an HTTP status of 500 or more.

    The kind includes the characters before the number, because most numbers are not a status.
    """
    numbers = (match.start() for match in islice(_STATUS.finditer(text), _PLACES))
    befores = ((at, masked(text[max(0, at - _CHARS_BEFORE) : at])) for at in numbers)
    words = ((at, "") for at in failure_places(text, limit=_PLACES))
    kinds: set[tuple[str, str]] = set()
    start = stop = yielded = -1
    kind = ""
    for place, before in merge(words, befores):
        if place >= stop:
            start, stop = span_of(place)
            kind = masked(text[start : min(stop, start + _KIND_CHARS)])
        elif start == yielded or not before:
            continue
        if (kind, before) not in kinds and len(kinds) < _HITS:
            kinds.add((kind, before))
            yielded = start
            yield start, stop


def _counts_before(text: str, mark: str, places: Iterable[int]) -> list[int]:
    """Return how often a mark occurs before each of some ascending places."""
    return list(accumulate(text.count(mark, start, stop) for start, stop in pairwise([0, *places])))
