"""The speed benchmark measures what it says: processes that answer, medians, ratios, exponents, and the same work for all."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.corpus import Question, generate_questions, generate_turns
from benchmarks.plot import TIME, draw_curves
from benchmarks.report import SEED
from benchmarks.speed import Limits, chosen_methods, growth_curves, measure, run, write_conversation
from benchmarks.speed_exact import Exhaustive
from benchmarks.speed_figures import (
    Measured,
    add_rows,
    agreement_row,
    ask_rows,
    cold_rows,
    exponent,
    growth_rows,
    memory_rows,
    quantile,
    ratio,
    turn_rows,
)
from benchmarks.speed_methods import INDEX_ALONE, METHODS, SELECT, IndexAlone, Method, specification_formula
from benchmarks.speed_worker import Worker
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.retrieval import RetrievalConfig, read_query, score_turns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TURNS = [(turn.user, turn.assistant) for turn in generate_turns(60, seed=SEED)]
FAST = ("rank_bm25 query / rebuild", "bm25s query / rebuild", "tantivy query / commit", "SQLite FTS5 query / insert")
FRAMEWORKS = tuple(name for name in METHODS if name.startswith("L"))


def first(found: Any) -> int:
    """Return the best turn of those found."""
    return int(found[0])


def answers(*milliseconds: float, **more: Any) -> dict[int, dict[str, Any]]:
    return {at: {"wall": ms * 1e6, "cpu": ms * 5e5, **more} for at, ms in enumerate(milliseconds)}


# --- arithmetic -----------------------------------------------------------------------------------------------------


def test_a_median_is_taken_over_the_answers_in_milliseconds() -> None:
    measured = Measured("a", 10, asks=answers(3, 1, 8))
    assert (measured.median("asks"), measured.median("asks", "cpu"), measured.median("adds")) == (3, 1.5, None)


def test_a_ratio_is_taken_over_the_rounds_that_both_answered() -> None:
    ours, slow = (
        Measured("ours", 10, asks=answers(1, 1, 1, 50, 50, 50, 50)),
        Measured("slow", 10, asks=answers(9, 10, 11)),
    )
    assert ratio(slow, ours) == 10
    assert ratio(Measured("none", 10), ours) is None


@pytest.mark.parametrize(("power", "factor"), [(0.0, 3.0), (0.35, 0.2), (1.0, 0.01), (2.0, 1e-6)])
def test_an_exponent_is_the_power_of_the_growth(power: float, factor: float) -> None:
    points = {turns: factor * turns**power for turns in (1_000, 3_000, 10_000, 100_000)}
    assert exponent(points) == pytest.approx(power)


def test_a_quantile_is_the_nearest_rank() -> None:
    assert [quantile(list(range(1, 1001)), share) for share in (0.5, 0.99, 0.999, 1.0)] == [500, 990, 999, 1000]
    assert quantile([4], 0.999) == 4


def two(**more: Any) -> list[Measured]:
    """Return a peer that takes twice as long as ours, and half of its memory."""
    return [
        Measured(
            SELECT, 10, {"cpu": 10_000_000, "adds": [1e6, 9e6]}, answers(2, 2, found=[5, 1]), answers(4, 4), **more
        ),
        Measured("peer", 10, {"cpu": 1}, answers(4, 4, found=[1, 2]), answers(1, 1)),
    ]


QUESTIONS = [Question("?", "about", "en", 5), Question("?", "follow-up", "en", 9)]


def test_the_row_of_a_peer_has_its_ratio_to_ours_and_how_often_it_found_the_turn() -> None:
    ours, peer = ask_rows(two(), QUESTIONS)
    assert (ours["median ms"], ours["/ select"], ours["target found %"]) == ("2.00", "1.00", 100.0)
    assert (peer["median ms"], peer["CPU ms"], peer["/ select"]) == ("4.00", "2.00", "2.00")
    assert (peer["target found %"], peer["calls"]) == (0.0, 2)


def test_the_rows_of_adding_and_of_a_whole_turn_have_their_ratios_to_ours() -> None:
    assert [row["/ select"] for row in add_rows(two())] == ["1.00", "0.25"]
    assert add_rows(two())[0]["CPU p99.9 ms, load"] == "9.00"
    assert [(row["ask + add ms"], row["/ select"]) for row in turn_rows(two())] == [("6.00", "1.00"), ("5.00", "0.83")]


def test_memory_is_given_by_turn_and_beside_ours() -> None:
    facts = [(INDEX_ALONE, 4_000), ("peer", 2_000), ("no index", None)]
    rows = memory_rows([Measured(name, 10, facts={"index": size, "rss": 5_000_000}) for name, size in facts])
    assert [(row["index bytes a turn"], row["/ ours"]) for row in rows] == [
        ("400", "1.00"),
        ("200", "0.50"),
        (None, None),
    ]
    assert rows[2]["process MB"] == "5"


def test_a_cold_start_takes_what_a_rebuild_takes() -> None:
    (row,) = cold_rows(two()[:1])
    assert row["rebuild µs a turn"] == 1000.0


def test_growth_is_a_row_for_each_method_over_all_sizes() -> None:
    small, large = Measured(SELECT, 100, asks=answers(1, 1)), Measured(SELECT, 10_000, asks=answers(10, 10, 10, 20))
    (row,) = growth_rows([[small], [large]])
    assert row == {"method": SELECT, "100": "0.50", "10,000": "5.00", "exponent": "0.50", "p99 / median": "2.00"}
    assert growth_curves([[small], [large]]) == {SELECT: [(100, 0.5), (10_000, 5.0)]}


def test_agreement_counts_the_same_first_five_and_the_targets_found() -> None:
    index = Measured(INDEX_ALONE, 10, asks={0: {"found": [5, 1, 2, 3, 4, 6]}, 1: {"found": [1]}})
    exact = Measured("exact", 10, asks={0: {"found": [5, 1, 2, 3, 4, 7]}, 1: {"found": [2]}})
    row = agreement_row(index, exact, QUESTIONS)
    assert (row["questions"], row["same top 5 %"]) == (2, 50.0)
    assert (row["target in top 20 %, index"], row["target in top 20 %, exhaustive"]) == (100.0, 100.0)


# --- the library as a method ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh", "mixed"])
def test_exhaustive_scoring_is_the_formula_where_the_library_scores_every_turn(language: str) -> None:
    long = generate_turns(400, seed=SEED)
    turns = [turn for each in ("en", "zh", "mixed") for turn in [t for t in long if t.language == each][:20]]
    texts = [(turn.user, turn.assistant) for turn in turns]
    exact, index = Exhaustive(), TurnIndex()
    exact.load(texts)
    for user, assistant in texts:
        index.add(count_terms(user), count_terms(assistant), texts=(user, assistant))
    questions = [q for q in generate_questions(turns, len(turns), 60, seed=SEED) if q.language == language]
    assert len(questions) > 3
    for question in questions:
        query = read_query(question.text, index)
        with specification_formula():
            scores = score_turns(query, index, config=RetrievalConfig(), depth=20, texts=texts.__getitem__)[:20]
        for limit in (1, 3, 20):  # the fewer, the more is left unscored
            best = exact.rank(question.text, limit)
            assert [turn for _, turn in best] == [score.turn_id for score in scores[:limit]]
            assert [total for total, _ in best] == pytest.approx([s.total for s in scores[:limit]], abs=1e-4)


# --- the peers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in FAST if not METHODS[name].missing])
def test_a_search_engine_finds_turns_in_both_languages_and_what_was_added(name: str) -> None:
    subject = METHODS[name].subject()
    subject.load(
        [("where is the lighthouse", "on the northern cape"), ("怎么烤面包", "要有面粉"), ("and then", "this")]
    )
    assert first(subject.ask("lighthouse on a cape")) == 0
    assert first(subject.ask("烤面包")) == 1
    subject.add("the submarine", "went down in job_12ab")
    assert first(subject.ask("job_12ab of the submarine")) == 3


@pytest.mark.adapters
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_framework_takes_the_conversation_a_question_and_a_turn(name: str) -> None:
    with worker(METHODS[name]) as process:
        process.tell("ask", question="lighthouse")
        process.tell("add", user="one", assistant="more")
        assert process.tell("ask", question="lighthouse")["found"] is None


# --- the processes --------------------------------------------------------------------------------------------------


class worker:  # noqa: N801 - used as a function
    """A process that has loaded the turns, ended at the end."""

    def __init__(self, method: Method) -> None:
        self._worker = Worker(method)

    def __enter__(self) -> Worker:
        self._worker.tell("load", path=str(PATHS[0]), count=30, limit=60)
        return self._worker

    def __exit__(self, *_: object) -> None:
        self._worker.end()


PATHS: list[Path] = []


@pytest.fixture(autouse=True, scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("speed")
    PATHS.append(folder / "60.jsonl")
    write_conversation(str(folder), 60, questions=4, more=2)
    yield
    PATHS.clear()


def test_a_process_answers_as_its_method_does_and_says_what_it_took() -> None:
    alone = IndexAlone()
    alone.load(TURNS[:30])
    with worker(METHODS[INDEX_ALONE]) as process:
        question = TURNS[7][0]
        answer = process.tell("ask", question=question)
        assert answer["found"] == list(alone.ask(question))
        assert answer["wall"] > 0
        assert answer["cpu"] > 0
        assert process.tell("add", user="a zeppelin", assistant="over Tromsø")["wall"] > 0
        assert process.tell("ask", question="the zeppelin")["found"][0] == 30
        facts = process.tell("facts")
        assert facts["index"] > 0
        assert facts["rss"] is None or facts["rss"] > 1_000_000


def test_a_method_that_fails_is_left_out_with_its_reason(tmp_path: Path) -> None:
    talk = write_conversation(str(tmp_path), 20, questions=2, more=1)
    (measured,) = measure(talk, [METHODS[INDEX_ALONE]], Limits(seconds=60, load=0))
    assert measured.left_out.startswith("left out: 1 turns took 0 s")
    assert not measured.asks
    assert [row["median ms"] for row in ask_rows([measured], talk.questions)] == [measured.left_out]


def test_what_was_hopeless_at_a_smaller_size_is_left_out_and_says_so() -> None:
    slow = Measured("LangChain trim_messages, approximate", 1_000, asks=answers(2_500))
    methods, silent = chosen_methods(10_000, [slow], ours_only=False)
    assert slow.name not in [method.name for method in methods]
    assert [each.left_out for each in silent if each.name == slow.name] in ([""], ["left out: 2,500 ms at 1,000 turns"])


def test_a_run_gives_every_table_and_a_plot() -> None:
    options = argparse.Namespace(
        sizes=[20, 40], million=False, rounds=3, adds=1, seconds=60.0, load_limit=60.0, ours_only=True
    )
    tables, everything = run(options)
    assert [title.split(",")[0] for title, rows in tables.items() if rows] == [
        *(["One question", "One more turn", "A question and one more turn", "Memory", "Cold start"] * 2),
        "Growth of one question",
        "Agreement of the index alone with exhaustive scoring",
        "Counting tokens",
    ]
    assert [row["same top 5 %"] for row in tables["Agreement of the index alone with exhaustive scoring"]] == [100, 100]
    json.dumps(tables)
    svg = draw_curves("Growth", growth_curves(everything), axes=TIME)
    assert svg.count("<polyline") == 3
    assert "NaN" not in svg
