"""Of a result that is too long, both ends, samples and every hit are read, and each line keeps its number."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gatekeeper_core.context.tool_results.formats.json_text import read_json, write_json
from gatekeeper_core.context.tool_results.query_match import QueryMatcher
from gatekeeper_core.context.tool_results.sampling import sample_lines, sample_rows
from tests.case_files import from_file


@from_file("query", "line")
def test_a_line_of_failure_and_one_that_is_asked_for_are_read_wherever_they_stand(query: str | None, line: str) -> None:
    lines = [f"12:00:00 INFO worker {at} finished" for at in range(40_000)]
    lines[23_457] = line
    sample = sample_lines("\n".join(lines), QueryMatcher(query), max_chars=50_000)
    assert sample.total == len(lines)
    assert all(lines[number - 1] == text for text, number in zip(sample.texts, sample.numbers, strict=True))
    assert {1, len(lines)} <= set(sample.numbers)
    assert sample.numbers[sample.texts.index(line)] == 23_458
    assert max(after - before for before, after in pairwise(sample.numbers)) < len(lines) / 20
    assert sum(map(len, sample.texts)) < 60_000


@pytest.mark.parametrize("text", ["", "[]", "[1, 2]", '{"a": 1}', "[[[", "[{", '[{"a', "x" * 100, '[{"a": ' * 50_000])
def test_what_is_no_list_of_objects_has_no_rows(text: str) -> None:
    assert sample_rows(text, QueryMatcher(None), max_chars=10_000) is None


def test_rows_that_are_too_deep_are_no_rows() -> None:
    deep = '{"id": ' * 80 + '"E-77 failed"' + "}" * 80
    text = "[" + ", ".join([f'{{"id": {at}}}' for at in range(900)] + [deep] + ['{"id": "end"}']) + "]"
    read = sample_rows(text, QueryMatcher("E-77"), max_chars=100_000)
    assert read is not None
    [sample], _ = read
    assert [row["id"] for row in sample.rows[:900]] == [str(at) for at in range(900)]
    assert all(read_json(write_json(row)) == row for row in sample.rows)
