"""The table rows to keep (JSON, CSV, listings): failures, query matches, both ends, unusual values by column."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gatekeeper_core.context.tool_results.digest import MARK, KeptLines, Lines, Task
from gatekeeper_core.context.tool_results.formats.templates import has_words, masked, rarities
from gatekeeper_core.context.tool_results.pointers import one_line
from gatekeeper_core.context.tool_results.signals import failing, stated_level, stated_levels
from gatekeeper_core.text import LazyPattern

_MAX_COLUMNS = 256
_CATEGORIES = 12
_CATEGORY_SHARE = 0.1
_NUMBER = LazyPattern(r"[-+]?[0-9][0-9,]{0,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?\s?%?")
_NUMBER_CHARS = 40
_RARE_SHARE = 0.02
_NUMERIC_SHARE = 0.9
_FAR = 6.0  # robust standard deviations. Source: ours; Iglewicz and Hoaglin 1993: 3.5, but tables have heavier tails
_MAD_TO_SIGMA = 1.4826
_PER_REASON = 3
_PER_TEXT = 12
_SURE_FAILURES = 6
_MOST_UNUSUAL = 40
_LEVELS = 24
_MATCHED_ROWS = 12
_FIRST_ROWS = 20  # rows shown only because they come first. Source: requirement 004-36
_SUMMED_COLUMNS = 4
_SUMMED_VALUES = 6


@dataclass(frozen=True)
class Cells:
    """The texts of one column, by row."""

    by_row: Mapping[int, str]

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of occurrences of each text, in the order of first occurrence."""
        return Counter(self.by_row.values())

    @property
    def is_category(self) -> bool:
        """Whether there are few distinct texts."""
        kinds, total = len(self.counts), len(self.by_row)
        return kinds <= max(_CATEGORIES, _CATEGORY_SHARE * total) and kinds < total / 2

    @cached_property
    def templates(self) -> dict[str, str]:
        """The template of each text, or nothing if there are more templates than a third of the rows."""
        templates = {text: masked(text) for text in self.counts}
        return templates if len(set(templates.values())) <= len(self.by_row) / 3 else {}

    @cached_property
    def numbers(self) -> dict[str, float]:
        """The texts that are numbers, with their values: ``-1,250.5``, ``1e3``, ``12 %``, but not ``12 ms``."""
        numbers = (text for text in self.counts if len(text) <= _NUMBER_CHARS and _NUMBER.fullmatch(text))
        return {text: float(text.removesuffix("%").rstrip().replace(",", "")) for text in numbers}

    def rare_texts(self, forms: Mapping[str, str]) -> dict[str, float]:
        """Return the rarity of each text with a rare form, on the scale of one idf."""
        by_form: Counter[str] = Counter()
        for text, form in forms.items():
            by_form[form] += self.counts[text]
        most = _rare(len(self.by_row))
        if not by_form or min(by_form.values()) > most:
            return {}
        scores = {form: rarity / (3 if has_words(form) else 1) for form, rarity in rarities(by_form).items()}
        return {text: scores[form] for text, form in forms.items() if by_form[form] <= most}

    def far_numbers(self) -> dict[str, float]:
        """Return the scores of the numbers that are far from the median."""
        values = [self.numbers[text] for text in self.by_row.values() if text in self.numbers]
        middle = _median(values)
        distances = [abs(value - middle) for value in values]
        spread = _median(distances) * _MAD_TO_SIGMA or math.fsum(distance / len(distances) for distance in distances)
        if not 0.0 < spread < math.inf:
            return {}
        base = math.log(len(values))
        away = {text: abs(value - middle) for text, value in self.numbers.items()}
        far = {text: distance for text, distance in away.items() if distance > _FAR * spread}
        return {text: base + min(3.0, math.log10(distance / spread)) for text, distance in far.items()}

    def unusual_texts(self) -> tuple[str, dict[str, float]]:
        """Return the reason why texts stand out, and a score by text: rare forms, or of numbers those far away."""
        if len(self.by_row) < 5:
            return "", {}
        if self.is_category:
            return "kind", self.rare_texts({text: text for text in self.counts})
        if sum(self.counts[text] for text in self.numbers) >= _NUMERIC_SHARE * len(self.by_row):
            return "far", self.far_numbers()
        return "kind", self.rare_texts(self.templates)

    def failure_templates(self, rows: Collection[int]) -> dict[int, str]:
        """Return by row templates of free texts or failing texts of a category; no bare names, times or addresses."""
        if self.is_category:
            texts = list(self.counts)
            telling = {texts[at]: texts[at] for at in failing(texts)}
        elif len(self.numbers) < _NUMERIC_SHARE * len(self.counts):
            telling = self.templates or {text: masked(text) for row, text in self.by_row.items() if row in rows}
        else:
            return {}
        wordy = set(filter(has_words, set(telling.values())))
        return {
            row: telling[text]
            for row, text in self.by_row.items()
            if row in rows and telling.get(text) in wordy and (self.is_category or " " in text or not text.isascii())
        }


def columns_of_texts(rows: Iterable[Mapping[str, str]]) -> dict[str, Cells]:
    """Return the texts of rows by column, at most 256 columns, in order of first occurrence."""
    columns: dict[str, dict[int, str]] = {}
    for index, row in enumerate(rows):
        for column, text in row.items():
            if column in columns or len(columns) < _MAX_COLUMNS:
                columns.setdefault(column, {})[index] = text
    return {column: Cells(texts) for column, texts in columns.items()}


