"""Of a result that is too long, both ends, samples and every hit are read, and each line keeps its number."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise

import pytest

from gatekeeper_core.context.tool_results.formats.json_results import Table
from gatekeeper_core.context.tool_results.formats.json_text import JsonValue, read_json, write_json
from gatekeeper_core.context.tool_results.query_match import QueryMatcher
from gatekeeper_core.context.tool_results.sampling import sample_lines, sample_rows
from tests.case_files import from_file


def rows_in(text: str, asked: QueryMatcher, *, max_chars: int) -> tuple[Table, list[tuple[str, JsonValue]]]:
    read = sample_rows(text, asked, max_chars=max_chars)
    assert read is not None
    return read


def long_log(count: int = 40_000) -> list[str]:
    return [f"12:00:00 INFO worker {at} finished" for at in range(count)]


@from_file("query", "line")
def test_a_line_of_failure_and_one_that_is_asked_for_are_read_wherever_they_stand(query: str | None, line: str) -> None:
    lines = long_log()
    lines[23_457] = line
    sample = sample_lines("\n".join(lines), QueryMatcher(query), max_chars=50_000)
    assert sample.total == len(lines)
    assert all(lines[number - 1] == text for text, number in zip(sample.texts, sample.numbers, strict=True))
    assert {1, len(lines)} <= set(sample.numbers)
    assert sample.numbers[sample.texts.index(line)] == 23_458
    assert max(after - before for before, after in pairwise(sample.numbers)) < len(lines) / 20
    assert sum(map(len, sample.texts)) < 60_000


@pytest.mark.parametrize("indent", [None, 1])
def test_rows_of_a_long_list_are_read_with_their_numbers(indent: int | None) -> None:
    rows: list[dict[str, object]] = [{"id": at, "state": "ok"} for at in range(20_000)]
    rows[12_345] = {"id": 12_345, "state": "failed", "serial": "SN-8841"}
    sample, _ = rows_in(json.dumps(rows, indent=indent), QueryMatcher("who is 777"), max_chars=40_000)
    assert sample.numbers is not None
    assert sample.total == 20_000
    assert {0, 12_345, 19_999} <= set(sample.numbers)
    assert sample.rows[sample.numbers.index(12_345)]["serial"] == "SN-8841"
    assert all(int(str(row["id"])) == number for row, number in zip(sample.rows, sample.numbers, strict=True))


@pytest.mark.parametrize("text", ["", "[]", "[1, 2]", '{"a": 1}', "[[[", "[{", '[{"a', "x" * 100, '[{"a": ' * 50_000])
def test_what_is_no_list_of_objects_has_no_rows(text: str) -> None:
    assert sample_rows(text, QueryMatcher(None), max_chars=10_000) is None


def long_rows() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [{"id": at, "state": "正常", "note": "retry failed 0"} for at in range(9_000)]
    rows[4_321] = {"id": 4_321, "state": "error", "note": "磁盘 SN-8841"}
    rows[7_654]["note"] = "retry failed, lease K-77"
    return rows


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("path", "envelope"),
    [
        ("items[]", lambda rows: {"page": 1, "items": rows, "next": "c-99"}),
        ("items[]", lambda rows: {"page": 1, "next": "c-99", "data": {"links": [{"rel": "up"}], "items": rows}}),
        ("*", lambda rows: {f"job {row['id']}": row for row in rows}),
    ],
)
def test_rows_inside_of_a_long_object_are_read_and_one_of_each_kind_of_failure(
    indent: int | None, path: str, envelope: Callable[[list[dict[str, object]]], object]
) -> None:
    text = json.dumps(envelope(long_rows()), indent=indent, ensure_ascii=False)
    sample, around = rows_in(text, QueryMatcher(None), max_chars=40_000)
    assert sample.numbers is not None
    assert (sample.path, sample.total) == (path, 9_000)
    assert {0, 4_321, 7_654, 8_999} <= set(sample.numbers)
    assert all(int(str(row["id"])) == number for row, number in zip(sample.rows, sample.numbers, strict=True))
    assert [row.get("key") for row in sample.rows[:1]] == ["job 0" if path == "*" else None]
    values = dict(around)
    assert (values.get("next"), values.get("page")) == ((None, None) if path == "*" else ("c-99", "1"))


def test_long_json_lines_are_read_as_rows() -> None:
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in long_rows())
    sample, around = rows_in(text, QueryMatcher("K-77"), max_chars=40_000)
    assert sample.total == 9_000
    assert {4_321, 7_654} <= set(sample.numbers or ())
    assert around == []


def test_a_row_with_a_status_from_500_on_is_read_wherever_it_stands() -> None:
    rows = [{"path": f"/a/{at}", "note": "retry failed", "sc-status": 200, "ms": 7} for at in range(9_000)]
    rows[5_432]["sc-status"] = 503
    sample, _ = rows_in(json.dumps(rows), QueryMatcher(None), max_chars=40_000)
    assert 5_432 in (sample.numbers or ())


def test_rows_that_are_too_deep_are_no_rows() -> None:
    deep = '{"id": ' * 80 + '"E-77 failed"' + "}" * 80
    text = "[" + ", ".join([f'{{"id": {at}}}' for at in range(900)] + [deep] + ['{"id": "end"}']) + "]"
    sample, _ = rows_in(text, QueryMatcher("E-77"), max_chars=100_000)
    assert [row["id"] for row in sample.rows[:900]] == [str(at) for at in range(900)]
    assert all(read_json(write_json(row)) == row for row in sample.rows)
