"""Tables with a delimiter keep their head and the rows that matter, as they are written."""

from __future__ import annotations

import pytest

from gatekeeper_core.context.tool_results.digest import Lines, Task
from gatekeeper_core.context.tool_results.formats.delimited import delimiter_of, digest_delimited, split_row
from gatekeeper_core.context.tool_results.query_match import Asked
from tests.case_files import from_file


@from_file("lines", "delimiter")
def test_a_delimiter_cuts_every_line_into_as_many_cells(lines: list[str], delimiter: str | None) -> None:
    assert delimiter_of(lines) == delimiter


@from_file("line", "cells")
def test_a_delimiter_in_quotes_does_not_cut(line: str, cells: list[str]) -> None:
    assert split_row(line, ",") == cells


@pytest.mark.parametrize("query", ["which city is ID-77 in?", "ID-77 在哪个城市？"])
def test_rows_are_kept_as_they_are_written(query: str) -> None:
    lines = ["id,name,city,load", *(f"{at},n{at},Bern,{at % 9}" for at in range(400))]
    lines[50], lines[150], lines[250] = 'ID-77,"Lee, Bo",Basel,3', "149,n149,Bern,987654", "249,n249,失败,3"
    task = Task(Asked(query), 200, lambda text: len(text) // 4, 5)
    made = digest_delimited(Lines.whole(lines), task)
    assert made is not None
    shown = made.text.split("\n")
    assert shown[0] == lines[0]
    assert {lines[50], lines[150], lines[250], lines[-1]} <= set(shown)


def test_what_is_no_table_has_no_digest() -> None:
    assert digest_delimited(Lines.whole(["a", "b"]), Task(Asked(None), 99, len, 5)) is None


def test_a_log_in_the_extended_format_of_w3c_is_read_by_its_fields() -> None:
    """The status of its column ranks a row, though no word tells of a failure; further heads are no rows."""
    rows = [f"2027-04-03 12:00:{at % 60:02} GET /failed/{at} 404 {at % 9}" for at in range(900)]
    rows[450] = "2027-04-03 12:07:30 GET /发票/7741 503 4"
    rows[600] = "#Date: 2027-04-03"
    lines = ["#Software: x", "#Fields: date time cs-method cs-uri-stem sc-status time-taken", *rows]
    made = digest_delimited(Lines.whole(lines), Task(Asked(None), 120, lambda text: len(text) // 4, 2))
    assert made is not None
    shown = made.text.split("\n")
    assert lines[1] in shown
    assert rows[450] in shown
    assert "#Date: 2027-04-03" not in shown
