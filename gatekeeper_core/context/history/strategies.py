"""The strategies: which past turns to send, and in which order to drop them.

::

    strategy  taken first                        then                                    keep_newest by default
    gate      the newest turns to keep, pins     what the question needs                 0
    fill      the same                           the most needed turns until it is full  the same
    cache     the same                           what the question needs; what the       the same
                                                 provider has cached stays while cheap
    window    the newest turns                   nothing                                 20

Older turns with tool calls are digested under every strategy but ``window``; see ``digests``. Long messages of the
turns that the question selects may be cut to the sentences that matter; turns to keep are sent whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.reading import History
from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.errors import ConfigError, check_range, check_type
from gatekeeper_core.messages import Message, Turn
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.token_estimate import budget_for
from gatekeeper_core.tokens import check_tokens

Strategy = Literal["gate", "fill", "cache", "window"]
OnError = Literal["fallback", "raise"]

PASSTHROUGH_BELOW = 500
"""Tokens of past turns below which ``gate`` sends all of them: there is little to choose from.
Source: ours, ``python -m benchmarks.histories``: below 500 tokens it costs 8 tokens a question and finds 0.8 % more of
the needed turns; below 1,000 it costs 87, and six changes of topic in ten take an old turn along, not four."""

PASSTHROUGH_BELOW_WITH_TOOLS = 6_000
"""The same if the history has tool calls. Source: ours, recorded runs with tools: up to 6,000 tokens a cut by price
loses ids that the next call needs and breaks the provider's cache, and saves nothing."""

RECENT_TURNS = 3
"""Newest turns to keep if the history has tool calls and no message may change. Source: ours, recorded runs of agents:
at 8,000 tokens the prompt holds 99.1 % of the values that the next action uses, not 95.9, at 1.02 of the price."""

_WINDOW_TURNS = 20
"""Maximum turns of a window. Source: specification 001-56."""


@with_suggestions()
@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryConfig:
    """Settings for the selection of a thread's history.

    Attributes:
        strategy: ``gate`` sends what the question needs; ``fill`` sends everything that fits, and of a longer history
            the most needed turns until the budget is used; ``cache`` is ``gate`` counted in dollars: what the provider
            has cached stays while cheap, at up to 1.02 times the price of everything; ``window``: the newest turns.
        coverage: share of what the answer needs to send, 0..1; defaults to that of ``gatekeeper``, 0.85. It is a mean
            over questions to an assistant; see ``docs/tuning.md``.
        token_budget: token limit of a request, >= 1; defaults to :func:`budget_for_window` of the model.
        keep_newest: newest turns to send in full, regardless of the question, >= 0; the length of a ``window``.
            Defaults to 0, for a window to 20; with tool calls in the history and ``run=None`` to ``RECENT_TURNS``.
            Source of the 0: specification, check 2: a new topic takes nothing of the old one along.
        pin_instructions: whether ``gate`` and ``fill`` keep standing instructions of the user ("from now on", 以后都),
            newest first, in a quarter of the room for the past. With tool calls in the history, these and ``cache``
            also keep the first user message there, or in all of the room if an agent writes observations as the user.
        passthrough_below: size of the past turns in tokens below which ``gate`` sends all of them if they fit, and
            ``cache`` does not cut them, >= 0. Defaults to 500, with tool calls in the history to 6,000.
        reserve_tokens: part of the budget to keep free for text that you add yourself, >= 0 and below the budget.
        prices: prices of the model; default to those of the called model if it has a row, else ``UNKNOWN``.
        shadow: whether to report only: the request is sent as it would be without a selection.
        on_error: ``fallback`` sends the newest turns that fit when the selection fails; ``raise`` raises the error.
        max_threads: threads whose index and last view stay in memory, >= 1; the least recently used is dropped and
            indexed again when it returns. Source: ours; about 4 KB a turn, so 50 MB with 50 turns each.
        run: how to compact the current run of an agent; None sends it unchanged and drops older turns whole. Its
            compressor gets the name of the thread.
        gatekeeper: further settings of the selection; None uses the defaults. Its ``trim`` controls whether long
            messages of past turns are cut to the sentences that matter, if the adapter can change messages.
    """

    strategy: Strategy = "gate"
    coverage: float | None = None
    token_budget: int | None = None
    keep_newest: int | None = None
    pin_instructions: bool = True
    passthrough_below: int | None = None
    reserve_tokens: int = 0
    prices: ModelPrices | None = None
    shadow: bool = False
    on_error: OnError = "fallback"
    max_threads: int = 256
    run: RunConfig | None = field(default_factory=RunConfig)
    gatekeeper: GatekeeperConfig | None = None

    def __post_init__(self) -> None:
        check_range(self, "reserve_tokens", low=0, integer=True)
        check_range(self, "max_threads", low=1, integer=True)
        for name, low in (("token_budget", 1), ("keep_newest", 0), ("passthrough_below", 0)):
            if getattr(self, name) is not None:
                check_range(self, name, low=low, integer=True)
        if self.coverage is not None:
            check_range(self, "coverage", low=0, high=1)
        if self.token_budget is not None:
            check_reserve(self.reserve_tokens, self.token_budget)
        for name in ("pin_instructions", "shadow"):
            check_type(f"HistoryConfig.{name}", getattr(self, name), bool)
        if self.strategy not in get_args(Strategy):
            *names, last = (f'"{name}"' for name in get_args(Strategy))
            raise ConfigError(f"HistoryConfig.strategy must be {', '.join(names)} or {last}, got {self.strategy!r}")
        if self.on_error not in get_args(OnError):
            raise ConfigError(f'HistoryConfig.on_error must be "fallback" or "raise", got {self.on_error!r}')
        for name, kind in (("prices", ModelPrices), ("run", RunConfig), ("gatekeeper", GatekeeperConfig)):
            check_type(f"HistoryConfig.{name}", getattr(self, name), kind, None)
        if self.gatekeeper and self.gatekeeper.strategy != "gate" and self.strategy != "fill":
            raise ConfigError('HistoryConfig.gatekeeper has strategy="fill": set HistoryConfig(strategy="fill")')


