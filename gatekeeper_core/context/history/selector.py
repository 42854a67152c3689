"""One selector for the histories of many threads, in the message class of any framework.

What every adapter shares stands here: the translation is the adapter's, the rest (what is kept from call to call, when
a run goes on, what is reported) is not. All that is kept can be worked out again from the messages, so a thread that
was not used for long is forgotten, and a copy starts empty.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar, get_args

from gatekeeper_core.context.compaction.run import RunConfig
from gatekeeper_core.context.history.cache import RememberedThread, RememberedThreads
from gatekeeper_core.context.history.modes import HistoryMode
from gatekeeper_core.context.history.recall import NOTHING_EARLIER, RECALL_BUDGET_TOKENS, recall_turns
from gatekeeper_core.context.history.select import History, HistoryView, OnError, read_history, select_past
from gatekeeper_core.context.tool_results.thread_memories import thread_name
from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.events import HISTORY
from gatekeeper_core.messages import Message, Turn
from gatekeeper_core.observation import stage
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig
from gatekeeper_core.tokens import TokenCounter, cached_counter, check_tokens, count_messages

__all__ = ["PASSTHROUGH_BELOW", "HistoryConfig", "ThreadSelector", "budget_for_window"]

Item = TypeVar("Item")
Restore = Callable[[tuple[Turn, ...]], ContextGatekeeper | None]

PASSTHROUGH_BELOW = 500
"""Tokens from which on a history is long enough to choose from: a shorter one is sent whole.

Source: ours, ``python -m benchmarks.histories``: below 500 tokens it costs 8 tokens a question and finds 0.8 % more of
the needed turns; below 1,000 it costs 87, and six changes of topic in ten take an old turn along, not four.
"""

_ALARMING = ("over_budget", "fallback")
"""Statuses whose records are warnings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryConfig:
    """How the histories of threads are selected.

    Attributes:
        token_budget: what everything that is sent may cost, >= 1; None: what :func:`budget_for_window` gives for the
            model of the call. Source: specification (4,000).
        reserve_tokens: part of the budget kept free for what is sent besides and cannot be seen here, >= 0.
        floor_turns: newest turns kept on a switch of topic whatever the question says, >= 0. Source: specification,
            check 2: a new topic takes nothing of the old one along.
        passthrough_below: tokens up to which the whole history is sent, where it fits, >= 0. Source: see
            ``PASSTHROUGH_BELOW``.
        shadow: whether to report only: the caller sends what it would have sent without a selection.
        on_error: ``fallback`` sends the newest turns that fit when the selection fails; ``raise`` lets the error pass.
        max_bytes: what is remembered of all threads may take in memory, by an estimate from their texts, >= 0. Beyond
            it the threads that were not used for longest are forgotten; the one used last stays. Source: ours; a few
            thousand turns of everyday chat.
        run: how the current run of an agent gives way before the past does; None: it is sent as it is. A compressor
            that has one for each thread (``ThreadResultCompressor``) gets the name of the thread at hand, None where it
            has none.
        mode: how past turns are chosen, see ``select_history``. Source: design.
        trim: whether long messages of past turns are sent as copies that are cut to the sentences that matter, where
            the adapter can write messages. Source: specification 3.5.
        gatekeeper: settings of the selection itself, None for the defaults.
    """

    token_budget: int | None = 4000
    reserve_tokens: int = 0
    floor_turns: int = 0
    passthrough_below: int = PASSTHROUGH_BELOW
    shadow: bool = False
    on_error: OnError = "fallback"
    max_bytes: int = 64 * 2**20
    run: RunConfig | None = field(default_factory=RunConfig)
    mode: HistoryMode = "gated"
    trim: bool = True
    gatekeeper: GatekeeperConfig | None = None

    def __post_init__(self) -> None:
        if self.token_budget is not None:
            check_range(self, "token_budget", low=1, whole=True)
        check_range(self, "reserve_tokens", "floor_turns", "passthrough_below", "max_bytes", low=0, whole=True)
        for name in ("shadow", "trim"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"HistoryConfig.{name} must be a bool, got {type(getattr(self, name)).__name__}")
        if self.on_error not in ("fallback", "raise"):
            raise ConfigError(f'HistoryConfig.on_error must be "fallback" or "raise", got {self.on_error!r}')
        if not isinstance(self.run, RunConfig | None):
            raise TypeError(f"HistoryConfig.run must be a RunConfig, got {type(self.run).__name__}")
        if self.mode not in get_args(HistoryMode):
            raise ConfigError(f'HistoryConfig.mode must be "gated", "hybrid" or "window", got {self.mode!r}')
        if not isinstance(self.gatekeeper, GatekeeperConfig | None):
            got = type(self.gatekeeper).__name__
            raise TypeError(f"HistoryConfig.gatekeeper must be a GatekeeperConfig, got {got}")


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


