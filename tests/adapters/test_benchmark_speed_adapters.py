"""The benchmark of unchanged histories measures every adapter, above its store's own read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.speed_adapters import main

if TYPE_CHECKING:
    from pathlib import Path


def test_the_program_writes_one_row_for_each_adapter_and_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--sizes", "9", "--rounds", "1", "--json", str(tmp_path / "figures.json")])
    rows = json.loads((tmp_path / "figures.json").read_text())["tables"]["unchanged"]
    assert len(rows) == 14
    assert all(float(row["first, ms"]) > 0 for row in rows)
    assert "GatekeeperMemory.aget" in capsys.readouterr().out
