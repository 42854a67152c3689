"""The benchmark of the doors counts the needed turns of a prompt, in whatever form they are in it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.doors import DEFAULT, DOORS, FILES, WAYS, is_below
from benchmarks.talks import OWN

if TYPE_CHECKING:
    from pathlib import Path


def test_the_command_prints_a_row_for_each_door_and_writes_the_figures(tmp_path: Path) -> None:
    (tmp_path / "everyday").mkdir()
    for file in FILES:
        shutil.copy(OWN, tmp_path / "everyday" / file)
    shape = ["--turns", "12", "--size", "200", "--budgets", "900", "--quick", "--json", str(tmp_path / "doors.json")]
    command = [sys.executable, "-m", "benchmarks.doors", "--data", str(tmp_path), *shape]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    tables = json.loads((tmp_path / "doors.json").read_text(encoding="utf-8"))["tables"]
    assert [*tables] == [file + part for file in FILES for part in ("", ", topics", ", agents")], done.stderr
    rows, topics = tables["everyday_dev.jsonl"], {row["way"]: row for row in tables["everyday_dev.jsonl, topics"]}
    assert done.returncode == any(map(is_below, tables.values())), done.stderr
    assert [row["door"] for row in rows] == [door for door in DOORS for _ in range(4)] + ["trim_messages"]
    assert all(row["tokens 900"] > 0 for row in rows)
    assert [*topics] == [*WAYS]
    assert all(row["tokens 900"] <= 900 and row["whole 900"] > 0 for row in tables["everyday_dev.jsonl, agents"])
    assert topics["fill"]["in topic"] > 11 > 4 > topics[DEFAULT]["in topic"]
    assert topics["fill"]["returns"] == 100.0 >= topics[DEFAULT]["returns"] > 0.0
