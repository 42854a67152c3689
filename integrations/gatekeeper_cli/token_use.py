"""The tokens that each model call of a conversation sends: everything before it, a window, the selection.

::

    messages ──each assistant message──> calls, at most MAX_CALLS asked ──ThreadSelector.view──> UsePoint

A model call is an assistant message, and its request is what stands before it. So a tool loop of 24 calls is 24
requests, each with all results so far.
"""

from __future__ import annotations

from bisect import bisect_right
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_cli.bill import Dollars
from gatekeeper_core.context.history.cache_marks import plan_marks
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import Message, turn_starts
from gatekeeper_core.pricing.cache import PromptCache, Request, charge
from gatekeeper_core.tokens import count_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gatekeeper_cli.bill import Tariff
    from gatekeeper_core.context.history.view import HistoryView
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.pricing.usage import Usage

__all__ = ["MAX_CALLS", "Reported", "TokenUse", "UsePoint", "evenly", "token_use"]

MAX_CALLS = 1_000
"""How many calls of a conversation are asked at most. Source: ours; about ten seconds of everyday chat."""


class UsePoint(NamedTuple):
    """The tokens of the request of one model call.

    Attributes:
        call: its number in the conversation, from 0.
        turn_id: the turn that it belongs to; that of a greeting before the first question is 0.
        full: everything before it.
        window: the newest turns that fit beside the current one, which is sent whole.
        selected: what the gatekeeper selects.
        dollars: what the call costs in each way; None without prices.
    """

    call: int
    turn_id: int
    full: int
    window: int
    selected: int
    dollars: Dollars | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {**self._asdict(), "dollars": self.dollars and self.dollars._asdict()}


class TokenUse(NamedTuple):
    """The tokens of the requests of a conversation.

    Attributes:
        calls: how many model calls there are.
        full: everything before each of them, all together.
        points: the calls that were asked: all of them, or ``MAX_CALLS`` at even distances where there are no prices.
        tariff: the prices, None without any.
        embedder: the name of the embedder, "" without one.
        embedder_missed: why it was not heard at some call, of several reasons the last; "" where it was.
    """

    calls: int
    full: int
    points: tuple[UsePoint, ...]
    tariff: Tariff | None = None
    embedder: str = ""
    embedder_missed: str = ""

    @property
    def window(self) -> int:
        """The windows of all calls together, scaled up from those that were asked."""
        return self._scaled(sum(point.window for point in self.points))

    @property
    def selected(self) -> int:
        """The selections of all calls together, scaled up from those that were asked."""
        return self._scaled(sum(point.selected for point in self.points))

    @property
    def calls_sent_whole(self) -> int:
        """How many of the calls that were asked send everything."""
        return sum(point.selected == point.full for point in self.points)

    @property
    def dollars(self) -> Dollars | None:
        """What all calls cost in each way; None without prices."""
        return Dollars.total(point.dollars for point in self.points)

    def _scaled(self, tokens: int) -> int:
        return round(tokens * self.calls / len(self.points)) if self.points else 0

    def to_dict(self) -> dict[str, int]:
        """Return the sums, JSON-ready."""
        sums = {"full": self.full, "window": self.window, "selected": self.selected}
        asked = {"calls_asked": len(self.points), "calls_sent_whole": self.calls_sent_whole}
        return {"model_calls": self.calls, **asked, **sums}


