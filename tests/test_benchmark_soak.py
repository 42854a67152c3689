"""The soak runs in its small form, and sees memory that is over its limit or not flat."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.soak import SOAKS, STAGES, Stage, is_flat, main
from tests.case_files import from_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GIGABYTE = 10**9


def stages(*resident: float) -> list[Stage]:
    return [Stage(1_000 * at, int(each * GIGABYTE), 1.0, 1.0) for at, each in enumerate(resident, start=1)]


def test_every_soak_of_the_core_runs_and_its_stages_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "soak.json"
    assert main(["--threads", "30", "--turns", "40", "--json", str(written)]) == 0
    assert capsys.readouterr().out.rstrip().endswith("within the limit, and flat")
    rows = json.loads(written.read_text(encoding="utf-8"))["tables"]["soak"]
    assert [row["soak"] for row in rows] == [name for name in SOAKS for _ in range(STAGES)]
    assert [row["count"] for row in rows if row["soak"] == "turns"] == [str(4 * at) for at in range(1, STAGES + 1)]


@from_file("resident", "holds", "flat")
def test_memory_is_flat_where_the_second_half_takes_no_more(resident: Sequence[float], holds: bool, flat: bool) -> None:
    assert is_flat(stages(*resident), holds=holds) == flat
