"""JSON that is read and written says what it said, and the table form loses nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.formats.json_text import Number, read_json, write_json, write_table
from tests.case_files import from_file
from tests.table_reader import read_table

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
cells: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(alphabet='ab",.:=[]{}…\n 中1\x00\ud800', max_size=5)
    | st.sampled_from(["1", "true", "null", "-2", "NaN", "Infinity", "", " x"])
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.sampled_from(["x", "y", "a.b"]), st.integers(), max_size=2)
)
keys = st.sampled_from(["id", "name", "", "a.b", "user", "名", "k:s", "v=1"])


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


@given(st.lists(st.dictionaries(keys, cells, max_size=5), min_size=1, max_size=6))
def test_every_table_reads_back_as_it_was(rows: list[dict[str, Any]]) -> None:
    """004-38: rows without loss."""
    read: Any = read_json(json.dumps(rows))
    written = write_table(read)
    assert read_table(written) == read
    assert len(written.split("\n")) == len(rows) + 2
    written.encode("utf-8")


def test_the_documented_form() -> None:
    rows: Any = read_json(
        '[{"id":1,"name":"Ann","user":{"city":"Bern"},"active":true,"kind":"book"},'
        '{"id":2,"name":"Lee, Bo","user":{"city":"Basel"},"active":false,"kind":"book"},'
        '{"id":3,"user":{"city":"Genf"},"active":null,"kind":"book"}]'
    )
    assert write_table(rows) == (
        '[table: 3 rows]\nid,name:s,user.city:s,active,kind="book"\n1,Ann,Bern,true\n2,"Lee, Bo",Basel,false\n3,,Genf,null'
    )


@from_file("text")
def test_a_broken_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no"):
        read_table(text)
