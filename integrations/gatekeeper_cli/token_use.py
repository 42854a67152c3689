"""What each next question of a conversation would have sent of its history: everything, a window, the selection."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.context.history.window import newest_turns
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.token_estimate import budget_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.planner import GatekeeperConfig

__all__ = ["MAX_POINTS", "UsePoint", "asked_turns", "token_use"]

MAX_POINTS = 240
"""How many questions are asked at most. Source: ours; a line of a page's width has no more points to show."""


class UsePoint(NamedTuple):
    """The tokens of history that go with one question; the question itself is counted nowhere.

    Attributes:
        turn_id: whose user text asks; the turns before it are the history.
        full: all of them.
        window: the newest that fit.
        selected: what the gatekeeper selects.
    """

    turn_id: int
    full: int
    window: int
    selected: int


def asked_turns(turn_count: int, *, points: int = MAX_POINTS) -> tuple[int, ...]:
    """Return which turns ask: all of a short conversation, of a long one some at even distances, the last among them.

    >>> asked_turns(4), asked_turns(1_000, points=4)
    ((0, 1, 2, 3), (0, 333, 666, 999))
    """
    if turn_count <= points:
        return tuple(range(turn_count))
    return tuple(at * (turn_count - 1) // (points - 1) for at in range(points))


def token_use(
    turns: Sequence[Turn],
    *,
    token_budget: int,
    turn_tokens: Sequence[int] | None = None,
    config: GatekeeperConfig | None = None,
    watched: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> tuple[UsePoint, ...]:
    """Return the tokens that go with each question of a conversation, the earlier turns being its history.

    Args:
        turns: the conversation, oldest first.
        token_budget: for the window and the selection, in tokens.
        turn_tokens: what each turn costs, where a gatekeeper knows it already.
        config: the settings of the gatekeeper.
        watched: gives back the turns that ask, one by one, and may show how far they are.
    """
    history, listed = ContextGatekeeper(token_budget, config=config), tuple(turns)
    if turn_tokens is None:
        gatekeeper = ContextGatekeeper()
        gatekeeper.sync(listed)
        turn_tokens = gatekeeper.turn_tokens
    before, room = (0, *accumulate(turn_tokens)), budget_within(history.token_counter, token_budget)
    found = []
    for turn_id in watched(asked_turns(len(listed))):
        history.sync(listed[:turn_id])
        window = newest_turns(turn_tokens[:turn_id], budget_tokens=room)
        selected = history.explain(listed[turn_id].user_text).tokens
        found.append(UsePoint(turn_id, before[turn_id], sum(turn_tokens[at] for at in window), selected))
    return tuple(found)
