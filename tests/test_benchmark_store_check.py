"""The benchmark of the check fills a store of each kind of row, and checks it in a process of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.store_check import fill, main
from gatekeeper_core.storage.sqlite import SQLiteStore

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_store_holds_what_is_said(tmp_path: Path) -> None:
    fill(tmp_path / "store.db", 1_500)
    with SQLiteStore(tmp_path / "store.db") as store:
        info = store.info()
    assert (info.messages, info.threads, info.memories, info.blobs) == (1_500, 2, 15, 2)


def test_the_benchmark_prints_a_table_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "check.json"
    main(["--messages", "200,400", "--json", str(written)])
    assert "Checking a SQLite store" in capsys.readouterr().out
    rows = json.loads(written.read_text(encoding="utf-8"))["tables"]["check"]
    assert [row["messages"] for row in rows] == [200, 400]
    assert all(0 < row["microseconds a message"] < 10_000 for row in rows)
