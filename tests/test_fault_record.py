"""What fault tests count: rounds, losses and wrong contents, also of a round that fails."""

from __future__ import annotations

import json
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


def test_what_is_lost_or_wrong_fails_the_test_and_is_counted_to_the_end(record: Path) -> None:
    def lose() -> None:
        with fault_round("SQLite", "kill") as found:
            found.stored(False, "m1")
            found.stored(False, "m2")
            found.content(False, "m3")
            found.stored(True, "m4")

    with pytest.raises(AssertionError, match="lost: m1"):
        lose()
    line = json.loads(record.read_text(encoding="utf-8"))
    assert (line["looked for"], line["lost"], line["wrong"], line["broken off"]) == (4, 2, 1, 0)


def test_a_round_that_breaks_off_is_counted_as_such(record: Path) -> None:
    with pytest.raises(OSError, match="gone"), fault_round("SQLite", "kill"):
        raise OSError("gone")
    assert json.loads(record.read_text(encoding="utf-8"))["broken off"] == 1


def test_nothing_is_written_where_no_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    with fault_round("SQLite", "kill") as found:
        found.stored(True, "m1")
    assert list(tmp_path.iterdir()) == []


def test_the_table_has_a_row_for_each_fault_of_each_store(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for store in ("SQLite", "PostgreSQL", "SQLite"):
        with fault_round(store, "kill"):
            pass
    main([str(record), "--markdown"])
    printed = capsys.readouterr().out
    assert "| SQLite | kill | 2 | 0 | 0 | 0 | 0 | 0 |" in printed
    assert "| PostgreSQL | kill | 1 | 0 | 0 | 0 | 0 | 0 |" in printed
