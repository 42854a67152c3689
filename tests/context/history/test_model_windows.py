"""Windows of models by their names."""

from __future__ import annotations

import pytest

from gatekeeper_core.pricing.model_names import window_of_model


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
