"""Options of the benchmarks and their results: tables on the terminal, JSON with what is needed to run them again."""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

SEED = 20_261_121

Row = dict[str, Any]
Tables = dict[str, list[Row]]


def options(
    description: str | None, *, data: str | None = None, required: bool = True, counter: str | None = None
) -> argparse.ArgumentParser:
    """Return a parser with the options that benchmarks share.

    Args:
        description: the docstring of the benchmark; its first line is shown.
        data: what the folder of the data must hold; None for a benchmark that needs none.
        required: whether nothing can be measured without the data.
        counter: the default token counter; None for a benchmark that lets nobody choose.
    """
    commit()
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    if data:
        parser.add_argument("--data", type=Path, required=required, help=f"folder that holds {data}")
        parser.add_argument("--quick", action="store_true", help="measure on an even sample")
        parser.add_argument("--ours-only", action="store_true", help="leave the peers out")
    if counter:
        parser.add_argument("--counter", choices=("estimate", "cl100k"), default=counter)
    return parser


def numbers(text: str) -> list[int]:
    """Return the whole numbers of an option, which stand with commas between.

    >>> numbers("100,1000")
    [100, 1000]
    """
    return [int(part) for part in text.split(",")]


def report(chosen: argparse.Namespace, name: str, tables: Tables, **facts: Any) -> None:
    """Print tables under their titles, and write them with all options and further facts where ``--json`` says so."""
    for title, rows in tables.items():
        print_table(title, rows, markdown=chosen.markdown)
    print(f"\ncommit {commit()}" + "".join(f", {key}: {value}" for key, value in facts.items()))
    write_json(chosen.json, name, {"seed": SEED, **settings_of(chosen), **facts}, tables)


def settings_of(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a run but for its files."""
    return {key: value for key, value in vars(chosen).items() if not isinstance(value, Path) and key != "markdown"}


def print_table(title: str, rows: list[Row], *, markdown: bool = False) -> None:
    """Print rows as an aligned table or as a Markdown table; a key that a row lacks stays empty."""
    print(f"\n{title}")
    if rows:
        print("\n".join(["", *markdown_table(rows)] if markdown else _aligned(_cells(rows))))


def _cells(rows: list[Row]) -> list[list[str]]:
    head = list(dict.fromkeys(key for row in rows for key in row))
    return [head, *([_cell(row.get(key, "")) for key in head] for row in rows)]


def _aligned(cells: list[list[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]


def markdown_table(rows: list[Row]) -> list[str]:
    """Return the lines of a Markdown table."""
    head, *lines = [f"| {' | '.join(row)} |" for row in _cells(rows)]
    return [head, re.sub(r"[^|]+", "---", head), *lines]


def dump(result: dict[str, Any]) -> str:
    """Return a result as JSON with a row of a table on each line."""
    text = json.dumps(result, indent=1, ensure_ascii=False)
    rows = re.compile(r"\n {3}\{.*?\n {3}\}", re.DOTALL)
    return rows.sub(lambda row: "\n   " + re.sub(r"\n\s*", " ", row.group().strip()), text) + "\n"


def write_json(path: Path | None, name: str, settings: dict[str, Any], tables: Tables) -> None:
    """Write the tables with settings, commit and platform; without a path nothing is written."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"benchmark": name, "commit": commit(), "python": sys.version.split()[0], "machine": platform.machine()}
    path.write_text(dump({**facts, "settings": settings, "tables": tables}), encoding="utf-8")


@cache
def commit() -> str:
    """Return the commit of the checkout that runs, "with changes" if it has some, or "unknown" outside of one.

    It is asked once: a long run is a run of the code that it began with.
    """
    head, changes = _git("rev-parse", "--short", "HEAD"), _git("status", "--porcelain", "--untracked-files=no")
    return f"{head} with changes" if head and changes else head or "unknown"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
