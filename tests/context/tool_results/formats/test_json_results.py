"""JSON results through the door: nested lists, objects that are lists by another name, status and error fields."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.compressor import ToolResult, ToolResultCompressor
from gatekeeper_core.context.tool_results.formats.json_text import read_json
from tests.table_reader import read_table


def digest(value: object, *, query: str | None = None, max_tokens: int = 200) -> ToolResult:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    compressor = ToolResultCompressor(max_tokens=max_tokens, min_chars=0, token_counter=lambda text: len(text) // 4)
    return compressor.compress(text, query=query)


def test_status_and_error_fields_are_kept_beside_long_lists() -> None:
    """004-38: counts, status and error fields stay."""
    value = {
        "items": [{"id": at, "name": f"n{at}"} for at in range(400)],
        "status": "partial",
        "total": 400,
        "errors": [{"message": "rate limit"}],
    }
    text = digest(value).text
    for part in ('status: "partial"', "total: 400", "rate limit", "of 400 rows, numbered from 0] items[]"):
        assert part in text


def test_objects_in_lists_in_objects_are_one_table() -> None:
    pages = [
        {"edges": [{"node": {"id": f"{page}-{at}", "meta": {"score": at}}} for at in range(30)]} for page in range(8)
    ]
    text = digest({"data": {"pages": pages}}).text
    assert "of 240 rows, numbered from 0] data.pages[].edges[]" in text
    assert "node.id:s,node.meta.score" in text


@pytest.mark.parametrize("query", ["what is 电压 of sensor-042?", "sensor-042 的电压", "voltage of sensor-042"])
def test_an_object_of_many_objects_is_a_table_with_its_keys(query: str) -> None:
    text = digest({f"sensor-{at:03}": {"电压": at} for at in range(300)}, query=query).text
    assert "sensor-042,42" in text
    assert "of 300 rows" in text


def test_very_many_columns_are_counted() -> None:
    text = digest([{f"k{at}": at * row for at in range(500)} for row in range(30)]).text
    assert "columns omitted" in text
    assert len(text) < 20_000


def test_a_long_cell_is_cut_around_a_failure() -> None:
    rows = [{"id": at, "log": "x" * 500} for at in range(50)]
    rows[20]["log"] = "x" * 3_000 + " fatal: disk SN-1 gone " + "y" * 3_000
    assert "fatal: disk SN-1" in digest(rows, max_tokens=400).text


rows = st.dictionaries(st.sampled_from("abc"), st.integers() | st.text(max_size=4), max_size=3)


@given(st.lists(rows, min_size=3, max_size=8), st.booleans())
def test_what_is_written_without_loss_reads_back(rows: list[dict[str, Any]], in_lines: bool) -> None:
    """004-38: valid JSON stays valid JSON or becomes the table form."""
    text = "\n".join(map(json.dumps, rows)) if in_lines else json.dumps(rows, indent=4)
    result = digest(text)
    if result.strategy == "lossless":
        written = result.text
        assert (read_table(written) if written.startswith("[table:") else read_json(written)) == read_json(
            json.dumps(rows)
        )
    else:
        assert result.text.replace("[ [", "[[") == text


@pytest.mark.parametrize(
    ("others", "count", "what"), [(4, 20, "rows"), (5, 20, "values"), (0, 20, "rows"), (0, 19, "values")]
)
def test_an_object_of_twenty_keys_with_four_fifths_of_one_kind_is_a_list_by_another_name(
    others: int, count: int, what: str
) -> None:
    value = {f"key {at} {'x' * 400}": "text" if at < others else at for at in range(count)}
    assert digest(value).strategy == what


@pytest.mark.parametrize(("own", "inner", "paths"), [(1, 1, {"[].rows[]"}), (2, 1, {"[]"}), (1, 0, {"[]"})])
def test_objects_that_hold_little_more_than_lists_of_objects_are_taken_apart(
    own: int, inner: int, paths: set[str]
) -> None:
    one = {f"own {at}": "x" * 400 for at in range(own)} | {"rows": [{"id": at} for at in range(3 if inner else 2)]}
    assert set(re.findall(r"numbered from 0\] (\S+)", digest([one] * 30, max_tokens=2_000).text)) == paths
