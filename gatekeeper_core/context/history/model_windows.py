"""Context windows of well-known models, by the beginning of their names, for models that do not state their own.

The figure of a row is the smallest input window among the models whose names begin so: a figure that is too small costs
some history, one that is too large a refused request. Read on 2026-11-22.

Source: the model profiles in langchain-openai 1.7.3, langchain-anthropic 1.7.7 and langchain-google-genai 4.4.2, the
table in llama-index-llms-openai 0.8.3; ``gemini-1.5`` and ``gemini-2.0-flash`` from Google's model pages, ``claude-3``
from Anthropic's announcement of the family (200,000 for each).
"""

from __future__ import annotations

from collections.abc import Mapping

from gatekeeper_core.pricing.model_names import row_of_model

__all__ = ["MODEL_WINDOWS", "window_of_model"]

MODEL_WINDOWS: Mapping[str, int] = {
    "chatgpt-4o": 128_000,
    "claude-3": 200_000,
    "claude-fable-5": 1_000_000,
    "claude-haiku-4": 200_000,
    "claude-haiku-5": 1_000_000,
    "claude-opus-4": 200_000,
    "claude-opus-4-6": 1_000_000,
    "claude-opus-4-7": 1_000_000,
    "claude-opus-4-8": 1_000_000,
    "claude-opus-5": 1_000_000,
    "claude-sonnet-4": 200_000,
    "claude-sonnet-4-6": 1_000_000,
    "claude-sonnet-5": 1_000_000,
    "gemini-1.5": 1_048_576,
    "gemini-2.0-flash": 1_048_576,
    "gemini-2.5-flash": 1_048_576,
    "gemini-2.5-flash-image": 32_768,
    "gemini-2.5-flash-preview-tts": 8_192,
    "gemini-2.5-pro": 1_048_576,
    "gemini-2.5-pro-preview-tts": 8_192,
    "gemini-3-flash": 1_048_576,
    "gemini-3.1-pro": 1_048_576,
    "gemini-3.5-flash": 1_048_576,
    "gemma-4": 262_144,
    "gpt-3.5-turbo": 16_384,
    "gpt-3.5-turbo-0301": 4_096,
    "gpt-3.5-turbo-0613": 4_096,
    "gpt-3.5-turbo-instruct": 4_096,
    "gpt-35-turbo": 4_096,
    "gpt-4": 8_192,
    "gpt-4-0125": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.5": 128_000,
    "gpt-4o": 128_000,
    "gpt-5": 128_000,
    "gpt-5-2025": 272_000,
    "gpt-5-mini": 272_000,
    "gpt-5-nano": 272_000,
    "gpt-5-pro": 272_000,
    "gpt-5.4": 128_000,
    "o1": 128_000,
    "o1-pro": 200_000,
    "o3": 200_000,
    "o4-mini": 200_000,
}
"""Input tokens by the beginning of a model's name, in lower case."""


def window_of_model(name: str) -> int | None:
    """Return how many tokens a model of this name reads at once, by the longest row that it begins with; None: unknown.

    A provider before the name (``openai/``, ``us.anthropic.``, ``models/``) is left out.

    >>> window_of_model("openai/gpt-4o-mini"), window_of_model("us.anthropic.claude-sonnet-4-5"), window_of_model("x")
    (128000, 200000, None)
    """
    return row_of_model(name, MODEL_WINDOWS)
