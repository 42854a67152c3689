"""Which past turns are worth sending, and in which order they would be given up.

::

    mode      taken first                  then                              floor_turns, and its default
    gated     what the question selects    on a switch, or where nothing     0   newest turns kept then
                                           was chosen: the newest turns
    hybrid    the newest turns             what the question selects         3   newest turns always taken
    window    the newest turns             nothing                           20  the most turns of the window

Long messages of what the question selects may be cut to the sentences that matter, those of the newest turn as well;
the floor is sent as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from gatekeeper_core.context.compaction.run import RunConfig
from gatekeeper_core.context.history.left import Left
from gatekeeper_core.context.history.window import newest_turns
from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.messages import Message, Turn
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig
from gatekeeper_core.selection.trimming import GAP
from gatekeeper_core.token_estimate import budget_for
from gatekeeper_core.tokens import check_tokens, count_message

if TYPE_CHECKING:
    from gatekeeper_core.selection.result import Selection
    from gatekeeper_core.tokens import TokenCounter

__all__ = [
    "PASSTHROUGH_BELOW",
    "RECENT_TURNS",
    "Choice",
    "History",
    "HistoryConfig",
    "HistoryMode",
    "HistoryStatus",
    "OnError",
    "Posture",
    "budget_for_window",
    "check_reserve",
    "choose_past",
    "fitting_turns",
    "steady_cuts",
    "without_loose_questions",
]

HistoryStatus = Literal["selected", "passthrough", "no_query", "nothing_fits", "over_budget", "fallback"]
HistoryMode = Literal["gated", "hybrid", "window"]
OnError = Literal["fallback", "raise"]
Posture = Literal["careful", "thrifty"]


PASSTHROUGH_BELOW = 500
"""Tokens from which on a history is long enough to choose from: a shorter one is sent whole.

Source: ours, ``python -m benchmarks.histories``: below 500 tokens it costs 8 tokens a question and finds 0.8 % more of
the needed turns; below 1,000 it costs 87, and six changes of topic in ten take an old turn along, not four.
"""

RECENT_TURNS = 3
"""Newest turns that mode ``hybrid`` always takes. Source: ours; as many rounds as compaction keeps."""

_FLOORS = {"gated": 0, "hybrid": RECENT_TURNS, "window": 20}
"""Turns by mode, see the module. Source of the 20: specification 001-56."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryConfig:
    """How the histories of threads are selected.

    Attributes:
        token_budget: what everything that is sent may cost, >= 1; None: what :func:`budget_for_window` gives for the
            model of the call.
        reserve_tokens: part of the budget kept free for what is sent besides and cannot be seen here, >= 0 and less
            than ``token_budget``.
        floor_turns: newest turns that ``mode`` keeps whatever the question says, >= 0; None: its default, see the
            module. Source of the 0: specification, check 2: a new topic takes nothing of the old one along.
        passthrough_below: tokens up to which the whole history is sent, where it fits, >= 0; a window never is more
            than its turns. None: the prices decide, and without a state ``PASSTHROUGH_BELOW``.
        posture: ``careful`` keeps what a provider has cached, sends everything until less is cheaper, and never costs
            more than 1.02 times sending everything; ``thrifty`` sends the selection alone: cheaper where the fixed part
            is large, dearer where little is said, with fewer of the needed turns. ``select_history`` without a
            ``state`` does not know what is cached: there both mean ``thrifty``. See ``docs/savings.md``.
        prices: of the model; None: those of the model of the call, where it has a row, else ``UNKNOWN``.
        shadow: whether to report only: the caller sends what it would have sent without a selection.
        on_error: ``fallback`` sends the newest turns that fit when the selection fails; ``raise`` lets the error pass.
        max_threads: threads whose index and last view are kept, >= 1. The thread that was used longest ago goes first,
            and is worked out again when it comes back. Source: ours; about 4 KB a turn, so 50 MB with 50 turns each.
        run: how the current run of an agent gives way before the past does; None: it is sent as it is. Its
            compressor is told the name of the thread at hand.
        mode: how past turns are chosen, see the module. Source: requirement C5.
        gatekeeper: settings of the selection itself, None for the defaults. Its ``trim`` says whether long messages of
            past turns are sent as copies that are cut to the sentences that matter, where the adapter can write.
    """

    token_budget: int | None = None
    reserve_tokens: int = 0
    floor_turns: int | None = None
    passthrough_below: int | None = None
    posture: Posture = "careful"
    prices: ModelPrices | None = None
    shadow: bool = False
    on_error: OnError = "fallback"
    max_threads: int = 256
    run: RunConfig | None = field(default_factory=RunConfig)
    mode: HistoryMode = "gated"
    gatekeeper: GatekeeperConfig | None = None

    def __post_init__(self) -> None:
        check_range(self, "reserve_tokens", low=0, whole=True)
        check_range(self, "max_threads", low=1, whole=True)
        for name, low in (("token_budget", 1), ("passthrough_below", 0), ("floor_turns", 0)):
            if getattr(self, name) is not None:
                check_range(self, name, low=low, whole=True)
        if self.token_budget is not None:
            check_reserve(self.reserve_tokens, self.token_budget)
        if not isinstance(self.shadow, bool):
            raise TypeError(f"HistoryConfig.shadow must be a bool, got {type(self.shadow).__name__}")
        if self.posture not in get_args(Posture):
            raise ConfigError(f'HistoryConfig.posture must be "careful" or "thrifty", got {self.posture!r}')
        if self.on_error not in get_args(OnError):
            raise ConfigError(f'HistoryConfig.on_error must be "fallback" or "raise", got {self.on_error!r}')
        if self.mode not in get_args(HistoryMode):
            raise ConfigError(f'HistoryConfig.mode must be "gated", "hybrid" or "window", got {self.mode!r}')
        for name, kind in (("prices", ModelPrices), ("run", RunConfig), ("gatekeeper", GatekeeperConfig)):
            value = getattr(self, name)
            if not isinstance(value, kind | None):
                raise TypeError(f"HistoryConfig.{name} must be a {kind.__name__}, got {type(value).__name__}")

    @property
    def floor(self) -> int:
        """``floor_turns``, or the default of the mode."""
        return _FLOORS[self.mode] if self.floor_turns is None else self.floor_turns


