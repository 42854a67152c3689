"""Selection of the messages that the model gets to read, as positions in the caller's list.

::

    messages ──read_history──> head · pins · past turns · current turn · query
                                          past turns ──sync──> gatekeeper
    query ──explain──> turns by value, cuts ──floor, limit──> HistoryView(kept positions, replaced, status, reason)

The head (system messages before the first user message), pinned messages and the current turn are always sent; of the
past, turns that fit in what the budget leaves. The view holds positions; a long message of a past turn may be replaced
by a copy that is cut to the sentences that matter. The caller's own objects never change.

The past is chosen with the room at the beginning of the current turn, before the model called its first tool, and
only shrinks while that turn grows. So every step of a run makes the same choice, even if another process resumes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os.path import basename
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, cast

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.account import Costs, ThreadAccount
from gatekeeper_core.context.history.digests import PastDigests, digest_past, with_digests
from gatekeeper_core.context.history.pins import Pins, check_pins, has_observations, instructions_in, positions_of
from gatekeeper_core.context.history.reading import History, read_history, with_pins
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.strategies import (
    HistoryConfig,
    Strategy,
    budget_for_window,
    choose_past,
    has_tool_calls,
    newest_turns,
    with_defaults,
    with_options,
    without_loose_questions,
)
from gatekeeper_core.context.history.view import DIGESTS, HistoryView, ThreadState
from gatekeeper_core.events import PAST
from gatekeeper_core.messages import Message
from gatekeeper_core.observation import stage
from gatekeeper_core.pricing.policy import PromptPolicy
from gatekeeper_core.pricing.prices import UNKNOWN
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.tokens import check_tokens, count_message, count_messages

if TYPE_CHECKING:
    from gatekeeper_core.native.reading import NativeMessages

_INSTRUCTIONS_PART = 4
"""Instructions may cost one part in so many of what is left for the history. Source: ours.

