"""The charts of the terminal fit the place that they get."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.cli


def drawn(chart: Any, *, width: int, encoding: str = "utf-8") -> str:
    from rich.console import Console

    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=stream, width=width, color_system=None).print(chart)
    stream.flush()
    return raw.getvalue().decode(encoding)


def cells(
    row: Sequence[int], rows: Sequence[Sequence[int]] | None = None, *, width: int = 80, encoding: str = "utf-8"
) -> str:
    from gatekeeper_cli.charts import Cells

    return drawn(Cells(row, rows or [row]), width=width, encoding=encoding).rstrip("\n")


def test_a_cell_is_as_high_as_its_share_of_the_largest() -> None:
    assert cells([1, 0, 4, 8]) == "▁·▄█"
    assert cells([4, 0], [[4, 0], [8, 8]]) == "▄·"


def test_cells_share_turns_where_the_line_is_narrow() -> None:
    assert cells([1, 1, 0, 0, 4, 4, 0], width=4) == "▂·█·"


def test_a_terminal_that_knows_no_blocks_gets_signs_of_ascii() -> None:
    assert cells([1, 0, 8], encoding="ascii") == ". #"


@given(row=st.lists(st.integers(0, 500), min_size=1, max_size=400), width=st.integers(4, 120))
def test_a_row_is_never_wider_than_its_place_and_shows_every_turn_that_costs(row: list[int], width: int) -> None:
    line = cells(row, width=width)
    assert len(line) <= width
    assert ("█" in line) == any(row)


@given(count=st.integers(1, 2000), width=st.integers(4, 120))
def test_the_numbers_of_the_axis_stand_over_their_cells(count: int, width: int) -> None:
    from gatekeeper_cli.charts import Axis, bin_size

    line = drawn(Axis(count), width=width).rstrip("\n")
    assert len(line) <= width
    for number in line.split():
        at = f" {line} ".index(f" {number} ")
        assert int(number) == at * bin_size(count, width)


@given(amounts=st.lists(st.integers(0, 10_000), min_size=1, max_size=4), width=st.integers(20, 90))
def test_a_bar_has_one_width_and_a_column_for_each_part_that_is_there(amounts: list[int], width: int) -> None:
    from gatekeeper_cli.charts import Part, PartBar

    line = drawn(PartBar([Part(amount, "abcd"[at], "x") for at, amount in enumerate(amounts)]), width=width).rstrip(
        "\n"
    )
    assert len(line) <= width
    if sum(amounts):
        assert [sign in line for sign in "abcd"[: len(amounts)]] == [amount > 0 for amount in amounts]


def test_a_bar_is_divided_as_its_parts_are() -> None:
    from gatekeeper_cli.charts import Part, PartBar

    parts = [Part(50, "a", "#"), Part(25, "b", "."), Part(25, "c", "=")]
    assert drawn(PartBar(parts, limit=20), width=80) == "[aaaaaaaaaabbbbbccccc]\n"
    assert drawn(PartBar(parts, limit=12), width=80, encoding="ascii") == "[######...===]\n"
