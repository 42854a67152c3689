"""What the prompts of a conversation cost, call by call, and the workbench on which ways to make them are tried.

A prompt is the fixed part (tools and system prompt, one piece), then messages. ``gatekeeper_core.pricing.cache.charge``
says what the provider finds in its cache. Only what is read is paid here, and what a way has written for itself (a
summary): the answers cost the same, whatever is sent.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property
from hashlib import blake2b
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core import ContextGatekeeper, HistoryConfig, ThreadState, TokenCounter, select_history
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.messages import group_turns
from gatekeeper_core.pricing.cache import PromptCache, Request, charge
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.tokens import count_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.cost_talks import Call, Talk
    from gatekeeper_core.messages import Message, Turn
    from gatekeeper_core.selection.result import Selection


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

    Pieces, those behind which a prefix is to be cached (the fixed part always is), the turns in it, tokens of further
    calls that were made for it (``side``), and what a policy did.
    """

    pieces: Sequence[Piece]
    marks: tuple[int, ...]
    turns: frozenset[int]
    side: tuple[int, int] = (0, 0)
    action: str = ""

    @property
    def tokens(self) -> int:
        return sum(tokens for _, tokens in self.pieces)


class Pieces:
    """Digest and tokens of messages, each worked out once."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._pieces: dict[int, tuple[Message, Piece]] = {}

    def of(self, message: Message) -> Piece:
        entry = self._pieces.get(id(message))
        if entry is None:
            content = repr((message.role, message.text, [(call.name, call.arguments) for call in message.tool_calls]))
            digest = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            entry = message, (digest, count_message(message, token_counter=self._count))
            self._pieces[id(message)] = entry  # with the message: its id is not given away meanwhile
        return entry[1]


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
    """Charges the prompts of a conversation; where two prices differ in dollars only, the cache is asked once."""

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


# --- the workbench ----------------------------------------------------------------------------------------------------

LIMIT = 16_000
ROOM = 1_000_000
"""Token budget of ours in chats: what is left out there is left out for its price, not for want of room."""


class RememberingGatekeeper(ContextGatekeeper):
    """Answers a question again that was asked at the same turn: what a selection is does not depend on prices.

    It serves one conversation, whose turns never change, over and over from its beginning.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._current: tuple[Turn | tuple[str, str], ...] = ()
        self._costs: tuple[int, ...] = ()
        self._answers: dict[tuple[object, ...], Selection] = {}

    def sync(self, turns: Iterable[Turn | tuple[str, str]]) -> None:
        self._current = tuple(turns)
        if len(self._current) > len(self._costs):
            super().sync(self._current)
            self._costs = super().turn_tokens

    @property
    def turn_tokens(self) -> tuple[int, ...]:
        return self._costs[: len(self._current)]

    def explain(self, query: str, **arguments: Any) -> Selection:
        key = (len(self._current), query, *arguments.values())
        if key not in self._answers:
            super().sync(self._current)
            self._answers[key] = super().explain(query, **arguments)
        return self._answers[key]


class Workbench:
    """A conversation on which the ways are tried: its messages as pieces, its selections worked out once.

    ``LIMIT``, in tokens, is where windows are cut and old turns are summarised; in runs of an agent it is our budget.
    """

    def __init__(self, talk: Talk, count: TokenCounter) -> None:
        self.talk = talk
        self.count = count
        self.budget = LIMIT if talk.corpus == "agent" else ROOM
        self.pieces = Pieces(count)
        self.gatekeeper = RememberingGatekeeper(token_counter=count)
        self.turns = group_turns(talk.messages)
        self.full_pieces = [self.pieces.of(message) for message in talk.messages]
        self.turn_of = [at for at, turn in enumerate(self.turns) for _ in turn.messages]
        self._accountants: dict[str, Accountant] = {}

    def accountant(self, way: Way, setting: Setting) -> Accountant:
        """Return the prompts of a way with what they cost; kept where they do not depend on the setting."""
        if way.knows_prices:
            return Accountant(self.talk, way.prompts(self, setting))
        if way.name not in self._accountants:
            self._accountants[way.name] = Accountant(self.talk, way.prompts(self, setting))
        return self._accountants[way.name]

    @cached_property
    def units(self) -> list[int]:
        """Where each part begins that a window gives up as a whole: a turn, in runs of an agent a round."""
        starts = ("user",) if self.talk.corpus != "agent" else ("user", "assistant")
        return [at for at, message in enumerate(self.talk.messages) if message.role in starts]

    def newest(self, call: Call, units: int) -> list[int]:
        """Return the positions of so many units before a call, with the questions of the first and the last of them."""
        starts = [at for at in self.units if at < call.stop]
        first = starts[max(0, len(starts) - units)]
        questions = {self.turns[self.turn_of[at]].start for at in (first, call.stop - 1)}
        return sorted({*questions, *range(first, call.stop)})

    def prompt(self, positions: Iterable[int]) -> Prompt:
        """Return the prompt that sends these messages as they are, with a mark at its end."""
        kept = list(positions)
        turns = frozenset(self.turn_of[at] for at in kept)
        return Prompt([self.full_pieces[at] for at in kept], (len(kept) - 1,), turns)

    @cached_property
    def stateless(self) -> list[HistoryView]:
        """What the selection without a state keeps for each call: chosen for each question, kept in a run."""
        config = HistoryConfig(token_budget=self.budget, passthrough_below=500)
        views, state = list[HistoryView](), ThreadState()
        for call in self.talk.calls:
            views.append(select_history(self.talk.prompt(call), gatekeeper=self.gatekeeper, config=config, state=state))
            state = views[-1].state or state
        return views


class Way(NamedTuple):
    """A way to make prompts, the corpora that it is for (None: all), and the package that it needs."""

    name: str
    prompts: Callable[[Workbench, Setting], list[Prompt]]
    knows_prices: bool = False
    corpora: tuple[str, ...] | None = None
    package: str | None = None

    @property
    def missing(self) -> bool:
        """Whether its package is not installed."""
        return self.package is not None and find_spec(self.package) is None