class ThreadSelector(Generic[Item]):
    """Selects from the messages of a framework, and remembers per thread what it need not work out again.

    Safe to use from several threads; one conversation is served at a time, different ones side by side.

    Args:
        read: translates one message of the framework.
        write: gives a message of the framework that is sent in the place of another: the original, and what is to be
            said instead. Its id, name and other marks stay where the role is the same. None: every message is sent as
            it is.
        signs: gives for each message of a list a value that nothing can change, and that is equal to an earlier one
            only where the message reads the same: cheaper than to read it. None: each message is read at each call.
        config: the settings.
        token_counter: counts a text; None: ``TokenEstimator()``. Each text is counted once.

    Raises:
        TypeError: an argument has the wrong type.

    >>> selector = ThreadSelector(Message.from_dict, config=HistoryConfig(token_budget=50, passthrough_below=0))
    >>> selector.view([{"role": "user", "content": "hello"}], thread="t1").kept
    (0,)
    >>> selector.view_of("t1") is selector.last_view
    True
    """

    _threads: RememberedThreads[Item]
    _last_view: HistoryView | None

    def __init__(
        self,
        read: Callable[[Item], Message],
        *,
        write: Callable[[Item, Message], Item] | None = None,
        signs: Callable[[Sequence[Item]], list[object]] | None = None,
        config: HistoryConfig | None = None,
        token_counter: TokenCounter | None = None,
    ) -> None:
        if config is not None and not isinstance(config, HistoryConfig):
            raise TypeError(f"config must be a HistoryConfig, got {type(config).__name__}")
        if not callable(read):
            raise TypeError(f"read must be callable, got {type(read).__name__}")
        self._read = read
        self._write = write
        self._signs = signs
        self._config = config or HistoryConfig()
        self._count = cached_counter(token_counter)
        self._forget()

    @property
    def config(self) -> HistoryConfig:
        """The settings."""
        return self._config

    @property
    def last_view(self) -> HistoryView | None:
        """The view made last, whatever the thread; None before the first."""
        return self._last_view

    @property
    def estimated_bytes(self) -> int:
        """About what everything takes that is remembered of threads; see ``HistoryConfig.max_bytes``."""
        return self._threads.estimated_bytes

    def view_of(self, thread: Hashable) -> HistoryView | None:
        """Return the view made last for a thread, or None where the thread is unknown or forgotten."""
        state = self._threads.get(thread)
        return state.view if state else None

    def index_of(self, thread: Hashable) -> tuple[bytes, tuple[Turn, ...]] | None:
        """Return a snapshot of the index of a thread and the finished turns that are in it; None where none is known.

        A call for the same thread waits meanwhile.
        """
        state = self._threads.get(thread)
        if state is None:
            return None
        with state.lock:
            if state.gatekeeper is None or state.history is None:
                return None
            return state.gatekeeper.to_bytes(), state.history.past

    def recall(self, query: str, *, thread: Hashable, max_tokens: int = RECALL_BUDGET_TOKENS) -> str:
        """Return earlier turns of a thread that its last view does not show whole; see ``recall_earlier``.

        A thread that is unknown, was forgotten or has no name has none: ``NOTHING_EARLIER``. So it is in shadow mode,
        where everything is shown.
        """
        state = None if thread is None else self._threads.get(thread)
        if state is None or self._config.shadow:
            return NOTHING_EARLIER
        with state.lock:
            if state.gatekeeper is None or state.history is None:
                return NOTHING_EARLIER
            return recall_turns(query, state.history.past, state.gatekeeper, view=state.view, max_tokens=max_tokens)

    def count(self, *texts: str) -> int:
        """Return what texts cost together, in tokens: what an adapter sends besides the messages."""
        return sum(self._count(text) for text in texts if text)

    def cost(self, items: Iterable[Item]) -> int:
        """Return what messages of the framework cost, in tokens."""
        return count_messages(map(self._read, items), token_counter=self._count)

    def history_cost(self, items: Sequence[Item], *, thread: Hashable) -> int:
        """Return what the whole history of a thread costs, in tokens: only what is new in it is read and counted."""
        state = self._threads.of(thread)
        with state.lock:
            try:
                state.catch_up(items, read=self._read, signs=self._signs)
                tokens = sum(state.tokens_at(at, self._count) for at in range(len(state.messages)))
            except BaseException:
                self._threads.forget(thread, state)
                raise
        self._threads.settle(thread, state)
        return tokens

    def view(
        self,
        items: Sequence[Item],
        *,
        thread: Hashable = None,
        query: str | None = None,
        fixed_tokens: int = 0,
        token_budget: int | None = None,
        window_tokens: int | None = None,
        pinned: Collection[int] = (),
        window_from: int = 0,
        floor_turns: int | None = None,
        run: RunConfig | None = None,
        restore: Restore | None = None,
    ) -> HistoryView:
        """Return which of the messages to send; the arguments are those of ``select_history``.

        Args:
            items: the whole history, in the framework's own messages; read, never changed.
            thread: names the conversation; None takes its first user message for a name.
            query: the question, None where it is the last user message.
            fixed_tokens: what is sent besides; ``reserve_tokens`` comes on top.
            token_budget: another budget for this call.
            window_tokens: what the model of this call reads at once, None where that is not known; it counts where no
                budget is set.
            pinned: positions that are always kept.
            window_from: in mode ``window`` the position of the first message that may be kept.
            floor_turns: another number of them for this call.
            run: how the runs of this thread give way, from this call on; None: as before, at first as the settings say.
            restore: gives, where no index of the thread is remembered, one of the first of its finished turns, or None.

        Raises:
            ConfigError: a number is out of range.
            Exception: whatever reading a message raises; and a failed selection, where ``on_error`` is ``raise``.
        """
        check_tokens("fixed_tokens", fixed_tokens)
        floor_turns = self._config.floor_turns if floor_turns is None else floor_turns
        budget = self._config.token_budget if token_budget is None else token_budget
        budget = budget_for_window(window_tokens) if budget is None else budget
        key = thread if thread is not None else self._name_of(items)
        state = self._threads.of(key)
        named = None if isinstance(thread, tuple) else thread_name(thread)  # a builder names it by itself
        with stage(HISTORY, thread=named) as seen, state.lock:
            try:
                state.run = run or state.run or self._run_of(thread)
                window = (window_from, floor_turns)
                view = self._view(state, items, query, fixed_tokens, budget, tuple(pinned), window, restore)
            except BaseException:
                self._threads.forget(key, state)  # half a step would be remembered: the next call starts anew
                raise
            if view.status == "fallback":
                # What failed may have left it between two turns; the next call chooses anew.
                state.gatekeeper = state.history = None
            seen.tell(partial(self._facts, view), level="WARNING" if view.status in _ALARMING else "INFO")
        self._threads.settle(key, state)
        self._last_view = view
        return view

    def choose(self, items: Sequence[Item], **arguments: Any) -> list[Item]:
        """Return the messages to send; arguments as for :meth:`view`, result as for :meth:`kept`."""
        return self.kept(items, self.view(items, **arguments))

    def kept(self, items: Sequence[Item], view: HistoryView) -> list[Item]:
        """Return the messages of a view, as a new list; in shadow mode all of them.

        They are the caller's own objects, but for what the view replaces.
        """
        if self._config.shadow:
            return list(items)
        replaced = dict(view.replaced) if self._write else {}
        return [self._sent(items[at], replaced.get(at)) for at in view.kept]

    def _sent(self, item: Item, instead: Message | None) -> Item:
        return item if instead is None or self._write is None else self._write(item, instead)

    def _view(
        self,
        state: RememberedThread[Item],
        items: Sequence[Item],
        query: str | None,
        fixed_tokens: int,
        budget_tokens: int,
        pinned: tuple[int, ...],
        window: tuple[int, int],
        restore: Restore | None,
    ) -> HistoryView:
        before, made_for = state.history, (query, pinned, fixed_tokens, budget_tokens, window)
        window_from, floor_turns = window
        state.catch_up(items, read=self._read, signs=self._signs)
        if before and state.view and state.messages is before.messages and state.made_for == made_for:
            return state.view  # it is a function of these
        history = read_history(state.messages, query=query, pinned=pinned, before=before)
        if before and before.past == history.past:
            history = history._replace(past=before.past)
        opening = items[history.current.start] if history.current else None
        if state.gatekeeper is None and restore:
            state.gatekeeper = restore(history.past)
        if state.gatekeeper is None:  # each call brings its budget along
            state.gatekeeper = ContextGatekeeper(config=self._config.gatekeeper, token_counter=self._count)
        view = select_past(
            history,
            gatekeeper=state.gatekeeper,
            budget_tokens=budget_tokens,
            fixed_tokens=fixed_tokens + self._config.reserve_tokens,
            floor_turns=floor_turns,
            passthrough_below=self._config.passthrough_below,
            previous=state.view if _same_run(state, history, opening) else None,
            on_error=self._config.on_error,
            run=state.run,
            mode=self._config.mode,
            window_from=window_from,
            trim=self._config.trim and self._write is not None,
            earlier=state.view,
            message_tokens=partial(state.tokens_at, counter=self._count),
        )
        state.history, state.opening, state.view, state.made_for = history, opening, view, made_for
        return view

    def _run_of(self, thread: Hashable) -> RunConfig | None:
        """Return how the runs of a thread give way, with a compressor of its own where there is one for each thread."""
        run = self._config.run if self._write else None
        return run.for_thread(thread_name(thread)) if run else None

    def _name_of(self, items: Sequence[Item]) -> Hashable:
        """Return a name for a conversation that has none, so that two of them do not undo each other's index."""
        for item in items:
            message = self._read(item)
            if message.role == "user":
                return ("first message", hash(message.text))
        return None

    def _facts(self, view: HistoryView) -> dict[str, Any]:
        return {**view.facts(), "shadow": self._config.shadow}

    # --- copies -----------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        self._threads = RememberedThreads(max_bytes=self._config.max_bytes)
        self._last_view = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings alone: a copy works out the rest by itself."""
        return {name: getattr(self, name) for name in ("_read", "_write", "_signs", "_config", "_count")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the settings, and start without any thread."""
        self.__dict__.update(state)
        self._forget()


def _same_run(state: RememberedThread[Item], history: History, opening: Item | None) -> bool:
    """Return whether the model is still at work on the current turn of the call before.

    Some agents write their state around the text of the user's message, in place: then the object is the same, and it
    holds the question of before.
    """
    before = state.history
    if before is None or before.current is None or history.current is None or before.past != history.past:
        return False
    if len(history.current.messages) < len(before.current.messages):
        return False  # a run only grows: this one was taken back to try again
    asked, was_asked = history.current.user_text, before.current.user_text
    wrapped = opening is not None and opening is state.opening and before.query != "" and before.query in asked
    return asked == was_asked or wrapped
