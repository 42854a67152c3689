"""Selection of table rows: failures, matches of the query, both ends, and values unusual in their column.

What rows say is given by column (``cells.py``); the same rules serve JSON objects, CSV and listings.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gatekeeper_core.context.tool_results.digest import Lines, Shelf, Task
from gatekeeper_core.context.tool_results.formats.cells import Cells, Columns
from gatekeeper_core.context.tool_results.formats.templates import has_words, idfs, masked, rarities
from gatekeeper_core.context.tool_results.omissions import MARK
from gatekeeper_core.context.tool_results.pointers import one_line
from gatekeeper_core.context.tool_results.signals import failing, stated, stated_levels
from gatekeeper_core.text import LazyPattern

__all__ = ["Unusual", "first_of_each", "keep_rows", "summary_of", "unusual_rows"]

_RARE_SHARE = 0.02
_NUMERIC_SHARE = 0.9
_FAR = 6.0
"""Distance from the median, in robust standard deviations, from which a number is an outlier. Source: ours; Iglewicz
and Hoaglin 1993 propose 3.5 for normal data, columns of real tables have heavier tails."""
_MAD_TO_SIGMA = 1.4826
_PER_REASON = 3
_PER_TEXT = 12
_SURE_FAILURES = 6
_MOST_UNUSUAL = 40
_LEVELS = 24
_ASKED_ROWS = 12
_COMMON_SHARE = 0.2
_SIGNS = {
    **dict.fromkeys(range(65, 91), "A"),
    **dict.fromkeys(range(97, 123), "a"),
    **dict.fromkeys(range(48, 58), "9"),
}
_NOT_ASCII = LazyPattern("[^\x00-\x7f]+")
_REPEATED = LazyPattern(r"(?<=(.))\1+", re.DOTALL)


class Unusual(NamedTuple):
    """A row that stands out: how much, in which column, and how."""

    score: float
    row: int
    column: str
    reason: str


def unusual_rows(columns: Columns, total: int) -> list[Unusual]:
    """Return all that stands out, the most unusual first.

    A value stands out when it is rare in a column of categories, far from the median in a column of numbers, of a rare
    form in a column of texts, or there at all (or missing) where it is the exception.

    Args:
        columns: what the rows say, by column.
        total: how many rows there are.

    >>> from gatekeeper_core.context.tool_results.formats.cells import columns_of_texts
    >>> rows = [{"id": str(at), "ms": "12"} for at in range(50)] + [{"id": "50", "ms": "98765"}]
    >>> [(each.row, each.column) for each in unusual_rows(columns_of_texts(rows), len(rows))]
    [(50, 'ms')]
    """
    found: list[Unusual] = []
    for column, cells in columns.items():
        missing = total - len(cells)
        if len(cells) <= _rare(total) < total:
            score = math.log(total / len(cells)) + 2.0
            found += (Unusual(score, row, column, "present") for row in cells.rows)
        elif 0 < missing <= _rare(total):
            score = math.log(total / missing)
            found += (Unusual(score, row, column, "missing") for row in set(range(total)).difference(cells.rows))
        for reason, scores in _unusual_texts(cells):
            texts = zip(cells.rows, cells.texts, strict=True) if scores else ()
            found += (Unusual(scores[text], row, column, reason) for row, text in texts if text in scores)
    return sorted(found, key=lambda each: (-round(each.score, 6), each.row, each.column))


def _rare(total: int) -> float:
    return max(1.0, _RARE_SHARE * total)


def _unusual_texts(cells: Cells) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each way in which texts of a column stand out, and how much by text."""
    counts, total = cells.counts, len(cells)
    if total < 5:
        return
    if cells.is_category:
        forms = {text: text for text in counts}
        if cells.numbers or not any(map(has_words, forms)):
            yield "value", _rare_texts(counts, forms, total, 0.8, rarity=idfs)
        else:
            yield "kind", _rare_texts(counts, forms, total)
        return
    numeric = sum(counts[text] for text in cells.numbers)
    if numeric >= _NUMERIC_SHARE * total:
        yield "far", _far_numbers(cells)
        others = [text for text in counts if text not in cells.numbers]
        yield "not a number", {text: math.log(total / (total - numeric)) for text in others}
        return
    yield "shape", _rare_texts(counts, cells.forms(_shape), total, 0.8, rarity=idfs)
    yield "kind", _rare_texts(counts, cells.templates, total, 0.9)


