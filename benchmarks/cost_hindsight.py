"""The best moments to choose anew, known in hindsight: how much a policy loses because it cannot see the future.

The moves are those of the policy. A prompt is the fixed part, a body, then the question with the turns in it that the
selection wants and the body lacks. The body begins as everything and grows by each turn; at any call it may be chosen
anew: what the selection wants, and the last turn. A dynamic programme over (call, last choice) finds the cheapest
moments by ``input_cost``; its prompts are then charged like those of every other way.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cost_account import Prompt
from gatekeeper_core.pricing.cache import input_cost

if TYPE_CHECKING:
    from benchmarks.cost_account import Piece, Setting
    from benchmarks.cost_ways import Workbench

__all__ = ["hindsight"]

_LABEL_TOKENS = 10
"""What is said about each turn that stands in a question."""

_PADDING = 1.02
"""A new body is filled up with the newest turns to so much of the smallest prefix that is cached."""

_Body = dict[int, "tuple[Piece, ...]"]


class _Costs(NamedTuple):
    """What the moves of one conversation cost at one setting.

    Attributes:
        wanted: for each call the turns of the selection, each with its messages as they are sent.
        chosen: for each call the body that would be chosen anew.
        turns: for each turn its messages, whole.
        before: tokens of all turns before each.
    """

    setting: Setting
    cold: list[bool]
    wanted: list[_Body]
    chosen: list[_Body]
    turns: list[tuple[Piece, ...]]
    before: list[int]

    def lacking(self, since: int, call: int) -> _Body:
        """Return what the selection wants and a body lacks, or has only as an excerpt for another question."""
        there = self.chosen[since] if since else {}
        return {
            turn: sent
            for turn, sent in self.wanted[call].items()
            if since and turn < since and there.get(turn) not in (sent, self.turns[turn])
        }

    def anew(self, call: int) -> float:
        """Return the price of a call for which the body is chosen anew."""
        fixed, prices = self.setting.fixed, self.setting.prices_there
        total = fixed + _tokens(self.chosen[call]) + self.turns[call][0][1]
        return input_cost(total, cached=0 if self.cold[call] else fixed, written_to=total, prices=prices)

    def kept(self, since: int) -> list[float]:
        """Return the price of each call after a choice, as long as its body is kept; since 0: it is everything."""
        fixed, prices, costs = self.setting.fixed, self.setting.prices_there, list[float]()
        start = fixed + (_tokens(self.chosen[since]) if since else 0)
        cached = start + self.turns[since][0][1]
        for call in range(since + 1, len(self.wanted)):
            body, asked = start + self.before[call] - self.before[since], self.turns[call][0][1]
            more = sum(_LABEL_TOKENS + _size(sent) for sent in self.lacking(since, call).values())
            marked = body if more else body + asked
            found = 0 if self.cold[call] else cached
            costs.append(input_cost(body + more + asked, cached=found, written_to=marked, prices=prices))
            cached = marked
        return costs


def _size(pieces: tuple[Piece, ...]) -> int:
    return sum(tokens for _, tokens in pieces)


def _tokens(body: _Body) -> int:
    return sum(map(_size, body.values()))


def hindsight(bench: Workbench, setting: Setting) -> list[Prompt]:
    """Return the prompts of a chat for which the body is chosen anew at the moments that cost least in the end."""
    costs = _costs(bench, setting)
    count = len(costs.wanted)
    # For each call: what all calls up to each later one cost at least where this one chose anew, and the choice before.
    ends, chosen_before = [list(accumulate([costs.anew(0), *costs.kept(0)]))], [0]
    for call in range(1, count):
        paid, since = min((ends[since][call - 1 - since], since) for since in range(call))
        ends.append(list(accumulate([paid + costs.anew(call), *costs.kept(call)])))
        chosen_before.append(since)
    moments = {since := min(range(count), key=lambda at: ends[at][-1])}
    while since:
        moments.add(since := chosen_before[since])
    return _prompts(costs, moments)


def _costs(bench: Workbench, setting: Setting) -> _Costs:
    calls, whole = bench.talk.calls, bench.whole
    turns = [tuple(whole[call.stop - 1 : call.stop + 1]) for call in calls]
    wanted, chosen = list[_Body](), list[_Body]()
    for at, view in enumerate(bench.views):
        replaced = {place: bench.pieces.of(message) for place, message in view.replaced}
        sent = {
            turn: tuple(replaced.get(2 * turn + side, whole[2 * turn + side]) for side in (0, 1)) for turn in view.turns
        }
        wanted.append(sent)
        body = {**sent, **{turn: turns[turn] for turn in range(max(0, at - 1), at)}}
        least = _PADDING * (setting.prices.min_cached_tokens or 0)
        for turn in range(at - 1, -1, -1):
            if setting.fixed + _tokens(body) >= least:
                break
            body.setdefault(turn, turns[turn])
        chosen.append(body)
    cold = [setting.cache_state == "cold" and call.cold for call in calls]
    before = list(accumulate((_size(turn) for turn in turns), initial=0))
    return _Costs(setting, cold, wanted, chosen, turns, before)


def _prompts(costs: _Costs, moments: set[int]) -> list[Prompt]:
    prompts, since = list[Prompt](), 0
    for call in range(len(costs.wanted)):
        since = call if call in moments else since
        body = {**(costs.chosen[since] if since else {}), **{at: costs.turns[at] for at in range(since, call)}}
        recalled = costs.lacking(since, call)
        pieces = [piece for turn in sorted(body) for piece in body[turn]]
        digest, asked = costs.turns[call][0]
        more = sum(_LABEL_TOKENS + _size(sent) for sent in recalled.values())
        question = (b"recalled for %d" % call if more else digest, asked + more)
        marks = () if not pieces else (len(pieces) - 1,)
        prompts.append(
            Prompt(
                [*pieces, question],
                marks if more else (*marks, len(pieces)),
                frozenset((*body, *recalled)),
                action="rebuilt" if call in moments and call else "kept",
            )
        )
    return prompts
