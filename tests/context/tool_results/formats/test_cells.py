"""Tables by column: nothing is lost, and what is counted is what stands there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.formats.cells import columns_of_cells, columns_of_texts, number_of
from tests.case_files import from_file

ROWS = st.lists(st.dictionaries(st.sampled_from(["a", "b", "列"]), st.text(max_size=4)), max_size=30)


@given(ROWS)
def test_every_text_stands_in_its_column_and_row(rows: list[dict[str, str]]) -> None:
    columns = columns_of_texts(rows)
    there = [
        (row, name, text) for name, cells in columns.items() for row, text in zip(cells.rows, cells.texts, strict=True)
    ]
    assert sorted(there) == sorted((at, name, text) for at, row in enumerate(rows) for name, text in row.items())
    for cells in columns.values():
        assert cells.rows == sorted(cells.rows)
        assert cells.counts.total() == len(cells) == len(cells.texts)
        assert cells.numbers == {text: number_of(text) for text in cells.texts if number_of(text) is not None}


def test_cells_beyond_the_head_stand_in_columns_by_number() -> None:
    columns = columns_of_cells(["id"], [["1"], ["2", "x"], ["3", "", "y"]])
    assert {name: cells.texts for name, cells in columns.items()} == {
        "id": ["1", "2", "3"],
        "column 2": ["x"],
        "column 3": ["y"],
    }


def test_of_an_object_with_ever_new_keys_the_first_columns_are_read() -> None:
    columns = columns_of_texts({f"key {at}": "x", "id": str(at)} for at in range(1_000))
    assert len(columns) == 256
    assert len(columns["id"]) == 1_000


@from_file("text", "number")
def test_a_cell_that_is_a_number_says_which(text: str, number: float | None) -> None:
    assert number_of(text) == number
