"""Ways to make the prompt of each call of a conversation: what is sent, and where the cache marks stand."""

from __future__ import annotations

from functools import cache, cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.cost_account import Accountant, Pieces, Prompt, Setting
from benchmarks.cost_hindsight import hindsight
from benchmarks.cost_policy import RememberingGatekeeper, policy
from gatekeeper_core import HistoryConfig, select_history
from gatekeeper_core.context.history.earlier import told_inside
from gatekeeper_core.context.history.view import HistoryView, keep
from gatekeeper_core.messages import group_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.cost_talks import Call, Talk
    from gatekeeper_core.messages import Message

    Counter = Callable[[str], int]

__all__ = ["EVERYTHING", "HINDSIGHT", "LIMIT", "OURS", "WAYS", "Way", "Workbench"]

EVERYTHING = "everything"
"""The way that all others are held against."""

LIMIT = 16_000
ROOM = 1_000_000
"""Token budget of ours in chats: what is left out there is left out for its price, not for want of room."""

WINDOW_UNITS = 10
SUMMARY_TOKENS = 400
SUMMARY_INSTRUCTION_TOKENS = 200


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

    def _views(self, passthrough_below: int | None) -> list[HistoryView]:
        config = HistoryConfig(token_budget=self.budget, passthrough_below=passthrough_below)
        views, view, running = list[HistoryView](), None, -1
        for call in self.talk.calls:
            turn = self.turn_of[call.stop - 1]
            view = select_history(
                self.talk.prompt(call),
                gatekeeper=self.gatekeeper,
                config=config,
                previous=view if turn == running else None,
                earlier=view,
            )
            running = turn
            views.append(view)
        return views

    @cached_property
    def stateless(self) -> list[HistoryView]:
        """What the selection without a state keeps for each call: chosen for each question, kept in a run."""
        return self._views(None)

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
        if prompt.tokens > bench.limit:
            while prompt.tokens > bench.limit // 2 and dropped < count - 1:
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
        if sum(bench.whole[at][1] for at in positions) > bench.limit and count - dropped > WINDOW_UNITS + 1:
            dropped, summaries = count - WINDOW_UNITS - 1, summaries + 1
            left = bench.newest(call, WINDOW_UNITS + 1)
            read = sum(bench.whole[at][1] for at in set(positions).difference(left))
            side = read + SUMMARY_INSTRUCTION_TOKENS + SUMMARY_TOKENS * (summaries > 1), SUMMARY_TOKENS
            positions = left
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
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, trim_messages

    def translated(at: int, message: Message) -> BaseMessage:
        if message.role == "user":
            return HumanMessage(message.text, id=str(at))
        if message.role == "tool":
            return ToolMessage(message.text, tool_call_id=message.tool_call_id or "", id=str(at))
        calls = [{"id": call.id, "name": call.name, "args": {"read": call.arguments}} for call in message.tool_calls]
        return AIMessage(message.text, tool_calls=calls, id=str(at))

    def cost(messages: list[BaseMessage]) -> int:
        return sum(bench.whole[int(message.id or 0)][1] for message in messages)

    given = [translated(at, message) for at, message in enumerate(bench.talk.messages)]
    settings: dict[str, Any] = {"strategy": "last", "max_tokens": bench.limit, "token_counter": cost}
    prompts = []
    for call in bench.talk.calls:
        left = trim_messages(given[: call.stop], start_on="human", end_on=("human", "tool"), **settings)
        left = left or trim_messages(given[: call.stop], **settings)
        prompts.append(bench.prompt(int(message.id or 0) for message in left))
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


OURS = (
    Way("selection, as sent", selected_and_marked),
    Way("selection, fixed part marked", selected),
    Way("careful", partial(policy, posture="careful"), knows_prices=True),
    Way(
        "careful, results put aside",
        partial(policy, posture="careful", puts_aside=True),
        knows_prices=True,
        corpora=("agent",),
    ),
    Way("thrifty", partial(policy, posture="thrifty"), knows_prices=True),
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
