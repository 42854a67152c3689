"""A request body in which one list can change and every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


class JsonBody:
    """A JSON object with the position of each value, and of each item of the list in ``field``.

    Raises:
        ValueError: ``body`` is not a JSON object in UTF-8.
        RecursionError: the object is nested too deeply.

    >>> body = JsonBody(b'{"n": 1e0, "list": [{"a": 1}, {"b":2.0}, 3]}', "list")
    >>> body.values["n"], body.text_of("n"), body.text_of("missing")
    (1.0, '1e0', '')
    >>> body.with_items([1, 2], {2: 4})
    b'{"n": 1e0, "list": [{"b":2.0},4]}'
    """

    def __init__(self, body: bytes, field: str) -> None:
        self._text = body.decode()
        self._field = field
        self.values: dict[str, Any] = {}
        self._spans: dict[str, tuple[int, int]] = {}
        self._items: list[tuple[int, int]] = []
        try:
            end = self._read_object(_after_space(self._text, 0))
        except IndexError:
            raise ValueError("the object is not closed") from None
        if end != len(self._text):
            raise ValueError("unexpected text after the object")

    def text_of(self, name: str) -> str:
        """Return the original text of a value; "" if it is missing or null."""
        start, end = self._spans.get(name, (0, 0))
        return "" if self.values.get(name) is None else self._text[start:end]

    def with_items(self, kept: Iterable[int], replaced: Mapping[int, object]) -> bytes:
        """Return the body with only the ``kept`` items of the list, in that order, as received or ``replaced``."""
        items = (json.dumps(replaced[at]) if at in replaced else self._text[slice(*self._items[at])] for at in kept)
        start, end = self._spans[self._field]
        return f"{self._text[:start]}[{','.join(items)}]{self._text[end:]}".encode()

    def _read_object(self, start: int) -> int:
        """Read the object, and return the position after it and any space."""
        text = self._text
        at = _inside(text, start, "{")
        while text[at] != "}":
            name, end = _DECODER.raw_decode(text, at)
            colon = _after_space(text, end)
            if not isinstance(name, str) or text[colon] != ":":
                raise ValueError(f"expected a name and a colon at {at}")
            at = _after_space(text, colon + 1)
            if name == self._field and text[at] == "[":
                self.values[name], end = self._read_items(at)
            else:
                self.values[name], end = _DECODER.raw_decode(text, at)
            self._spans[name] = (at, end)
            at = _next(text, end, "}")
        return _after_space(text, at + 1)

    def _read_items(self, start: int) -> tuple[list[Any], int]:
        text, values = self._text, []
        self._items = []
        at = _inside(text, start, "[")
        while text[at] != "]":
            value, end = _DECODER.raw_decode(text, at)
            values.append(value)
            self._items.append((at, end))
            at = _next(text, end, "]")
        return values, at + 1


def _after_space(text: str, at: int) -> int:
    return at if text[at : at + 1] not in " \t\r\n" else _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _inside(text: str, at: int, opening: str) -> int:
    if text[at] != opening:
        raise ValueError(f"expected {opening} at {at}")
    return _after_space(text, at + 1)


def _next(text: str, at: int, closing: str) -> int:
    """Return the position of the next element or the closing bracket."""
    at = _after_space(text, at)
    if text[at] == ",":
        return _after_space(text, at + 1)
    if text[at] != closing:
        raise ValueError(f"expected a comma or {closing} at {at}")
    return at
