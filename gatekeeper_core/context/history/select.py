"""Messages in, messages out: which messages of a conversation the model gets to read, as positions in the list.

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
from typing import TYPE_CHECKING, Any, cast

from gatekeeper_core.context.history.account import Costs, ThreadAccount
from gatekeeper_core.context.history.left import left_to_provider
from gatekeeper_core.context.history.pins import (
    Pins,
    as_said,
    beginning_of,
    check_pins,
    check_positions,
    instructions_in,
    positions_of,
    summaries_in,
    summaries_needed,
)
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.strategies import (
    Choice,
    History,
    HistoryConfig,
    Strategy,
    budget_for_window,
    choose_past,
    has_tool_calls,
    with_defaults,
    with_options,
    without_loose_questions,
)
from gatekeeper_core.context.history.view import HistoryView, ThreadState
from gatekeeper_core.context.history.window import newest_turns
from gatekeeper_core.events import PAST
from gatekeeper_core.messages import Message, Turn, split_current_turn
from gatekeeper_core.observation import stage
from gatekeeper_core.pricing.policy import PromptPolicy
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.tokens import check_tokens, count_message, count_messages

if TYPE_CHECKING:
    from gatekeeper_core.embedding import Embedder
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["read_history", "select_history", "select_past", "with_pins"]

_INSTRUCTIONS_PART = 4
"""Instructions may cost one part in so many of what is left for the history. Source: ours."""


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
    prices: ModelPrices | None = None,
    now: float | None = None,
    embedder: Embedder | TextEncoder | None = None,
) -> HistoryView:
    """Return which messages to send: the turns that the question needs, within the budget.

    Args:
        messages: the whole conversation, our messages or dicts in the format of a provider (see ``read_messages``);
            read, never changed. All positions are in this list.
        token_budget: tokens that the request may have; None: as in ``config``, like the next three.
        strategy: ``gate``, ``fill``, ``cache`` or ``window``; see ``HistoryConfig``.
        coverage: the share of what the answer needs that is to be sent, 0..1.
        keep_newest: newest turns that are sent whole whatever the question says.
        pinned: messages that are always sent: their positions, ids, or a function of one message. A message of the
            assistant or of a tool keeps its whole turn, where it fits.
        exclude: messages that are never sent, likewise; a past turn with such a message is dropped.
        config: the settings; only a ``ThreadSelector`` reads ``shadow``, ``max_threads`` and ``gatekeeper``.
        gatekeeper: the index of this conversation; it is updated to the past turns, so the next call indexes the new
            ones only. None: a new one.
        query: the question. None: the user text of the last turn. Otherwise the last turn is the current one if it
            contains this text; if not, all turns are past. Blank: all turns are past, and there is no question.
        fixed_tokens: tokens that the caller sends in addition, at least 0.
        state: ``state`` of the view before, ``ThreadState()`` at first. With it a run chooses its past once, and the
            bill is estimated. None: this is the first call.
        prices: of the model of this call; None: those of ``config``, else ``UNKNOWN``.
        now: the time in seconds, to tell whether a cache is cold; None: every cache counts as warm.
        embedder: a new one for the gatekeeper (``ContextGatekeeper.set_embedder``); the same one again changes nothing.
            None: the gatekeeper keeps its own, if any.

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
    _check_arguments(messages, gatekeeper, state)
    check_tokens("fixed_tokens", fixed_tokens)
    check_pins("pinned", pinned)
    check_pins("exclude", exclude)
    pinned, exclude = positions_of(messages, pinned), positions_of(messages, exclude)
    check_positions("pinned", pinned, len(messages))
    check_positions("exclude", exclude, len(messages))
    if embedder is not None:
        gatekeeper.set_embedder(embedder)

    def select(read: Sequence[Message], *, state: ThreadState | None, **places: Any) -> HistoryView:
        return select_past(
            read_history(read, query=query, **places),
            gatekeeper=gatekeeper,
            config=config,
            request=HistoryRequest(fixed_tokens=fixed_tokens, prices=prices),
            state=state,
            now=now,
        )

    if messages and isinstance(messages[0], Mapping):
        # Here, because builder and adapters never come with such a list.
        from gatekeeper_core.context.history.native import select_native

        return select_native(messages, select, pinned=pinned, exclude=exclude, state=state)  # type: ignore[arg-type]
    for at, message in enumerate(messages):
        if not isinstance(message, Message):
            raise TypeError(f"messages[{at}] must be a Message, got {type(message).__name__}")
    return select(cast("Sequence[Message]", messages), pinned=pinned, exclude=exclude, state=state)


