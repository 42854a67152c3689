"""Which rows of a table to keep: failures, what was asked for, the ends, and what is unusual in its column.

A row is a mapping from column to text; the same rules serve JSON objects, CSV and listings.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from gatekeeper_core.context.results.digest import Shelf, Task
from gatekeeper_core.context.results.marks import MARK
from gatekeeper_core.context.results.pointers import one_line
from gatekeeper_core.context.results.signals import failing
from gatekeeper_core.context.results.templates import masked
from gatekeeper_core.text import LazyPattern

__all__ = ["Unusual", "keep_rows", "summary_of", "unusual_rows"]

_RARE_SHARE = 0.02
_CATEGORY_SHARE = 0.1
_CATEGORIES = 12
_NUMERIC_SHARE = 0.9
_FAR = 6.0
"""Distance from the median, in robust standard deviations, from which a number is an outlier. Source: ours; Iglewicz
and Hoaglin 1993 propose 3.5 for normal data, columns of real tables have heavier tails."""
_MAD_TO_SIGMA = 1.4826
_PER_REASON = 3
_ASKED_ROWS = 12
_COMMON_SHARE = 0.2
_MAX_COLUMNS = 256
_SIGNS = {
    **dict.fromkeys(range(65, 91), "A"),
    **dict.fromkeys(range(97, 123), "a"),
    **dict.fromkeys(range(48, 58), "9"),
}
_NOT_ASCII = LazyPattern("[^\x00-\x7f]+")
_REPEATED = LazyPattern(r"(?<=(.))\1+", re.DOTALL)
_NUMBER = LazyPattern(r"[-+]?[0-9][0-9,]{0,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?\s?%?")


class Unusual(NamedTuple):
    """A row that stands out: how much, in which column, and how."""

    score: float
    row: int
    column: str
    reason: str


def unusual_rows(rows: Sequence[Mapping[str, str]], *, limit: int = 40) -> list[Unusual]:
    """Return the rows that stand out, the most unusual first, at most three for each column and way of standing out.

    A value stands out when it is rare in a column of categories, far from the median in a column of numbers, of a rare
    form in a column of texts, or there at all (or missing) where it is the exception.

    >>> rows = [{"id": str(at), "ms": "12"} for at in range(50)] + [{"id": "50", "ms": "98765"}]
    >>> [(each.row, each.column) for each in unusual_rows(rows)]
    [(50, 'ms')]
    """
    values: dict[str, list[tuple[int, str]]] = {}
    for index, row in enumerate(rows):
        for column, text in row.items():
            if column in values or len(values) < _MAX_COLUMNS:
                values.setdefault(column, []).append((index, text))
    found: list[Unusual] = []
    for column, cells in values.items():
        found += _by_presence(column, cells, len(rows))
        found += _by_value(column, cells)
    found.sort(key=lambda each: (-round(each.score, 6), each.row, each.column))
    return _spread(found, limit)


def _spread(found: Iterable[Unusual], limit: int) -> list[Unusual]:
    seen: Counter[tuple[str, str]] = Counter()
    rows: set[int] = set()
    kept: list[Unusual] = []
    for each in found:
        if len(kept) < limit and each.row not in rows and seen[each.column, each.reason] < _PER_REASON:
            seen[each.column, each.reason] += 1
            rows.add(each.row)
            kept.append(each)
    return kept


def _rare(total: int) -> float:
    return max(1.0, _RARE_SHARE * total)


def _by_presence(column: str, cells: Sequence[tuple[int, str]], total: int) -> Iterable[Unusual]:
    if len(cells) <= _rare(total) < total:
        return [Unusual(math.log(total / len(cells)) + 2.0, row, column, "present") for row, _ in cells]
    missing = total - len(cells)
    if not 0 < missing <= _rare(total):
        return ()
    there = {row for row, _ in cells}
    absent = [row for row in range(total) if row not in there]
    return [Unusual(math.log(total / missing), row, column, "missing") for row in absent]


def _by_value(column: str, cells: Sequence[tuple[int, str]]) -> Iterable[Unusual]:
    if len(cells) < 5:
        return ()
    counts = Counter(text for _, text in cells)
    if len(counts) <= max(_CATEGORIES, _CATEGORY_SHARE * len(cells)) and len(counts) < len(cells) / 2:
        return _rare_values(column, cells, counts, "value", 1.0)
    numbers = [(row, value) for row, text in cells if (value := _number(text)) is not None]
    if len(numbers) >= _NUMERIC_SHARE * len(cells):
        there = {row for row, _ in numbers}
        others = [(row, text) for row, text in cells if row not in there]
        return [*_far_numbers(column, numbers), *_all_of(column, others, len(cells), "not a number")]
    return [*_rare_forms(column, cells, _shape, "shape", 0.8), *_rare_forms(column, cells, masked, "kind", 0.9)]


def _all_of(column: str, cells: Sequence[tuple[int, str]], total: int, reason: str) -> Iterable[Unusual]:
    return [Unusual(math.log(total / len(cells)), row, column, reason) for row, _ in cells]


def _rare_values(
    column: str, cells: Sequence[tuple[int, str]], counts: Mapping[str, int], reason: str, weight: float
) -> list[Unusual]:
    most = _rare(len(cells))
    return [
        Unusual(weight * math.log(len(cells) / counts[text]), row, column, reason)
        for row, text in cells
        if counts[text] <= most
    ]


def _rare_forms(
    column: str, cells: Sequence[tuple[int, str]], form: Callable[[str], str], reason: str, weight: float
) -> Iterable[Unusual]:
    known: dict[str, str] = {}
    forms = [(row, known.get(text) or known.setdefault(text, form(text))) for row, text in cells]
    counts = Counter(text for _, text in forms)
    # Where every other value has a form of its own, no form is unusual.
    return _rare_values(column, forms, counts, reason, weight) if len(counts) <= len(cells) / 3 else ()


def _shape(text: str) -> str:
    """Return the form of a text: each run of capitals, small letters, digits or other characters as one sign.

    >>> _shape("INV-90317 ok"), _shape("缓存")
    ('A-9 a', '字')
    """
    flat = text[:200].translate(_SIGNS)
    if not flat.isascii():
        flat = _NOT_ASCII.sub("字", flat)
    return _REPEATED.sub("", flat)


def _number(text: str) -> float | None:
    if not text or len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    return float(text.rstrip("% ").replace(",", ""))


def _far_numbers(column: str, numbers: Sequence[tuple[int, float]]) -> Iterable[Unusual]:
    middle = _median([value for _, value in numbers])
    distances = [abs(value - middle) for _, value in numbers]
    spread = _median(distances) * _MAD_TO_SIGMA or sum(distances) / len(distances)
    if not 0.0 < spread < math.inf:
        return ()
    base = math.log(len(numbers))
    return [
        Unusual(base + min(3.0, math.log10(distance / spread)), row, column, "far")
        for (row, _), distance in zip(numbers, distances, strict=True)
        if distance > _FAR * spread
    ]


def _median(values: Sequence[float]) -> float:
    """Return the lower median; the module of the standard library takes as long to import as all of this one."""
    return sorted(values)[(len(values) - 1) // 2]


def keep_rows(shelf: Shelf, rows: Sequence[Mapping[str, str]], lines: Sequence[str], task: Task) -> None:
    """Put rows on a shelf in the order of their worth.

    Args:
        shelf: takes rows by index.
        rows: what each row says, by column.
        lines: the same rows as lines, for words of failure and for what was asked.
        task: the question, and how many first rows to show.
    """
    if not rows:
        return
    budget = shelf.left
    for nth, index in enumerate(_failures(lines)):
        shelf.add(index, least_left=shelf.overdraft if nth < 2 * _PER_REASON else budget // 3)
    for nth, index in enumerate(task.asked.ranked(lines, limit=_ASKED_ROWS)):
        shelf.add(index, least_left=shelf.overdraft if nth < _PER_REASON else budget // 12)
    shelf.add(0)
    for each in unusual_rows(rows):
        shelf.add(each.row, least_left=budget // 8)
    shelf.add(len(rows) - 1)
    for index in range(min(task.list_items, len(rows))):
        if not shelf.add(index):
            break


def _failures(lines: Sequence[str]) -> list[int]:
    """Return rows that tell of a failure, one of each kind, the rarest kinds first; none where most rows do."""
    found = failing(lines)
    counts = Counter(kinds := [masked(lines[index]) for index in found])
    first = {kind: index for index, kind in reversed(list(zip(found, kinds, strict=True)))}
    order = sorted(first, key=lambda kind: (counts[kind], first[kind]))
    if len(found) > _COMMON_SHARE * len(lines):
        order = order[:_PER_REASON]
    return [first[kind] for kind in order]


def summary_of(rows: Sequence[Mapping[str, str]], *, max_columns: int = 4, max_values: int = 6) -> str:
    """Return what all rows say together: counts of the values of categories, the range of numbers; "" for nothing.

    >>> rows = [{"state": "ok", "ms": str(at)} for at in range(20)] + [{"state": "down", "ms": "3"}]
    >>> summary_of(rows)
    '… in all: state: ok 20, down 1; ms: 0 to 19'
    """
    values: dict[str, list[str]] = {}
    for row in rows:
        for column, text in row.items():
            if column in values or len(values) < _MAX_COLUMNS:
                values.setdefault(column, []).append(text)
    said = []
    for column, texts in values.items():
        told = _told(texts, max_values)
        if told:
            said.append(f"{one_line(column, max_chars=40)}: {told}")
    return f"{MARK} in all: {'; '.join(said[:max_columns])}" if said else ""


def _told(texts: Sequence[str], max_values: int) -> str:
    counts = Counter(texts)
    if 1 < len(counts) <= max_values:
        ranked = sorted(counts, key=lambda text: (-counts[text], text))
        return ", ".join(f"{one_line(text, max_chars=30)} {counts[text]}" for text in ranked)
    numbers = [(value, text) for text in counts if (value := _number(text)) is not None]
    if len(numbers) < max(2, _NUMERIC_SHARE * len(counts)):
        return ""
    return f"{min(numbers)[1]} to {max(numbers)[1]}"
