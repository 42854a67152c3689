"""Ways to make the prompt of each call of a conversation: what is sent, and where the cache marks stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchmarks.cost_account import Pieces, Prompt
from gatekeeper_core import ContextGatekeeper, HistoryConfig, select_history
from gatekeeper_core.context.history.view import HistoryView, keep
from gatekeeper_core.messages import group_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.cost_talks import Call, Talk
    from gatekeeper_core.messages import Message, Turn

    Counter = Callable[[str], int]

__all__ = ["EVERYTHING", "Workbench"]

EVERYTHING = "everything"
"""The way that all others are held against."""

ROOM = 1_000_000
"""Token budget of ours in chats: what is left out there is left out for its price, not for want of room."""

WINDOW_UNITS = 10
SUMMARY_TOKENS = 400
SUMMARY_KEEPS = 10


class Workbench:
    """A conversation on which the ways are tried: its messages as pieces, its selections worked out once.

    Args:
        talk: the conversation.
        count: counts tokens.
        limit: tokens at which windows are cut and old turns are summarised; in runs of an agent also our budget.
    """

    def __init__(self, talk: Talk, count: Counter, *, limit: int) -> None:
        self.talk = talk
        self.count = count
        self.limit = limit
        self.pieces = Pieces(count)
        self.budget = limit if talk.corpus == "agent" else ROOM
        self.turns = group_turns(talk.messages)
        self.whole = [self.pieces.of(message) for message in talk.messages]
        self._views: list[HistoryView] | None = None

    def turn_at(self, position: int) -> int:
        """Return the number of the turn that holds the message at a position."""
        return next(at for at, turn in enumerate(self.turns) if position < turn.stop)

    def everything(self) -> list[Prompt]:
        """Return the prompts that hold everything, with a mark at the end of each."""
        return [
            Prompt(self.whole[: call.stop], (call.stop - 1,), frozenset(range(self.turn_at(call.stop - 1))))
            for call in self.talk.calls
        ]

    def views(self) -> list[HistoryView]:
        """Return what today's selection keeps for each call: chosen for each question, kept for the steps of a run."""
        if self._views is None:
            gatekeeper = ContextGatekeeper(token_counter=self.count)
            config = HistoryConfig(token_budget=self.budget)
            views, before, running = list[HistoryView](), None, -1
            for call in self.talk.calls:
                turn = self.turn_at(call.stop - 1)
                view = select_history(
                    self.talk.prompt(call),
                    gatekeeper=gatekeeper,
                    config=config,
                    previous=before if turn == running else None,
                    earlier=before,
                )
                before, running = view, turn
                views.append(view)
            self._views = views
        return self._views

    def today(self, *, marked: bool) -> list[Prompt]:
        """Return the prompts of today's selection; a mark stands behind the fixed part, and ``marked`` at the end."""
        prompts = []
        for call, view in zip(self.talk.calls, self.views(), strict=True):
            sent = [self.pieces.of(message) for message in keep(self.talk.prompt(call), view)]
            prompts.append(Prompt(sent, (len(sent) - 1,) if marked else (), frozenset(view.turns)))
        return prompts
