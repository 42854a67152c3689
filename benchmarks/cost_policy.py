"""The policy as a way: its state goes from call to call."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from benchmarks.agent_loop import memory_of
from benchmarks.cost_account import Prompt
from gatekeeper_core import HistoryConfig, RunConfig, ThreadState, ToolResultCompressor, select_history
from gatekeeper_core.context.history.view import keep

if TYPE_CHECKING:
    from benchmarks.cost_account import Setting
    from benchmarks.cost_workbench import Workbench
    from gatekeeper_core.context.history.strategies import Strategy

__all__ = ["policy"]


def policy(bench: Workbench, setting: Setting, *, strategy: Strategy, puts_aside: bool = False) -> list[Prompt]:
    """Return the prompts of the policy at a setting.

    Marks stand behind the beginning that stays, and in the later steps of a run behind all that was sent.

    Args:
        bench: the conversation.
        setting: what it is paid at.
        strategy: as in ``HistoryConfig``.
        puts_aside: whether old results of a run may be compressed, with pointers to a working memory.
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
            messages,
            gatekeeper=bench.gatekeeper,
            config=config,
            fixed_tokens=setting.fixed,
            state=state,
            now=now,
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
