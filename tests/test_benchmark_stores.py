"""The benchmark of stores counts what it says: figures by round, ratios, and what became of writes at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.store_shelves import SHELVES, Outcome, Place, Said, Shelf, ShelfKind
from benchmarks.stores import READS, WRITES, Sizes, Tally, contests, figure_row, kept_row, main, names, tally

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SMALL = Sizes(rounds=1, appends=40, long=20, at_once=8, contests=2)


class Forgetful(Shelf):
    """Keeps the first of two messages that are written at once, raises for every fourth, and stores it all the same."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, list[str]] = {}
        self._number = 0

    def append(self, thread: str, messages: Sequence[Said]) -> None:
        self._number += 1
        if self._number % 2:
            self._texts.setdefault(thread, []).extend(each.text for each in messages)
        if self._number % 4 == 1:
            raise OSError

    def texts(self, thread: str) -> list[str]:
        return self._texts.get(thread, [])


def test_what_became_of_writes_is_counted_one_by_one() -> None:
    wanted = [Said(name, "user", f"text {name}") for name in "abcde"]
    found = ["text a", "text b", "text b", "text d", "another text"]
    assert tally(wanted, found, [Outcome(["a", "b"], ["OSError"]), Outcome(["c"], ["OSError"])]) == Tally(
        kept=2, errors=1, lost=1, twice=1, unsaid=1
    )


def test_a_row_of_writes_at_once_gives_the_median_and_the_least_and_sums_of_all_else() -> None:
    row = kept_row("x", "2 at once", [Tally(5, 0, 0, 0, 0), Tally(2, 1, 2, 0, 0), Tally(4, 0, 0, 1, 0)])
    assert list(row.values()) == ["x", "2 at once", 4, 2, 15, 1, 2, 1]


def test_a_store_that_loses_writes_is_seen_to(tmp_path: Path) -> None:
    kind = ShelfKind("forgetful", lambda _: Forgetful(), "-", is_shared=False)
    (row,) = contests(kind, Place(str(tmp_path)), SMALL, names())
    assert (row["kept, median"], row["lost in silence"], row["refused with an error"], row["writes"]) == (4, 8, 0, 16)


def test_rows_give_medians_with_the_lowest_and_the_highest() -> None:
    kind = ShelfKind("peer", lambda _: Forgetful(), "WAL, full")
    figures = {"peer": {**{what: [10.0, 30.0, 20.0] for what in WRITES}, **{what: [4.0, 4.0, 9.0] for what in READS}}}
    assert figure_row(kind, figures, WRITES, 0)["one a call"] == "20 (10 to 30)"
    assert figure_row(kind, figures, READS, 2)["whole thread, ms"] == "4.00 (4.00 to 9.00)"


def test_the_benchmark_prints_its_tables_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "stores.json"
    small = ["--rounds", "1", "--appends", "40", "--long", "20", "--at-once", "4", "--contests", "1"]
    main([*small, "--ours-only", "--json", str(written)])
    assert "SQLiteStore, full" in capsys.readouterr().out
    found = json.loads(written.read_text(encoding="utf-8"))
    writes, reads, kept = found["tables"].values()
    ours = [name for name, kind in SHELVES.items() if kind.is_ours]
    assert [row["store"] for row in writes] == [row["store"] for row in reads] == ours
    assert {row["store"] for row in kept} == set(ours)
    assert writes[-1]["settings"] in ("not given", "not installed")
    assert found["settings"]["rounds"] == 1