def read_history(
    messages: Sequence[Message],
    *,
    query: str | None = None,
    notes: Collection[int] = (),
    pinned: Collection[int] = (),
    exclude: Collection[int] = (),
    all_past: bool = False,
    provider_messages: int = 0,
) -> History:
    """Return the parts of a conversation; arguments and errors as for :func:`select_history`.

    With ``all_past`` every turn is past, even if the last one holds the question: the caller asks it elsewhere. Without
    a query and a user message, everything counts as the current turn. ``notes`` are positions of user or system
    messages that are always sent, belong to no turn and do not count as questions. Nor does a summary of folded
    messages: it stays in its turn, or in the head before the first question; if it also covers rounds of the current
    turn, it is a note. The head begins with what the provider stores, ``provider_messages`` messages or its own
    compaction (see ``left_to_provider``). The current turn cannot be excluded.
    """
    messages = tuple(messages)
    left = left_to_provider(messages, held=provider_messages)
    notes = tuple(sorted({at for at in notes if at >= left.stop}))
    summaries = tuple(at for at in summaries_in(messages) if at >= left.stop)
    seen = as_said(messages, notes=notes, summaries=summaries, left=left.stop)
    question = "" if all_past else query  # no turn holds ""
    conversation = split_current_turn(seen, query=question)
    needed = summaries_needed(messages, summaries, conversation.current)
    if needed:
        notes = tuple(sorted({*notes, *needed}))
        seen = as_said(messages, notes=notes, summaries=summaries, left=left.stop)
        conversation = split_current_turn(seen, query=question)
    head, current = conversation.head, conversation.current
    if query is None and current is None and len(messages) > left.stop:
        head, current = tuple(range(left.stop)), Turn(messages[left.stop :], left.stop, len(messages))
    text = query if query is not None else current.user_text if current else ""
    inside = range(current.start, current.stop) if current else ()
    in_head, exclude = frozenset(head), frozenset(exclude)
    history = History(
        messages,
        seen,
        tuple(at for at in head if at < left.stop or at not in exclude),
        tuple(at for at in notes if at not in in_head and at not in inside),
        tuple(turn for turn in conversation.past if not any(at in exclude for at in range(turn.start, turn.stop))),
        current,
        text.strip(),
        summaries,
        left,
    )
    return with_pins(history, pinned)


def with_pins(history: History, pinned: Collection[int], *, trim: bool = True) -> History:
    """Return a conversation with further pins.

    A pinned user message brings the answer of its turn along, so that roles still alternate; without the rest of the
    turn the answer is cut to its beginning. A system message is sent alone, and any other one keeps its turn.

    Args:
        history: the conversation.
        pinned: positions.
        trim: whether answers may be cut.
    """
    pins, required = dict(history.pinned), {*history.required}
    for at in {*pinned}.difference(history.notes):
        number = history.turn_at(at)
        if number is None:
            continue
        turn, message = history.past[number], history.messages[at]
        if message.role in ("user", "system"):
            pins[at] = message
        else:
            required.add(number)
        last = history.messages[turn.stop - 1]
        if message.role == "user" and last.role == "assistant" and not last.tool_calls:
            pins[turn.stop - 1] = beginning_of(last) if trim else last
    return history._replace(pinned=tuple(sorted(pins.items())), required=tuple(sorted(required, reverse=True)))


