"""Look-up by the name of a model, which providers and frameworks spell differently, and the context windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from gatekeeper_core.data_files import rows

Row = TypeVar("Row")


def row_of_model(name: str, rows: Mapping[str, Row]) -> Row | None:
    """Return the row with the longest key that a model's name starts with, or None.

    A provider before the name (``openai/``, ``us.anthropic.``, ``models/``, ``openai:``) is ignored, as are case and
    dots for dashes (``claude-opus-4.5``). A key must not end inside a number: ``gpt-4.1`` is not ``gpt-4-1106``.

    >>> row_of_model("us.anthropic.claude-opus-4.5-v1:0", {"claude-opus-4": "old", "claude-opus-4-5": "new"})
    'new'
    """
    lowered = name.lower()
    plain = lowered.replace(".", "-")
    starts = [0, *(at + 1 for at, character in enumerate(lowered) if character in "/.:")]
    keys = []
    for key in rows:
        prefix = key.lower().replace(".", "-")
        ends = [at + len(prefix) for at in starts if plain.startswith(prefix, at)]
        if ends and not all(prefix[-1:].isdigit() and plain[end : end + 1].isdigit() for end in ends):
            keys.append(key)
    return rows[max(keys, key=len)] if keys else None


MODEL_WINDOWS: Mapping[str, int] = {name: int(tokens) for name, tokens in rows("model_windows.tsv")}
"""Input tokens by the beginning of a model's name, in lower case."""


def window_of_model(name: str) -> int | None:
    """Return the context window of a model in tokens, or None if unknown; see :func:`row_of_model` for the names.

    >>> window_of_model("openai/gpt-4o-mini"), window_of_model("us.anthropic.claude-sonnet-4-5"), window_of_model("x")
    (128000, 200000, None)
    """
    return row_of_model(name, MODEL_WINDOWS)
