"""The reader of the table form, by which tests see that nothing was lost: ``formats/json_text.py`` has the form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gatekeeper_core.context.tool_results.formats.json_text import Column, JsonValue, read_json, read_json_at

_HEAD = re.compile(r"\[table: ([0-9]{1,12}) rows?\]")
_BARE_KEY = re.compile(r"[\w-]+")
_LOOKS_LIKE_JSON = re.compile(r"-?(?:[0-9]|Infinity)|NaN\b|(?:true|false|null)\Z")


def read_table(text: str) -> list[dict[str, JsonValue]]:
    """Return the objects of a text in the table form; numbers come back as they are written (``Number``).

    Raises:
        ValueError: the text has another form.
    """
    head, _, rest = text.partition("\n")
    found = _HEAD.fullmatch(head)
    lines = rest.split("\n")
    if found is None or len(lines) != int(found[1]) + 1:
        raise ValueError("no table: the first line counts the rows, the second names the columns, the others are rows")
    columns = list(_read_columns(lines[0]))
    return [_read_row(line, columns) for line in lines[1:]]


def _read_columns(line: str) -> Iterator[Column]:
    at = 0
    while at < len(line):
        path, at = _read_path(line, at)
        strings = line.startswith(":s", at)
        at += 2 * strings
        if line.startswith("=", at):
            value, at = _read_value(line, at + 1)
            yield Column(path, False, value, True)
        else:
            yield Column(path, strings, None, False)
        at += 1


def _read_path(line: str, at: int) -> tuple[tuple[str, ...], int]:
    keys: list[str] = []
    while True:
        if line.startswith('"', at):
            key, at = _read_value(line, at)
            keys.append(str(key))
        else:
            found = _BARE_KEY.match(line, at)
            if found is None:
                raise ValueError(f"no column's name at character {at} of the second line")
            keys.append(found[0])
            at = found.end()
        if not line.startswith(".", at):
            return tuple(keys), at
        at += 1


def _read_value(line: str, at: int) -> tuple[JsonValue, int]:
    value = read_json_at(line, at)
    if value is None:
        raise ValueError(f"no JSON value at character {at} of a line")
    return value


def _read_row(line: str, columns: Sequence[Column]) -> dict[str, JsonValue]:
    row: dict[str, JsonValue] = {}
    at = 0
    for column in columns:
        if column.is_shared:
            _put(row, column.path, column.shared)
            continue
        if line[at : at + 1] in ("", ","):
            at += 1
            continue
        value: JsonValue
        if line[at] in '"[{':
            value, at = _read_value(line, at)
        else:
            stop = line.find(",", at)
            stop = len(line) if stop < 0 else stop
            bare, at = line[at:stop], stop
            value = bare
            if not column.strings and _LOOKS_LIKE_JSON.match(bare):
                read = read_json(bare)
                value = bare if read is None and bare != "null" else read
        _put(row, column.path, value)
        at += 1
    return row


def _put(row: dict[str, JsonValue], path: tuple[str, ...], value: JsonValue) -> None:
    for key in path[:-1]:
        row = row.setdefault(key, {})  # type: ignore[assignment]
    row[path[-1]] = value