class Reported(NamedTuple):
    """What the provider reported for all calls of a conversation together, in tokens (see ``Usage``) and in dollars.

    ``dollars`` is None without prices.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cache_written_tokens: int
    dollars: float | None = None

    @classmethod
    def of(cls, usage: Iterable[Usage], tariff: Tariff | None = None) -> Reported | None:
        """Return the sums, or None where nothing is reported."""
        return cls.total(cls(1, *call[:4], tariff.dollars(call) if tariff else None) for call in usage)

    @classmethod
    def total(cls, parts: Iterable[Reported | None]) -> Reported | None:
        """Return the sums over the parts that are known; None where none is."""
        known = [part for part in parts if part]
        if not known:
            return None
        dollars = [part.dollars for part in known if part.dollars is not None]
        counts = (sum(count) for count in zip(*(part[:5] for part in known), strict=True))
        return cls(*counts)._replace(dollars=sum(dollars) if dollars else None)

    def to_dict(self) -> dict[str, Any]:
        """Return the sums, JSON-ready."""
        return self._asdict()


def evenly(count: int, points: int) -> tuple[int, ...]:
    """Return some of so many positions: all of few, of many some at even distances, the last among them.

    >>> evenly(4, 240), evenly(1_000, 4)
    ((0, 1, 2, 3), (0, 333, 666, 999))
    """
    if count <= points:
        return tuple(range(count))
    return tuple(at * (count - 1) // (points - 1) for at in range(points))


def token_use(
    messages: Sequence[Message],
    *,
    token_budget: int,
    tariff: Tariff | None = None,
    embedder: TextEncoder | None = None,
    watched: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> TokenUse:
    """Return the tokens of the requests of a conversation, as a ``ThreadSelector`` would have sent them.

    With a tariff every call is asked: what one costs depends on what the calls before it have left in the cache.

    Args:
        messages: the conversation, oldest first.
        token_budget: for everything that is sent, in tokens.
        tariff: the prices; None: no dollars.
        embedder: finds turns by their meaning, too.
        watched: gives back the numbers of the calls that are asked, one by one, and may show how far they are.
    """
    messages = tuple(messages)
    whole = HistoryConfig(token_budget=token_budget, strategy="window", keep_newest=len(messages), run=None)
    call, prices = 0, tariff.prices if tariff else None

    def clock() -> float:
        return tariff.time_of(call) if tariff else 0.0

    def selector(config: HistoryConfig) -> ThreadSelector[Message]:
        return ThreadSelector(
            lambda each: each, write=lambda _, said: said, config=config, clock=clock, embedder=embedder
        )

    window, gated = selector(whole), selector(HistoryConfig(token_budget=token_budget))
    cached = selector(HistoryConfig(strategy="cache", token_budget=token_budget))
    before = (0, *accumulate(count_message(message) for message in messages))
    calls = [at for at, message in enumerate(messages) if message.role == "assistant"]
    starts = turn_starts([message.role for message in messages])
    bill = _Bill(messages, tariff) if tariff else None
    points, missed = [], ""
    for call in watched(range(len(calls)) if tariff else evenly(len(calls), MAX_CALLS)):
        stop = calls[call]
        request = messages[:stop]
        ways = (window, gated, cached) if bill else (window, gated)
        newest, chosen, *rest = (way.view(request, HistoryRequest(prices=prices), thread="inspected") for way in ways)
        dollars = bill.dollars(call, stop, newest, chosen, *rest) if bill else None
        turn_id = max(0, bisect_right(starts, stop) - 1)
        reason = chosen.selection.embedder_missed if chosen.selection else ""
        missed = missed if reason in ("", "no_vectors") else reason  # before the first turn there are none
        points.append(UsePoint(call, turn_id, before[stop], newest.tokens, chosen.tokens, dollars))
    full, name = sum(before[at] for at in calls), embedder.name if embedder else ""
    return TokenUse(len(calls), full, tuple(points), tariff, name, missed)


class _Bill:
    """What the calls of a conversation cost in each way to send it, each with a cache of its own."""

    def __init__(self, messages: Sequence[Message], tariff: Tariff) -> None:
        self._messages = messages
        self._pieces = [_piece(message) for message in messages]
        self._tariff = tariff
        self._caches = [PromptCache() for _ in Dollars._fields]

    def dollars(self, call: int, stop: int, *views: HistoryView) -> Dollars:
        """Return what a call costs, with all messages up to a position and with what each view keeps of them."""
        answer = self._pieces[stop][1]
        requests = [Request(self._pieces[:stop], [stop - 1] if stop else [], answer)]
        for view in views:
            replaced = {at: _piece(message) for at, message in view.replaced}
            pieces = [replaced.get(at, self._pieces[at]) for at in view.kept]
            requests.append(Request(pieces, self._marks(view), answer))
        now, prices = self._tariff.time_of(call), self._tariff.prices
        charged = [
            charge(cache, each, now=now, prices=prices) for cache, each in zip(self._caches, requests, strict=True)
        ]
        self._caches = [cache for _, cache in charged]
        return Dollars(*(prices.dollars(usage) for usage, _ in charged))

    def _marks(self, view: HistoryView) -> set[int]:
        """Return where marks go: behind the head, and where the adapters put them; of a window, at its end."""
        roles = [self._messages[at].role for at in view.kept]
        head, end = next((at for at, role in enumerate(roles) if role != "system"), len(roles)), len(roles) - 1
        places: set[int | None] = {head - 1, end}
        if view.bill:
            said = [at for at, role in enumerate(roles) if role == "assistant"] if roles and roles[-1] != "user" else []
            plan = plan_marks(view, blocks=[1] * len(roles), answered=said[-1] if said else None)
            places = {head - 1, plan.body, plan.between, end if plan.end else None}
        return {place for place in places if place is not None and place >= 0}


def _piece(message: Message) -> tuple[bytes, int]:
    digest = blake2b(repr(message).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return digest, count_message(message)
