"""Words of failure, in Chinese, English and the ways of programs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.signals import (
    FAILURE,
    WARNING,
    failing,
    failure_places,
    severities,
    stated_level,
    stated_levels,
)
from tests.case_files import from_file

WORDS = ("error", "Failed", "0 errors", "warn", "连接失败", "没有错误", "警告", "ok", "E   ", "timed", "out", "\n", "Σ")


def severity(line: str) -> int:
    return severities([line])[0]


@from_file("line")
def test_trouble_is_told_from_its_words(line: str) -> None:
    assert severity(line) == FAILURE


@pytest.mark.parametrize(
    "line", ["WARN slow query", "retrying in 3 s", "account suspended", "警告：磁盘将满", "文件缺失"]
)
def test_a_warning_is_less_than_a_failure(line: str) -> None:
    assert severity(line) == WARNING


@from_file("line")
def test_a_word_alone_is_no_trouble(line: str) -> None:
    assert severity(line) < FAILURE or line == "terrorist"


@from_file("line", "level")
def test_the_first_level_of_a_line_counts(line: str, level: int) -> None:
    assert stated_level(line) == level


@from_file("column", "texts", "bad")
def test_a_column_states_levels_by_its_texts_or_its_name(column: str, texts: list[str], bad: list[str]) -> None:
    assert [text for text, level in stated_levels(column, texts).items() if level > 0] == bad


@pytest.mark.parametrize(
    "line", ['"GET /pay HTTP/1.1" 503 7', "E/Camera( 77): dead", "E0403 12:00:01.2 7 a.go:3] gone"]
)
def test_a_failure_is_told_without_a_word(line: str) -> None:
    assert severity(line) == FAILURE
    assert failing(["ok", line]) == [1]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=20), st.integers(0, 250))
def test_many_lines_are_judged_as_each_of_them_alone(lines: list[str], calm: int) -> None:
    lines = [*lines, *["ok"] * calm, *lines]
    assert severities(lines) == [severity(line) for line in lines]
    assert failing(lines) == [at for at, line in enumerate(lines) if severity(line) == FAILURE]


def test_places_are_found_in_order_and_bounded() -> None:
    text = "ok failed ok error ok 失败"
    assert failure_places(text, limit=9) == [text.index("failed"), text.index("error"), text.index("失败")]
    assert failure_places("error " * 100, limit=5) == [0, 6, 12, 18, 24]
