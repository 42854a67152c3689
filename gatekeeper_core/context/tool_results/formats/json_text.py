r"""JSON read and written without changing a value, and the table form, which writes the keys of many objects once.

::

    [table: 3 rows]
    id,name:s,user.city:s,active,kind="book"
    1,Ann,Bern,true
    2,"Lee, Bo",Basel,false
    3,,Genf,null

* The first line counts the rows, the second names the columns, each further line is one object.
* A column's name is a key, or nested keys joined by ``.``; a key is in JSON quotes unless it has only letters, digits,
  ``_`` and ``-``. ``:s`` marks a column of strings; ``=`` gives a value that all rows share: there are no cells then.
* A cell is JSON, but a string may be bare if it has no comma, quotation mark, bracket, control character or outer space
  and cannot be read as another JSON value (in a ``:s`` column it may look like one). It is empty if the key is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from json import JSONDecoder
from json.encoder import encode_basestring
from typing import NamedTuple, TypeAlias, Union

from gatekeeper_core.text import LazyPattern

JsonValue: TypeAlias = Union[bool, str, "Number", "list[JsonValue]", "dict[str, JsonValue]", None]
Path = tuple[str, ...]

_SURROGATE = LazyPattern("[\ud800-\udfff]")
_BARE_KEY = LazyPattern(r"[\w-]+")
_BARE = LazyPattern(
    r"[^\s,\"\[\]{}\x00-\x1f\x7f\ud800-\udfff…](?:[^,\"\[\]{}\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]*[^\s,\"\[\]{}\x00-\x1f\x7f\ud800-\udfff])?"
)
_LOOKS_LIKE_JSON = LazyPattern(r"-?(?:[0-9]|Infinity)|NaN\b|(?:true|false|null)\Z")
_MAX_NESTED_COLUMNS = 64
_MAX_DEPTH = 64  # deeper text is not read as JSON. Source: ours; no data that people read is deeper


class Number(str):
    """A number as written: of any length and precision, also ``NaN`` and ``Infinity``."""

    __slots__ = ()


def _checked_object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object has a key twice")
    return value


# Keeps numbers as written and rejects duplicate keys.
_DECODER = JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=_checked_object)


def read_json(text: str) -> JsonValue:
    r"""Return the value of a JSON text, or None if it is not JSON, is too deep, or has a duplicate key.

    >>> read_json('{"n": 1e999, "big": 12345678901234567890}')
    {'n': '1e999', 'big': '12345678901234567890'}
    >>> read_json('{"id": 1, "id": 2}'), read_json("[" * 100_000)
    (None, None)
    """
    bare = text.strip(" \t\r\n")
    read = read_json_at(bare, 0)
    return read[0] if read and read[1] == len(bare) else None


def read_json_at(text: str, at: int) -> tuple[JsonValue, int] | None:
    """Return the JSON value that begins at a position, and its end; None as in :func:`read_json`."""
    try:
        value, stop = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return (value, stop) if _is_shallow(value) else None


def _is_shallow(value: JsonValue) -> bool:
    level: list[JsonValue] = [value]
    for _ in range(_MAX_DEPTH):
        below: list[JsonValue] = []
        for each in level:
            if isinstance(each, (dict, list)):
                below += each.values() if isinstance(each, dict) else each
        if not below:
            return True
        level = below
    return False


def write_json(value: JsonValue) -> str:
    """Return a value as compact JSON; lone surrogates are escaped (a matching pair reads back as one character)."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{_quoted(key)}:{write_json(child)}" for key, child in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write_json, value)) + "]"
    return {None: "null", True: "true", False: "false"}[value]


def _quoted(text: str) -> str:
    written = encode_basestring(text)
    return written if written.isascii() else _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


# --- The table form -------------------------------------------------------------------------------------------------


class Column(NamedTuple):
    """A column: the keys that lead to its value, whether it holds only strings, and the value that all rows share."""

    path: Path
    strings: bool
    shared: JsonValue
    is_shared: bool

    @property
    def name(self) -> str:
        """The path as written in the header."""
        return ".".join(map(key_text, self.path))


def key_text(key: str) -> str:
    """Return a key as written in a column's name: bare if possible, else as a JSON string."""
    return key if _BARE_KEY.fullmatch(key) else write_json(key)


def write_table(rows: Sequence[Mapping[str, JsonValue]]) -> str:
    """Return objects in the table form, from which they can be read back (the order of keys may differ)."""
    nested: set[Path] = set()  # paths with a non-empty object in every row: expanded into columns
    waiting: list[tuple[Path, Sequence[Mapping[str, JsonValue]]]] = [((), rows)]
    while waiting and len(nested) < _MAX_NESTED_COLUMNS:
        path, level = waiting.pop()
        for key in level[0] if level else ():
            inner = [value for row in level if isinstance(value := row.get(key), dict) and value]
            if len(inner) == len(level):
                nested.add((*path, key))
                waiting.append(((*path, key), inner))
    flattened = [flat(row, nested) for row in rows]
    columns = columns_of(flattened)
    lines = [f"[table: {len(rows)} row{'s' * (len(rows) != 1)}]", header(columns)]
    lines += [row_text(row, columns, cell) for row in flattened]
    return "\n".join(lines)


def flat(row: Mapping[str, JsonValue], nested: set[Path] | None = None, path: Path = ()) -> dict[Path, JsonValue]:
    """Return an object's values by path; nested objects are expanded if ``nested`` names them, or always with None."""
    values: dict[Path, JsonValue] = {}
    for key, value in row.items():
        inner = (*path, key)
        if isinstance(value, dict) and value and (nested is None or inner in nested):
            values.update(flat(value, nested, inner))
        else:
            values[inner] = value
    return values


def columns_of(rows: Sequence[Mapping[Path, JsonValue]]) -> tuple[Column, ...]:
    """Return the columns of flattened rows, in order of first occurrence."""
    values: dict[Path, list[JsonValue]] = {}
    for row in rows:
        for path, value in row.items():
            values.setdefault(path, []).append(value)
    columns = []
    for path, column in values.items():
        first = write_json(column[0])
        shared = len(column) == len(rows) > 1 and all(write_json(value) == first for value in column)
        columns.append(Column(path, all(type(value) is str for value in column), column[0] if shared else None, shared))
    if columns and all(column.is_shared for column in columns):  # a row must not be blank
        columns[0] = columns[0]._replace(shared=None, is_shared=False)
    return tuple(columns)


def header(columns: Iterable[Column]) -> str:
    """Return the line that names the columns."""
    return ",".join(
        f"{column.name}={write_json(column.shared)}" if column.is_shared else column.name + ":s" * column.strings
        for column in columns
    )


def row_text(row: Mapping[Path, JsonValue], columns: Iterable[Column], write: Callable[[JsonValue, bool], str]) -> str:
    """Return the line of a row; ``write``, like ``cell``, takes a value and whether its column holds only strings."""
    shown = (column for column in columns if not column.is_shared)
    return ",".join([write(row[column.path], column.strings) if column.path in row else "" for column in shown])


def cell(value: JsonValue, strings: bool) -> str:
    """Return a value as a table cell; ``strings``: its column holds only strings."""
    if type(value) is str and _BARE.fullmatch(value) and (strings or not _LOOKS_LIKE_JSON.match(value)):
        return value
    return write_json(value)