def with_options(config: HistoryConfig | None, **options: Any) -> HistoryConfig:
    """Return settings with the options that a caller gave by name; None keeps the setting.

    Raises:
        TypeError: ``config`` has another type.
        ConfigError: an option is out of range.

    >>> with_options(HistoryConfig(coverage=0.7), token_budget=500, coverage=None).coverage
    0.7
    """
    config = HistoryConfig() if config is None else config
    if isinstance(config, int):
        raise TypeError(f"config must be a HistoryConfig, got int: pass a budget by name, token_budget={config}")
    check_type("config", config, HistoryConfig)
    named = {name: value for name, value in options.items() if value is not None}
    return replace(config, **named) if named else config


def with_defaults(config: HistoryConfig, *, in_an_agent: bool) -> HistoryConfig:
    """Return settings with the defaults that depend on the history filled in."""
    newest = RECENT_TURNS if in_an_agent and config.run is None else 0
    below = PASSTHROUGH_BELOW_WITH_TOOLS if in_an_agent else PASSTHROUGH_BELOW
    if config.strategy == "window":
        newest = _WINDOW_TURNS
    return replace(
        config,
        keep_newest=newest if config.keep_newest is None else config.keep_newest,
        passthrough_below=below if config.passthrough_below is None else config.passthrough_below,
    )


def check_reserve(reserve_tokens: int, budget_tokens: int, *, named: str = "HistoryConfig.token_budget") -> None:
    """Raise ConfigError unless a reserve is below a budget; ``named`` is the caller's name for the budget."""
    if reserve_tokens >= budget_tokens:
        raise ConfigError(
            f"HistoryConfig.reserve_tokens is {reserve_tokens} but {named} is {budget_tokens}, so no tokens remain for "
            f"messages: reserve less, or raise {named.rpartition('.')[2]}"
        )


