"""The table form loses nothing: what is written is read back."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.formats.json_text import read_json
from gatekeeper_core.context.tool_results.formats.tables import write_table
from tests.case_files import from_file
from tests.table_reader import read_table
from tests.timing import assert_linear

cells: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(alphabet='ab",.:=[]{}…\n 中1\x00\ud800', max_size=5)
    | st.sampled_from(["1", "true", "null", "-2", "NaN", "Infinity", "", " x"])
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.sampled_from(["x", "y", "a.b"]), st.integers(), max_size=2)
)
tables = st.lists(
    st.dictionaries(st.sampled_from(["id", "name", "", "a.b", "user", "名", "k:s", "v=1"]), cells, max_size=5),
    min_size=1,
    max_size=6,
)


@given(tables)
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
        "[table: 3 rows]\n"
        'id,name:s,user.city:s,active,kind="book"\n'
        "1,Ann,Bern,true\n"
        '2,"Lee, Bo",Basel,false\n'
        "3,,Genf,null"
    )


@from_file("text")
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no"):
        read_table(text)


def test_the_time_to_write_a_table_is_linear_in_its_rows() -> None:
    def writing(count: int) -> partial[str]:
        return partial(
            write_table, [{"id": str(at), "user": {"name": "Ann", "city": {"zip": "1"}}} for at in range(count)]
        )

    assert_linear(writing, small=500, large=2_000)