def _rare_texts(
    counts: Mapping[str, int],
    forms: Mapping[str, str],
    total: int,
    weight: float = 1.0,
    *,
    rarity: Callable[[Mapping[str, int]], Mapping[str, float]] = rarities,
) -> dict[str, float]:
    """Return the texts whose form is rare, with the rarity of each."""
    by_form: Counter[str] = Counter()
    for text, form in forms.items():
        by_form[form] += counts[text]
    if by_form and min(by_form.values()) > _rare(total):
        return {}
    scores = rarity(by_form)
    return {text: weight * scores[form] for text, form in forms.items() if by_form[form] <= _rare(total)}


def _shape(text: str) -> str:
    """Return the form of a text: each run of capitals, small letters, digits or other characters as one sign.

    >>> _shape("INV-90317 ok"), _shape("缓存")
    ('A-9 a', '字')
    """
    flat = text[:200].translate(_SIGNS)
    if not flat.isascii():
        flat = _NOT_ASCII.sub("字", flat)
    return _REPEATED.sub("", flat)


def _far_numbers(cells: Cells) -> dict[str, float]:
    values = [cells.numbers[text] for text in cells.texts if text in cells.numbers]
    middle = _median(values)
    distances = [abs(value - middle) for value in values]
    spread = _median(distances) * _MAD_TO_SIGMA or math.fsum(distance / len(distances) for distance in distances)
    if not 0.0 < spread < math.inf:
        return {}
    base = math.log(len(values))
    far = {text: abs(value - middle) for text, value in cells.numbers.items() if abs(value - middle) > _FAR * spread}
    return {text: base + min(3.0, math.log10(distance / spread)) for text, distance in far.items()}


