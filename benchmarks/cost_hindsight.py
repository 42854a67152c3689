"""The best moments to choose anew, known in hindsight: how much a policy loses because it cannot see the future.

The moves are those of the policy. A prompt is the fixed part, a body, then the question with the turns in it that the
selection wants and the body lacks. The body begins as everything and grows by each turn; at any call it may be chosen
anew: what the selection wants, whole, filled up to the smallest prefix. A dynamic programme over (call, last choice)
finds the cheapest moments by ``input_cost``; its prompts are then charged like those of every other way. It knows the
cache by the last choice only: where a body goes back to the beginning of an older one while the cache is warm, a few
choices are up to 6 % cheaper than what it finds (chats of nine turns, all choices tried).
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cost_account import Prompt
from gatekeeper_core.messages import common_beginning
from gatekeeper_core.pricing.cache import input_cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.cost_account import Setting
    from benchmarks.cost_workbench import Workbench

__all__ = ["hindsight"]

_FILLED_UP = 1.05
"""A new body is filled up with the newest turns to so much of the smallest prefix that is cached."""


class _Costs(NamedTuple):
    """What the moves of one conversation cost at one setting.

    Attributes:
        wanted: for each call the turns of the selection.
        chosen: for each call the body that would be chosen anew, ascending.
        turns: tokens of each turn.
        before: tokens of all turns before each.
        asked: tokens of the question of each call.
        told: gives what it costs to tell turns inside of the question of a call.
    """

    setting: Setting
    cold: list[bool]
    wanted: list[tuple[int, ...]]
    chosen: list[tuple[int, ...]]
    turns: list[int]
    before: list[int]
    asked: list[int]
    told: Callable[[int, tuple[int, ...]], int]

    def lacking(self, since: int, call: int) -> tuple[int, ...]:
        """Return what the selection wants and the body since a choice lacks; since 0 it is everything."""
        return tuple(turn for turn in self.wanted[call] if turn < since and turn not in self.chosen[since])

    def anew(self, call: int, since: int) -> float:
        """Return the price of a call for which the body is chosen anew, where it was chosen last at another call.

        Of the old prompt the cache finds what both begin with; where only marks are found, up to a question in it.
        """
        fixed, prices, body = self.setting.fixed, self.setting.prices_there, self.chosen[call]
        total = fixed + sum(self.turns[turn] for turn in body) + self.asked[call]
        common = common_beginning((*self.chosen[since], *range(since, call)), body)
        same = fixed + sum(self.turns[turn] for turn in body[:common])
        if prices.marked and common:
            last = body[common - 1]
            same = same - self.turns[last] + self.asked[last] if last >= since else fixed
        return input_cost(total, cached=0 if self.cold[call] else same, written_to=total, prices=prices)

    def kept(self, since: int) -> list[float]:
        """Return the price of each call after a choice, as long as its body is kept."""
        costs = list[float]()
        start = self.setting.fixed + sum(self.turns[turn] for turn in self.chosen[since])
        cached = start + self.asked[since]
        for call in range(since + 1, len(self.wanted)):
            body, lacking = start + self.before[call] - self.before[since], self.lacking(since, call)
            total = body + self.asked[call] + (self.told(call, lacking) if lacking else 0)
            marked, found = body if lacking else total, 0 if self.cold[call] else cached
            costs.append(input_cost(total, cached=found, written_to=marked, prices=self.setting.prices_there))
            cached = marked
        return costs


def hindsight(bench: Workbench, setting: Setting) -> list[Prompt]:
    """Return the prompts of a chat for which the body is chosen anew at the moments that cost least in the end."""
    costs = _costs(bench, setting)
    count = len(costs.wanted)
    # For each call: what all calls up to each later one cost at least where this one chose anew, and the choice before.
    ends, chosen_before = [list(accumulate([0.0, *costs.kept(0)]))], [0]
    for call in range(1, count):
        paid, since = min((ends[since][call - 1 - since] + costs.anew(call, since), since) for since in range(call))
        ends.append(list(accumulate([paid, *costs.kept(call)])))
        chosen_before.append(since)
    moments = {since := min(range(count), key=lambda at: ends[at][-1])}
    while since:
        moments.add(since := chosen_before[since])
    return _prompts(bench, costs, moments)


def _costs(bench: Workbench, setting: Setting) -> _Costs:
    calls = bench.talk.calls
    turns = [sum(bench.whole[at][1] for at in (call.stop - 1, call.stop)) for call in calls]
    chosen = list[tuple[int, ...]]()
    least = _FILLED_UP * (setting.prices_there.min_cached_tokens or 0) - setting.fixed
    for at, view in enumerate(bench.selections):
        body = set(view.turns)
        for turn in range(at - 1, -1, -1):
            if sum(turns[each] for each in body) >= least:
                break
            body.add(turn)
        chosen.append(tuple(sorted(body)))
    return _Costs(
        setting,
        cold=[setting.cache_state == "cold" and call.cold for call in calls],
        wanted=[view.turns for view in bench.selections],
        chosen=chosen,
        turns=turns,
        before=list(accumulate(turns, initial=0)),
        asked=[bench.whole[call.stop - 1][1] for call in calls],
        told=bench.told,
    )


def _prompts(bench: Workbench, costs: _Costs, moments: set[int]) -> list[Prompt]:
    prompts, since = list[Prompt](), 0
    for at, call in enumerate(bench.talk.calls):
        since = at if at in moments else since
        body, lacking = (*costs.chosen[since], *range(since, at)), costs.lacking(since, at)
        pieces = [bench.whole[side] for turn in body for side in (2 * turn, 2 * turn + 1)]
        digest, asked = bench.whole[call.stop - 1]
        question = (b"told for %d" % at, asked + costs.told(at, lacking)) if lacking else (digest, asked)
        mark = len(pieces) - bool(lacking)
        turns = frozenset((*body, *lacking))
        prompts.append(Prompt([*pieces, question], (mark,) if mark >= 0 else (), turns))
    return prompts
