"""CSV, TSV and other tables with a delimiter: the header, and the rows that matter, verbatim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gatekeeper_core.context.tool_results.digest import Digest, Lines, Task
from gatekeeper_core.context.tool_results.formats.lines import digest_lines
from gatekeeper_core.context.tool_results.formats.rows import columns_of_texts, select_rows, summary_of
from gatekeeper_core.context.tool_results.signals import is_status_column

_ALIGNED = "  "  # columns padded with spaces, two or more
_DELIMITERS = ("\t", ",", ";", "|", _ALIGNED)
_SAMPLE = 60
_AGREEING = 0.95
_HEAD_CHARS = 600
_FIRST_LINES = 8
_FIELDS = "#Fields: "  # Source: Hallam-Baker and Behlendorf, Extended Log File Format, W3C working draft, 1996


def delimiter_of(lines: Sequence[str]) -> str | None:
    """Return the delimiter that gives nearly all lines the same number of cells, or None; few columns need a header."""
    sample = [line for line in lines[:_SAMPLE] if line.strip()]
    if len(sample) < 3:
        return None
    if _fields_line(sample) is not None:
        return " "
    least = _AGREEING * len(sample)
    for delimiter in _DELIMITERS:
        widths = Counter(len(split_row(line, delimiter)) for line in sample)
        width, agreeing = widths.most_common(1)[0]
        head = split_row(sample[0], delimiter)
        is_head = len(head) > 1 and all(
            0 < len(cell.strip()) <= 40 and not any(map(str.isdigit, cell)) for cell in head
        )
        if width > 1 and agreeing >= least and (width > 3 or is_head):
            return delimiter
    return None


def is_table(lines: Sequence[str], *, with_times: bool) -> bool:
    """Return whether lines are a table; lines that begin with times also need a column of HTTP status."""
    delimiter = delimiter_of(lines)
    if delimiter is None or not with_times:
        return delimiter is not None
    names = _names(lines[_fields_line(lines) or 0], delimiter)
    widths = {len(split_row(line, delimiter)) for line in lines[1:_FIRST_LINES]}
    return len(names) in widths and any(map(is_status_column, names))


def _names(head: str, delimiter: str) -> list[str]:
    return [name.strip() for name in split_row(head.removeprefix(_FIELDS), delimiter)]


def _fields_line(lines: Sequence[str]) -> int | None:
    """Return which of the first lines names the columns of a log in the W3C extended log file format."""
    return next((at for at, line in enumerate(lines[:_FIRST_LINES]) if line.startswith(_FIELDS)), None)


def split_row(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line; a delimiter between double quotes does not split."""
    if delimiter == _ALIGNED:
        return [cell.strip() for cell in line.replace("\t", _ALIGNED).split(_ALIGNED) if cell.strip()]
    if '"' not in line:
        return line.split(delimiter)
    cells = re.findall(rf'(?:^|{re.escape(delimiter)})((?:[^"{re.escape(delimiter)}]+|"[^"]*(?:"|\Z))*)', line)
    return [cell.strip('"') for cell in cells]


def digest_delimited(lines: Lines, task: Task) -> Digest:
    """Return a digest of a table, header first; lines that are not a table are digested as a log."""
    texts = lines.texts
    delimiter = delimiter_of(texts)
    if delimiter is None:
        return digest_lines(lines, task)
    fields_at = _fields_line(texts)
    top = fields_at or 0
    body = [at for at in range(top + 1, len(texts)) if texts[at].strip()]
    if fields_at is not None:
        body = [at for at in body if not texts[at].startswith("#")]
    rows = [split_row(texts[at], delimiter) for at in body]
    names = _names(texts[top], delimiter)
    names += [f"column {at + 1}" for at in range(len(names), max(map(len, rows), default=0))]
    filled = ({name: text.strip() for name, text in zip(names, row, strict=False) if text} for row in rows)
    found = columns_of_texts(filled)
    columns = {name: found[name] for name in names if name in found}
    head, summary = texts[top][:_HEAD_CHARS], summary_of(columns, task)
    room_tokens = task.budget_tokens - task.counter(f"{head}\n{summary}\n")
    selection = select_rows(lines.at(body), columns, task._replace(budget_tokens=room_tokens))
    selection.kept[lines.numbers[top]] = head
    return selection.digest("rows", below=summary)