def check_reserve(reserve_tokens: int, budget_tokens: int, *, named: str = "HistoryConfig.token_budget") -> None:
    """Check that a reserve leaves something of a budget; ``named`` is what the caller calls the budget.

    Raises:
        ConfigError: it leaves nothing.
    """
    if reserve_tokens >= budget_tokens:
        raise ConfigError(
            f"HistoryConfig.reserve_tokens is {reserve_tokens} and {named} is {budget_tokens}: nothing is left for the "
            f"messages; reserve less, or raise {named.rpartition('.')[2]}"
        )


def budget_for_window(max_input_tokens: int | None) -> int:
    """Return the token budget for a model that reads so many tokens: three quarters; 16,000 where that is not known.

    Source: LlamaIndex's ratio of 0.75 for the same purpose; the 16,000 are ours.

    Raises:
        TypeError: the number is no whole one.
        ConfigError: it is negative.

    >>> budget_for_window(8192), budget_for_window(None)
    (6144, 16000)
    """
    if max_input_tokens is None or max_input_tokens == 0:
        return 16_000
    check_tokens("max_input_tokens", max_input_tokens)
    return max(1, max_input_tokens * 3 // 4)


class History(NamedTuple):
    """A conversation as the selection sees it.

    Attributes:
        messages: the caller's messages.
        seen: the same, with the pinned ones emptied and summaries as system messages: what the turns are made of.
        head: positions that are always sent and stand before the first user message.
        pinned: further positions that are always sent.
        past: the finished turns, oldest first; a pinned message has no text and no cost in them.
        current: the turn that the model is to answer, or None where it is not in the list.
        query: the question, stripped; "" where none is known.
        summaries: positions of the summaries of folded messages.
        left: what is left to the provider; it is part of the head.
    """

    messages: tuple[Message, ...]
    seen: tuple[Message, ...]
    head: tuple[int, ...]
    pinned: tuple[int, ...]
    past: tuple[Turn, ...]
    current: Turn | None
    query: str
    summaries: tuple[int, ...] = ()
    left: Left = Left()


class Choice(NamedTuple):
    """The past turns to keep, and how they were chosen.

    Attributes:
        turns: their ids, the most valuable first.
        status: as in a ``HistoryView``.
        reason: as in a ``HistoryView``.
        selection: the selection behind it, or None.
        tokens_before: what the turns cost that were chosen at an earlier step; None: these are they.
        cuts: position in the caller's list and copy of each message of theirs that is cut.
        told: earlier turns as a text that stands before the question, "" for none.
    """

    turns: tuple[int, ...]
    status: HistoryStatus
    reason: str
    selection: Selection | None = None
    tokens_before: int | None = None
    cuts: tuple[tuple[int, Message], ...] = ()
    told: str = ""


def choose_past(
    history: History,
    gatekeeper: ContextGatekeeper,
    costs: Sequence[int],
    config: HistoryConfig,
    *,
    room: int,
    history_tokens: int,
    is_careful: bool = False,
    window_from: int = 0,
    earlier: Mapping[int, Message] | None = None,
) -> Choice:
    """Return the past turns to keep, and the cuts of their messages; without a question the newest ones.

    Args:
        history: the conversation.
        gatekeeper: has its past turns.
        costs: tokens of each of them.
        config: the settings.
        room: tokens that they may cost together; may be negative.
        history_tokens: what the whole history costs.
        is_careful: whether a policy decides what is left out: without a setting the selection is always asked.
        window_from: position of the first message that a window may hold; it takes a turn that begins before whole.
        earlier: the cuts that were sent for the question before, by position; see :func:`steady_cuts`.
    """
    past, window = history.past, config.mode == "window"
    passthrough_below = config.passthrough_below
    if passthrough_below is None:
        passthrough_below = 0 if is_careful else PASSTHROUGH_BELOW
    if costs and not window and sum(costs) <= room and history_tokens < passthrough_below:
        return Choice(tuple(range(len(costs)))[::-1], "passthrough", "small_history")
    if not past:
        return Choice((), "passthrough", "no_past_turns")
    if window:
        first = max(len(past) - config.floor, sum(turn.stop <= window_from for turn in past))
        return Choice(_newest(costs, first, room), "selected", "window")
    if not history.query:
        return Choice(_newest(costs, 0, room), "no_query", "newest_turns")
    if room < 1:
        return Choice((), "nothing_fits", "no_room")
    budget = budget_for(gatekeeper.token_counter, room)  # the margin is taken off already, and is taken off there
    asked_at = history.current.created_at if history.current else None
    selection = gatekeeper.explain(history.query, token_budget=budget, asked_at=asked_at)
    sent = {turn.turn_id: turn.tokens for turn in selection.turns}
    floor: tuple[int, ...] = ()
    if config.mode == "hybrid":
        floor = _newest(costs, max(0, len(costs) - config.floor), room)
        beside = (turn for turn in selection.order if turn not in floor)
        turns = floor + _each_with_room(beside, sent, room - sum(costs[turn] for turn in floor))
    else:
        left = room - selection.tokens
        newest = range(len(costs))[::-1] if selection.order else _newest(costs, 0, left)
        beside = (turn for turn in newest[: config.floor] if turn not in selection.order)
        turns = selection.order + _each_with_room(beside, costs, left)
    cuts = {
        past[turn.turn_id].start + at: replace(past[turn.turn_id].messages[at], content=text)
        for turn in selection.turns
        if turn.turn_id not in floor  # which is sent whole
        for at, text in turn.cuts
    }
    if cuts and earlier:
        left = room - sum(sent.get(turn, costs[turn]) for turn in turns)
        cuts = steady_cuts(cuts, earlier, room=left, token_counter=gatekeeper.token_counter)
    return Choice(turns, "selected", selection.gate.reason, selection, cuts=tuple(sorted(cuts.items())))


def steady_cuts(
    cuts: Mapping[int, Message], earlier: Mapping[int, Message], *, room: int, token_counter: TokenCounter
) -> dict[int, Message]:
    """Return cuts as they were sent before where those hold all that is wanted now: a prompt cache has seen them.

    Args:
        cuts: the cuts that the question wants, by position.
        earlier: the cuts that were sent for the question before, by position.
        room: tokens that the earlier ones may cost more together; the oldest messages come first.
        token_counter: counts a text.

    >>> wanted, before = Message("assistant", "… Port 6380. …"), Message("assistant", "Redis runs. Port 6380. …")
    >>> steady_cuts({1: wanted}, {1: before}, room=9, token_counter=len)[1].text
    '… Port 6380. …'
    >>> steady_cuts({1: wanted}, {1: before}, room=10, token_counter=len)[1].text
    'Redis runs. Port 6380. …'
    """
    steady = dict(cuts)
    for at, wanted in sorted(cuts.items()):
        before = earlier.get(at)
        pieces = wanted.text.split(GAP.strip())
        if before is not None and all(piece.strip() in before.text for piece in pieces):
            more = count_message(before, token_counter=token_counter)
            more -= count_message(wanted, token_counter=token_counter)
            if more <= room:
                steady[at] = before
                room -= more
    return steady


def fitting_turns(turns: Sequence[int], costs: Sequence[int], *, budget_tokens: int) -> tuple[int, ...]:
    """Return the most valuable turns that fit together, up to the first that does not.

    No turn behind that one is tried, however small: what is given up at one step of a run would else come back at the
    next, when a larger turn goes, and a run that is resumed elsewhere would send another past.

    >>> fitting_turns([2, 0, 1], [10, 1, 20], budget_tokens=25)
    (2,)
    """
    for stop, turn in enumerate(turns):
        budget_tokens -= costs[turn]
        if budget_tokens < 0:
            return tuple(turns[:stop])
    return tuple(turns)


def without_loose_questions(turns: Sequence[int], history: History, *, failed: Collection[int] = ()) -> tuple[int, ...]:
    """Return the turns to send less those without an answer that would stand before another turn than they did.

    So two messages of the user stand side by side only where the conversation has them so. A question without an answer
    comes behind the turn that follows it: where the least valuable turns are given up, it goes first. A question whose
    call ``failed`` goes as well where it is asked again before anything was answered; media alone are no such question.

    >>> asked = [Turn((Message("user", text),), at, at + 1) for at, text in enumerate(("Port?", "Port?", "Bread?"))]
    >>> without_loose_questions((1, 0, 2), History((), (), (), (), tuple(asked), None, ""))
    (2, 1, 0)
    """
    past, kept = history.past, {*turns}
    for at in sorted(turns, reverse=True):
        displaced = at + 1 < len(past) and at + 1 not in kept
        if not _is_answered(past[at]) and (displaced or _is_asked_again(history, at, failed=at in failed)):
            kept.discard(at)
    ordered: dict[int, None] = {}
    waiting: set[int] = set()
    for turn in filter(kept.__contains__, turns):
        if not _is_answered(past[turn]) and turn + 1 in kept and turn + 1 not in ordered:
            waiting.add(turn)
            continue
        ordered[turn] = None
        while (turn := turn - 1) in waiting:
            ordered[turn] = None
    return tuple(ordered)


def _is_answered(turn: Turn) -> bool:
    return any(message.role in ("assistant", "tool") for message in turn.messages)


def _is_asked_again(history: History, at: int, *, failed: bool) -> bool:
    """Return whether one of the questions up to the next answer, or the current one, is that of a turn again.

    Unless its call ``failed`` that is so only where this call asks it elsewhere.
    """
    question = history.past[at].messages[0]
    is_elsewhere = history.current is None and question.content == history.query
    if not question.text.strip() or not (failed or is_elsewhere):
        return False
    for later in range(at + 1, len(history.past)):
        if history.past[later].messages[0].content == question.content:
            return True
        if _is_answered(history.past[later]):
            return False
    return is_elsewhere or (history.current is not None and history.current.messages[0].content == question.content)


def _newest(costs: Sequence[int], first: int, room: int) -> tuple[int, ...]:
    """Return the turns from a first one on that fit together, newest first."""
    return tuple(turn + first for turn in newest_turns(costs[first:], budget_tokens=room))[::-1]


def _each_with_room(turns: Iterable[int], costs: Sequence[int] | Mapping[int, int], room: int) -> tuple[int, ...]:
    """Return of some turns, in their order, each that still has room."""
    taken = []
    for turn in turns:
        if costs[turn] <= room:
            room -= costs[turn]
            taken.append(turn)
    return tuple(taken)
