"""Generate the page of requirements from ``tests/requirements.csv``.

python docs/requirements_page.py           writes docs/dev/requirements.md
python docs/requirements_page.py --check   exits with status 1 if the page is out of date
"""

from __future__ import annotations

import csv
from pathlib import Path

from write_or_check import write_or_check

ROOT = Path(__file__).resolve().parents[1]
ROWS, PAGE = ROOT / "tests" / "requirements.csv", ROOT / "docs" / "dev" / "requirements.md"
DOCUMENTS = {
    "000": "Selection of turns",
    "001": "Context builder",
    "002": "Compaction of tool loops",
    "003": "Compression of histories",
    "004": "The whole context",
    "C": "Where the documents disagree",
}
"""The source documents by the beginning of their rows."""

HEAD = """\
# Requirements

Every rule of the specification as it is built, with the tests that prove it: one table per source document.
`python docs/requirements_page.py` generates this page from `tests/requirements.csv`.

A test names its rows in its docstring: find them with `grep -rn "000-17" tests`. A number that the code holds has the
name of its setting or constant, as in `short_tokens=120`, and is checked against the code. The formulas are in
[selection](../selection.md).
"""


def page(rows: list[dict[str, str]]) -> str:
    """Return the page, one section per source document."""
    lines = [HEAD]
    for document, title in DOCUMENTS.items():
        lines += [f"## {title}", "", "| row | requirement | tests |", "|---|---|---|"]
        for row in rows:
            if row["row"].startswith(document):
                tests = "<br>".join(f"`{test}`" for test in row["tests"].split())
                lines.append(f"| {row['row']} | {row['requirement']} | {tests} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Write the page, or check it."""
    with ROWS.open(encoding="utf-8", newline="") as file:
        write_or_check({PAGE: page([*csv.DictReader(file)])})


if __name__ == "__main__":
    main()
