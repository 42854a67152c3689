"""The texts of a table by column, with what rows are judged and summed up by: counted once, read twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property

from gatekeeper_core.text import LazyPattern

__all__ = ["Cells", "Columns", "columns_of_texts", "number_of"]

_MAX_COLUMNS = 256
_NUMBER = LazyPattern(r"[-+]?[0-9][0-9,]{0,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?\s?%?")


class Cells:
    """The texts of one column.

    Attributes:
        rows: the indices of the rows that have one, ascending.
        texts: what each of these rows says.
    """

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.texts: list[str] = []

    def __len__(self) -> int:
        """Return how many rows have a text here."""
        return len(self.texts)

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each text stands here, in the order in which they first occur."""
        return Counter(self.texts)

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
    columns: dict[str, Cells] = {}
    for index, row in enumerate(rows):
        for column, text in row.items():
            cells = columns.get(column)
            if cells is None:
                if len(columns) >= _MAX_COLUMNS:
                    continue
                cells = columns[column] = Cells()
            cells.rows.append(index)
            cells.texts.append(text)
    return columns


def number_of(text: str) -> float | None:
    """Return the number that a cell says, or None: it may have a sign, commas, a fraction, an exponent, a percent sign.

    >>> number_of("1,250.5"), number_of("12 %"), number_of("12 ms")
    (1250.5, 12.0, None)
    """
    if not text or len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    return float(text.rstrip("% ").replace(",", ""))
