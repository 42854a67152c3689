"""JSON that is read and written says what it said: numbers, keys and characters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.formats.json_text import (
    Number,
    read_json,
    read_json_lines,
    write_json,
)
from tests.case_files import from_file

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_what_is_written_reads_as_the_same_value(value: Any) -> None:
    """004-38: valid JSON stays valid JSON."""
    read = read_json(json.dumps(value))
    assert json.loads(write_json(read)) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "number", ["1.50", "1e99999", "-0", "0.1000000000000000055", "9" * 6_000, "NaN", "-Infinity", "1E5"]
)
def test_a_number_is_never_written_differently(number: str) -> None:
    read = read_json(f'{{"n":{number}}}')
    assert read == {"n": Number(number)}
    assert write_json(read) == f'{{"n":{number}}}'


@from_file("text")
def test_what_would_lose_a_key_is_too_deep_or_broken_is_not_read(text: str) -> None:
    assert read_json(text) is None


def test_a_lone_surrogate_is_written_as_an_escape() -> None:
    assert write_json(["\ud800a"]) == '["\\ud800a"]'


def test_objects_line_by_line_are_a_list_unless_one_is_broken() -> None:
    assert read_json_lines('{"a":1}\n\n{"b":"中"}\n') == [{"a": "1"}, {"b": "中"}]
    assert read_json_lines('{"a":1}\n{"b"') is None
    assert read_json_lines("1\n2") is None
    assert read_json_lines("") is None
