"""The benchmark of stores counts what became of writes, and gives a row for every store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.stores import KINDS, Entry, Shelf, Tally, entries, main, write_at_once

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest


class Forgetful(Shelf):
    """Loses the first of three messages, refuses the second, stores the third twice."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def append(self, thread: str, messages: Sequence[Entry]) -> None:
        del thread
        number = int(messages[0].id[1:]) % 3
        if number == 1:
            raise OSError
        self._texts += [messages[0].text] * number

    def texts(self, thread: str) -> list[str]:
        del thread
        return self._texts


def test_what_became_of_writes_at_once_is_counted_one_by_one() -> None:
    assert write_at_once(Forgetful(), "t1", entries(9)) == Tally(kept=0, refused=3, lost=3, twice=3)


def test_the_benchmark_prints_its_tables_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "stores.json"
    small = ["--rounds", "1", "--appends", "40", "--long", "20", "--at-once", "4", "--contests", "1"]
    main([*small, "--ours-only", "--json", str(written)])
    assert "SQLiteStore, full" in capsys.readouterr().out
    writes, reads, kept = json.loads(written.read_text(encoding="utf-8"))["tables"].values()
    here = [name for name, kind in KINDS.items() if kind.is_ours and name != "PostgresStore"]
    assert [row["store"] for row in writes][:3] == [row["store"] for row in reads][:3] == here
    assert [(row["kept"], row["lost"]) for row in kept] == [(4, 0)] * 3
    assert writes[-1]["settings"] == "no server given"
