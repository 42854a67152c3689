"""The row of a table that fits the name of a model."""

from __future__ import annotations

from gatekeeper_core.pricing.model_names import row_of_model, window_of_model
from tests.case_files import from_file

ROWS = {
    key: key for key in ("claude-3", "claude-opus-4", "claude-opus-4-5", "gpt-4", "gpt-4.1", "gpt-4o", "o1", "o1-pro")
}


@from_file("name", "row")
def test_the_longest_key_is_found_behind_the_name_of_a_provider(name: str, row: str) -> None:
    assert row_of_model(name, ROWS) == row


@from_file("name", "window")
def test_the_longest_row_that_a_name_begins_with_counts(name: str, window: int | None) -> None:
    assert window_of_model(name) == window
