"""The bytes that an engine gives to a target: read as choices, numbers and texts, and kept in the corpora.

A corpus is a text file: each line is one input, as a Python string; bytes that are no UTF-8 are escaped.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

CORPORA = Path(__file__).parent / "corpus"

T = TypeVar("T")


class Input:
    """Bytes that are read from their beginning; behind their end there are zeros."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_empty(self) -> bool:
        return self._at >= len(self._data)

    def take(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def number(self, limit: int) -> int:
        """Return a number below a limit, from one byte (the digit 0 is 0), or from two where the limit is above 256."""
        if limit > 256:
            return int.from_bytes(self.take(2), "big") % limit
        return (int.from_bytes(self.take(1) or b"0", "big") - ord("0")) % limit

    def choice(self, options: Sequence[T]) -> T:
        return options[self.number(len(options))]

    def rest(self) -> bytes:
        return self.take(max(0, len(self._data) - self._at))

    def text(self) -> str:
        """Return the rest as a text; bytes that are no UTF-8 are lone surrogates."""
        data = self.rest()
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return data.decode("utf-8", "surrogateescape")


def read_corpus(target: str) -> list[bytes]:
    lines = (CORPORA / f"{target}.txt").read_text(encoding="utf-8").split("\n")
    return [ast.literal_eval(line).encode("utf-8", "surrogateescape") for line in lines if line]


def add_to_corpus(target: str, data: bytes) -> None:
    if data not in read_corpus(target):
        with (CORPORA / f"{target}.txt").open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{data.decode('utf-8', 'surrogateescape')!r}\n")
