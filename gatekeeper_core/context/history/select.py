"""Messages in, messages out: which messages of a conversation the model gets to read, as positions in the list.

::

    messages ──read_history──> head · pinned · past turns · current turn · query
                                          past turns ──sync──> gatekeeper
    query ──explain──> turns by value, cuts ──floor, limit──> HistoryView(kept positions, replaced, status, reason)

The head (system messages before the first user message) and the current turn are always sent; of the past, turns that
fit in what the budget leaves. The view holds positions; a long message of a past turn may be replaced by a copy that is
cut to the sentences that matter. Nothing of the caller's is changed.

The past is chosen with the room that there was when the current turn began, before the model called its first tool,
and only shrinks while that turn grows. So every step of a run, also one that another process resumes, chooses the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from gatekeeper_core.context.history.account import NOTHING_AROUND, Around, Costs, ThreadAccount
from gatekeeper_core.context.history.left import left_to_provider
from gatekeeper_core.context.history.modes import (
    Choice,
    History,
    HistoryConfig,
    budget_for_window,
    choose_past,
    without_loose_questions,
)
from gatekeeper_core.context.history.pins import as_said, checked_pins, summaries_in, summaries_needed
from gatekeeper_core.context.history.policy import PolicyState, PromptPolicy
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.context.history.window import newest_turns
from gatekeeper_core.events import PAST
from gatekeeper_core.messages import Message, Turn, split_current_turn
from gatekeeper_core.observation import stage
from gatekeeper_core.pricing.prices import UNKNOWN, ModelPrices
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.tokens import check_tokens, count_messages

if TYPE_CHECKING:
    from gatekeeper_core.embedding import Embedder
    from gatekeeper_core.encoder import TextEncoder

__all__ = ["policy_of", "read_history", "select_history", "select_past"]


def select_history(
    messages: Sequence[Message] | Sequence[Mapping[str, Any]],
    *,
    gatekeeper: ContextGatekeeper,
    config: HistoryConfig | None = None,
    query: str | None = None,
    fixed_tokens: int = 0,
    pinned: Collection[int] = (),
    window_from: int = 0,
    previous: HistoryView | None = None,
    earlier: HistoryView | None = None,
    state: PolicyState | None = None,
    prices: ModelPrices | None = None,
    now: float | None = None,
    embedder: Embedder | TextEncoder | None = None,
) -> HistoryView:
    """Return which messages to send: the turns that ``gatekeeper.explain(query)`` chooses for the rest of the budget.

    Args:
        messages: the whole conversation, our messages or dicts in the format of a provider (see ``read_messages``);
            read, never changed. All positions are in this list.
        gatekeeper: serves this conversation; its turns are made equal to the past turns.
        config: the settings; ``shadow``, ``max_threads`` and ``gatekeeper`` are those of a ``ThreadSelector`` alone.
        query: the question. None: the user text of the last turn. Otherwise the last turn is the current one when it
            holds this text whole; if not, all turns are past. Blank: all turns are past, and no question is known.
        fixed_tokens: what the caller sends besides, at least 0.
        pinned: positions of user or system messages that are always kept and are no question.
        window_from: in mode ``window`` the position of the first message that may be kept, at least 0.
        previous: the view of an earlier step of the same run: the past is not chosen again, it only shrinks.
        earlier: the view for the question before: its cuts are sent again where they hold all that matters and fit.
        state: what the policy remembers of the calls before: that of the view before, ``PolicyState()`` at first. None:
            what the question selects is sent, whatever a provider has cached: then ``posture="careful"`` means the same
            as ``"thrifty"``, for nothing is known to be cached.
        prices: of the model of this call; None: those of ``config``, else ``UNKNOWN``.
        now: the time in seconds, to tell whether a cache is cold; None: each is taken for warm.
        embedder: the gatekeeper's from now on (``ContextGatekeeper.set_embedder``): given again, it changes nothing.
            None: the gatekeeper keeps the one that it has, or has none.

    Raises:
        TypeError: an argument has the wrong type.
        ConfigError: a number is out of range, or a pinned position cannot be pinned.
        MessageFormatError: see ``read_messages``.

    >>> talk = [Message("system", "be brief"), Message("user", "The Redis port is 6380."), Message("assistant", "ok")]
    >>> talk += [Message("user", "New topic: bake bread?"), Message("assistant", "yes"), Message("user", "Redis port?")]
    >>> config = HistoryConfig(token_budget=100, passthrough_below=0)
    >>> select_history(talk, gatekeeper=ContextGatekeeper(), config=config).kept
    (0, 1, 2, 5)
    """
    config = HistoryConfig() if config is None else config
    _check_arguments(
        messages, gatekeeper, config, previous, earlier, fixed_tokens=fixed_tokens, window_from=window_from
    )

    if embedder is not None:
        gatekeeper.set_embedder(embedder)
    policy = None if state is None else policy_of(config, state, prices=prices, now=now)

    def select(read: Sequence[Message], pinned: Collection[int], **rest: Any) -> HistoryView:
        history = read_history(read, query=query, pinned=pinned)
        return select_past(history, gatekeeper=gatekeeper, config=config, policy=policy, **rest)

    rest: Any = {"fixed_tokens": fixed_tokens, "window_from": window_from, "previous": previous, "earlier": earlier}
    if messages and isinstance(messages[0], Mapping):
        # Here, because builder and adapters never come with such a list.
        from gatekeeper_core.context.history.native import select_native

        return select_native(messages, select, pinned=pinned, **rest)  # type: ignore[arg-type]
    return select(cast("Sequence[Message]", messages), pinned, **rest)


def read_history(
    messages: Sequence[Message],
    *,
    query: str | None = None,
    pinned: Collection[int] = (),
    all_past: bool = False,
    held: int = 0,
) -> History:
    """Return the parts of a conversation; arguments and errors as for :func:`select_history`.

    With ``all_past`` no turn is the current one, though the last one may hold the question: it is asked elsewhere.
    Without a query and a user message, everything counts as the current turn. A summary of folded messages is no
    question, though it has the user's role: it goes with the turn that it is in, before the first question with the
    head, and where it covers rounds of the current turn, too, it is pinned. What is left to the provider,
    ``held`` messages or its own compaction (see ``left_to_provider``), is the beginning of the head.
    """
    messages = tuple(messages)
    left = left_to_provider(messages, held=held)
    pins = tuple(at for at in checked_pins(messages, pinned) if at >= left.stop)
    summaries = tuple(at for at in summaries_in(messages) if at >= left.stop)
    seen = as_said(messages, pinned=pins, summaries=summaries, left=left.stop)
    asked = "" if all_past else query  # which no turn holds
    conversation = split_current_turn(seen, query=asked)
    needed = summaries_needed(messages, summaries, conversation.current)
    if needed:
        pins = tuple(sorted({*pins, *needed}))
        seen = as_said(messages, pinned=pins, summaries=summaries, left=left.stop)
        conversation = split_current_turn(seen, query=asked)
    head, current = conversation.head, conversation.current
    if query is None and current is None and len(messages) > left.stop:
        head, current = tuple(range(left.stop)), Turn(messages[left.stop :], left.stop, len(messages))
    text = query if query is not None else current.user_text if current else ""
    inside = range(current.start, current.stop) if current else ()
    in_head = frozenset(head)
    apart = tuple(at for at in pins if at not in in_head and at not in inside)
    return History(messages, seen, head, apart, conversation.past, current, text.strip(), summaries, left)


def select_past(
    history: History,
    *,
    gatekeeper: ContextGatekeeper,
    config: HistoryConfig,
    fixed_tokens: int = 0,
    window_from: int = 0,
    previous: HistoryView | None = None,
    earlier: HistoryView | None = None,
    window_tokens: int | None = None,
    policy: PromptPolicy | None = None,
    around: Around = NOTHING_AROUND,
    can_recall: bool = True,
) -> HistoryView:
    """Return the view of a conversation that :func:`read_history` has read; the rest as for :func:`select_history`.

    ``window_tokens`` is what the model reads at once, for a ``token_budget`` of None. A ``policy`` says what stays of
    what was sent before, ``around`` which of the fixed tokens do not always stand first and stay as they are, and
    ``can_recall`` whether the question may be sent in another form.
    """
    with stage(PAST) as seen:
        budget = config.token_budget or budget_for_window(window_tokens)
        fixed_tokens += config.reserve_tokens
        policy = None if config.mode == "window" else policy
        prices = policy.prices if policy else None
        costs = Costs(history, gatekeeper.token_counter, config.run, budget, fixed_tokens, prices)
        account = ThreadAccount(policy, costs, around, can_recall=can_recall) if policy else None
        chosen = _chosen_before(previous, history) if previous else None
        is_careful = account is not None and config.posture == "careful"
        try:
            gatekeeper.sync(history.past)
            costs.past = gatekeeper.turn_tokens
            if chosen is None:
                chosen = choose_past(
                    history,
                    gatekeeper,
                    costs.past,
                    config,
                    room=costs.room_at_start,
                    history_tokens=costs.tokens_at_start,
                    is_careful=is_careful,
                    window_from=window_from,
                    earlier=dict(earlier.replaced) if earlier and not is_careful else {},
                )
                if account:
                    chosen = account.choose(chosen)
        except Exception as error:
            if config.on_error == "raise":
                raise
            costs.past = [max(1, count_messages(t.messages, token_counter=costs.counter)) for t in history.past]
            newest = Choice(newest_turns(costs.past, budget_tokens=costs.room_at_start)[::-1], "fallback", "")
            chosen = (chosen or newest)._replace(status="fallback", reason=_where(error), selection=None)
        failed = {*range(earlier.turn_count + 1)}.difference(earlier.turns) if earlier else ()
        view = costs.view(chosen._replace(turns=without_loose_questions(chosen.turns, history, failed=failed)))
        if account:
            view = account.billed(view, previous)
        seen.tell(view.facts)
    return view


def policy_of(
    config: HistoryConfig, state: PolicyState, *, prices: ModelPrices | None, now: float | None
) -> PromptPolicy:
    """Return the policy of one call."""
    return PromptPolicy(
        prices=config.prices or prices or UNKNOWN,
        state=state,
        now=now,
        is_thrifty=config.posture == "thrifty",
        first_cut_at=config.passthrough_below,
    )


def _chosen_before(view: HistoryView, history: History) -> Choice:
    past = history.past
    # Whether anything fits is found out anew at each step.
    status = "selected" if view.status in ("nothing_fits", "over_budget") else view.status
    turns = tuple(turn for turn in view.turns if turn < len(past))
    cuts = tuple((at, message) for at, message in view.replaced if past and at < past[-1].stop)
    return Choice(turns, status, view.reason, view.selection, view.chosen_tokens, cuts, view.told)


def _check_arguments(
    messages: object, gatekeeper: object, config: object, previous: object, earlier: object, **numbers: object
) -> None:
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence):
        wanted = "a list of messages or dicts, [] for a new conversation"
        raise TypeError(f"messages must be {wanted}, got {type(messages).__name__}")
    for name, value, kind in (
        ("gatekeeper", gatekeeper, ContextGatekeeper),
        ("config", config, HistoryConfig),
        ("previous", previous, HistoryView | None),
        ("earlier", earlier, HistoryView | None),
    ):
        if not isinstance(value, kind):
            expected = getattr(kind, "__name__", kind)
            raise TypeError(f"{name} must be a {expected}, got {type(value).__name__}")
    for name, number in numbers.items():
        check_tokens(name, number)


def _where(error: Exception) -> str:
    """Return the type of an error and the place that raised it: no message, which may hold text of the conversation."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = type(error).__name__
    if trace is None:
        return name
    file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f"{name} at {file}:{trace.tb_lineno}"
