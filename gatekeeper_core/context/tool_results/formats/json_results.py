"""JSON results: as a table without loss where that is small enough, else the rows that matter, path by path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gatekeeper_core.context.tool_results.digest import Digest, Shelf, Task
from gatekeeper_core.context.tool_results.formats.cells import columns_of_texts
from gatekeeper_core.context.tool_results.formats.json_text import (
    UNREAD,
    JsonValue,
    Unread,
    read_json,
    read_json_lines,
    write_json,
)
from gatekeeper_core.context.tool_results.formats.rows import keep_rows, summary_of
from gatekeeper_core.context.tool_results.formats.tables import (
    Column,
    cell,
    columns_of,
    flat,
    header,
    key_text,
    row_text,
    write_table,
)
from gatekeeper_core.context.tool_results.omissions import MARK, shortened
from gatekeeper_core.context.tool_results.signals import failure_places

__all__ = ["Table", "digest_json_value", "digest_parts", "lossless_json", "read_any_json"]

_MIN_ROWS = 3
_CELL_CHARS = 160
_VALUE_CHARS = 400
_MAX_COLUMNS = 40
_MAP_KEYS = 20
_HEAD_TOKENS = 20
_LEAST_TOKENS = 24

Rows = list[dict[str, JsonValue]]


def read_any_json(text: str) -> JsonValue | Unread:
    """Return the value of a JSON text, or the list of values of one with an object on each line."""
    head = text.lstrip()[:1]
    if head not in ("{", "["):
        return UNREAD
    value = read_json(text)
    return read_json_lines(text) if isinstance(value, Unread) and head == "{" else value


def lossless_json(value: JsonValue) -> str | None:
    """Return the value in the table form where it is a list of objects, else on one line; None for a plain value.

    >>> from gatekeeper_core.context.tool_results.formats.json_text import Number
    >>> print(lossless_json([{"id": Number("1")}, {"id": Number("2")}, {"id": Number("3")}]))
    [table: 3 rows]
    id
    1
    2
    3
    """
    if isinstance(value, list) and len(value) >= _MIN_ROWS and all(isinstance(row, dict) for row in value):
        table = write_table(value)  # type: ignore[arg-type]
        plain = write_json(value)
        return table if len(table) < len(plain) else plain
    return write_json(value) if isinstance(value, (dict, list)) else None


def digest_json_value(value: JsonValue, task: Task) -> Digest:
    """Return a digest of a value: each list as the rows of it that matter, everything else by its path."""
    parts = _Parts({}, [])
    _collect(value, "", parts)
    return digest_parts(list(parts.tables.values()), parts.plain, task)


def digest_parts(tables: Sequence[Table], plain: Sequence[tuple[str, JsonValue]], task: Task) -> Digest:
    """Return a digest of tables, and of values by their paths, within one budget."""
    left = task.budget_tokens
    texts: list[str] = []
    shown = total = 0
    if plain:
        lines = [_plain_line(path, each, task) for path, each in plain]
        text, shown = _entries(lines, task._replace(budget_tokens=left // 2 if tables else left))
        total = len(plain)
        left -= task.counter(text)
        texts.append(text)
    # The smallest first: a table that needs less than its share leaves the rest to the others.
    written: dict[int, str] = {}
    for nth, at in enumerate(sorted(range(len(tables)), key=lambda at: len(tables[at].rows))):
        budget = max(_LEAST_TOKENS, left // (len(tables) - nth))
        written[at], kept = _rows_text(tables[at], task._replace(budget_tokens=budget))
        left -= task.counter(written[at])
        shown, total = shown + kept, total + (tables[at].total or len(tables[at].rows))
    texts += [written[at] for at in range(len(tables))]
    what = "rows" if tables else "values"
    return Digest("\n".join(texts), shown, total, what, what)


class Table:
    """Objects that stand in one list, or in lists at the same place of several objects.

    Attributes:
        path: where they stand, "" for the whole.
        rows: those that were read.
        numbers: their numbers, from 0; None: all were read.
        total: how many there are; None: as many as were read.
    """

    __slots__ = ("numbers", "path", "rows", "total")

    def __init__(
        self, path: str, rows: Rows, *, numbers: Sequence[int] | None = None, total: int | None = None
    ) -> None:
        self.path = path
        self.rows = rows
        self.numbers = numbers
        self.total = total


class _Parts(NamedTuple):
    """What a value is made of, by path: its tables, and what is none."""

    tables: dict[str, Table]
    plain: list[tuple[str, JsonValue]]

    def add_rows(self, path: str, rows: Rows) -> None:
        self.tables.setdefault(path, Table(path, [])).rows.extend(rows)


def _collect(value: JsonValue, path: str, parts: _Parts) -> None:
    if isinstance(value, dict) and _is_map(value):
        keyed = [{"key": key, **_as_row(child)} for key, child in value.items()]
        parts.add_rows(_joined(path, "*"), keyed)
    elif isinstance(value, dict) and value:
        for key, child in value.items():
            _collect(child, _joined(path, key_text(key)), parts)
    elif isinstance(value, list) and _has_rows(value) and _only_wraps(value):
        for child in value:
            _collect(child, f"{path}[]", parts)
    elif isinstance(value, list) and (_has_rows(value) or len(value) >= _MAP_KEYS):
        parts.add_rows(f"{path}[]", list(map(_as_row, value)))
    else:
        parts.plain.append((path, value))


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _as_row(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {"value": value}


def _is_map(value: Mapping[str, JsonValue]) -> bool:
    """Return whether an object is a list by another name: many keys, and most values objects or plain values alike."""
    if len(value) < _MAP_KEYS:
        return False
    kinds = [type(child) for child in value.values()]
    return max(kinds.count(kind) for kind in set(kinds)) >= 0.8 * len(kinds)


def _has_rows(value: Sequence[JsonValue]) -> bool:
    return bool(value) and sum(isinstance(each, dict) for each in value) >= 0.8 * len(value)


def _only_wraps(value: Sequence[JsonValue]) -> bool:
    """Return whether the objects of a list hold little more than further lists of objects."""
    own = inner = 0
    for row in value:
        for child in (flat(row) if isinstance(row, dict) else {}).values():
            if isinstance(child, list) and len(child) >= _MIN_ROWS and _has_rows(child):
                inner += 1
            else:
                own += 1
    return inner > 0 and own <= inner


# --- What is no table -----------------------------------------------------------------------------------------------


def _plain_line(path: str, value: JsonValue, task: Task) -> str:
    written = write_json(value)
    if len(written) > _VALUE_CHARS:
        written = shortened(written, _VALUE_CHARS, around=_around(written, task))
    return f"{path}: {written}" if path else written


def _around(text: str, task: Task) -> list[int]:
    return [*task.asked.places(text), *failure_places(text, limit=4)]


def _entries(lines: Sequence[str], task: Task) -> tuple[str, int]:
    """Return the entries that fit, those with a status or an error first, and how many there are."""
    shelf = Shelf(lines, task, what="values")
    for index in _entry_order(lines, task):
        shelf.add(index)
    return shelf.text(), len(shelf.kept)


_TELLING = (
    "status",
    "state",
    "error",
    "errors",
    "code",
    "message",
    "success",
    "ok",
    "total",
    "count",
    "result",
    "next",
    "cursor",
)


def _entry_order(lines: Sequence[str], task: Task) -> list[int]:
    asked = task.asked.ranked(lines, limit=12)

    def rank(index: int) -> tuple[int, int]:
        keys = lines[index].partition(": ")[0].lower().replace("[]", "").split(".")
        return (0 if not set(keys).isdisjoint(_TELLING) else 1, index)

    return list(dict.fromkeys([*asked, *sorted(range(len(lines)), key=rank)]))


# --- Tables ---------------------------------------------------------------------------------------------------------


def _rows_text(table: Table, task: Task) -> tuple[str, int]:
    """Return the head of a table and the rows of it that matter, and how many these are."""
    flattened = [flat(row) for row in table.rows]
    columns = columns_of(flattened)
    named = {column.path: column.name for column in columns}
    said = columns_of_texts({named[path]: _plain(value) for path, value in row.items()} for row in flattened)
    shown = columns[:_MAX_COLUMNS]
    lines = [_row_line(row, shown, task) for row in flattened]
    top = [_names(shown, len(columns) - len(shown))]
    told = summary_of(said)
    if told and task.counter(told) <= task.budget_tokens // 6:
        top.append(told)
    spare = task.counter("\n".join(top)) + _HEAD_TOKENS
    shelf = Shelf(
        lines,
        task._replace(budget_tokens=max(16, task.budget_tokens - spare)),
        numbers=table.numbers,
        total=table.total,
        what="rows",
        first=0,
    )
    keep_rows(shelf, said, lines, task)
    head = f"[table: {len(shelf.kept)} of {shelf.total} rows, numbered from 0] {table.path}"
    return "\n".join([head.rstrip(), *top, shelf.text()]), len(shelf.kept)


def _names(columns: Sequence[Column], omitted: int) -> str:
    names = header(map(_short_shared, columns))
    if omitted:
        names += f",{MARK} {omitted} columns omitted"
    return shortened(names, 2 * _VALUE_CHARS)


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else write_json(value)


def _short_shared(column: Column) -> Column:
    if column.is_shared and len(write_json(column.shared)) > _CELL_CHARS:
        return column._replace(shared=shortened(_plain(column.shared), _CELL_CHARS))
    return column


def _row_line(row: Mapping[tuple[str, ...], JsonValue], columns: Sequence[Column], task: Task) -> str:
    line = row_text(row, columns)
    if len(line) <= _CELL_CHARS:
        return line
    return ",".join(
        _short_cell(row[column.path], column, task) if column.path in row else ""
        for column in columns
        if not column.is_shared
    )


def _short_cell(value: JsonValue, column: Column, task: Task) -> str:
    written = cell(value, strings=column.strings)
    if len(written) <= _CELL_CHARS:
        return written
    return cell(shortened(written, _CELL_CHARS, around=_around(written, task)), strings=True)