def budget_for_window(max_input_tokens: int | None) -> int:
    """Return the budget for a context window: 0.75 of it; 16,000 for None and 0. Source: LlamaIndex; 16,000 is ours.

    Raises:
        TypeError: the number is not an int.
        ConfigError: it is negative.

    >>> budget_for_window(8192), budget_for_window(None)
    (6144, 16000)
    """
    if max_input_tokens is None or max_input_tokens == 0:
        return 16_000
    check_tokens("max_input_tokens", max_input_tokens)
    return max(1, max_input_tokens * 3 // 4)


def choose_past(
    history: History,
    gatekeeper: ContextGatekeeper,
    costs: Sequence[int],
    config: HistoryConfig,
    *,
    room: int,
    coverage: float | None = None,
    window_from: int = 0,
) -> HistoryView:
    """Return a view with the turns to keep and the cuts of their messages; without a question the newest turns.

    ``costs``: tokens of the past turns, which the gatekeeper must have; ``room``: for all of them, may be negative. The
    settings come from :func:`with_defaults`. A turn around ``window_from`` is kept whole.
    """
    past, strategy, newest = history.past, config.strategy, config.keep_newest or 0
    if not past:
        return HistoryView("passthrough", "no_past_turns")
    is_small = strategy == "gate" and sum(gatekeeper.turn_tokens) < (config.passthrough_below or 0)
    if (is_small or strategy == "fill") and sum(costs) <= room:
        reason = "small_history" if is_small else "everything_fits"
        return HistoryView("passthrough", reason, tuple(range(len(costs)))[::-1])
    floor, first = _each_with_room(history.required, costs, room), max(0, len(past) - newest)
    if strategy == "window":
        first = max(first, sum(turn.stop <= window_from for turn in past))
    elif not history.query:
        first = 0
    kept = newest_turns(costs, budget_tokens=room - sum(costs[turn] for turn in floor), start=first)[::-1]
    floor += tuple(turn for turn in kept if turn not in floor)
    if strategy == "window":
        return HistoryView("selected", "window", floor)
    if not history.query:
        return HistoryView("no_query", "newest_turns", floor)
    if room < 1:
        return HistoryView("nothing_fits", "no_room")
    pairs = enumerate(zip(gatekeeper.turn_tokens, costs, strict=True)) if history.pinned else ()
    pinned_tokens = {turn: tokens - cost for turn, (tokens, cost) in pairs}
    # ``explain`` subtracts the margin again, so it is added here; pinned messages are already paid for.
    budget = budget_for(gatekeeper.token_counter, room + sum(pinned_tokens.values()))
    selection = gatekeeper.explain(
        history.query,
        token_budget=budget,
        strategy="fill" if strategy == "fill" else "gate",
        coverage=coverage,
        asked_at=history.current.created_at if history.current else None,
    )
    sent = {turn.turn_id: max(0, turn.tokens - pinned_tokens.get(turn.turn_id, 0)) for turn in selection.turns}
    beside = (turn for turn in selection.order if turn not in floor)
    turns = floor + _each_with_room(beside, sent, room - sum(costs[turn] for turn in floor))
    pinned = {at for at, _ in history.pinned if history.messages[at].role != "assistant"}
    cuts = {
        past[turn.turn_id].start + at: replace(past[turn.turn_id].messages[at], content=text)
        for turn in selection.turns
        if turn.turn_id not in floor  # which is sent whole
        for at, text in turn.cuts
        if past[turn.turn_id].start + at not in pinned
    }
    return HistoryView("selected", selection.gate.reason, turns, selection, replaced=tuple(sorted(cuts.items())))


def has_tool_calls(messages: Iterable[Message]) -> bool:
    """Return whether messages contain the result of a tool call."""
    return any(message.role == "tool" for message in messages)


def without_loose_questions(turns: Sequence[int], history: History, *, failed: Collection[int] = ()) -> tuple[int, ...]:
    """Return the turns to send, without unanswered questions whose following turn is not sent.

    So two user messages are adjacent only if they are in the conversation. An unanswered question is ordered after the
    turn that follows it, so it is dropped first. A question whose call ``failed`` is also dropped if it is asked again
    before any answer; media without text do not count as a question.

    >>> from gatekeeper_core.messages import Message
    >>> past = [Turn((Message("user", text),), at, at + 1) for at, text in enumerate(("Port?", "Port?", "Bread?"))]
    >>> without_loose_questions((1, 0, 2), History((), (), (), tuple(past), None, ""))
    (2, 1, 0)
    """
    past, places = history.past, {turn: (place, 0) for place, turn in enumerate(turns)}
    for at in sorted(turns, reverse=True):
        if _is_answered(past[at]):
            continue
        place, behind = places.get(at + 1, (-1, 0))
        if (place < 0 and at + 1 < len(past)) or _is_asked_again(history, at, failed=at in failed):
            del places[at]
        else:
            places[at] = max(places[at], (place, behind + 1))
    return tuple(sorted(places, key=places.__getitem__))


def _is_answered(turn: Turn) -> bool:
    return any(message.role in ("assistant", "tool") for message in turn.messages)


def _is_asked_again(history: History, at: int, *, failed: bool) -> bool:
    """Return whether a turn's question is repeated before the next answer, or is the current question."""
    question, current = history.past[at].messages[0], history.current
    is_elsewhere = current is None and question.content == history.query  # the caller sends it separately
    if not question.text.strip() or not (failed or is_elsewhere):
        return False
    for later in (*history.past[at + 1 :], *filter(None, [current])):
        if later.messages[0].content == question.content:
            return True
        if _is_answered(later):
            return False
    return is_elsewhere


def _each_with_room(turns: Iterable[int], costs: Sequence[int] | Mapping[int, int], room: int) -> tuple[int, ...]:
    fitting = []
    for turn in turns:
        if costs[turn] <= room:
            room -= costs[turn]
            fitting.append(turn)
    return tuple(fitting)


def newest_turns(costs: Sequence[int], *, budget_tokens: int, start: int = 0) -> tuple[int, ...]:
    """Return the positions of the newest turns that fit together, oldest first.

    A turn that is over the budget alone is skipped; otherwise the window has no gap, and ends at the first turn that
    does not fit in the rest of the budget: it is empty only if no turn fits. ``costs``: tokens of each turn, oldest
    first; ``start``: the oldest to take. Source: specification 001 (the last rounds within the budget); skipping is
    ours.

    >>> newest_turns([30, 10, 500, 40], budget_tokens=60)
    (1, 3)
    """
    positions: list[int] = []
    remaining = budget_tokens
    for position in reversed(range(start, len(costs))):
        if remaining < costs[position] <= budget_tokens:
            break
        if costs[position] <= remaining:
            positions.append(position)
            remaining -= costs[position]
    return tuple(reversed(positions))
