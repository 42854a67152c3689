"""The benchmark of builds tells what each kind of build costs, beside the selection and a peer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.speed_builds import main

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_gives_a_row_for_each_size_with_the_first_build(tmp_path: Path) -> None:
    written = tmp_path / "builds.json"
    assert main(["--sizes", "20,300", "--rounds", "3", "--json", str(written)]) == 0
    short, long = json.loads(written.read_text(encoding="utf-8"))["tables"]["builds"]
    assert (short["messages"], long["messages"]) == (20, 300)
    assert 0 < float(long["ms a turn"]) < float(long["first build"])
    for row in (short, long):
        assert all(float(row[kind]) > 0 for kind in ("new question", "same question", "one more turn", "select"))
        assert float(row["trim / new"]) > 0
