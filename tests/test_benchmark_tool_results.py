"""The benchmark of tool results counts needles by kind, with the question where one asks for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.second_logs import SECOND_FORMATS, second_logs, systems
from benchmarks.tool_logs import FORMATS, SYSTEMS, logs
from benchmarks.tool_outputs import GENERATORS, Needle, Output, generated
from benchmarks.tool_results import OURS, Made, given, head_and_tail, lossless_rows, measure, measure_logs, run

if TYPE_CHECKING:
    from pathlib import Path

OUTPUT = Output("x", "log", "q?", "line\n" * 900, (Needle("error", "E1"), Needle("query", "Q1"), Needle("rare", "R1")))


def test_needles_that_are_asked_for_are_looked_for_in_what_was_made_with_the_question() -> None:
    rows = measure([OUTPUT], lambda output: Made("Q1", "E1 Q1", 0.001, True), lambda text: len(text) // 4)
    assert [row["family"] for row in rows] == ["log", "all"]
    assert (rows[0]["errors"], rows[0]["asked"], rows[0]["rare"], rows[0]["exact"]) == ("1/1", "1/1", "0/1", "1/1")
    assert rows[0]["saved %"] == 100.0


def test_every_needle_stands_in_its_output_and_the_same_seed_gives_the_same() -> None:
    outputs = generated(5)
    assert len(outputs) == 4 * len(GENERATORS)
    assert all(needle.text in output.text for output in outputs for needle in output.needles)
    assert outputs == generated(5)
    assert outputs != generated(6)


def test_real_outputs_are_read_with_their_kinds(tmp_path: Path) -> None:
    folder = tmp_path / "tool_results"
    folder.mkdir()
    row = {"name": "a", "kind": "testlog", "query": "q", "text": "t", "needles": [{"kind": "outlier", "s": '"n"'}]}
    (folder / "tool_outputs.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert given(tmp_path) == [Output("a", "test", "q", "t", (Needle("rare", "n"),))]


def test_head_and_tail_lose_what_stands_in_the_middle() -> None:
    assert head_and_tail(Output("x", "log", "", "\n".join(map(str, range(100))), ())).plain.split("\n")[4:7] == [
        "4",
        "...",
        "95",
    ]


def test_a_run_has_our_rows_by_family_and_what_is_saved_without_loss() -> None:
    outputs = [
        each for each in generated(5, rounds=3)[-2 * len(GENERATORS) :] if each.name in ("logfmt", "orders_json")
    ]
    rows = run(outputs, lambda text: len(text) // 4, peers=False, headroom_python=None)
    assert [(row["method"], row["family"]) for row in rows] == [(OURS, "json"), (OURS, "log"), (OURS, "all")]
    assert rows[-1]["exact"] == "4/4"
    assert all(row["saved without loss %"] > 40 for row in lossless_rows(outputs, lambda text: len(text) // 4))


def test_every_log_holds_its_needles_and_the_same_seed_gives_the_same() -> None:
    outputs = logs(5)
    assert len(SYSTEMS) >= 10
    assert {each.family for each in outputs} == set(FORMATS)
    assert all(each.text.count(needle.text) >= 1 for each in outputs for needle in each.needles)
    assert outputs == logs(5)


def test_every_needle_of_the_second_set_stands_once_and_the_same_seed_gives_the_same() -> None:
    names = ("dmesg", "nagios", "订单系统")
    outputs = second_logs(5, names=names)
    assert [(each.name, each.family) for each in outputs] == [(name, kind) for name in names for kind in SECOND_FORMATS]
    assert all(each.text.count(needle.text) == 1 for each in outputs for needle in each.needles)
    assert [[needle.kind for needle in each.needles] for each in outputs] == [["error", "query", "rare"]] * len(outputs)
    assert outputs == second_logs(5, names=names)


def test_a_row_of_the_second_set_has_a_cell_for_each_column_and_a_needle_its_mark() -> None:
    halves = [system.half for system in systems()]
    assert (len(halves), halves.count("tuned"), halves.count("held out")) == (18, 10, 8)
    for system in systems():
        for key, more in (("routine", 0), ("errors", -1), ("rare", -1), ("asked", 0)):
            assert {len(row) for row in system.rows(key)} == {len(system.columns) + more}, (system.name, key)
            assert all("".join(row).count("«") == (key != "routine") for row in system.rows(key)), (system.name, key)


def test_logs_are_measured_by_format_by_system_and_by_half() -> None:
    outputs = [each for each in second_logs(5, names=("postfix", "订单系统", "nagios")) if each.family == "csv"]
    rows = measure_logs(outputs[:2], lambda text: len(text) // 4)
    assert {name: [row["family"] for row in table] for name, table in rows.items()} == {
        "format": ["csv", "all"],
        "system": ["nagios", "订单系统", "all"],
        "half": ["held out", "tuned", "all"],
    }
    assert rows["half"][-1]["same again"] == "2/2"
