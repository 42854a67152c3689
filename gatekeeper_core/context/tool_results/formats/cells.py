"""The texts of a table by column, with what rows are judged and summed up by: counted once, read twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gatekeeper_core.context.tool_results.formats.templates import masked
from gatekeeper_core.text import LazyPattern

__all__ = ["Cells", "Columns", "columns_of_cells", "columns_of_texts", "number_of"]

_MAX_COLUMNS = 256
_CATEGORIES = 12
_CATEGORY_SHARE = 0.1
_NUMBER = LazyPattern(r"[-+]?[0-9][0-9,]{0,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?\s?%?")


@dataclass(frozen=True)
class Cells:
    """The texts of one column.

    Attributes:
        rows: the indices of the rows that have one, ascending.
        texts: what each of these rows says.
    """

    rows: Sequence[int]
    texts: Sequence[str]

    def __len__(self) -> int:
        """Return how many rows have a text here."""
        return len(self.texts)

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of occurrences of each text, in the order of first occurrence."""
        return Counter(self.texts)

    @property
    def is_category(self) -> bool:
        """True if there are few distinct texts."""
        kinds, total = len(self.counts), len(self.texts)
        return kinds <= max(_CATEGORIES, _CATEGORY_SHARE * total) and kinds < total / 2

    def forms(self, form: Callable[[str], str]) -> dict[str, str]:
        """Return the form of each text; nothing where every other text has a form of its own."""
        forms: dict[str, str] = {}
        seen: set[str] = set()
        for text in self.counts:
            forms[text] = form(text)
            seen.add(forms[text])
            if len(seen) > len(self) / 3:
                return {}
        return forms

    @cached_property
    def templates(self) -> dict[str, str]:
        """The texts with their templates, as ``forms`` gives them."""
        return self.forms(masked)

    @cached_property
    def numbers(self) -> dict[str, float]:
        """The texts that are numbers, with what they say."""
        found = ((text, number_of(text)) for text in self.counts)
        return {text: number for text, number in found if number is not None}


Columns = Mapping[str, Cells]


def columns_of_texts(rows: Iterable[Mapping[str, str]]) -> dict[str, Cells]:
    """Return the texts of some rows by column, at most 256 columns, in the order in which they first occur.

    >>> columns = columns_of_texts([{"a": "x"}, {"a": "y", "b": "z"}])
    >>> columns["a"].texts, columns["b"].rows
    (['x', 'y'], [1])
    """
    columns: dict[str, tuple[list[int], list[str]]] = {}
    for index, row in enumerate(rows):
        for column, text in row.items():
            cells = columns.get(column)
            if cells is None:
                if len(columns) >= _MAX_COLUMNS:
                    continue
                cells = columns[column] = ([], [])
            cells[0].append(index)
            cells[1].append(text)
    return {column: Cells(indices, texts) for column, (indices, texts) in columns.items()}


def columns_of_cells(names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, Cells]:
    """Return the texts of rows of cells by column, those of ``names`` and further ones; an empty cell says nothing.

    White space around a text does not count.

    >>> columns = columns_of_cells(["id", "name"], [["1", " Ann"], ["2", ""]])
    >>> columns["name"].rows, columns["name"].texts
    ([0], ['Ann'])
    """
    width = max(map(len, rows), default=0)
    named = [*names, *(f"column {at + 1}" for at in range(len(names), width))]
    columns = columns_of_texts(
        {name: text.strip() for name, text in zip(named, cells, strict=False) if text} for cells in rows
    )
    return {name: columns[name] for name in named if name in columns}


def number_of(text: str) -> float | None:
    """Return the number that a cell says, or None: it may have a sign, commas, a fraction, an exponent, a percent sign.

    >>> number_of("1,250.5"), number_of("12 %"), number_of("12 ms")
    (1250.5, 12.0, None)
    """
    if len(text) <= 31 and text.isdigit() and text.isascii():
        return float(text)
    if not text or len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    return float(text.removesuffix("%").rstrip().replace(",", ""))
