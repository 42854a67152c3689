"""The tokens that each model call of a conversation sends: everything before it, a window, the selection.

::

    messages ──each assistant message──> calls, at most MAX_CALLS asked ──ThreadSelector.view──> UsePoint

A model call is an assistant message, and its request is what stands before it. So a tool loop of 24 calls is 24
requests, each with all results so far.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.context.history.modes import HistoryConfig
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.messages import Message, turn_starts
from gatekeeper_core.tokens import count_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
    """

    call: int
    turn_id: int
    full: int
    window: int
    selected: int


class TokenUse(NamedTuple):
    """The tokens of the requests of a conversation.

    Attributes:
        calls: how many model calls there are.
        full: everything before each of them, all together.
        points: the calls that were asked: all of them, or ``MAX_CALLS`` at even distances.
    """

    calls: int
    full: int
    points: tuple[UsePoint, ...]

    @property
    def window(self) -> int:
        """The windows of all calls together, scaled up from those that were asked."""
        return self._scaled(sum(point.window for point in self.points))

    @property
    def selected(self) -> int:
        """The selections of all calls together, scaled up from those that were asked."""
        return self._scaled(sum(point.selected for point in self.points))

    def _scaled(self, tokens: int) -> int:
        return round(tokens * self.calls / len(self.points)) if self.points else 0

    def to_dict(self) -> dict[str, int]:
        """Return the sums, JSON-ready."""
        sums = {"full": self.full, "window": self.window, "selected": self.selected}
        return {"model_calls": self.calls, "calls_asked": len(self.points), **sums}


class Reported(NamedTuple):
    """What the provider reported for all calls of a conversation together, in tokens; see ``Usage``."""

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cache_written_tokens: int

    @classmethod
    def of(cls, usage: Iterable[Usage]) -> Reported | None:
        """Return the sums, or None where nothing is reported."""
        rows = [(1, *call[:4]) for call in usage]
        return cls(*map(sum, zip(*rows, strict=True))) if rows else None

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
    watched: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> TokenUse:
    """Return the tokens of the requests of a conversation, as :func:`select_history` would have sent them.

    Args:
        messages: the conversation, oldest first.
        token_budget: for everything that is sent, in tokens.
        watched: gives back the numbers of the calls that are asked, one by one, and may show how far they are.
    """
    messages = tuple(messages)
    whole = HistoryConfig(token_budget=token_budget, mode="window", floor_turns=len(messages), run=None)
    window, gated = (
        ThreadSelector(_itself, write=_replacement, config=config)
        for config in (whole, HistoryConfig(token_budget=token_budget))
    )
    before = (0, *accumulate(count_message(message) for message in messages))
    calls = [at for at, message in enumerate(messages) if message.role == "assistant"]
    starts = turn_starts([message.role for message in messages])
    points = []
    for call in watched(evenly(len(calls), MAX_CALLS)):
        stop = calls[call]
        request = messages[:stop]
        sent = (selector.view(request, thread="inspected").tokens for selector in (window, gated))
        points.append(UsePoint(call, max(0, bisect_right(starts, stop) - 1), before[stop], *sent))
    return TokenUse(len(calls), sum(before[at] for at in calls), tuple(points))


def _itself(message: Message) -> Message:
    return message


def _replacement(_message: Message, replaced: Message) -> Message:
    return replaced
