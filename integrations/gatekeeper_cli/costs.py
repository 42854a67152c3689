"""Tokens and dollars of each model call of a conversation: everything before it, a window, the selection.

::

    messages ──each assistant message──> calls, at most MAX_CALLS ──ThreadSelector.view──> CallUse
    --model, --prices, --cache ──> PriceList ──tariff, by the usage of a file──> Tariff ──charge──> Dollars of each call

Each assistant message is a model call that is sent everything before it: a tool loop of 24 calls is 24 requests.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from enum import Enum
from hashlib import blake2b
from itertools import accumulate
from typing import Any, NamedTuple

from gatekeeper_cli.explanation import shown_dollars
from gatekeeper_cli.texts import Texts, visible
from gatekeeper_core.context.history.cache_marks import plan_marks
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.messages import Message, turn_starts
from gatekeeper_core.pricing.cache import WORTH_A_LINE, PromptCache, Request, charge
from gatekeeper_core.pricing.prices import PRICES, ModelPrices, prices_of_model
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.tokens import count_message

MAX_CALLS = 1_000
"""Calls measured per conversation without prices, at most. Source: ours; about ten seconds of everyday chat."""


class CacheState(str, Enum):
    """The state of a provider's cache: every call hits it, no call does, or the provider has none."""

    warm = "warm"
    cold = "cold"
    none = "none"


class PriceList(NamedTuple):
    """Prices by prefix of the model name, the model to price (None: that of the file), and the state of the cache."""

    rows: Mapping[str, ModelPrices] = PRICES
    model: str | None = None
    cache: CacheState = CacheState.warm

    def tariff(self, usage: Iterable[Usage]) -> Tariff | None:
        """Return the tariff of a conversation, by the model of most of its calls; None if no price is known.

        If no call names a priced model and the user's own list has a single row, that row applies.
        """
        names = [self.model] if self.model else [call.model for call in usage]
        priced = [name for name in names if prices_of_model(name, self.rows)]
        own = [name for name, row in self.rows.items() if row is not PRICES.get(name)]
        model = max(dict.fromkeys(priced), key=priced.count, default=own[0] if len(own) == 1 else "")
        prices = prices_of_model(model, self.rows)
        if prices is None:
            return None
        if self.cache is CacheState.none:
            prices = replace(prices, min_cached_tokens=None)
        return Tariff(model, prices, self)


class Tariff(NamedTuple):
    """The model and prices that apply to a conversation, and the list that they are from."""

    model: str
    prices: ModelPrices
    price_list: PriceList

    def time_of(self, call: int) -> float:
        """Return the time of a call in seconds: 0, or with a cold cache, past the lifetime of the cache so far."""
        return 2 * call * self.prices.lifetime_seconds if self.price_list.cache is CacheState.cold else 0.0

    def dollars(self, reported: Usage) -> float:
        """Return the cost of a reported call, at the prices of its own model if they are known."""
        return (prices_of_model(reported.model, self.price_list.rows) or self.prices).dollars(reported)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {"model": self.model, "cache": self.price_list.cache.value, "prices": asdict(self.prices)}


class Dollars(NamedTuple):
    """Dollars of one or more model calls, answers included, by method; ``cached`` is the strategy ``cache``."""

    full: float
    window: float
    selected: float
    cached: float

    @classmethod
    def total(cls, parts: Iterable[Dollars | None]) -> Dollars | None:
        """Return the sums over the known parts; None if there are none.

        >>> Dollars.total([Dollars(1, 2, 3, 4), None, Dollars(4, 5, 6, 7)]), Dollars.total([None])
        (Dollars(full=5, window=7, selected=9, cached=11), None)
        """
        priced = [part for part in parts if part]
        return cls(*map(sum, zip(*priced, strict=True))) if priced else None

    @property
    def share_saved(self) -> float:
        """Savings of the selection against everything, as a share; negative if it costs more."""
        return round(1 - self.selected / self.full, 9) if self.full else 0.0

    @property
    def share_spared(self) -> float:
        """Savings of the strategy ``cache`` against the selection, as a share; negative if it costs more."""
        return round(1 - self.cached / self.selected, 9) if self.selected else 0.0

    @property
    def pays(self) -> bool:
        """Whether the selection costs less than everything."""
        return self.share_saved > 0


