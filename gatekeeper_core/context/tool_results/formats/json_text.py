"""JSON read and written without changing what it says: numbers stay as they are written, no key is lost."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, Union

from gatekeeper_core.text import LazyPattern

if TYPE_CHECKING:
    from json import JSONDecoder

__all__ = [
    "MAX_DEPTH",
    "JsonValue",
    "Number",
    "read_json",
    "read_json_at",
    "read_json_lines",
    "write_json",
]

MAX_DEPTH = 64
"""Deepest nesting that is read as JSON; deeper text is no JSON. Source: ours; no data that people read is."""

JsonValue: TypeAlias = Union[bool, str, "Number", "list[JsonValue]", "dict[str, JsonValue]", None]

_SURROGATE = LazyPattern("[\ud800-\udfff]")


class Number(str):
    """A number as the text has it: of any length and precision, ``NaN`` and ``Infinity`` too."""

    __slots__ = ()


def read_json(text: str) -> JsonValue:
    r"""Return the value of a JSON text, or None where it is none, is too deep, or has a key twice in one object.

    >>> read_json('{"n": 1e999, "big": 12345678901234567890}')
    {'n': '1e999', 'big': '12345678901234567890'}
    >>> read_json('{"id": 1, "id": 2}'), read_json("[" * 100_000)
    (None, None)
    """
    try:
        value: JsonValue = _decoder().decode(text)
    except (ValueError, RecursionError):
        return None
    return value if _is_shallow(value) else None


def read_json_at(text: str, at: int) -> tuple[JsonValue, int] | None:
    r"""Return the JSON value that begins at a place, and where it ends; None as in :func:`read_json`.

    >>> read_json_at('rows: {"id": 1}, ...', 6), read_json_at("rows", 0)
    (({'id': '1'}, 15), None)
    """
    try:
        value, stop = _decoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return (value, stop) if _is_shallow(value) else None


@cache
def _decoder() -> JSONDecoder:
    """Return a decoder that keeps numbers as they are written and refuses a key that stands twice in an object."""
    from json import JSONDecoder

    return JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=_object)


def read_json_lines(text: str) -> list[JsonValue] | None:
    r"""Return the values of a text that holds one JSON object on each line, or None; blank lines do not count.

    >>> read_json_lines('{"a": 1}\n{"a": 2}\n')
    [{'a': '1'}, {'a': '2'}]
    """
    values: list[JsonValue] = []
    for line in text.split("\n"):
        if line.strip():
            value = read_json(line)
            if not isinstance(value, dict):
                return None
            values.append(value)
    return values or None


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError("an object has a key twice")
    return read


def _is_shallow(value: JsonValue) -> bool:
    level: list[JsonValue] = [value]
    for _ in range(MAX_DEPTH):
        below: list[JsonValue] = []
        for each in level:
            if isinstance(each, (dict, list)):
                below += each.values() if isinstance(each, dict) else each
        if not below:
            return True
        level = below
    return False


def write_json(value: JsonValue) -> str:
    r"""Return a value as JSON on one line, without spaces; characters stay as they are but for lone surrogates.

    Two of them that make a character are read back as that character: JSON cannot say anything else in UTF-8.

    >>> write_json({"名": ["a\nb", Number("1.50"), None, True]})
    '{"名":["a\\nb",1.50,null,true]}'
    """
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{_quoted(key)}:{write_json(child)}" for key, child in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write_json, value)) + "]"
    return {None: "null", True: "true", False: "false"}[value]


@cache
def _encoder() -> Callable[[str], str]:
    from json.encoder import encode_basestring

    return encode_basestring


def _quoted(text: str) -> str:
    written = _encoder()(text)
    if not written.isascii() and _SURROGATE.search(written):
        written = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
    return written
