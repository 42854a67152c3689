"""A provider's prompt cache as a pure model: a request, and what is found of it and written.

::

    Request: pieces (digest, tokens) …, marks        PromptCache: prefixes, each with the time of its last use
    charge(cache, request, now=, prices=) ──> Usage (input, cached, written), PromptCache

A prefix is the pieces from the first one to some piece; its digest comes from theirs. Automatic caches (OpenAI, Gemini,
DeepSeek) remember every prefix of every request; a cache with marks (Anthropic) only those that end at a mark.

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
"""Times the bill of sending everything that ours may reach. Source: the promise of the library; at 1.0 nothing can be
spent on a first cut."""

FIRST_CUT = 1 / 3
"""Share of the running price that a first cut must save to be worth what the model loses. Source: ours; a fifth loses
up to two needed turns in a hundred, a half costs up to a sixth more (``python -m benchmarks.cost``)."""

WORTH_A_LINE = 0.1
"""Share of the bill that another strategy must save to be named. Source: ours."""

MAX_MARKS = 4
_POSITIONS_PER_MARK = 20
_MAX_PREFIXES = 8192


class Request(NamedTuple):
    """The prompt of one call.

    Attributes:
        pieces: the digest and the tokens of each piece, in order: tools, system message, messages; where a provider
            counts positions (Anthropic), a piece is a content block.
        marks: behind which pieces a prefix ends that is to be cached, 0-based; ignored where caching is automatic.
        output_tokens: tokens of the answer.
    """

    pieces: Sequence[tuple[bytes, int]]
    marks: Collection[int] = ()
    output_tokens: int = 0


class PromptCache(NamedTuple):
    """A provider's cache: the digest of each prefix and when it was used last, in seconds, longest ago first."""

    prefixes: tuple[tuple[bytes, float], ...] = ()


def charge(cache: PromptCache, request: Request, *, now: float, prices: ModelPrices) -> tuple[Usage, PromptCache]:
    """Return what a provider would report for a request, and what it remembers afterwards.

    Automatic caches match tokens, this model whole pieces: a prompt that differs inside a piece counts up to the piece
    before. A prefix is found up to ``lifetime_seconds`` after its last use, that moment included. What the cache holds
    behind the hit counts as written, also where writing costs nothing extra and a provider reports none.

    Args:
        cache: what is remembered of earlier requests; ``PromptCache()`` at first.
        request: the prompt and the length of its answer.
        now: the time of the call, in seconds, on the clock of the calls before.
        prices: of the model; the dollars are ``prices.dollars`` of the usage.

    Raises:
        ConfigError: more than four marks, or one that is behind no piece.
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
    from hashlib import blake2b  # here, because it is a tenth of the import of the library

    digests, prefix = [], bytes(16)
    for digest, _ in pieces[: kept[-1] + 1]:
        prefix = blake2b(prefix + digest, digest_size=16).digest()
        digests.append(prefix)
    positions = _POSITIONS_PER_MARK if prices.marked else 1
    checked = {at for end in kept for at in range(max(0, end - positions + 1), end + 1)}
    hit = max((at for at in checked if digests[at] in alive), default=None)
    cached = 0 if hit is None else sizes[hit] - sizes[hit] % prices.step_tokens
    # The prefixes of this request go to the end, the shortest last: it is what another prompt has in common with it.
    for end in sorted({*kept, *([] if hit is None else [hit])}, reverse=True):
        alive.pop(digests[end], None)
        alive[digests[end]] = now
    remembered = PromptCache(tuple(alive.items())[-_MAX_PREFIXES:])
    return Usage(total, request.output_tokens, cached, sizes[kept[-1]] - cached), remembered


def input_cost(tokens: int, *, cached: float, written_to: float, prices: ModelPrices) -> float:
    """Return what a prompt costs to read, in dollars.

    Args:
        tokens: all of it.
        cached: how much of its beginning the cache holds.
        written_to: how much of its beginning the cache holds afterwards: up to the last mark.
        prices: of the model.

    Source: ``price`` of the simulation behind the policy; a prefix below the smallest is neither found nor written.
    """
    least = prices.min_cached_tokens
    if least is None or written_to < least:
        return tokens * prices.input / 1_000_000
    hit = cached - cached % prices.step_tokens if cached >= least else 0
    hit = min(hit, written_to)
    parts = hit * prices.cache_read, (written_to - hit) * prices.cache_write, (tokens - written_to) * prices.input
    return math.fsum(parts) / 1_000_000