def bill_lines(tariffs: Iterable[Tariff | None], dollars: Dollars | None, texts: Texts) -> list[tuple[str, str]]:
    """Return lines and their styles: the prices and whether the gatekeeper pays off, or how to get prices."""
    priced = [tariff for tariff in tariffs if tariff]
    if dollars is None:
        return [] if priced else [(texts("bill_how"), "dim")]
    models = texts("comma").join(visible(model) for model in dict.fromkeys(tariff.model for tariff in priced))
    name = "bill_pays" if dollars.pays else "bill_pays_not" if dollars.share_saved < 0 else "bill_same"
    amounts = {"selected": shown_dollars(dollars.selected), "full": shown_dollars(dollars.full)}
    lines = [
        (texts("bill_basis", model=models, cache=texts(f"cache.{priced[0].price_list.cache.value}")), ""),
        (texts(name, **amounts, share=texts.percent(abs(dollars.share_saved), 1)), "bold"),
    ]
    if dollars.share_spared > WORTH_A_LINE:
        line = texts("bill_cache", cached=shown_dollars(dollars.cached), share=texts.percent(dollars.share_spared, 1))
        lines.append((line, ""))
    return lines


class Reported(NamedTuple):
    """Usage reported by the provider, in tokens (see ``Usage``) and dollars (None without prices)."""

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cache_written_tokens: int
    dollars: float | None = None

    @classmethod
    def of(cls, usage: Iterable[Usage], tariff: Tariff | None = None) -> Reported | None:
        """Return the sums, or None if nothing is reported."""
        return cls.total(cls(1, *call[:4], tariff.dollars(call) if tariff else None) for call in usage)

    @classmethod
    def total(cls, parts: Iterable[Reported | None]) -> Reported | None:
        """Return the sums over the known parts; None if there are none."""
        priced = [part for part in parts if part]
        if not priced:
            return None
        dollars = [part.dollars for part in priced if part.dollars is not None]
        counts = map(sum, zip(*(part[:5] for part in priced), strict=True))
        return cls(*counts)._replace(dollars=sum(dollars) if dollars else None)


class CallUse(NamedTuple):
    """The tokens and dollars of one model call, numbered from 0, by method."""

    call: int
    turn_id: int  # 0 for a greeting before the first question
    full: int  # everything before it
    window: int  # the newest turns that fit, and all of the current one
    selected: int  # what the gatekeeper selects
    dollars: Dollars | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {**self._asdict(), "dollars": self.dollars and self.dollars._asdict()}


class TokenUse(NamedTuple):
    """The tokens of the requests of a conversation."""

    calls: int  # number of model calls
    full: int  # the sum of everything before each of them
    points: tuple[CallUse, ...]  # the measured calls: all, or without prices MAX_CALLS, evenly spaced
    tariff: Tariff | None = None
    embedder: str = ""  # its name
    embedder_missed: str = ""  # the last reason why a call did not use it

    @property
    def window(self) -> int:
        """The sum of the windows of all calls, scaled up from the measured ones."""
        return self._scaled(sum(point.window for point in self.points))

    @property
    def selected(self) -> int:
        """The sum of the selections of all calls, scaled up from the measured ones."""
        return self._scaled(sum(point.selected for point in self.points))

    @property
    def calls_sent_whole(self) -> int:
        """Number of measured calls that send everything."""
        return sum(point.selected == point.full for point in self.points)

    @property
    def dollars(self) -> Dollars | None:
        """Cost of all calls by method; None without prices."""
        return Dollars.total(point.dollars for point in self.points)

    def _scaled(self, tokens: int) -> int:
        return round(tokens * self.calls / len(self.points)) if self.points else 0

    def to_dict(self) -> dict[str, int]:
        """Return the sums, JSON-ready."""
        measured = {"calls_asked": len(self.points), "calls_sent_whole": self.calls_sent_whole}
        sums = {"full": self.full, "window": self.window, "selected": self.selected}
        return {"model_calls": self.calls, **measured, **sums}