def _median(values: Sequence[float]) -> float:
    """Return the lower median; the module of the standard library takes as long to import as all of this one."""
    return sorted(values)[(len(values) - 1) // 2]


def keep_rows(lines: Lines, columns: Columns, task: Task, *, what: str = "lines", first: int = 1) -> Shelf:
    """Return a shelf with the rows that matter, added in the order of their worth.

    Args:
        lines: the rows as lines, for words of failure and for what was asked.
        columns: what the rows say, by column.
        task: the question, the budget, and how many first rows to show.
        what: what the rows are called, a plural.
        first: number of the first row of the result.
    """
    shelf = Shelf(lines, task, what=what, first=first)
    budget, count = shelf.left, len(lines.texts)
    if not count:
        return shelf
    unusual = unusual_rows(columns, count)
    failures = _failures(lines.texts, columns, unusual)
    for nth, (index, level) in enumerate(failures.items()):
        if nth < _SURE_FAILURES:
            shelf.add(index, least_left=shelf.overdraft)
        elif not shelf.add(index, least_left=budget // (3 if level >= 0 else 2)):
            break
    for nth, index in enumerate(task.asked.ranked(lines.texts, limit=_ASKED_ROWS)):
        shelf.add(index, least_left=shelf.overdraft if nth < _PER_REASON else budget // 12)
    shelf.add(0)
    for each in first_of_each(unusual):
        shelf.add(each.row, least_left=budget // 8)
    shelf.add(count - 1)
    for index in (*failures, *range(min(task.list_items, count))):
        if not shelf.add(index):
            break
    return shelf


def first_of_each(unusual: Iterable[Unusual]) -> list[Unusual]:
    """Return the first few for each column and way of standing out, more of texts than of numbers, one for each row."""
    seen: Counter[tuple[str, str]] = Counter()
    kept: dict[int, Unusual] = {}
    for each in unusual:
        most = _PER_TEXT if each.reason == "kind" else _PER_REASON
        if each.row not in kept and len(kept) < _MOST_UNUSUAL and seen[each.column, each.reason] < most:
            seen[each.column, each.reason] += 1
            kept[each.row] = each
    return list(kept.values())


def _failures(lines: Sequence[str], columns: Columns, unusual: Sequence[Unusual]) -> dict[int, int]:
    """Return rows that tell of a failure, one of each template, with the level that each states (``stated_levels``).

    First come those that state the level of a failure, last those that state a lower one, as of a retry that went well;
    of one level, the most unusual first.
    """
    levels: dict[int, int] = {}
    for name, cells in columns.items():
        by_text = stated_levels(name, cells.counts) if len(cells.counts) <= _LEVELS else {}
        for row, text in zip(cells.rows, cells.texts, strict=True) if by_text else ():
            if text in by_text:
                levels[row] = max(by_text[text], levels.get(row, -1))
    found = {*failing(lines), *(row for row, level in levels.items() if level > 0)}
    if not levels:
        levels = {row: stated(lines[row]) for row in found}
    worth = {each.row: each.score for each in reversed(unusual)}
    templates = _failure_templates(columns, found)
    rows = list(templates)
    telling = {rows[at] for at in failing(list(templates.values()))}
    first: dict[str, int] = {}
    for row in sorted(found, key=lambda row: (-levels.get(row, 0), -worth.get(row, 0.0), row)):
        is_told = row in telling or (row in templates and levels.get(row, 0) > 0)
        first.setdefault(templates[row] if is_told else masked(lines[row]), row)
    return {row: levels.get(row, 0) for row in first.values()}


def _failure_templates(columns: Columns, rows: Collection[int]) -> dict[int, str]:
    """Return by row the templates of its free texts, and its categories that tell of a failure.

    A single word in a free text is a name, and says nothing of what failed; nor does a template without words, of a
    time or an address.
    """
    templates: dict[int, str] = {}
    for cells in columns.values():
        if cells.is_category:
            telling = {text: text for text in map(list(cells.counts).__getitem__, failing(list(cells.counts)))}
        elif len(cells.numbers) < _NUMERIC_SHARE * len(cells.counts):
            telling = cells.templates or {
                text: masked(text) for row, text in zip(cells.rows, cells.texts, strict=True) if row in rows
            }
        else:
            continue
        wordy = set(filter(has_words, set(telling.values())))
        for row, text in zip(cells.rows, cells.texts, strict=True) if wordy else ():
            if row in rows and telling.get(text) in wordy and (cells.is_category or " " in text or not text.isascii()):
                templates[row] = f"{templates.get(row, '')}\n{telling[text]}"
    return templates


def summary_of(columns: Columns, *, max_columns: int = 4, max_values: int = 6) -> str:
    """Return what all rows say together: counts of the values of categories, the range of numbers; "" for nothing.

    >>> from gatekeeper_core.context.tool_results.formats.cells import columns_of_texts
    >>> rows = [{"state": "ok", "ms": str(at)} for at in range(20)] + [{"state": "down", "ms": "3"}]
    >>> summary_of(columns_of_texts(rows))
    '… in all: state: ok 20, down 1; ms: 0 to 19'
    """
    said: list[str] = []
    for column, cells in columns.items():
        counts = cells.counts
        if 1 < len(counts) <= max_values:
            ranked = sorted(counts, key=lambda text: (-counts[text], text))
            told = ", ".join(f"{one_line(text, max_chars=30)} {counts[text]}" for text in ranked)
        elif len(cells.numbers) >= max(2, _NUMERIC_SHARE * len(counts)):
            numbers = [(value, text) for text, value in cells.numbers.items()]
            told = f"{min(numbers)[1]} to {max(numbers)[1]}"
        else:
            continue
        said.append(f"{one_line(column, max_chars=40)}: {told}")
        if len(said) == max_columns:
            break
    return f"{MARK} in all: {'; '.join(said)}" if said else ""
