"""What the tokens of well-known models cost, and how their providers cache prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gatekeeper_core.errors import check_range

if TYPE_CHECKING:
    from gatekeeper_core.pricing.usage import Usage

__all__ = ["ANTHROPIC", "PRICES", "UNKNOWN", "ModelPrices", "prices_of_model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrices:
    """What tokens of a model cost, in dollars per million, and how prompts are cached.

    Attributes:
        input: a token that is read, >= 0.
        output: a token that is written, >= 0.
        cache_read: a token that is read from a cache, >= 0.
        cache_write: a token that is read and written to a cache, >= 0; as ``input`` where that costs nothing.
        min_cached_tokens: the smallest prefix that is cached, >= 1; None: nothing ever is.
        step_tokens: a hit is a whole number of so many tokens, >= 1.
        lifetime_seconds: how long a prefix lives after it was used last, > 0.
        marked: whether only prefixes are cached whose end the request marks (``cache_control``).
        source: where the row was read.
        as_of: when, as ``2026-11-22``.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    min_cached_tokens: int | None = 1024
    step_tokens: int = 1
    lifetime_seconds: float = 300.0
    marked: bool = False
    source: str = ""
    as_of: str = ""

    def __post_init__(self) -> None:
        check_range(self, "input", "output", "cache_read", "cache_write", low=0)

    def dollars(self, usage: Usage) -> float:
        """Return what a call costs."""
        fresh = usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens
        parts = (
            fresh * self.input,
            usage.cached_tokens * self.cache_read,
            usage.cache_written_tokens * self.cache_write,
            usage.output_tokens * self.output,
        )
        return sum(parts) / 1_000_000


ANTHROPIC = ModelPrices(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75, marked=True)
UNKNOWN = ModelPrices(input=1.0, output=4.0, cache_read=0.1, cache_write=1.25)
"""Stands for a model without a row: the ratios at which a selection has the hardest time."""

PRICES: Mapping[str, ModelPrices] = {"claude-sonnet-4": ANTHROPIC}
"""Prices by the beginning of a model's name, in lower case."""


def prices_of_model(name: str, prices: Mapping[str, ModelPrices] = PRICES) -> ModelPrices | None:
    """Return the prices of a model, by the longest row that its name begins with; None: unknown."""
    known = [prefix for prefix in prices if name.lower().startswith(prefix)]
    return prices[max(known, key=len)] if known else None