The task of an agent that writes its observations as the user may cost all of it: nothing else says what to do.
"""


_RECALLED_PART = 5
"""Part of the room for turns that are recalled beside digests, as 1 / so much. Source: ours."""


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
        keep_newest: newest turns to send in full, whatever the question says.
        pinned: messages that are always sent: their positions, ids, or a function of one message. A message of the
            assistant or of a tool keeps its whole turn, where it fits.
        exclude: messages that are never sent, given likewise; a past turn with such a message is dropped.
        config: the settings; only adapters use ``shadow``, ``max_threads`` and ``gatekeeper``.
        gatekeeper: the index of this conversation; it is updated to the past turns, so the next call indexes the new
            ones only. None: a new one.
        query: the question; defaults to the user text of the last turn. Otherwise the last turn is the current one if
            it contains this text; if not, all turns are past. Blank: all turns are past, and there is no question.
        fixed_tokens: tokens that you send in addition, at least 0.
        state: ``state`` of the previous view, at first ``ThreadState()``. With it a run chooses its past once, and the
            bill is estimated; ``state.at(seconds)`` sets the time, so that a cache can be cold. None means the first
            call.

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
    arguments: tuple[tuple[str, object, Any, str], ...] = (
        ("messages", messages, Sequence, "a list of messages or dicts, [] for a new conversation"),
        ("gatekeeper", gatekeeper, ContextGatekeeper, "a ContextGatekeeper"),
        ("state", state, ThreadState | None, "a ThreadState or None"),
    )
    for name, value, kinds, expected in arguments:
        if isinstance(value, (str, bytes)) or not isinstance(value, kinds):
            raise TypeError(f"{name} must be {expected}, got {type(value).__name__}")
    check_tokens("fixed_tokens", fixed_tokens)
    places: list[Sequence[int]] = []
    for name, pins in (("pinned", pinned), ("exclude", exclude)):
        check_pins(name, pins, count=len(messages))
        places.append(positions_of(messages, pins))
    native, ours = None, cast("Sequence[Message]", messages)
    notes: Collection[int] = ()
    if messages and isinstance(messages[0], Mapping):
        from gatekeeper_core.native.reading import read_native  # here, because builder and adapters have our messages

        native = read_native(cast("Sequence[Mapping[str, Any]]", messages))
        ours, notes = native.messages, native.settings
        places = [sorted({place for at in positions for place in native.of_item(at)}) for positions in places]
        if state and state.view:  # the messages that it changed, in our form
            replaced = []
            for position, item in state.view.replaced:
                changed = [one.message for one in native.format.read([item])]
                if len(changed) == len(native.of_item(position)):
                    both = zip(native.of_item(position), changed, strict=True)
                    replaced += [(at, message) for at, message in both if message.text != ours[at].text]
            state = state._replace(view=state.view._replace(replaced=tuple(replaced)))
    for at, message in enumerate(ours):
        if not isinstance(message, Message):
            raise TypeError(f"messages[{at}] must be a Message, got {type(message).__name__}")
    view = select_past(
        read_history(ours, query=query, notes=notes, pinned=places[0], exclude=places[1]),
        gatekeeper=gatekeeper,
        config=config,
        request=HistoryRequest(fixed_tokens=fixed_tokens),
        state=state,
    )
    return view if native is None else native_view(native, view)


def native_view(native: NativeMessages, view: HistoryView) -> HistoryView:
    """Return the view of our messages as one of the list in a provider's format that they were read from."""
    sent = native.sent(frozenset(view.kept), dict(view.replaced))
    places, bill = range(len(native.items)), view.bill
    if bill and bill.body_end is not None:
        bill = bill._replace(body_end=native.spans[bill.body_end][1] - 1)
    folded, pinned = frozenset(view.folded), frozenset(view.pinned)
    outer = view._replace(
        bill=bill,
        sizes=view.sizes._replace(message_count=len(native.items)),
        kept=tuple(sent),
        replaced=tuple((at, item) for at, item in sent.items() if item is not native.items[at]),
        folded=tuple(at for at in places if folded and folded.issuperset(native.of_item(at))),
        pinned=tuple(at for at in places if pinned and not pinned.isdisjoint(native.of_item(at))),
        state=None,
    )
    return outer._replace(state=view.state and view.state._replace(view=outer))


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

    ``request`` gives what is sent beside the messages; its question and positions are in ``history`` already.
    ``opening`` is the framework's object that opened the current turn.
    """
    with stage(PAST) as seen:
        budget = config.token_budget or budget_for_window(request.window_tokens)
        fixed_tokens = request.fixed_tokens + config.reserve_tokens
        has_observed = has_observations([*history.past, *filter(None, [history.current])])
        in_an_agent = has_observed or has_tool_calls(message for turn in history.past for message in turn.messages)
        config = with_defaults(config, in_an_agent=in_an_agent)
        if state is None and config.strategy == "cache":
            state = ThreadState()
        policy = None
        if state is not None and config.strategy != "window":
            policy = PromptPolicy(
                prices=config.prices or request.prices or UNKNOWN,
                state=state.policy,
                now=state.now,
                is_thrifty=config.strategy != "cache",
            )
        before = state.view if state else None
        previous = before if state and state.is_same_run(history, opening) else None
        rest = (gatekeeper, config.run, budget, fixed_tokens, policy.prices if policy else None, request)
        costs = Costs(history, *rest)
        # In its first run an agent shows only when it calls a tool; then the task stays if the step before sent it.
        has_task = in_an_agent or (
            previous is not None and any(turn.start in previous.kept for turn in history.past[:1])
        )
        pinned = _with_instructions(
            history, config, costs.room_at_start, gatekeeper, has_task=has_task, has_observed=has_observed
        )
        if pinned is not history:
            history, costs = pinned, Costs(pinned, *rest)
        below = config.passthrough_below or 0
        account = ThreadAccount(policy, costs, request, small_below=below) if policy else None
        chosen = _chosen_before(previous, history) if previous else None
        coverage = gatekeeper.config.coverage if config.coverage is None else config.coverage
        try:
            gatekeeper.sync(history.past)
            costs.set_past(gatekeeper.turn_tokens)
            past = _past_digests(history, costs, config, gatekeeper) if in_an_agent else None
            if policy and past:
                policy.is_thrifty = True  # turns that give way end the body that the provider has cached
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
                chosen = with_digests(chosen, past, history, recall_tokens=recall_tokens, token_counter=costs.counter)
        except Exception as error:
            if config.on_error == "raise":
                raise
            costs.set_past([max(1, count_messages(t.messages, token_counter=costs.counter)) for t in history.past])
            newest = newest_turns(costs.past, budget_tokens=costs.room_at_start)[::-1]
            chosen = chosen or HistoryView("fallback", "", newest)
            *_, (frame, line) = walk_tb(error.__traceback__)
            # Without the message of the error, which may hold text of the conversation.
            reason = f"{type(error).__name__} at {basename(frame.f_code.co_filename)}:{line}"
            chosen = chosen._replace(status="fallback", reason=reason, selection=None)
        failed = {*range(before.turn_count + 1)}.difference(before.turns) if before else ()
        chosen = chosen._replace(turns=without_loose_questions(chosen.turns, history, failed=failed))
        earlier = previous if chosen.reason != DIGESTS else None  # digests may have become more since
        view = costs.view(chosen, chosen_tokens=earlier.sizes.chosen_tokens if earlier else None)
        if account:
            view = account.billed(view, previous, before=state)
        if state is not None:
            latest = None if view.status == "fallback" else history  # after a failure the next call starts from nothing
            view = view._replace(state=ThreadState(account.state if account else state.policy, latest, view, opening))
        seen.tell(view.facts)
    return view


def _past_digests(
    history: History, costs: Costs, config: HistoryConfig, gatekeeper: ContextGatekeeper
) -> PastDigests | None:
    """Return the past turns of an agent that give way; None if no message can be sent in another form."""
    if config.run is None or config.strategy == "window":
        return None
    room = costs.room_at_start + costs.question + costs.pinned
    # ``cache`` promises a bill, and each time that turns give way early is paid at once.
    most = config.passthrough_below if config.strategy == "gate" else None
    return digest_past(
        history,
        costs,
        room=room,
        most=min(room, most or room),
        keep_newest=config.keep_newest or 0,
        gatekeeper=gatekeeper,
        memory=config.run.memory,
    )


def _with_instructions(
    history: History,
    config: HistoryConfig,
    room: int,
    gatekeeper: ContextGatekeeper,
    *,
    has_task: bool,
    has_observed: bool,
) -> History:
    """Return a conversation with its instructions as pins, as far as they fit in their part of the room."""
    strategies = ("gate", "fill", "cache") if has_task else ("gate", "fill")
    if not config.pin_instructions or config.strategy not in strategies:
        return history
    trim = config.gatekeeper is None or config.gatekeeper.trim
    most = room // _INSTRUCTIONS_PART
    instructions = instructions_in(history.past, gatekeeper.derived, in_an_agent=has_task)
    for at in instructions:
        pinned = with_pins(history, [at], trim=trim)
        new = (pin for place, pin in pinned.pinned if place not in dict(history.pinned))
        tokens = sum(count_message(pin, token_counter=gatekeeper.token_counter) for pin in new)
        is_task = has_task and at == instructions[0]
        if tokens <= (room if is_task and has_observed else most):
            history, most = pinned, min(most, room - tokens) if is_task and has_observed else most - tokens
        elif not is_task:
            break
    return history


def _chosen_before(view: HistoryView, history: History) -> HistoryView:
    """Return what an earlier step of the run chose of the past; each step decides again whether anything fits."""
    past, status = history.past, view.status
    return HistoryView(
        status="selected" if status in ("nothing_fits", "over_budget") else status,
        reason=view.reason,
        turns=tuple(turn for turn in view.turns if turn < len(past)),
        selection=view.selection,
        replaced=tuple((at, message) for at, message in view.replaced if past and at < past[-1].stop),
        recalled_text=view.recalled_text,
    )
