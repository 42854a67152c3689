"""Of a result that is too long, both ends, samples and every hit are read, and each line keeps its number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.query_match import Asked
from gatekeeper_core.context.tool_results.sampling import sample_lines, sample_rows


def long_log(count: int = 40_000) -> list[str]:
    return [f"12:00:00 INFO worker {at} finished" for at in range(count)]


@pytest.mark.parametrize(
    ("query", "line"),
    [
        (None, "ERROR disk full SN-8841"),
        ("what is K-77?", "note K-77"),
        (None, "磁盘错误 SN-1"),
        ("暗号 K-77", "暗号是 K-77"),
    ],
)
def test_a_line_of_failure_and_one_that_is_asked_for_are_read_wherever_they_stand(query: str | None, line: str) -> None:
    lines = long_log()
    lines[23_457] = line
    sample = sample_lines("\n".join(lines), Asked(query), max_chars=50_000)
    assert sample.total == len(lines)
    assert sample.numbers[sample.texts.index(line)] == 23_458
    assert sum(map(len, sample.texts)) < 60_000


def test_every_line_that_is_read_has_its_own_number() -> None:
    lines = long_log()
    sample = sample_lines("\n".join(lines), Asked(None), max_chars=50_000)
    assert all(lines[number - 1] == line for line, number in zip(sample.texts, sample.numbers, strict=True))
    assert sample.numbers == sorted(set(sample.numbers))
    assert {1, len(lines)} <= set(sample.numbers)


@given(st.text(alphabet="ab\n", max_size=80))
def test_a_short_text_is_read_whole(text: str) -> None:
    sample = sample_lines(text, Asked(None), max_chars=1_000)
    assert "\n".join(sample.texts) == text
    assert list(sample.numbers) == list(range(1, sample.total + 1))


def test_a_text_of_one_long_line_comes_back_whole() -> None:
    text = "x" * 100_000
    assert sample_lines(text, Asked(None), max_chars=10_000).texts == [text]


@pytest.mark.parametrize("indent", [None, 1])
def test_rows_of_a_long_list_are_read_with_their_numbers(indent: int | None) -> None:
    rows: list[dict[str, object]] = [{"id": at, "state": "ok"} for at in range(20_000)]
    rows[12_345] = {"id": 12_345, "state": "failed", "serial": "SN-8841"}
    sample = sample_rows(json.dumps(rows, indent=indent), Asked("who is 777"), max_chars=40_000)
    assert sample is not None
    assert sample.numbers is not None
    assert sample.total == 20_000
    assert {0, 12_345, 19_999} <= set(sample.numbers)
    assert sample.rows[sample.numbers.index(12_345)]["serial"] == "SN-8841"
    assert all(int(str(row["id"])) == number for row, number in zip(sample.rows, sample.numbers, strict=True))


def test_a_list_that_was_cut_off_can_still_be_read() -> None:
    text = json.dumps([{"id": at} for at in range(100)])[:-7]
    sample = sample_rows(text, Asked(None), max_chars=10_000)
    assert sample is not None
    assert sample.numbers is not None
    assert sample.numbers[0] == 0
    assert len(sample.rows) >= 98


@pytest.mark.parametrize("text", ["", "[]", "[1, 2]", '{"a": 1}', "[[[", "[{", '[{"a', "x" * 100, '[{"a": ' * 50_000])
def test_what_is_no_list_of_objects_has_no_rows(text: str) -> None:
    assert sample_rows(text, Asked(None), max_chars=10_000) is None
