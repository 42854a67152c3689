"""The row of a table that fits the name of a model."""

from __future__ import annotations

import pytest

from gatekeeper_core.pricing.model_names import row_of_model
from tests.case_files import from_file

ROWS = {
    key: key for key in ("claude-3", "claude-opus-4", "claude-opus-4-5", "gpt-4", "gpt-4.1", "gpt-4o", "o1", "o1-pro")
}


@from_file("name", "row")
def test_the_longest_key_is_found_behind_the_name_of_a_provider(name: str, row: str) -> None:
    assert row_of_model(name, ROWS) == row


@pytest.mark.parametrize("name", ["", "my-gpt-4o", "o11", "claude-35", "claude", "llama3:8b", "/", "İ/unknown"])
def test_a_name_that_begins_with_no_key_has_no_row(name: str) -> None:
    assert row_of_model(name, ROWS) is None


def test_a_key_does_not_end_within_a_number() -> None:
    assert row_of_model("gpt-4-1106-preview", ROWS) == "gpt-4"
    assert row_of_model("gpt-4.1-2025-04-14", ROWS) == "gpt-4.1"
    assert row_of_model("o1.o12", ROWS) == "o1"
