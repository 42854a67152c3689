"""The benchmark of pollution draws and measures what it says: sessions, identifiable returns, shares of tokens."""

from __future__ import annotations

import pytest

from benchmarks.budget import block_costs
from benchmarks.data import Block, Dialogue, Utterance
from benchmarks.pollution import (
    BUDGETS,
    FILL,
    KINDS,
    MINIMAL,
    RETURN_WORDING,
    Case,
    Measured,
    Talk,
    draw_cases,
    identifiable,
    in_topic_middle,
    mean_of_cases,
    measure_set,
    measured,
    shown,
    talks,
    with_means,
)
from gatekeeper_core import estimate_text_tokens

WORDS = ("lighthouse", "sourdough", "guitar", "marathon", "orchid", "telescope", "ferry", "chess")


def block(text: str) -> Block:
    return Block(("0",), text, "yes")


@pytest.fixture
def pool() -> list[Talk]:
    return [
        Talk(word, tuple(block(f"{word} question {at} of {word} {word[:3]}{at}") for at in range(4)), (False,) * 4)
        for word in WORDS
    ]


def test_pollution_and_recall_are_shares_of_tokens() -> None:
    # 30 of 90 selected tokens are of other topics; 60 of the 100 that could be had.
    assert measured([(1, 40), (2, 30), (1, 20)], 1, 100, 250) == Measured(30 / 90, 0.6, 90, empty=False)


def test_recall_is_measured_against_the_budget_where_the_topic_is_larger() -> None:
    assert measured([(1, 200)], 1, 900, 250).recall == pytest.approx(0.8)


def test_an_empty_selection_pollutes_nothing_and_recalls_nothing() -> None:
    assert measured([], 1, 100, 250) == Measured(0.0, 0.0, 0, empty=True)


def test_without_a_topic_everything_selected_is_of_others() -> None:
    assert measured([(0, 10)], None, 0, 250) == Measured(1.0, 0.0, 10, empty=False)


def test_means_are_taken_over_sessions_and_a_new_topic_has_tokens_only() -> None:
    each = [Measured(0.0, 1.0, 100, empty=False), Measured(0.5, 0.0, 0, empty=True)]
    assert mean_of_cases(each, is_new=False) == {
        "pollution": 25.0,
        "recall": 50.0,
        "tokens": 50.0,
        "empty": 50.0,
        "sessions": 2,
    }
    new = mean_of_cases(each, is_new=True)
    assert (new["pollution"], new["recall"], new["tokens"], new["empty"]) == (None, None, 50.0, 50.0)


@pytest.mark.parametrize(
    ("query", "found"),
    [("how tall is the lighthouse", True), ("how long", False), ("the chess lighthouse", True), ("is it", False)],
)
def test_a_return_is_identifiable_by_a_term_that_only_its_topic_holds(query: str, found: bool) -> None:
    parts = [[block("the lighthouse is tall")], [block("the chess game is long")], [block("is the bread long")]]
    assert identifiable(query, 0, parts) is found


def test_the_middle_that_is_no_shift_is_the_nearest_one_after_the_first_turn() -> None:
    assert in_topic_middle((False, False, False, False)) == 2
    assert in_topic_middle((False, False, True, False)) == 1
    assert in_topic_middle((False, True, True, False, False)) == 3
    assert in_topic_middle((False, True, True)) == 1


def test_each_session_gives_one_case_of_each_kind_and_the_seed_decides(pool: list[Talk]) -> None:
    cases = list(draw_cases(pool, language="en", sessions=3, seed="a"))
    assert [case.kind for case in cases] == [*KINDS] * 3
    assert cases == list(draw_cases(pool, language="en", sessions=3, seed="a"))
    assert cases != list(draw_cases(pool, language="en", sessions=3, seed="b"))


def test_the_cases_are_what_their_kind_says(pool: list[Talk]) -> None:
    cases = {case.kind: case for case in draw_cases(pool, language="en", sessions=1, seed="a")}
    staying, back, worded, new = (cases[kind] for kind in ("continue", "return", "return, worded", "new"))
    assert (staying.topic, len(staying.blocks), staying.topics[-2:]) == (5, 5 * 4 + 2, (5, 5))
    assert back.topic is not None
    assert back.topic < 5
    assert back.topics == tuple(number for number in range(6) for _ in range(2))
    word = back.blocks[2 * back.topic].user.split()[0]
    assert back.query.startswith(f"{word} question 2")
    assert worded.query == RETURN_WORDING["en"] + back.query
    assert (new.topic, len(new.blocks)) == (None, 6 * 4)
    assert new.query.split()[0] not in {each.user.split()[0] for each in new.blocks}


def test_conversations_of_one_topic_do_not_meet_in_a_session(pool: list[Talk]) -> None:
    twins = [each._replace(topic=WORDS[number % 7]) for number, each in enumerate(pool)]
    for case in draw_cases(twins, language="en", sessions=20, seed="a"):
        words = {text.split()[0] for text in (case.query, *(each.user for each in case.blocks))}
        assert not {WORDS[0], WORDS[7]} <= words


def test_a_dialogue_that_is_too_short_is_not_drawn() -> None:
    long = tuple(Utterance(("user", "assistant")[at % 2], f"text {at}", shift=at == 3) for at in range(6))
    (talk,) = talks([Dialogue("1", "long", long), Dialogue("2", "short", long[:4])])
    assert (talk.topic, len(talk.blocks), len(talk.half)) == ("long", 3, 1)
    assert talk.shifts == (False, False, True)  # on the assistant's message just before the third turn


def test_the_gatekeeper_and_the_oracle_are_measured_on_a_session() -> None:
    blocks = (block("where does the lighthouse stand"), block("sourdough needs rye flour"))
    case = Case("return", blocks, (0, 1), "who built the lighthouse", 0)
    rows = {(row["method"], row["budget"]): row for row in measure_set([case], estimate_text_tokens, peers=True)}
    assert {name for name, _ in rows} >= {MINIMAL, FILL, "oracle", "recency window", "literal specification"}
    topic, other = block_costs(blocks, estimate_text_tokens)
    for budget in BUDGETS:
        assert (rows["oracle", budget]["pollution"], rows["oracle", budget]["recall"]) == (0.0, 100.0)
        assert rows[MINIMAL, budget]["recall"] == 100.0
        assert rows["recency window", budget]["pollution"] == pytest.approx(100 * other / (topic + other))


def test_the_printed_table_has_a_row_a_method_and_a_column_a_set() -> None:
    row = {"kind": "return", "budget": 250, "method": MINIMAL, "tokens": 9.0, "empty": 0.0, "sessions": 2}
    rows = [
        {**row, "set": "one", "pollution": 20.0, "recall": 60.0},
        {**row, "set": "two", "pollution": 40.0, "recall": 80.0},
    ]
    rows = with_means(rows, {"one": "en", "two": "zh"})
    (line,) = shown(rows, "return", 250, ["one", "two", "mean of sets", "mean of Chinese sets"])
    assert line == {
        "method": MINIMAL,
        "one": "20/60",
        "two": "40/80",
        "mean of sets": "30/70",
        "mean of Chinese sets": "40/80",
    }
