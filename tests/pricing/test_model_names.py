"""The row of a table that fits the name of a model."""

from __future__ import annotations

import pytest

from gatekeeper_core.pricing.model_names import row_of_model, window_of_model
from tests.case_files import from_file

ROWS = {
    key: key for key in ("claude-3", "claude-opus-4", "claude-opus-4-5", "gpt-4", "gpt-4.1", "gpt-4o", "o1", "o1-pro")
}


@from_file("name", "row")
def test_the_longest_key_is_found_behind_the_name_of_a_provider(name: str, row: str) -> None:
    assert row_of_model(name, ROWS) == row


def test_a_key_does_not_end_within_a_number() -> None:
    assert row_of_model("gpt-4-1106-preview", ROWS) == "gpt-4"
    assert row_of_model("gpt-4.1-2025-04-14", ROWS) == "gpt-4.1"
    assert row_of_model("o1.o12", ROWS) == "o1"


# --- context windows


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4-turbo-2024-04-09", 128_000),
        ("GPT-4o-mini", 128_000),
        ("azure/gpt-4.1-nano", 1_047_576),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("anthropic/claude-opus-4-6", 1_000_000),
        ("models/gemini-2.5-flash-image", 32_768),
        ("a model of ours", None),
        ("", None),
    ],
)
def test_the_longest_row_that_a_name_begins_with_counts(name: str, window: int | None) -> None:
    assert window_of_model(name) == window
