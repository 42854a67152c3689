"""JSON results: a lossless table if it is small enough, else the rows that matter, path by path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from gatekeeper_core.context.tool_results.digest import MARK, Digest, KeptLines, Lines, Task, shortened
from gatekeeper_core.context.tool_results.formats import json_text
from gatekeeper_core.context.tool_results.formats.json_text import Column, JsonValue, flat, read_json, write_json
from gatekeeper_core.context.tool_results.formats.rows import columns_of_texts, select_rows, summary_of
from gatekeeper_core.context.tool_results.signals import failing

_MIN_ROWS = 3
_CELL_CHARS = 160
_VALUE_CHARS = 400
_MAX_COLUMNS = 40
_MAP_KEYS = 20
_HEAD_TOKENS = 20
_MIN_TABLE_TOKENS = 24
_MANY_TABLES = 12  # this many are shown at any cost
_STATUS_KEYS = {
    *("status", "state", "error", "errors", "code", "message", "success", "ok", "total"),
    *("count", "result", "next", "cursor"),
}


class Table(NamedTuple):
    """Objects of the lists at one path ("": the full value): those read, their numbers from 0, and their total."""

    path: str
    rows: list[dict[str, JsonValue]]
    numbers: Sequence[int]
    total: int


Parts: TypeAlias = tuple[list[Table], list[tuple[str, JsonValue]]]
"""The tables of a value, and its plain values with their paths."""


def read_any_json(text: str) -> dict[str, JsonValue] | list[JsonValue] | None:
    """Return the object or list of a JSON text, or the list of objects of a JSON Lines text; None for others."""
    value = read_json(text)
    if isinstance(value, dict | list):
        return value
    values: list[JsonValue] = []
    for line in text.split("\n"):
        if line.strip():
            value = read_json(line)
            if not isinstance(value, dict):
                return None
            values.append(value)
    return values or None


def lossless_json(value: JsonValue) -> str:
    """Return the value on one line, or in the table form if it is a list of objects and that is shorter."""
    plain = write_json(value)
    if isinstance(value, list) and len(value) >= _MIN_ROWS and all(isinstance(row, dict) for row in value):
        return min(plain, json_text.write_table(value), key=len)  # type: ignore[arg-type]
    return plain


def parts_of(value: JsonValue) -> Parts:
    """Return the tables of a value, and its plain values with their paths."""
    tables: dict[str, list[dict[str, JsonValue]]] = {}
    plain: list[tuple[str, JsonValue]] = []

    def collect(value: JsonValue, path: str) -> None:
        dotted = f"{path}." if path else ""
        if isinstance(value, dict) and value and not _is_map(value):
            for key, child in value.items():
                collect(child, dotted + json_text.key_text(key))
        elif isinstance(value, dict) and value:
            rows = ({"key": key, **_as_row(child)} for key, child in value.items())
            tables.setdefault(f"{dotted}*", []).extend(rows)
        elif isinstance(value, list) and _has_rows(value) and _only_wraps(value):
            for child in value:
                collect(child, f"{path}[]")
        elif isinstance(value, list) and (_has_rows(value) or len(value) >= _MAP_KEYS):
            tables.setdefault(f"{path}[]", []).extend(map(_as_row, value))
        else:
            plain.append((path, value))

    collect(value, "")
    return [Table(path, rows, range(len(rows)), len(rows)) for path, rows in tables.items()], plain


def _as_row(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {"value": value}


def _is_map(value: dict[str, JsonValue]) -> bool:
    """Return whether an object is used like a list: many keys, and most values of the same type."""
    return len(value) >= _MAP_KEYS and max(Counter(map(type, value.values())).values()) >= 0.8 * len(value)


def _has_rows(value: Sequence[JsonValue]) -> bool:
    return bool(value) and sum(isinstance(each, dict) for each in value) >= 0.8 * len(value)


def _only_wraps(value: Sequence[JsonValue]) -> bool:
    """Return whether the objects of a list hold little more than inner lists of objects."""
    children = [child for row in value if isinstance(row, dict) for child in flat(row).values()]
    inner = sum(isinstance(child, list) and len(child) >= _MIN_ROWS and _has_rows(child) for child in children)
    return 0 < len(children) <= 2 * inner


def digest_parts(tables: Sequence[Table], plain: Sequence[tuple[str, JsonValue]], task: Task) -> Digest:
    """Return a digest of tables (the rows that matter) and of values by path, within one budget."""
    room_tokens = task.budget_tokens
    texts: list[str] = []
    shown = 0
    if plain:
        text, shown = _plain_text(plain, task._replace(budget_tokens=room_tokens // 2 if tables else room_tokens))
        room_tokens -= task.counter(text)
        texts.append(text)
    # Of many tables, those with a failure first; then the smallest, whose unused share goes to the others.
    calm = set(range(len(tables)))
    if len(tables) > _MANY_TABLES:
        calm.difference_update(failing([write_json(list(table.rows)) for table in tables]))
    written: dict[int, str] = {}
    for nth, at in enumerate(sorted(range(len(tables)), key=lambda at: (at in calm, len(tables[at].rows)))):
        if room_tokens <= 0 and nth >= _MANY_TABLES:
            break
        budget = max(_MIN_TABLE_TOKENS, room_tokens // (len(tables) - nth))
        written[at], kept = _rows_text(tables[at], task._replace(budget_tokens=budget))
        room_tokens -= task.counter(written[at])
        shown += kept
    texts += [written[at] for at in sorted(written)]
    if len(written) < len(tables):
        texts.append(f"{MARK} {len(tables) - len(written)} tables omitted")
    total = len(plain) + sum(table.total for table in tables)
    what = "rows" if tables else "values"
    return Digest("\n".join(texts), shown, total, what, what)


def _plain_text(plain: Sequence[tuple[str, JsonValue]], task: Task) -> tuple[str, int]:
    """Return the values that fit (query matches, then statuses and errors, first), and their number."""
    values = ((path, task.cut(write_json(value), _VALUE_CHARS)) for path, value in plain)
    lines = [f"{path}: {written}" if path else written for path, written in values]

    def has_no_status(index: int) -> bool:
        return _STATUS_KEYS.isdisjoint(plain[index][0].lower().replace("[]", "").split("."))

    selection = KeptLines(Lines.of(lines, what="values"), task)
    selection.add_all((*task.query.ranked(lines, limit=12), *sorted(range(len(lines)), key=has_no_status)))
    return selection.text(), len(selection.kept)


def _rows_text(table: Table, task: Task) -> tuple[str, int]:
    """Return the header of a table and the rows that matter, and their number."""

    def plain(value: JsonValue) -> str:
        return value if isinstance(value, str) else write_json(value)

    def short_cell(value: JsonValue, strings: bool) -> str:
        written = json_text.cell(value, strings)
        return written if len(written) <= _CELL_CHARS else json_text.cell(task.cut(written, _CELL_CHARS), True)

    def short_shared(column: Column) -> Column:
        is_long = column.is_shared and len(write_json(column.shared)) > _CELL_CHARS
        return column._replace(shared=shortened(plain(column.shared), _CELL_CHARS)) if is_long else column

    flattened = [flat(row) for row in table.rows]
    columns = json_text.columns_of(flattened)
    names = {column.path: column.name for column in columns}
    by_column = columns_of_texts({names[path]: plain(value) for path, value in row.items()} for row in flattened)
    shown = columns[:_MAX_COLUMNS]
    head = json_text.header(map(short_shared, shown))
    if len(columns) > len(shown):
        head += f",{MARK} {len(columns) - len(shown)} columns omitted"
    top = [shortened(head, 2 * _VALUE_CHARS)]
    if summary := summary_of(by_column, task):
        top.append(summary)
    room_tokens = task.budget_tokens - task.counter("\n".join(top)) - _HEAD_TOKENS
    texts = [json_text.row_text(row, shown, short_cell) for row in flattened]
    lines = Lines(texts, table.numbers, table.total, what="rows", first=0)
    selection = select_rows(lines, by_column, task._replace(budget_tokens=max(16, room_tokens)))
    title = f"[table: {len(selection.kept)} of {lines.total} rows, numbered from 0] {table.path}"
    return "\n".join([title.rstrip(), *top, selection.text()]), len(selection.kept)
