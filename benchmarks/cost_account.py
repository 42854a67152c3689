"""What the prompts of a conversation cost, call by call, at the prices of several providers.

A prompt is the fixed part (tools and system prompt, one piece), then messages. ``gatekeeper_core.pricing.cache.charge``
says what the provider finds in its cache. Only what is read is paid here, and what a way has written for itself (a
summary): the answers cost the same, whatever is sent.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.pricing.cache import PromptCache, Request, charge
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.tokens import count_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.cost_talks import Talk
    from gatekeeper_core.messages import Message

__all__ = ["CACHES", "FIXED_TOKENS", "PRICE_SETS", "Accountant", "Piece", "Pieces", "Prompt", "Setting", "kept_share"]

FIXED_TOKENS = (600, 1500, 4000)
CACHES = ("warm", "cold", "none")
"""Always warm; lost before 30 % of the calls; nothing is ever cached."""

PRICE_SETS = {
    "Anthropic": ModelPrices(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75, marked=True),
    "OpenAI .10": ModelPrices(input=2.0, output=8.0, cache_read=0.2, cache_write=2.0, step_tokens=128),
    "OpenAI .25": ModelPrices(input=2.0, output=8.0, cache_read=0.5, cache_write=2.0, step_tokens=128),
    "OpenAI .50": ModelPrices(input=2.0, output=8.0, cache_read=1.0, cache_write=2.0, step_tokens=128),
    "DeepSeek": ModelPrices(
        input=0.28, output=0.42, cache_read=0.028, cache_write=0.28, min_cached_tokens=64, step_tokens=64
    ),
}
"""Ways to price a cache; within OpenAI's the price of a cached token differs by model."""

Piece = tuple[bytes, int]
"""Digest and tokens of a message."""

_FIXED = b"tools and system prompt"


class Prompt(NamedTuple):
    """What is sent in one call behind the fixed part.

    Attributes:
        pieces: digest and tokens of each message.
        marks: positions of the pieces behind which a prefix is to be cached; the fixed part always is.
        turns: the turns that are in it, whole, cut, or inside of the question.
        side: tokens read and written by further calls that were made for it, none of them cached.
        action: what a policy did, "" where there is none.
    """

    pieces: Sequence[Piece]
    marks: tuple[int, ...]
    turns: frozenset[int]
    side: tuple[int, int] = (0, 0)
    action: str = ""

    @property
    def tokens(self) -> int:
        """Tokens of the messages."""
        return sum(tokens for _, tokens in self.pieces)


class Pieces:
    """Digest and tokens of messages, each worked out once."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._known: dict[int, tuple[Message, Piece]] = {}

    def of(self, message: Message) -> Piece:
        """Return the piece of a message."""
        known = self._known.get(id(message))
        if known is None:
            said = repr((message.role, message.text, [(call.name, call.arguments) for call in message.tool_calls]))
            digest = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            known = message, (digest, count_message(message, token_counter=self._count))
            self._known[id(message)] = known  # with the message: its id is not given away meanwhile
        return known[1]


class Setting(NamedTuple):
    """What a conversation is paid at: tokens of the fixed part, state of the cache, prices of the model."""

    fixed: int
    cache_state: str
    prices: ModelPrices

    @property
    def prices_there(self) -> ModelPrices:
        """The prices, without a cache where nothing is ever cached."""
        return replace(self.prices, min_cached_tokens=None) if self.cache_state == "none" else self.prices


class Accountant:
    """Charges the prompts of a conversation; where two prices differ in dollars only, the cache is asked once.

    Args:
        talk: the conversation.
        prompts: the prompt of each of its calls.
    """

    def __init__(self, talk: Talk, prompts: Sequence[Prompt]) -> None:
        self._talk = talk
        self.prompts = prompts
        self._usages = cache(self._charged)

    def dollars(self, setting: Setting) -> list[float]:
        """Return what each call costs, with what it made necessary besides."""
        prices = setting.prices_there
        used = self._usages(_behaviour(prices), setting.fixed, setting.cache_state == "cold")
        sides = (Usage(*prompt.side) for prompt in self.prompts)
        return [prices.dollars(usage) + prices.dollars(side) for usage, side in zip(used, sides, strict=True)]

    def _charged(self, behaviour: ModelPrices, fixed: int, cold: bool) -> list[Usage]:
        remembered, usages = PromptCache(), list[Usage]()
        for now, prompt in zip(self._talk.seconds(cold=cold), self.prompts, strict=True):
            request = Request([(_FIXED, fixed), *prompt.pieces], (0, *(at + 1 for at in prompt.marks)))
            usage, remembered = charge(remembered, request, now=now, prices=behaviour)
            usages.append(usage)
        return usages


def _behaviour(prices: ModelPrices) -> ModelPrices:
    """Return how a cache behaves, without what it costs."""
    return replace(prices, input=1.0, output=1.0, cache_read=1.0, cache_write=1.0)


def kept_share(prompts: Sequence[Prompt], fixed: int) -> float:
    """Return how much of each prompt but the first is its common beginning with the one before, as a share of all."""
    same = whole = 0
    for before, prompt in pairwise(prompts):
        same += fixed + sum(tokens for _, tokens in _common(before.pieces, prompt.pieces))
        whole += fixed + prompt.tokens
    return same / whole if whole else 1.0


def _common(before: Sequence[Piece], now: Sequence[Piece]) -> Iterator[Piece]:
    for old, new in zip(before, now, strict=False):
        if old != new:
            return
        yield new
