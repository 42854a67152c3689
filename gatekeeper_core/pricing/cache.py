"""A provider's prompt cache as a pure model: a request, and what is found of it and written.

::

    request: pieces (digest, tokens) …, marks      cache: prefixes by the digest of their end, with the time of last use
    charge(cache, request, now) ──> Usage (cached, written, all), cache
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.pricing.usage import Usage

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices

__all__ = ["PromptCache", "Request", "charge", "input_cost"]


class Request(NamedTuple):
    """The prompt of one call.

    Attributes:
        pieces: the digest and the tokens of each piece, in order: tools, system message, messages.
        marks: behind which pieces a prefix ends that is to be cached, 0-based; ignored where caching is automatic.
        output_tokens: what the model answers.
    """

    pieces: Sequence[tuple[bytes, int]]
    marks: Collection[int] = ()
    output_tokens: int = 0


class PromptCache(NamedTuple):
    """What a provider remembers: for each prefix its digest, its tokens and when it was used last, in seconds."""

    prefixes: tuple[tuple[bytes, int, float], ...] = ()


def charge(cache: PromptCache, request: Request, *, now: float, prices: ModelPrices) -> tuple[Usage, PromptCache]:
    """Return what a provider would report for a request, and what it remembers afterwards."""
    raise NotImplementedError


def input_cost(tokens: int, *, cached: float, written_to: float, prices: ModelPrices) -> float:
    """Return what a prompt costs to read, in dollars.

    Args:
        tokens: all of it.
        cached: how much of its beginning the cache holds.
        written_to: how much of its beginning the cache is to hold afterwards: where the last mark stands.
        prices: of the model.

    Source: ``price`` of the simulation behind the policy; a prefix below the smallest is neither found nor written.
    """
    least = prices.min_cached_tokens
    if least is None or written_to < least:
        return tokens * prices.input / 1_000_000
    hit = cached - cached % prices.step_tokens if cached >= least else 0
    hit = min(hit, written_to)
    parts = hit * prices.cache_read, (written_to - hit) * prices.cache_write, (tokens - written_to) * prices.input
    return sum(parts) / 1_000_000
