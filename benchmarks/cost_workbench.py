"""The conversation that the ways are tried on: its messages as pieces, its selections worked out once."""

from __future__ import annotations

from functools import cache, cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.cost_account import Accountant, Pieces, Prompt
from gatekeeper_core import ContextGatekeeper, HistoryConfig, ThreadState, select_history
from gatekeeper_core.context.history.earlier import told_inside
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.messages import group_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.cost_account import Setting
    from benchmarks.cost_talks import Call, Talk
    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.result import Selection

    Counter = Callable[[str], int]

__all__ = ["LIMIT", "RememberingGatekeeper", "Way", "Workbench"]

LIMIT = 16_000
ROOM = 1_000_000
"""Token budget of ours in chats: what is left out there is left out for its price, not for want of room."""


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


class Workbench:
    """A conversation on which the ways are tried: its messages as pieces, its selections worked out once.

    Args:
        talk: the conversation.
        count: counts tokens.
        limit: tokens at which windows are cut and old turns are summarised; in runs of an agent also our budget.
    """

    def __init__(self, talk: Talk, count: Counter, *, limit: int = LIMIT) -> None:
        self.talk = talk
        self.count = count
        self.limit = limit
        self.budget = limit if talk.corpus == "agent" else ROOM
        self.pieces = Pieces(count)
        self.gatekeeper = RememberingGatekeeper(token_counter=count)
        self.turns = group_turns(talk.messages)
        self.whole = [self.pieces.of(message) for message in talk.messages]
        self.turn_of = [at for at, turn in enumerate(self.turns) for _ in turn.messages]
        self.told = cache(self._told)
        self._accountants: dict[str, Accountant] = {}

    def accountant(self, way: Way, setting: Setting) -> Accountant:
        """Return the prompts of a way with what they cost; kept where they do not depend on the setting."""
        if way.knows_prices:
            return Accountant(self.talk, way.prompts(self, setting))
        if way.name not in self._accountants:
            self._accountants[way.name] = Accountant(self.talk, way.prompts(self, setting))
        return self._accountants[way.name]

    @cached_property
    def units(self) -> list[int]:
        """Where each part begins that a window gives up as a whole: a turn, in runs of an agent a round."""
        starts = ("user",) if self.talk.corpus != "agent" else ("user", "assistant")
        return [at for at, message in enumerate(self.talk.messages) if message.role in starts]

    def newest(self, call: Call, units: int) -> list[int]:
        """Return the positions of so many units before a call, with the questions of the first and the last of them."""
        starts = [at for at in self.units if at < call.stop]
        first = starts[max(0, len(starts) - units)]
        asked = {self.turns[self.turn_of[at]].start for at in (first, call.stop - 1)}
        return sorted({*asked, *range(first, call.stop)})

    def prompt(self, positions: Iterable[int]) -> Prompt:
        """Return the prompt that sends these messages as they are, with a mark at its end."""
        kept = list(positions)
        return Prompt([self.whole[at] for at in kept], (len(kept) - 1,), frozenset(self.turn_of[at] for at in kept))

    def _views(self, passthrough_below: int) -> list[HistoryView]:
        config = HistoryConfig(token_budget=self.budget, passthrough_below=passthrough_below)
        views, view = list[HistoryView](), None
        for call in self.talk.calls:
            view = select_history(
                self.talk.prompt(call),
                gatekeeper=self.gatekeeper,
                config=config,
                state=view.state if view else ThreadState(),
            )
            views.append(view)
        return views

    @cached_property
    def stateless(self) -> list[HistoryView]:
        """What the selection without a state keeps for each call: chosen for each question, kept in a run."""
        return self._views(500)

    @cached_property
    def selections(self) -> list[HistoryView]:
        """The same, where the selection is asked however short the history is."""
        return self._views(0)

    def _told(self, call: int, turns: tuple[int, ...]) -> int:
        """Return the tokens of some turns, told inside of the question of a call as its selection sends them."""
        asked = self.talk.messages[self.talk.calls[call].stop - 1].text
        return self.count(told_inside(turns, self.turns, self.selections[call].selection, question=asked))


class Way(NamedTuple):
    """A way to make prompts.

    Attributes:
        name: as in the tables.
        prompts: makes the prompt of each call of a conversation.
        knows_prices: whether they depend on the setting.
        corpora: the corpora that it is for; None: all.
        package: what must be installed for it.
    """

    name: str
    prompts: Callable[[Workbench, Setting], list[Prompt]]
    knows_prices: bool = False
    corpora: tuple[str, ...] | None = None
    package: str | None = None

    @property
    def missing(self) -> bool:
        """Whether its package is not installed."""
        return self.package is not None and find_spec(self.package) is None