class Unusual(NamedTuple):
    """A row that stands out: how much, in which column, and why."""

    score: float
    row: int
    column: str
    reason: str


def unusual_rows(columns: Mapping[str, Cells], total: int) -> list[Unusual]:
    """Return what stands out, most unusual first: rare categories and forms, far numbers, rare or missing cells."""
    unusual: list[Unusual] = []
    for column, cells in columns.items():
        texts, missing = cells.by_row, total - len(cells.by_row)
        if len(texts) <= _rare(total) < total:
            score = math.log(total / len(texts)) + 2.0
            unusual += (Unusual(score, row, column, "present") for row in texts)
        elif 0 < missing <= _rare(total):
            score = math.log(total / missing)
            unusual += (Unusual(score, row, column, "missing") for row in range(total) if row not in texts)
        reason, scores = cells.unusual_texts()
        unusual += (Unusual(scores[text], row, column, reason) for row, text in texts.items() if text in scores)
    return sorted(unusual, key=lambda each: (-round(each.score, 6), each.row, each.column))


def _rare(total: int) -> float:
    return max(1.0, _RARE_SHARE * total)


def _median(values: Sequence[float]) -> float:
    """Return the lower median; importing ``statistics`` takes as long as importing all of this module."""
    return sorted(values)[(len(values) - 1) // 2]


def select_rows(lines: Lines, columns: Mapping[str, Cells], task: Task) -> KeptLines:
    """Return the rows to keep, given as lines and by column; the most valuable ones are added first."""
    selection = KeptLines(lines, task)
    budget, count = selection.budget, len(lines.texts)
    if not count:
        return selection
    unusual = unusual_rows(columns, count)
    failures = _failures(lines.texts, columns, unusual)
    for nth, (index, level) in enumerate(failures.items()):
        if nth < _SURE_FAILURES:
            selection.add(index, reserve=selection.overdraft)
        elif not selection.add(index, reserve=budget // (3 if level >= 0 else 2)):
            break
    selection.add_all(task.query.ranked(lines.texts, limit=_MATCHED_ROWS), sure=_PER_REASON, reserve=budget // 12)
    selection.add(0)
    # A few for each column and reason, more of texts than of numbers.
    shown_counts: Counter[tuple[str, str]] = Counter()
    shown: set[int] = set()
    for each in unusual:
        most = _PER_TEXT if each.reason == "kind" else _PER_REASON
        if each.row not in shown and len(shown) < _MOST_UNUSUAL and shown_counts[each.column, each.reason] < most:
            shown_counts[each.column, each.reason] += 1
            shown.add(each.row)
            selection.add(each.row, reserve=budget // 8)
    selection.add(count - 1)
    for index in (*failures, *range(count)[:_FIRST_ROWS]):
        if not selection.add(index):
            break
    return selection


def _failures(lines: Sequence[str], columns: Mapping[str, Cells], unusual: Sequence[Unusual]) -> dict[int, int]:
    """Return the rows that report a failure, one per template, with their stated levels, the highest first."""
    levels: dict[int, int] = {}
    for name, cells in columns.items():
        by_text = stated_levels(name, cells.counts) if len(cells.counts) <= _LEVELS else {}
        for row, text in cells.by_row.items():
            if text in by_text:
                levels[row] = max(by_text[text], levels.get(row, -1))
    failed = {*failing(lines), *(row for row, level in levels.items() if level > 0)}
    if not levels:
        levels = {row: stated_level(lines[row]) for row in failed}
    worth = {each.row: each.score for each in reversed(unusual)}
    templates: dict[int, str] = {}
    for cells in columns.values():
        for row, template in cells.failure_templates(failed).items():
            templates[row] = f"{templates.get(row, '')}\n{template}"
    rows = list(templates)
    telling = {rows[at] for at in failing(list(templates.values()))}
    first: dict[str, int] = {}
    for row in sorted(failed, key=lambda row: (-levels.get(row, 0), -worth.get(row, 0.0), row)):
        has_template = row in telling or (row in templates and levels.get(row, 0) > 0)
        first.setdefault(templates[row] if has_template else masked(lines[row]), row)
    return {row: levels.get(row, 0) for row in first.values()}


def summary_of(columns: Mapping[str, Cells], task: Task) -> str:
    """Return a summary of all rows: counts of categories, ranges of numbers; "" if it costs too much.

    >>> from gatekeeper_core.context.tool_results.query_match import QueryMatcher
    >>> rows = [{"state": "ok", "ms": str(at)} for at in range(20)] + [{"state": "down", "ms": "3"}]
    >>> summary_of(columns_of_texts(rows), Task(QueryMatcher(None), 400, len))
    '… in all: state: ok 20, down 1; ms: 0 to 19'
    """
    sums: list[str] = []
    for column, cells in columns.items():
        counts, numbers = cells.counts, [(value, text) for text, value in cells.numbers.items()]
        values = ""
        if 1 < len(counts) <= _SUMMED_VALUES:
            ranked = sorted(counts, key=lambda text: (-counts[text], text))
            values = ", ".join(f"{one_line(text, max_chars=30)} {counts[text]}" for text in ranked)
        elif len(numbers) >= max(2, _NUMERIC_SHARE * len(counts)):
            values = f"{min(numbers)[1]} to {max(numbers)[1]}"
        if values:
            sums.append(f"{one_line(column, max_chars=40)}: {values}")
    summary = f"{MARK} in all: {'; '.join(sums[:_SUMMED_COLUMNS])}" if sums else ""
    return summary if task.counter(summary) <= task.budget_tokens // 6 else ""
