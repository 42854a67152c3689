"""JSON results: as a table without loss where that is small enough, else the rows that matter, path by path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gatekeeper_core.context.tool_results.digest import Digest, Lines, Shelf, Task
from gatekeeper_core.context.tool_results.formats.cells import columns_of_texts
from gatekeeper_core.context.tool_results.formats.json_text import (
    JsonValue,
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
from gatekeeper_core.context.tool_results.signals import failing

__all__ = ["Table", "digest_parts", "lossless_json", "parts_of", "read_any_json"]

_MIN_ROWS = 3
_CELL_CHARS = 160
_VALUE_CHARS = 400
_MAX_COLUMNS = 40
_MAP_KEYS = 20
_HEAD_TOKENS = 20
_LEAST_TOKENS = 24
_MANY_TABLES = 12  # as many are shown whatever they cost

Rows = list[dict[str, JsonValue]]


def read_any_json(text: str) -> dict[str, JsonValue] | list[JsonValue] | None:
    """Return the object or the list of a JSON text, or the list of objects of one with an object on each line."""
    value = read_json(text)
    return value if isinstance(value, dict | list) else read_json_lines(text)


def lossless_json(value: JsonValue) -> str:
    """Return the value in the table form where it is a list of objects, else on one line.

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
    return write_json(value)


def parts_of(value: JsonValue) -> tuple[list[Table], list[tuple[str, JsonValue]]]:
    """Return the tables of a value, and its plain values by their paths."""
    tables: dict[str, Table] = {}
    plain: list[tuple[str, JsonValue]] = []
    _collect(value, "", tables, plain)
    return list(tables.values()), plain


def digest_parts(tables: Sequence[Table], plain: Sequence[tuple[str, JsonValue]], task: Task) -> Digest:
    """Return a digest of tables, as the rows of each that matter, and of values by their paths, within one budget."""
    left = task.budget_tokens
    texts: list[str] = []
    shown = total = 0
    if plain:
        text, shown = _plain_text(plain, task._replace(budget_tokens=left // 2 if tables else left))
        total = len(plain)
        left -= task.counter(text)
        texts.append(text)
    total += sum(table.total or len(table.rows) for table in tables)
    # Of many tables those with a failure first; else the smallest: what it leaves of its share goes to the others.
    calm = set(range(len(tables)))
    if len(tables) > _MANY_TABLES:
        calm.difference_update(failing([write_json(list(table.rows)) for table in tables]))
    written: dict[int, str] = {}
    for nth, at in enumerate(sorted(range(len(tables)), key=lambda at: (at in calm, len(tables[at].rows)))):
        if left <= 0 and nth >= _MANY_TABLES:
            break
        budget = max(_LEAST_TOKENS, left // (len(tables) - nth))
        written[at], kept = _rows_text(tables[at], task._replace(budget_tokens=budget))
        left -= task.counter(written[at])
        shown += kept
    texts += [written[at] for at in sorted(written)]
    if len(written) < len(tables):
        texts.append(f"{MARK} {len(tables) - len(written)} tables omitted")
    what = "rows" if tables else "values"
    return Digest("\n".join(texts), shown, total, what, what)


class Table(NamedTuple):
    """Objects of one list, or of lists at the same place of several objects.

    Attributes:
        path: where they are, "" for the whole.
        rows: those that were read.
        numbers: their numbers, from 0; None: all were read.
        total: how many there are; None: as many as were read.
    """

    path: str
    rows: Rows
    numbers: Sequence[int] | None = None
    total: int | None = None


def _collect(value: JsonValue, path: str, tables: dict[str, Table], plain: list[tuple[str, JsonValue]]) -> None:
    """Take a value apart by path: into tables, and what is none."""
    if isinstance(value, dict) and _is_map(value):
        rows = [{"key": key, **_as_row(child)} for key, child in value.items()]
        path = _joined(path, "*")
    elif isinstance(value, dict) and value:
        for key, child in value.items():
            _collect(child, _joined(path, key_text(key)), tables, plain)
        return
    elif isinstance(value, list) and _has_rows(value) and _only_wraps(value):
        for child in value:
            _collect(child, f"{path}[]", tables, plain)
        return
    elif isinstance(value, list) and (_has_rows(value) or len(value) >= _MAP_KEYS):
        rows = list(map(_as_row, value))
        path = f"{path}[]"
    else:
        plain.append((path, value))
        return
    tables.setdefault(path, Table(path, [])).rows.extend(rows)


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


_TELLING = {
    *("status", "state", "error", "errors", "code", "message", "success", "ok", "total"),
    *("count", "result", "next", "cursor"),
}


def _plain_text(plain: Sequence[tuple[str, JsonValue]], task: Task) -> tuple[str, int]:
    """Return the values that fit, asked ones first, then those with a status or an error, and how many these are."""
    lines: list[str] = []
    for path, value in plain:
        written = write_json(value)
        if len(written) > _VALUE_CHARS:
            written = shortened(written, _VALUE_CHARS, around=task.places(written))
        lines.append(f"{path}: {written}" if path else written)

    def rank(index: int) -> tuple[bool, int]:
        keys = lines[index].partition(": ")[0].lower().replace("[]", "").split(".")
        return _TELLING.isdisjoint(keys), index

    shelf = Shelf(Lines.whole(lines), task, what="values")
    for index in (*task.asked.ranked(lines, limit=12), *sorted(range(len(lines)), key=rank)):
        shelf.add(index)
    return shelf.text(), len(shelf.kept)


# --- Tables ---------------------------------------------------------------------------------------------------------


def _rows_text(table: Table, task: Task) -> tuple[str, int]:
    """Return the head of a table and the rows of it that matter, and how many these are."""
    flattened = [flat(row) for row in table.rows]
    columns = columns_of(flattened)
    named = {column.path: column.name for column in columns}
    said = columns_of_texts({named[path]: _plain(value) for path, value in row.items()} for row in flattened)
    shown = columns[:_MAX_COLUMNS]
    names = header(map(_short_shared, shown))
    if len(columns) > len(shown):
        names += f",{MARK} {len(columns) - len(shown)} columns omitted"
    top = [shortened(names, 2 * _VALUE_CHARS)]
    told = summary_of(said)
    if told and task.counter(told) <= task.budget_tokens // 6:
        top.append(told)
    left = task.budget_tokens - task.counter("\n".join(top)) - _HEAD_TOKENS
    texts = [_row_line(row, shown, task) for row in flattened]
    lines = Lines(texts, table.numbers or range(len(texts)), table.total or len(texts))
    shelf = keep_rows(lines, said, task._replace(budget_tokens=max(16, left)), what="rows", first=0)
    head = f"[table: {len(shelf.kept)} of {lines.total} rows, numbered from 0] {table.path}"
    return "\n".join([head.rstrip(), *top, shelf.text()]), len(shelf.kept)


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else write_json(value)


def _short_shared(column: Column) -> Column:
    if column.is_shared and len(write_json(column.shared)) > _CELL_CHARS:
        return column._replace(shared=shortened(_plain(column.shared), _CELL_CHARS))
    return column


def _row_line(row: Mapping[tuple[str, ...], JsonValue], columns: Sequence[Column], task: Task) -> str:
    """Return the line of one row; where it is long, with its long cells cut."""

    def short_cell(value: JsonValue, strings: bool) -> str:
        written = cell(value, strings)
        if len(written) <= _CELL_CHARS:
            return written
        return cell(shortened(written, _CELL_CHARS, around=task.places(written)), True)

    line = row_text(row, columns)
    return line if len(line) <= _CELL_CHARS else row_text(row, columns, short_cell)
