"""What fault tests count: rounds, losses and wrong contents, also of a round that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fault_record import VARIABLE, fault_round, fault_rows, main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "faults.jsonl"
    monkeypatch.setenv(VARIABLE, str(file))
    return file


def test_a_round_is_written_down_with_all_that_it_counted(record: Path) -> None:
    for _ in range(2):
        with fault_round("SQLite", "杀死") as found:
            found.stored(True, "m1")
            found.content(True, "m1")
            found.refused()
    (row,) = fault_rows(record.read_text(encoding="utf-8").splitlines())
    assert row == {
        "store": "SQLite",
        "fault": "杀死",
        "rounds": 2,
        "looked for": 4,
        "lost": 0,
        "wrong": 0,
        "refused": 2,
        "broken off": 0,
    }


def test_the_table_has_a_row_for_each_fault_of_each_store(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for store in ("SQLite", "PostgreSQL", "SQLite"):
        with fault_round(store, "kill"):
            pass
    main([str(record), "--markdown"])
    printed = capsys.readouterr().out
    assert "| SQLite | kill | 2 | 0 | 0 | 0 | 0 | 0 |" in printed
    assert "| PostgreSQL | kill | 1 | 0 | 0 | 0 | 0 | 0 |" in printed
