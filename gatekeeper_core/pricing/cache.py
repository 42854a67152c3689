"""A model of a provider's prompt cache, as a pure function: the part of a request that is read, and the part written.

::

    Request: pieces (digest, tokens) …, marks        PromptCache: prefixes, each with the time of its last use
    charge(cache, request, now=, prices=) ──> Usage (input, cached, written), PromptCache

A prefix is a run of pieces from the first; its digest comes from theirs. Automatic caches (OpenAI, Gemini, DeepSeek)
remember every prefix of every request; a cache with marks (Anthropic) only those that end at a mark.

Source: "Prompt caching" in the documentation of Anthropic (at most four marks; 20 positions checked per mark, itself
the first; the lifetime begins again at each use), of OpenAI (1,024 tokens and steps of 128) and of DeepSeek (steps of
64), read on 2026-11-22.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.pricing.usage import Usage

if TYPE_CHECKING:
    from gatekeeper_core.pricing.prices import ModelPrices

MOST = 1.02
"""Limit of our bill, as a multiple of the bill of sending everything. Source: the promise of the library; at 1.0
nothing can be spent on a first cut."""

FIRST_CUT = 1 / 3
"""Share of the running price that a first cut must save to be worth what the model loses. Source: ours; a fifth loses
up to two needed turns in a hundred, a half costs up to a sixth more (``python -m benchmarks.cost``)."""

WORTH_A_LINE = 0.1
"""Share of the bill that another strategy must save to be mentioned. Source: ours."""

MAX_MARKS = 4
_POSITIONS_PER_MARK = 20
_MAX_PREFIXES = 8192


class Request(NamedTuple):
    """The prompt of a call.

    Attributes:
        pieces: digest and tokens of each piece, in order: tools, system message, messages (Anthropic: content blocks).
        marks: 0-based positions of the pieces that end a prefix to cache; ignored by automatic caches.
        output_tokens: tokens of the answer.
    """

    pieces: Sequence[tuple[bytes, int]]
    marks: Collection[int] = ()
    output_tokens: int = 0


class PromptCache(NamedTuple):
    """A provider's cache: the digest of each prefix and the time of its last use in seconds, oldest first."""

    prefixes: tuple[tuple[bytes, float], ...] = ()


def charge(cache: PromptCache, request: Request, *, now: float, prices: ModelPrices) -> tuple[Usage, PromptCache]:
    """Return the usage that a provider would report for a request, and the cache afterwards.

    Automatic caches match tokens, this model whole pieces: a prompt that differs inside a piece counts up to the piece
    before. A prefix is found up to and including ``lifetime_seconds`` after its last use. Cached tokens after the hit
    count as written, even if writing costs nothing extra and the provider reports none.

    Args:
        cache: the cache before the request; ``PromptCache()`` at first.
        request: the prompt and the length of its answer.
        now: time of the call in seconds, on the clock of the earlier calls.
        prices: prices of the model; ``prices.dollars`` of the usage is the cost.

    Raises:
        ConfigError: more than four marks, or a mark that is not the position of a piece.
    """
    pieces, least = request.pieces, prices.min_cached_tokens
    sizes = tuple(accumulate(tokens for _, tokens in pieces))
    total = sizes[-1] if sizes else 0
    alive = {digest: used for digest, used in cache.prefixes if now - used <= prices.lifetime_seconds}
    marks: Sequence[int] = range(len(pieces))
    if prices.marked:
        marks = sorted(set(request.marks))
        if len(marks) > MAX_MARKS:
            raise ConfigError(f"a request must have at most {MAX_MARKS} cache marks, got {len(marks)}: leave some out")
        if marks and not 0 <= marks[0] <= marks[-1] < len(pieces):
            raise ConfigError(f"a cache mark must be the position of one of {len(pieces)} pieces, got {marks}")
    kept = [end for end in marks if least is not None and sizes[end] >= least]
    if not kept:
        return Usage(total, request.output_tokens), PromptCache(tuple(alive.items()))
    from hashlib import blake2b  # here, because it is a tenth of the library's import time

    digests, prefix = [], bytes(16)
    for digest, _ in pieces[: kept[-1] + 1]:
        prefix = blake2b(prefix + digest, digest_size=16).digest()
        digests.append(prefix)
    positions = _POSITIONS_PER_MARK if prices.marked else 1
    checked = {at for end in kept for at in range(max(0, end - positions + 1), end + 1)}
    hit = max((at for at in checked if digests[at] in alive), default=None)
    cached = 0 if hit is None else sizes[hit] - sizes[hit] % prices.step_tokens
    # The prefixes of this request go to the end, the shortest last: other prompts are most likely to share it.
    for end in sorted({*kept, *([] if hit is None else [hit])}, reverse=True):
        alive.pop(digests[end], None)
        alive[digests[end]] = now
    remembered = PromptCache(tuple(alive.items())[-_MAX_PREFIXES:])
    return Usage(total, request.output_tokens, cached, sizes[kept[-1]] - cached), remembered


def input_cost(tokens: int, *, cached: float, written_to: float, prices: ModelPrices) -> float:
    """Return the input cost of a prompt in dollars.

    Args:
        tokens: tokens of the whole prompt.
        cached: tokens of its beginning that the cache holds.
        written_to: tokens of its beginning that the cache holds afterwards: up to the last mark.
        prices: prices of the model.

    Source: ``price`` of the simulation behind the policy; a prefix below the smallest is neither found nor written.
    """
    least = prices.min_cached_tokens
    if least is None or written_to < least:
        return tokens * prices.input / 1_000_000
    hit = cached - cached % prices.step_tokens if cached >= least else 0
    hit = min(hit, written_to)
    parts = hit * prices.cache_read, (written_to - hit) * prices.cache_write, (tokens - written_to) * prices.input
    return math.fsum(parts) / 1_000_000
