"""The benchmarks' reports: tables to read, Markdown for a page, JSON that says how it came about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.report import mean_of_sets, print_table, write_json

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [{"method": "ours", "recall": 71.25, "judged": None}, {"method": "a peer", "recall": "not installed"}]


def test_a_table_is_aligned_and_a_key_that_a_row_lacks_stays_empty(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Recall", ROWS)
    assert capsys.readouterr().out.splitlines() == [
        "",
        "Recall",
        "method         recall  judged",
        "ours             71.2       -",
        "a peer  not installed        ",
    ]


def test_a_table_is_markdown_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Recall", ROWS, markdown=True)
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "| method | recall | judged |",
        "|---|---|---|",
        "| ours | 71.2 | - |",
        "| a peer | not installed |  |",
    ]


def test_means_are_taken_over_all_sets_and_over_the_chinese_ones() -> None:
    rows = [
        {"set": "one", "recall": 10.0, "pollution": None, "judged": 3},
        {"set": "two", "recall": 40.0, "pollution": None, "judged": 4},
    ]
    means = mean_of_sets(rows, {"one": "en", "two": "zh"})
    assert [(row["set"], row["recall"]) for row in means] == [("mean of sets", 25.0), ("mean of Chinese sets", 40.0)]
    assert means[0]["pollution"] is None
    assert [row["set"] for row in mean_of_sets(rows[:1], {"one": "en"})] == ["mean of sets"]


def test_the_json_holds_the_settings_the_commit_and_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "new" / "figures.json"
    write_json(path, "selection", {"seed": 1}, {"fill": ROWS})
    figures = json.loads(path.read_text(encoding="utf-8"))
    assert figures["benchmark"] == "selection"
    assert figures["settings"] == {"seed": 1}
    assert figures["tables"]["fill"] == ROWS
    assert figures["commit"]
    write_json(None, "selection", {}, {})
