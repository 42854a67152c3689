"""Ways to make the prompt of each call of a conversation: what is sent, and where the cache marks stand.

Hindsight knows the best moments to choose anew: how much a policy loses because it cannot see the future. Its moves are
those of the policy. A prompt is the fixed part, a body, then the question with the turns in it that the selection wants
and the body lacks. The body begins as everything and grows by each turn; at any call it may be chosen anew: what the
selection wants, whole, filled up to the smallest prefix. A dynamic programme over (call, last choice) finds the
cheapest moments by ``input_cost``; its prompts are then charged like those of every other way. It knows the cache by
the last choice only: where a body goes back to the beginning of an older one while the cache is warm, a few choices are
up to 6 % cheaper than what it finds (chats of nine turns, all choices tried).
"""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.agent_loop import memory_of
from benchmarks.cost_account import LIMIT, Prompt, Way
from benchmarks.peers import trimmer
from gatekeeper_core import HistoryConfig, RunConfig, ThreadState, ToolResultCompressor, select_history
from gatekeeper_core.context.history.view import keep
from gatekeeper_core.messages import common_beginning
from gatekeeper_core.pricing.cache import input_cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.cost_account import Setting, Workbench
    from gatekeeper_core.context.history.strategies import Strategy

EVERYTHING = "everything"
"""The way that all others are held against."""

WINDOW_UNITS = 10
SUMMARY_TOKENS = 400
SUMMARY_INSTRUCTION_TOKENS = 200


