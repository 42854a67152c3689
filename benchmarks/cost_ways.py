"""Ways to make the prompt of each call of a conversation: what is sent, and where the cache marks are."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.agent_loop import memory_of
from benchmarks.cost_account import LIMIT, Prompt, Way
from benchmarks.peers import trimmer
from gatekeeper_core import HistoryConfig, RunConfig, ThreadState, ToolResultCompressor, select_history
from gatekeeper_core.context.history.view import keep

if TYPE_CHECKING:
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


_put_aside = partial(policy, strategy="cache", puts_aside=True)
OURS = (
    Way("selection, as sent", selected_and_marked),
    Way("selection, fixed part marked", selected),
    Way("cache", partial(policy, strategy="cache"), knows_prices=True),
    Way("cache, results put aside", _put_aside, knows_prices=True, corpora=("agent",)),
    Way("gate", partial(policy, strategy="gate"), knows_prices=True),
)
WAYS = (
    Way(EVERYTHING, everything),
    Way("sliding window", sliding_window),
    Way("window cut to half", halved_window),
    Way("trim_messages", trimmed, package="langchain_core"),
    Way("summary at a limit", summarised),
    *OURS,
)
