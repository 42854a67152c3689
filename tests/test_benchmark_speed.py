"""The speed benchmark measures what it says: processes that answer, medians, ratios, exponents."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.corpus import Question, generate_turns
from benchmarks.plot import TIME, draw_curves
from benchmarks.report import SEED
from benchmarks.speed import (
    Measured,
    add_rows,
    ask_rows,
    exponent,
    growth_curves,
    measure,
    memory_rows,
    quantile,
    ratio,
    run,
    write_conversation,
)
from benchmarks.speed_methods import INDEX_ALONE, METHODS, SELECT, IndexAlone
from benchmarks.speed_worker import Worker

if TYPE_CHECKING:
    from pathlib import Path

TURNS = [(turn.user, turn.assistant) for turn in generate_turns(30, seed=SEED)]
QUESTIONS = [Question("?", "about", "en", 5), Question("?", "follow-up", "en", 9)]


def answers(*milliseconds: float, **more: Any) -> dict[int, dict[str, Any]]:
    return {at: {"wall": ms * 1e6, "cpu": ms * 5e5, **more} for at, ms in enumerate(milliseconds)}


def test_medians_ratios_quantiles_and_exponents_are_those_worked_out_by_hand() -> None:
    measured = Measured("a", 10, asks=answers(3, 1, 8))
    assert (measured.median("asks"), measured.median("asks", "cpu"), measured.median("adds")) == (3, 1.5, None)
    ours, slow = Measured("ours", 10, asks=answers(1, 1, 1, 50, 50)), Measured("slow", 10, asks=answers(9, 10, 11))
    assert (ratio(slow, ours), ratio(Measured("none", 10), ours)) == (10, None)  # the rounds that both answered
    assert [quantile([*range(1, 1001)], share) for share in (0.5, 0.999, 1.0)] == [500, 999, 1000]
    assert exponent({turns: 0.2 * turns**0.35 for turns in (1_000, 10_000, 100_000)}) == pytest.approx(0.35)


def test_the_rows_of_a_size_give_ratios_to_ours_targets_rebuilds_and_memory() -> None:
    load = {"cpu": 10_000_000, "adds": [1e6, 9e6]}
    facts = {"index": None, "rss": 5_000_000}
    pair = [
        Measured(SELECT, 10, load, answers(2, 2, found=[5, 1]), answers(4, 4), facts),
        Measured("peer", 10, {}, answers(4, 4, found=[1, 2]), answers(1, 1), {**facts, "index": 2_000}),
        Measured(INDEX_ALONE, 10, facts={**facts, "index": 4_000}),
    ]
    ours, peer, silent = ask_rows(pair, QUESTIONS)
    assert (ours["median ms"], ours["/ select"], ours["target found %"]) == ("2.00", "1.00", 100.0)
    assert (peer["CPU ms"], peer["/ select"], peer["target found %"], peer["calls"]) == ("2.00", "2.00", 0.0, 2)
    assert silent["median ms"] == "not installed"
    ours, peer = add_rows(pair)
    assert (ours["CPU p99.9 ms, load"], ours["rebuild µs a turn"], peer["/ select"]) == ("9.00", "1,000.0", "0.25")
    assert [(row["index bytes a turn"], row["/ ours"]) for row in memory_rows(pair)] == [
        (None, None),
        ("200", "0.50"),
        ("400", "1.00"),
    ]


def test_a_process_answers_as_its_method_does_and_says_what_it_took(tmp_path: Path) -> None:
    alone = IndexAlone()
    alone.load(TURNS)
    talk = write_conversation(str(tmp_path), 30, questions=1, more=0)
    worker = Worker(METHODS[INDEX_ALONE])
    try:
        worker.tell("load", path=talk.path, count=30, limit=60)
        answer = worker.tell("ask", question=TURNS[7][0])
        assert answer["found"] == list(alone.ask(TURNS[7][0]))
        assert min(answer["wall"], answer["cpu"]) > 0
        worker.tell("add", user="a zeppelin", assistant="over Tromsø")
        assert worker.tell("ask", question="the zeppelin")["found"][0] == 30
        assert worker.tell("facts")["index"] > 0
    finally:
        worker.end()


def test_a_method_that_fails_is_left_out_with_its_reason(tmp_path: Path) -> None:
    talk = write_conversation(str(tmp_path), 20, questions=2, more=1)
    (measured,) = measure(talk, [METHODS[INDEX_ALONE]], seconds=60, load_seconds=0)
    assert measured.left_out.startswith("left out: 1 turns took 0 s")
    assert [row["median ms"] for row in ask_rows([measured], talk.questions)] == [measured.left_out]


def test_a_run_gives_every_table_and_a_plot() -> None:
    named = {"sizes": [20, 40], "rounds": 3, "adds": 1, "ours_only": True}
    tables, everything = run(argparse.Namespace(**named, seconds=60.0))
    titles = [title.split(",")[0] for title, rows in tables.items() if rows]
    assert titles == [*(["One question", "One more turn", "Memory"] * 2), "Growth of one question"]
    json.dumps(tables)
    svg = draw_curves("Growth", growth_curves(everything), axes=TIME)
    assert svg.count("<polyline") == 2
    assert "NaN" not in svg