def select_past(
    history: History,
    *,
    gatekeeper: ContextGatekeeper,
    config: HistoryConfig,
    request: HistoryRequest,
    state: ThreadState | None = None,
    opening: Any = None,
    now: float | None = None,
) -> HistoryView:
    """Return the view of a conversation from :func:`read_history`; the rest as for :func:`select_history`.

    ``request`` gives what is sent beside the messages; its question and positions are in ``history`` already.
    ``opening`` is the framework's object that opened the current turn.
    """
    with stage(PAST) as seen:
        budget = config.token_budget or budget_for_window(request.window_tokens)
        fixed_tokens = request.fixed_tokens + config.reserve_tokens
        has_tools = has_tool_calls(history.past)
        config = with_defaults(config, has_tools=has_tools)
        if state is None and config.strategy == "cache":
            state = ThreadState()
        policy = None
        if state is not None and config.strategy != "window":
            policy = PromptPolicy(
                prices=config.prices or request.prices or UNKNOWN,
                state=state.policy,
                now=now,
                is_thrifty=config.strategy != "cache",
            )
        before = state.view if state else None
        previous = before if state and state.is_same_run(history, opening) else None
        rest = (gatekeeper.token_counter, config.run, budget, fixed_tokens, policy.prices if policy else None)
        costs = Costs(history, *rest)
        if config.pin_instructions and config.strategy in ("gate", "fill"):
            pinned = _with_instructions(
                history, config, costs.room_at_start, gatekeeper.token_counter, in_an_agent=has_tools
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
            is_step = chosen is not None
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
                chosen = account.choose(chosen, is_step=is_step)
        except Exception as error:
            if config.on_error == "raise":
                raise
            costs.set_past([max(1, count_messages(t.messages, token_counter=costs.counter)) for t in history.past])
            newest = Choice(newest_turns(costs.past, budget_tokens=costs.room_at_start)[::-1], "fallback", "")
            chosen = (chosen or newest)._replace(status="fallback", reason=_where(error), selection=None)
        failed = {*range(before.turn_count + 1)}.difference(before.turns) if before else ()
        view = costs.view(chosen._replace(turns=without_loose_questions(chosen.turns, history, failed=failed)))
        if account:
            view = account.billed(view, previous)
        if state is not None:
            latest = None if view.status == "fallback" else history  # after a failure the next call starts from nothing
            view = view._replace(state=ThreadState(account.state if account else state.policy, latest, view, opening))
        seen.tell(view.facts)
    return view


def _with_instructions(
    history: History, config: HistoryConfig, room: int, counter: TokenCounter, *, in_an_agent: bool
) -> History:
    """Return a conversation with its instructions as pins, as far as they fit in their part of the room."""
    trim = config.gatekeeper is None or config.gatekeeper.trim
    most = room // _INSTRUCTIONS_PART
    for at in instructions_in(history.past, in_an_agent=in_an_agent):
        pinned = with_pins(history, [at], trim=trim)
        before = {place for place, _ in history.pinned}
        most -= sum(count_message(pin, token_counter=counter) for place, pin in pinned.pinned if place not in before)
        if most < 0:
            break
        history = pinned
    return history


def _chosen_before(view: HistoryView, history: History) -> Choice:
    past = history.past
    # Each step decides again whether anything fits.
    status = "selected" if view.status in ("nothing_fits", "over_budget") else view.status
    turns = tuple(turn for turn in view.turns if turn < len(past))
    cuts = tuple((at, message) for at, message in view.replaced if past and at < past[-1].stop)
    return Choice(turns, status, view.reason, view.selection, view.chosen_tokens, cuts, view.told)


def _check_arguments(messages: object, gatekeeper: object, state: object) -> None:
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence):
        wanted = "a list of messages or dicts, [] for a new conversation"
        raise TypeError(f"messages must be {wanted}, got {type(messages).__name__}")
    for name, value, kind in (("gatekeeper", gatekeeper, ContextGatekeeper), ("state", state, ThreadState | None)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be a {getattr(kind, '__name__', kind)}, got {type(value).__name__}")


def _where(error: Exception) -> str:
    """Return the type and the place of an error, without its message, which may hold text of the conversation."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = type(error).__name__
    if trace is None:
        return name
    file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f"{name} at {file}:{trace.tb_lineno}"
