"""JSON results: nested lists, objects that are lists by another name, status and error fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.digest import Digest, Task
from gatekeeper_core.context.tool_results.formats.json_results import (
    digest_parts,
    lossless_json,
    parts_of,
    read_any_json,
)
from gatekeeper_core.context.tool_results.formats.json_text import read_json
from gatekeeper_core.context.tool_results.query_match import Asked
from tests.table_reader import read_table


def digest(value: object, *, query: str | None = None, budget: int = 200) -> Digest:
    read: Any = read_json(json.dumps(value, ensure_ascii=False))
    return digest_parts(*parts_of(read), Task(Asked(query), budget, lambda text: len(text) // 4, 5))


def test_status_and_error_fields_are_kept_beside_long_lists() -> None:
    """004-38: counts, status and error fields stay."""
    value = {
        "items": [{"id": at, "name": f"n{at}"} for at in range(400)],
        "status": "partial",
        "total": 400,
        "errors": [{"message": "rate limit"}],
    }
    made = digest(value)
    for part in ('status: "partial"', "total: 400", "rate limit", "of 400 rows, numbered from 0] items[]"):
        assert part in made.text


def test_objects_in_lists_in_objects_are_one_table() -> None:
    pages = [
        {"edges": [{"node": {"id": f"{page}-{at}", "meta": {"score": at}}} for at in range(30)]} for page in range(8)
    ]
    made = digest({"data": {"pages": pages}})
    assert "of 240 rows, numbered from 0] data.pages[].edges[]" in made.text
    assert "node.id:s,node.meta.score" in made.text


@pytest.mark.parametrize(
    ("query", "row"), [("what is 电压 of sensor-042?", "sensor-042"), ("sensor-042 的电压", "sensor-042")]
)
def test_an_object_of_many_objects_is_a_table_with_its_keys(query: str, row: str) -> None:
    made = digest({f"sensor-{at:03}": {"电压": at} for at in range(300)}, query=query)
    assert f"{row},42" in made.text
    assert "of 300 rows" in made.text


def test_very_many_columns_are_counted() -> None:
    made = digest([{f"k{at}": at * row for at in range(500)} for row in range(30)])
    assert "columns omitted" in made.text
    assert len(made.text) < 20_000


def test_a_long_cell_shows_what_tells_of_a_failure() -> None:
    rows = [{"id": at, "log": "x" * 500} for at in range(50)]
    rows[20]["log"] = "x" * 3_000 + " fatal: disk SN-1 gone " + "y" * 3_000
    assert "fatal: disk SN-1" in digest(rows, budget=400).text


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.integers() | st.text(max_size=4), max_size=3), min_size=3, max_size=8
    )
)
def test_what_is_written_without_loss_reads_back(rows: list[dict[str, Any]]) -> None:
    """004-38: valid JSON stays valid JSON or becomes the table form."""
    read: Any = read_json(json.dumps(rows))
    written = lossless_json(read)
    assert written is not None
    assert (read_table(written) if written.startswith("[table:") else read_json(written)) == read


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=5),
        max_leaves=20,
    )
)
def test_any_value_has_a_digest(value: object) -> None:
    made = digest(value)
    assert made == digest(value)
    assert made.shown <= made.total


def test_json_line_by_line_is_read_as_a_list() -> None:
    assert read_any_json('{"a": 1}\n{"a": 2}') == [{"a": "1"}, {"a": "2"}]
    assert read_any_json("no json") is None


@pytest.mark.parametrize(
    ("others", "count", "what"), [(4, 20, "rows"), (5, 20, "values"), (0, 20, "rows"), (0, 19, "values")]
)
def test_an_object_of_twenty_keys_with_four_fifths_of_one_kind_is_a_list_by_another_name(
    others: int, count: int, what: str
) -> None:
    value = {f"key {at}": "text" if at < others else at for at in range(count)}
    assert digest(value).what == what


@pytest.mark.parametrize(("own", "inner", "paths"), [(1, 1, {"[].rows[]"}), (2, 1, {"[]"}), (1, 0, {"[]"})])
def test_objects_that_hold_little_more_than_lists_of_objects_are_taken_apart(
    own: int, inner: int, paths: set[str]
) -> None:
    one = {f"own {at}": at for at in range(own)} | {"rows": [{"id": at} for at in range(3 if inner else 2)]}
    lines = digest([one] * 6, budget=2_000).text.split("\n")
    assert {line.partition("numbered from 0] ")[2] for line in lines if line.startswith("[table: ")} == paths
    assert digest([{}] * 6).what == "rows"
