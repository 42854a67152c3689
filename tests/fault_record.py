"""What fault tests look for and what they find, counted round by round, and a table of it.

Environment:
    GATEKEEPER_FAULT_RECORD: a file to which each round appends a line of JSON; without it nothing is written.

As a program it prints the table of such a file::

    GATEKEEPER_FAULT_RECORD=faults.jsonl GATEKEEPER_FAULT_ROUNDS=25 python -m pytest tests/storage/test_sqlite_faults.py
    python -m tests.fault_record faults.jsonl [--markdown]
"""

from __future__ import annotations

import argparse
import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.report import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLE = "GATEKEEPER_FAULT_RECORD"
COUNTS = ("looked for", "lost", "wrong", "refused")


class Round:
    """What one round looked for. What was lost or wrong fails the test when the round ends, with all of it counted."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(COUNTS, 0)
        self.problems: list[str] = []

    def stored(self, is_there: bool, what: str) -> None:
        """Count something that was acknowledged, and whether it is there, once."""
        self._count("lost", is_there, f"lost: {what}")

    def content(self, is_true: bool, what: str) -> None:
        """Count a reading, and whether it gave what was written, or nothing but what was."""
        self._count("wrong", is_true, f"wrong: {what}")

    def refused(self) -> None:
        """Count a call that was answered with a typed error."""
        self.counts["refused"] += 1

    def _count(self, name: str, is_well: bool, problem: str) -> None:
        self.counts["looked for"] += 1
        if not is_well:
            self.counts[name] += 1
            self.problems.append(problem)


@contextmanager
def fault_round(store: str, fault: str) -> Iterator[Round]:
    """Count one round of a fault, write it down where ``GATEKEEPER_FAULT_RECORD`` says, and fail where it must.

    Args:
        store: the store's name in the table.
        fault: what happens to it.

    Raises:
        AssertionError: something was lost or wrong.
    """
    found = Round()
    is_done = False
    try:
        yield found
        is_done = True
    finally:
        _write({"store": store, "fault": fault, "broken off": int(not is_done), **found.counts})
    assert not found.problems, found.problems[:5]


def _write(line: dict[str, Any]) -> None:
    name = os.environ.get(VARIABLE)
    if name:
        # One write, so that the lines of several processes do not mix.
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(descriptor, json.dumps(line, ensure_ascii=False).encode() + b"\n")
        finally:
            os.close(descriptor)


def fault_rows(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rounds of a record as rows: a row for each fault, in the order in which they were first met."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for line in lines:
        given = json.loads(line)
        key = given.pop("store"), given.pop("fault")
        row = rows.setdefault(key, {"store": key[0], "fault": key[1], "rounds": 0})
        row["rounds"] += 1
        for name, number in given.items():
            row[name] = row.get(name, 0) + number
    for row in rows.values():
        row["broken off"] = row.pop("broken off")  # last
    return list(rows.values())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of a record."""
    parser = argparse.ArgumentParser(description="Print what fault tests have recorded.")
    parser.add_argument("record", type=Path, help=f"the file that {VARIABLE} named")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table, for a page")
    chosen = parser.parse_args(arguments)
    rows = fault_rows(chosen.record.read_text(encoding="utf-8").splitlines())
    print_table("Faults, rounds, and what was lost", rows, markdown=chosen.markdown)


if __name__ == "__main__":
    main()
