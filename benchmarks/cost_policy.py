"""The policy as a way: its state goes from call to call, its selections are worked out once for all prices."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from benchmarks.agent_loop import memory_of
from benchmarks.cost_account import Prompt
from gatekeeper_core import ContextGatekeeper, HistoryConfig, RunConfig, ToolResultCompressor, select_history
from gatekeeper_core.context.history.policy import PolicyState
from gatekeeper_core.context.history.view import keep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.cost_account import Setting
    from benchmarks.cost_ways import Workbench
    from gatekeeper_core.context.history.modes import Posture
    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.result import Selection

__all__ = ["RememberingGatekeeper", "policy"]


class RememberingGatekeeper(ContextGatekeeper):
    """Answers a question again that was asked at the same turn: what a selection is does not depend on prices.

    It serves one conversation, whose turns never change, over and over from its beginning.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._wanted: tuple[Turn | tuple[str, str], ...] = ()
        self._costs: tuple[int, ...] = ()
        self._answers: dict[tuple[object, ...], Selection] = {}

    def sync(self, turns: Iterable[Turn | tuple[str, str]]) -> None:
        self._wanted = tuple(turns)
        if len(self._wanted) > len(self._costs):
            super().sync(self._wanted)
            self._costs = super().turn_tokens

    @property
    def turn_tokens(self) -> tuple[int, ...]:
        return self._costs[: len(self._wanted)]

    def explain(self, query: str, **arguments: Any) -> Selection:
        key = (len(self._wanted), query, *arguments.values())
        if key not in self._answers:
            super().sync(self._wanted)
            self._answers[key] = super().explain(query, **arguments)
        return self._answers[key]


def policy(bench: Workbench, setting: Setting, *, posture: Posture, puts_aside: bool = False) -> list[Prompt]:
    """Return the prompts of the policy at a setting.

    Marks stand behind the beginning that stays, and in the later steps of a run behind all that was sent.

    Args:
        bench: the conversation.
        setting: what it is paid at.
        posture: as in ``HistoryConfig``.
        puts_aside: whether old results of a run may be compressed, with pointers to a working memory.
    """
    memory = memory_of(bench.count) if puts_aside else None
    compress = ToolResultCompressor(working_memory=memory, token_counter=bench.count) if puts_aside else None
    config = HistoryConfig(
        token_budget=bench.budget + setting.fixed,
        posture=posture,
        prices=setting.prices_there,
        run=RunConfig(compress_result=compress),
    )
    state, view, running = PolicyState(), None, -1
    prompts = []
    times = bench.talk.seconds(cold=setting.cache_state == "cold")
    for call, now in zip(bench.talk.calls, times, strict=True):
        messages, turn = bench.talk.prompt(call), bench.turn_of[call.stop - 1]
        view = select_history(
            messages,
            gatekeeper=bench.gatekeeper,
            config=config,
            fixed_tokens=setting.fixed,
            previous=view if turn == running else None,
            earlier=view,
            state=state,
            now=now,
        )
        assert view.state is not None
        assert view.bill is not None
        state, running, bill = view.state, turn, view.bill
        sent = [bench.pieces.of(message) for message in keep(messages, view)]
        marks = set() if bill.body_end is None else {bisect_right(view.kept, bill.body_end) - 1}
        if bill.is_end_cached:
            marks.add(len(sent) - 1)
        prompts.append(Prompt(sent, tuple(sorted(marks)), frozenset((*view.turns, *bill.recalled)), action=bill.action))
    return prompts
