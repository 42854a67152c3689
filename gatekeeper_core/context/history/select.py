"""Selection of the messages to send, as positions in the caller's list.

::

    messages ──read_history──> head · pins · past turns · current turn · query
                                          past turns ──sync──> gatekeeper
    query ──explain──> turns by value, cuts ──floor, limit──> HistoryView(kept positions, replaced, status, reason)

The head (system messages before the first user message), pinned messages and the current turn are always sent, with the
past turns that fit in the rest of the budget. The caller's own objects never change. The past is chosen for the room at
the beginning of the current turn, before its first tool call, and only shrinks while that turn grows. So every step of
a run makes the same choice, even if another process resumes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import basename
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, cast

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.account import Costs, ThreadAccount
from gatekeeper_core.context.history.digests import digest_past, with_digests
from gatekeeper_core.context.history.pins import Pins, check_pins, has_observations, instructions_in, positions_of
from gatekeeper_core.context.history.reading import History, read_history, with_pins
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.strategies import (
    HistoryConfig,
    Strategy,
    choose_past,
    has_tool_calls,
    newest_turns,
    with_defaults,
    with_options,
    without_loose_questions,
)
from gatekeeper_core.context.history.view import DIGESTS, HistoryView, ThreadState
from gatekeeper_core.errors import check_type
from gatekeeper_core.events import PAST
from gatekeeper_core.messages import Message
from gatekeeper_core.observation import stage
from gatekeeper_core.pricing.prices import UNKNOWN
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.tokens import check_tokens, count_messages

if TYPE_CHECKING:
    from gatekeeper_core.native.reading import NativeMessages

_INSTRUCTIONS_PART = 4
"""Divisor of the room for the past that instructions may use. Source: ours. The task of an agent that writes its
observations as the user may use all of it: nothing else states the goal."""

_RECALLED_PART = 5
"""Divisor of the room that turns recalled beside digests may use. Source: ours."""


@with_suggestions()
def select_history(
    messages: Sequence[Message] | Sequence[Mapping[str, Any]],
    *,
    token_budget: int | None = None,
    strategy: Strategy | None = None,
    coverage: float | None = None,
    keep_newest: int | None = None,
    pinned: Pins = (),
    exclude: Pins = (),
    config: HistoryConfig | None = None,
    gatekeeper: ContextGatekeeper | None = None,
    query: str | None = None,
    fixed_tokens: int = 0,
    state: ThreadState | None = None,
) -> HistoryView:
    """Return the messages to send: the turns that the question needs, within the budget.

    Args:
        messages: the whole conversation, our messages or dicts in the format of a provider (see ``read_messages``);
            read, never changed. All positions are in this list.
        token_budget: token limit of the request; defaults to that of ``config``, as do the next three.
        strategy: ``gate``, ``fill``, ``cache`` or ``window``; see ``HistoryConfig``.
        coverage: share of what the answer needs to send, 0..1.
        keep_newest: newest turns to send in full, regardless of the question.
        pinned: messages that are always sent: their positions, ids, or a function of one message. An assistant or tool
            message keeps its whole turn, if it fits.
        exclude: messages that are never sent, given the same way; a past turn with such a message is dropped.
        config: the settings; only adapters use ``shadow``, ``max_threads`` and ``gatekeeper``.
        gatekeeper: index of this conversation, kept up to date: the next call indexes only new turns. None: a new one.
        query: the question; defaults to the user text of the last turn. The last turn is the current one if it contains
            this text; otherwise, or if blank (no question), all turns are past.
        fixed_tokens: tokens that you send in addition, at least 0.
        state: ``state`` of the previous view, at first ``ThreadState()``. With it a run chooses its past once, and the
            bill is estimated; ``state.at(seconds)`` sets the time, to detect a cold cache. None: the first call.

    Raises:
        TypeError: an argument has the wrong type.
        ConfigError: a number is out of range, or a position is not in the list.
        MessageFormatError: see ``read_messages``.

    >>> talk = [Message("system", "be brief"), Message("user", "The Redis port is 6380."), Message("assistant", "ok")]
    >>> talk += [Message("user", "New topic: bake bread?"), Message("assistant", "yes"), Message("user", "Redis port?")]
    >>> select_history(talk, token_budget=100, config=HistoryConfig(passthrough_below=0)).kept
    (0, 1, 2, 5)
    """
    config = with_options(
        config, token_budget=token_budget, strategy=strategy, coverage=coverage, keep_newest=keep_newest
    )
    gatekeeper = ContextGatekeeper() if gatekeeper is None else gatekeeper
    value: object = messages
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        expected = "a list of messages or dicts, [] for a new conversation"
        raise TypeError(f"messages must be {expected}, got {type(value).__name__}")
    check_type("gatekeeper", gatekeeper, ContextGatekeeper)
    check_type("state", state, ThreadState, None)
    check_tokens("fixed_tokens", fixed_tokens)
    places: list[Sequence[int]] = []
    for name, pins in (("pinned", pinned), ("exclude", exclude)):
        check_pins(name, pins, count=len(messages))
        places.append(positions_of(messages, pins))
    native, ours = None, cast("Sequence[Message]", messages)
    if messages and isinstance(messages[0], Mapping):
        from gatekeeper_core.native.reading import read_native  # here: builder and adapters pass our messages

        native = read_native(cast("Sequence[Mapping[str, Any]]", messages))
        ours = native.messages
        places = [sorted({place for at in positions for place in native.of_item(at)}) for positions in places]
    request = HistoryRequest(query=query, notes=native.settings if native else (), fixed_tokens=fixed_tokens)
    history = read_history(ours, request, pinned=places[0], exclude=places[1])
    view = select_past(history, gatekeeper=gatekeeper, config=config, request=request, state=state)
    return native_view(native, view) if native else view


def native_view(native: NativeMessages, view: HistoryView) -> HistoryView:
    """Return the view of our messages as one of the provider-format list they came from, except its ``state``."""
    sent = native.sent(frozenset(view.kept), dict(view.replaced))
    places, folded, pinned, bill = range(len(native.items)), frozenset(view.folded), frozenset(view.pinned), view.bill
    if bill and bill.body_end is not None:
        bill = bill._replace(body_end=native.spans[bill.body_end][1] - 1)
    return view._replace(
        bill=bill,
        sizes=view.sizes._replace(message_count=len(native.items)),
        kept=tuple(sent),
        replaced=tuple((at, item) for at, item in sent.items() if item != native.items[at]),
        folded=tuple(at for at in places if folded and folded.issuperset(native.of_item(at))),
        pinned=tuple(at for at in places if pinned and not pinned.isdisjoint(native.of_item(at))),
    )


def select_past(
    history: History,
    *,
    gatekeeper: ContextGatekeeper,
    config: HistoryConfig,
    request: HistoryRequest,
    state: ThreadState | None = None,
    opening: Any = None,
) -> HistoryView:
    """Return the view of a conversation from :func:`read_history`; the rest as for :func:`select_history`.

    ``opening``: the framework's object that opened the current turn. ``history`` already has question and positions.
    """
    with stage(PAST) as seen:
        has_observed = has_observations([*history.past, *filter(None, [history.current])])
        in_an_agent = has_observed or has_tool_calls(message for turn in history.past for message in turn.messages)
        config = with_defaults(config, in_an_agent=in_an_agent)
        has_state = state is not None or config.strategy == "cache"
        state = state or ThreadState()
        has_account = has_state and config.strategy != "window"
        before = state.view
        previous = before if state.is_same_run(history, opening) else None
        rest = (gatekeeper, config, request, config.prices or request.prices or UNKNOWN if has_account else None)
        costs = Costs(history, *rest)
        # In an agent's first run the past has no tool calls yet; then the task stays if the previous step sent it.
        has_task = in_an_agent or bool(previous and any(turn.start in previous.kept for turn in history.past[:1]))
        pinned = _with_instructions(costs, has_task=has_task, has_observed=has_observed)
        if pinned is not history:
            history, costs = pinned, Costs(pinned, *rest)
        account = ThreadAccount(costs, state) if has_account else None
        chosen = None
        if previous:  # each step decides again whether anything fits
            status = "selected" if previous.status in ("nothing_fits", "over_budget") else previous.status
            stop = history.past[-1].stop if history.past else 0
            replaced = tuple(each for each in previous.replaced if each[0] < stop)
            chosen = previous._replace(status=status, replaced=replaced, folded=(), bill=None, state=None)
        coverage = gatekeeper.config.coverage if config.coverage is None else config.coverage
        try:
            gatekeeper.sync(history.past)
            costs.set_past(gatekeeper.turn_tokens)
            past = digest_past(costs, gatekeeper) if in_an_agent else None
            if account and past:
                account.policy.is_thrifty = True  # digests end the body that the provider has cached
            chosen = chosen or choose_past(
                history,
                gatekeeper,
                costs.past,
                config,
                room=costs.room_at_start,
                coverage=account.selection_coverage(coverage) if account else coverage,
                window_from=request.window_from,
            )
            if account:
                chosen = account.choose(chosen, is_step=previous is not None)
            if past:
                can_recall = request.can_recall and not has_observed  # then the question is an observation
                recall_tokens = costs.room_at_start // _RECALLED_PART if can_recall else 0
                chosen = with_digests(chosen, past, costs, recall_tokens=recall_tokens)
        except Exception as error:
            if config.on_error == "raise":
                raise
            costs.set_past([max(1, count_messages(t.messages, token_counter=costs.counter)) for t in history.past])
            newest = newest_turns(costs.past, budget_tokens=costs.room_at_start)[::-1]
            chosen = chosen or HistoryView("fallback", "", newest)
            *_, (frame, line) = walk_tb(error.__traceback__)
            # Without the error's message, which may contain text of the conversation.
            reason = f"{type(error).__name__} at {basename(frame.f_code.co_filename)}:{line}"
            chosen = chosen._replace(status="fallback", reason=reason, selection=None)
        failed = {*range(before.turn_count + 1)}.difference(before.turns) if before else ()
        chosen = chosen._replace(turns=without_loose_questions(chosen.turns, history, failed=failed))
        earlier = previous if chosen.reason != DIGESTS else None  # there may be more digests now
        view = costs.view(chosen, chosen_tokens=earlier.sizes.chosen_tokens if earlier else None)
        if account:
            view = account.billed(view, previous)
        if has_state:
            latest = None if view.status == "fallback" else history  # after a failure the next call starts from nothing
            view = view._replace(state=ThreadState(account.state if account else state.policy, latest, view, opening))
        seen.tell(view.facts)
    return view


def _with_instructions(costs: Costs, *, has_task: bool, has_observed: bool) -> History:
    """Return a conversation with its instructions pinned, as far as they fit in their part of the room."""
    history, config = costs.history, costs.config
    strategies = ("gate", "fill", "cache") if has_task else ("gate", "fill")
    if not config.pin_instructions or config.strategy not in strategies:
        return history
    trim = config.gatekeeper is None or config.gatekeeper.trim
    room, most = costs.room_at_start, costs.room_at_start // _INSTRUCTIONS_PART
    instructions = instructions_in(history.past, costs.kept, in_an_agent=has_task)
    for at in instructions:
        pinned = with_pins(history, [at], trim=trim)
        new = [pin for place, pin in pinned.pinned if place not in dict(history.pinned)]
        tokens = count_messages(new, token_counter=costs.counter)
        is_task = has_task and at == instructions[0]
        if tokens <= (room if is_task and has_observed else most):
            history, most = pinned, min(most, room - tokens) if is_task and has_observed else most - tokens
        elif not is_task:
            break
    return history
