"""Prints a benchmark's rows as a table and writes them as JSON with what is needed to run it again."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["commit", "print_table", "write_json"]


def print_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows with equal keys as an aligned table."""
    print(f"\n{title}")
    if not rows:
        return
    head = list(rows[0])
    cells = [[_cell(row.get(key, "")) for key in head] for row in rows]
    widths = [max(len(key), *(len(row[at]) for row in cells)) for at, key in enumerate(head)]
    print(
        "  ".join(
            key.ljust(width) if not at else key.rjust(width)
            for at, (key, width) in enumerate(zip(head, widths, strict=True))
        )
    )
    for row in cells:
        print(
            "  ".join(
                cell.ljust(w) if not at else cell.rjust(w) for at, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
        )


def write_json(path: Path | None, name: str, settings: dict[str, Any], tables: dict[str, list[dict[str, Any]]]) -> None:
    """Write the tables with settings, commit and platform; without a path nothing is written."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"benchmark": name, "commit": commit(), "python": sys.version.split()[0], "machine": platform.machine()}
    path.write_text(json.dumps({**facts, "settings": settings, "tables": tables}, indent=1) + "\n", encoding="utf-8")


def commit() -> str:
    """Return the commit of the checkout that runs, or "unknown" outside of one."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _cell(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