def evenly(count: int, points: int) -> range | tuple[int, ...]:
    """Return up to ``points`` of ``count`` positions, evenly spaced from the first to the last.

    >>> tuple(evenly(4, 240)), evenly(1_000, 4)
    ((0, 1, 2, 3), (0, 333, 666, 999))
    """
    return range(count) if count <= points else tuple(at * (count - 1) // (points - 1) for at in range(points))


def token_use(
    messages: Sequence[Message],
    *,
    token_budget: int,
    tariff: Tariff | None = None,
    embedder: TextEncoder | None = None,
    track: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> TokenUse:
    """Return the tokens of the requests of a conversation, as a ``ThreadSelector`` would have sent them.

    With a tariff every call is measured, as its cost depends on what earlier calls left in the cache. ``track`` yields
    the call numbers it is given, and may show the progress.
    """
    messages = tuple(messages)
    window = HistoryConfig(token_budget=token_budget, strategy="window", keep_newest=len(messages), run=None)
    configs = [window, HistoryConfig(token_budget=token_budget)]
    if tariff:
        configs.append(HistoryConfig(strategy="cache", token_budget=token_budget))
    call, prices = 0, tariff.prices if tariff else None
    ways: list[ThreadSelector[Message]] = [
        ThreadSelector(
            lambda each: each,
            write=lambda _, text: text,
            config=config,
            clock=lambda: tariff.time_of(call) if tariff else 0.0,
            embedder=embedder,
        )
        for config in configs
    ]
    before = (0, *accumulate(count_message(message) for message in messages))
    calls = [at for at, message in enumerate(messages) if message.role == "assistant"]
    starts = turn_starts([message.role for message in messages])
    bill = _Bill(messages, tariff) if tariff else None
    points, missed = [], ""
    for call in track(evenly(len(calls), len(calls) if tariff else MAX_CALLS)):
        stop = calls[call]
        views = [way.view(messages[:stop], HistoryRequest(prices=prices), thread="inspected") for way in ways]
        newest, selected = views[:2]
        dollars = bill.dollars(call, stop, views) if bill else None
        reason = selected.selection.embedder_missed if selected.selection else ""
        missed = missed if reason in ("", "no_vectors") else reason  # before the first turn there are none
        turn_id = max(0, bisect_right(starts, stop) - 1)
        points.append(CallUse(call, turn_id, before[stop], newest.tokens, selected.tokens, dollars))
    name = embedder.name if embedder else ""
    return TokenUse(len(calls), sum(before[at] for at in calls), tuple(points), tariff, name, missed)


class _Bill:
    """The cost of the calls of a conversation by method, each with its own cache."""

    def __init__(self, messages: Sequence[Message], tariff: Tariff) -> None:
        self._messages = messages
        self._pieces = [_piece(message) for message in messages]
        self._tariff = tariff
        self._caches = [PromptCache() for _ in Dollars._fields]

    def dollars(self, call: int, stop: int, views: Sequence[HistoryView]) -> Dollars:
        """Return the cost of a call with all messages before ``stop``, and with what each view keeps of them."""
        answer = self._pieces[stop][1]
        requests = [Request(self._pieces[:stop], [stop - 1] if stop else [], answer)]
        for view in views:
            replaced = {at: _piece(message) for at, message in view.replaced}
            pieces = [replaced.get(at, self._pieces[at]) for at in view.kept]
            # Cache marks go after the head and where the adapters put them; for a window, at its end.
            roles = [self._messages[at].role for at in view.kept]
            head, end = next((at for at, role in enumerate(roles) if role != "system"), len(roles)), len(roles) - 1
            places: set[int | None] = {head - 1, end}
            if view.bill:
                answers = [at for at, role in enumerate(roles) if role == "assistant"] if roles[-1:] != ["user"] else []
                plan = plan_marks(view, blocks=[1] * len(roles), answered=answers[-1] if answers else None)
                places = {head - 1, plan.body, plan.between, end if plan.end else None}
            marks = {place for place in places if place is not None and place >= 0}
            requests.append(Request(pieces, marks, answer))
        now, prices = self._tariff.time_of(call), self._tariff.prices
        charged = [
            charge(cache, each, now=now, prices=prices) for cache, each in zip(self._caches, requests, strict=True)
        ]
        self._caches = [cache for _, cache in charged]
        return Dollars(*(prices.dollars(usage) for usage, _ in charged))


def _piece(message: Message) -> tuple[bytes, int]:
    digest = blake2b(repr(message).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return digest, count_message(message)