def everything(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send all there is; the mark at the end of each prompt is where the next one finds it."""
    return [bench.prompt(range(call.stop)) for call in bench.talk.calls]


def sliding_window(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send the newest ten turns before the question, in runs of an agent the newest ten rounds."""
    return [bench.prompt(bench.newest(call, WINDOW_UNITS + 1)) for call in bench.talk.calls]


def halved_window(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send everything since the last cut; where it is over the limit, cut to the newest half of the limit."""
    prompts, dropped = list[Prompt](), 0
    for call in bench.talk.calls:
        count = sum(at < call.stop for at in bench.units)
        prompt = bench.prompt(bench.newest(call, count - dropped))
        if prompt.tokens > LIMIT:
            while prompt.tokens > LIMIT // 2 and dropped < count - 1:
                dropped += 1
                prompt = bench.prompt(bench.newest(call, count - dropped))
        prompts.append(prompt)
    return prompts


def summarised(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send everything since the last summary behind it; over the limit, all but the newest ten units are summarised.

    The summary is made by a call of its own, which reads the old summary and what it is to stand for, uncached.
    """
    prompts, dropped, summaries = list[Prompt](), 0, 0
    for call in bench.talk.calls:
        count = sum(at < call.stop for at in bench.units)
        positions, side = bench.newest(call, count - dropped), (0, 0)
        if sum(bench.full_pieces[at][1] for at in positions) > LIMIT and count - dropped > WINDOW_UNITS + 1:
            dropped, summaries = count - WINDOW_UNITS - 1, summaries + 1
            trimmed = bench.newest(call, WINDOW_UNITS + 1)
            read = sum(bench.full_pieces[at][1] for at in set(positions).difference(trimmed))
            side = read + SUMMARY_INSTRUCTION_TOKENS + SUMMARY_TOKENS * (summaries > 1), SUMMARY_TOKENS
            positions = trimmed
        prompt = bench.prompt(positions)._replace(side=side)
        if summaries:
            summary = b"summary %d" % summaries, SUMMARY_TOKENS
            prompt = prompt._replace(pieces=[summary, *prompt.pieces], marks=(len(positions),))
        prompts.append(prompt)
    return prompts


def trimmed(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send what ``trim_messages`` leaves at the settings of its documentation: the newest messages, from a human one.

    Where a run of an agent is longer than the limit that leaves nothing; then the start may be any message.
    """
    trim = partial(trimmer(lambda message: bench.pieces.of(message)[1]), max_tokens=LIMIT)
    prompts = []
    for call in bench.talk.calls:
        messages = bench.talk.prompt(call)
        fitting = trim(messages, start_on="human", end_on=("human", "tool")) or trim(messages)
        prompts.append(bench.prompt(fitting))
    return prompts


def selected(bench: Workbench, _: Setting) -> list[Prompt]:
    """Send what the selection without a state keeps; only the fixed part is marked."""
    prompts = []
    for call, view in zip(bench.talk.calls, bench.stateless, strict=True):
        sent = [bench.pieces.of(message) for message in keep(bench.talk.prompt(call), view)]
        prompts.append(Prompt(sent, (), frozenset(view.turns)))
    return prompts


def selected_and_marked(bench: Workbench, setting: Setting) -> list[Prompt]:
    """Send the same, with a mark at the end of each prompt, as a middleware for caching puts it."""
    return [prompt._replace(marks=(len(prompt.pieces) - 1,)) for prompt in selected(bench, setting)]


def policy(bench: Workbench, setting: Setting, *, strategy: Strategy, puts_aside: bool = False) -> list[Prompt]:
    """Return the prompts of the policy at a setting; old results of a run may be put aside, behind pointers.

    Marks stand behind the beginning that stays, and in the later steps of a run behind all that was sent.
    """
    memory = memory_of(bench.count) if puts_aside else None
    compress = ToolResultCompressor(working_memory=memory, token_counter=bench.count) if puts_aside else None
    config = HistoryConfig(
        token_budget=bench.budget + setting.fixed,
        strategy=strategy,
        prices=setting.prices_there,
        run=RunConfig(compress_result=compress),
    )
    state = ThreadState()
    prompts = []
    times = bench.talk.seconds(cold=setting.cache_state == "cold")
    for call, now in zip(bench.talk.calls, times, strict=True):
        messages = bench.talk.prompt(call)
        view = select_history(
            messages, gatekeeper=bench.gatekeeper, config=config, fixed_tokens=setting.fixed, state=state.at(now)
        )
        assert view.state is not None
        assert view.bill is not None
        state, bill = view.state, view.bill
        sent = [bench.pieces.of(message) for message in keep(messages, view)]
        marks = set() if bill.body_end is None else {bisect_right(view.kept, bill.body_end) - 1}
        if bill.is_end_cached:
            marks.add(len(sent) - 1)
        prompts.append(Prompt(sent, tuple(sorted(marks)), frozenset((*view.turns, *bill.recalled)), action=bill.action))
    return prompts


_FILLED_UP = 1.05
"""A new body is filled up with the newest turns to so much of the smallest prefix that is cached."""


class _Costs(NamedTuple):
    """What the moves of one conversation cost at one setting.

    By call the turns of the selection and the body that would be chosen; by turn its tokens and those before it; by
    call those of its question; ``told`` gives the price of turns inside of it.
    """

    setting: Setting
    cold: list[bool]
    needed: list[tuple[int, ...]]
    chosen: list[tuple[int, ...]]
    turns: list[int]
    before: list[int]
    question_tokens: list[int]
    recalled_tokens: Callable[[int, tuple[int, ...]], int]

    def lacking(self, since: int, call: int) -> tuple[int, ...]:
        """Return what the selection wants and the body since a choice lacks; since 0 it is everything."""
        return tuple(turn for turn in self.needed[call] if turn < since and turn not in self.chosen[since])

    def anew(self, call: int, since: int) -> float:
        """Return the price of a call for which the body is chosen anew, where it was chosen last at another call.

        Of the old prompt the cache finds what both begin with; where only marks are found, up to a question in it.
        """
        fixed, prices, body = self.setting.fixed, self.setting.prices_there, self.chosen[call]
        total = fixed + sum(self.turns[turn] for turn in body) + self.question_tokens[call]
        common = common_beginning((*self.chosen[since], *range(since, call)), body)
        same = fixed + sum(self.turns[turn] for turn in body[:common])
        if prices.marked and common:
            last = body[common - 1]
            same = same - self.turns[last] + self.question_tokens[last] if last >= since else fixed
        return input_cost(total, cached=0 if self.cold[call] else same, written_to=total, prices=prices)

    def kept(self, since: int) -> list[float]:
        """Return the price of each call after a choice, as long as its body is kept."""
        costs = list[float]()
        start = self.setting.fixed + sum(self.turns[turn] for turn in self.chosen[since])
        cached = start + self.question_tokens[since]
        for call in range(since + 1, len(self.needed)):
            body, lacking = start + self.before[call] - self.before[since], self.lacking(since, call)
            total = body + self.question_tokens[call] + (self.recalled_tokens(call, lacking) if lacking else 0)
            marked, hit_tokens = body if lacking else total, 0 if self.cold[call] else cached
            costs.append(input_cost(total, cached=hit_tokens, written_to=marked, prices=self.setting.prices_there))
            cached = marked
        return costs


def hindsight(bench: Workbench, setting: Setting) -> list[Prompt]:
    """Return the prompts of a chat for which the body is chosen anew at the moments that cost least in the end."""
    costs = _costs(bench, setting)
    count = len(costs.needed)
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
    turns = [sum(bench.full_pieces[at][1] for at in (call.stop - 1, call.stop)) for call in calls]
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
        needed=[view.turns for view in bench.selections],
        chosen=chosen,
        turns=turns,
        before=list(accumulate(turns, initial=0)),
        question_tokens=[bench.full_pieces[call.stop - 1][1] for call in calls],
        recalled_tokens=bench.recalled_tokens,
    )


def _prompts(bench: Workbench, costs: _Costs, moments: set[int]) -> list[Prompt]:
    prompts, since = list[Prompt](), 0
    for at, call in enumerate(bench.talk.calls):
        since = at if at in moments else since
        body, lacking = (*costs.chosen[since], *range(since, at)), costs.lacking(since, at)
        pieces = [bench.full_pieces[side] for turn in body for side in (2 * turn, 2 * turn + 1)]
        digest, question_tokens = bench.full_pieces[call.stop - 1]
        question = digest, question_tokens
        if lacking:
            question = b"told for %d" % at, question_tokens + costs.recalled_tokens(at, lacking)
        mark = len(pieces) - bool(lacking)
        turns = frozenset((*body, *lacking))
        prompts.append(Prompt([*pieces, question], (mark,) if mark >= 0 else (), turns))
    return prompts


_put_aside = partial(policy, strategy="cache", puts_aside=True)
OURS = (
    Way("selection, as sent", selected_and_marked),
    Way("selection, fixed part marked", selected),
    Way("cache", partial(policy, strategy="cache"), knows_prices=True),
    Way("cache, results put aside", _put_aside, knows_prices=True, corpora=("agent",)),
    Way("gate", partial(policy, strategy="gate"), knows_prices=True),
)
HINDSIGHT = Way("hindsight", hindsight, knows_prices=True, corpora=("session", "locomo"))
WAYS = (
    Way(EVERYTHING, everything),
    Way("sliding window", sliding_window),
    Way("window cut to half", halved_window),
    Way("trim_messages", trimmed, package="langchain_core"),
    Way("summary at a limit", summarised),
    *OURS,
)
