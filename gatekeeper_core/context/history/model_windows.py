"""Context windows of well-known models, for models that do not state their own (``data/model_windows.tsv``)."""

from __future__ import annotations

from collections.abc import Mapping

from gatekeeper_core.data_files import rows
from gatekeeper_core.pricing.model_names import row_of_model

__all__ = ["MODEL_WINDOWS", "window_of_model"]

MODEL_WINDOWS: Mapping[str, int] = {name: int(tokens) for name, tokens in rows("model_windows.tsv")}
"""Input tokens by the beginning of a model's name, in lower case."""


def window_of_model(name: str) -> int | None:
    """Return how many tokens a model of this name reads at once, by the longest row that it begins with; None: unknown.

    A provider before the name (``openai/``, ``us.anthropic.``, ``models/``) is left out.

    >>> window_of_model("openai/gpt-4o-mini"), window_of_model("us.anthropic.claude-sonnet-4-5"), window_of_model("x")
    (128000, 200000, None)
    """
    return row_of_model(name, MODEL_WINDOWS)
