"""One selector for the histories of many threads, in the message class of any framework.

Adapters translate the messages; the selector keeps state between calls, detects that a run continues, and reports.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from itertools import groupby
from typing import Any, Generic, TypeVar

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.pins import Pins, check_pins, positions_of
from gatekeeper_core.context.history.reading import read_history
from gatekeeper_core.context.history.recall import NOTHING_EARLIER, RECALL_BUDGET_TOKENS, recall_turns
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.select import select_past
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.view import HistoryView, ThreadState
from gatekeeper_core.context.tool_results.context import ThreadCompressor
from gatekeeper_core.embedding import Embedder
from gatekeeper_core.encoder import TextEncoder, encoder_of
from gatekeeper_core.errors import check_type
from gatekeeper_core.events import CHEAPER, HISTORY, LEFT_OUT, NO_ROOM, STATE_LOST, USAGE, WINDOW_UNKNOWN, Event, Level
from gatekeeper_core.messages import Message, thread_name
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.pricing.cache import MOST, WORTH_A_LINE
from gatekeeper_core.pricing.policy import PolicyState, PromptPolicy
from gatekeeper_core.pricing.prices import UNKNOWN
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.storage.base import RecordStore
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter, count_messages

Item = TypeVar("Item")

POLICY_KIND = "prompt_policy"
"""The kind of the record that stores a thread's policy state."""

_ALARMING = ("over_budget", "fallback")
"""Statuses that are logged as warnings."""

_COMPARED_QUESTIONS = 20
"""Questions of a thread before strategies are compared. Source: ours; fewer predict little."""

_NAMELESS = 16
"""Unnamed conversations with the same opening that may run in parallel. Source: ours."""

_SETTINGS = "_read _write config _count _budget_setting _clock _states _encoder _pinned _exclude"
"""The attributes that a copy keeps."""


class ThreadEntry:
    """One thread of a selector. Hold the lock for the length of a call.

    Attributes:
        lock: one call at a time.
        messages: the messages of the last call.
        gatekeeper: the index over the past turns, None before the first selection.
        last: the state after the last call.
        before: the state before it, restored if its view was not sent.
        inputs: what the last view depends on besides the messages: request, pins, budget.
        prices: of the model that was called last.
        reported: events already reported, of those reported once per thread.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.messages: tuple[Message, ...] = ()
        self.gatekeeper: ContextGatekeeper | None = None
        self.last = self.before = ThreadState()
        self.inputs: tuple[object, ...] = ()
        self.prices = UNKNOWN
        self.reported: set[Event] = set()

    def is_beginning_of(self, messages: tuple[Message, ...]) -> bool:
        """Return whether these messages begin with those of the last call."""
        return bool(self.messages) and messages[: len(self.messages)] == self.messages


class ThreadSelector(Generic[Item]):
    """A selector for the messages of a framework, with an index and a state per thread.

    Thread-safe; calls of one conversation wait for each other. A forked child has only the settings, like a copy.

    Args:
        read: translates one message of the framework.
        write: returns the framework message to send, from the original and its new form. It should keep id, name and
            other marks if the role is the same. None: every message is sent unchanged.
        config: the settings.
        token_counter: counts a text; None: ``TokenEstimator()``. Each text is counted once.
        budget_setting: the caller's name for the budget, for a one-time warning if the budget has no room for any turn,
            or is a guess because the model's window is unknown. None: no warning.
        clock: returns the time in seconds, to detect that a provider's cache is cold.
        states: stores the policy state of named threads, so that another process continues with the same prompt. If it
            fails, a warning is logged and, as with None, the state stays in this object.
        embedder: returns vectors of texts, to find turns that share no word with the question; selectors may share a
            ``TextEncoder``. A long new history is embedded over several calls, newest first. Without vectors, words
            decide.
        pinned: messages that are always sent; see ``select_history``. A position beyond the end of a list is ignored.
        exclude: messages that are never sent, given the same way.

    Attributes:
        config: the settings; without ``write`` no message is cut and no run is compacted.
        last_view: the latest view of any thread; None before the first.

    Raises:
        TypeError: an argument has the wrong type.

    >>> selector = ThreadSelector(Message.from_dict, config=HistoryConfig(token_budget=50, passthrough_below=0))
    >>> selector.view([{"role": "user", "content": "hello"}], thread="t1").kept
    (0,)
    >>> selector.view_of("t1") is selector.last_view
    True
    """

    def __init__(
        self,
        read: Callable[[Item], Message],
        *,
        write: Callable[[Item, Message], Item] | None = None,
        config: HistoryConfig | None = None,
        token_counter: TokenCounter | None = None,
        budget_setting: str | None = "HistoryConfig.token_budget",
        clock: Callable[[], float] = time.time,
        states: RecordStore | None = None,
        embedder: Embedder | TextEncoder | None = None,
        pinned: Pins = (),
        exclude: Pins = (),
    ) -> None:
        check_type("config", config, HistoryConfig, None)
        check_pins("pinned", pinned)
        check_pins("exclude", exclude)
        if not callable(read):
            raise TypeError(f"read must be callable, got {type(read).__name__}")
        self._read = read
        self._write = write
        config = config or HistoryConfig()
        if write is None:  # no message can be sent in another form
            config = replace(config, run=None, gatekeeper=replace(config.gatekeeper or GatekeeperConfig(), trim=False))
        self.config = config
        self._count = checked_counter(token_counter)
        self._budget_setting = budget_setting
        self._clock = clock
        self._pinned, self._exclude = pinned, exclude
        self._states = states
        self._encoder = encoder_of(embedder)
        self._forget()

    def _forget(self) -> None:
        self._entries: LruCache[tuple[str, Hashable], ThreadEntry] = LruCache(max_entries=self.config.max_threads)
        self.last_view: HistoryView | None = None
        self._warned: frozenset[Event] = frozenset()
        self._nameless = 0
        self._process = os.getpid()

    def view_of(self, thread: Hashable, *, tenant: str = "default") -> HistoryView | None:
        """Return the latest view of a thread, None for an unknown thread."""
        state = self._threads.peek((tenant, thread))
        return state.last.view if state else None

    def policy_of(self, thread: Hashable, *, tenant: str = "default") -> PolicyState | None:
        """Return the policy's state of a thread, None for an unknown thread."""
        state = self._threads.peek((tenant, thread))
        return state.last.policy if state else None

    def recall(
        self, query: str, *, thread: Hashable, tenant: str = "default", max_tokens: int = RECALL_BUDGET_TOKENS
    ) -> str:
        """Return earlier turns of a thread that its last view does not show whole; see ``recall_earlier``.

        ``NOTHING_EARLIER`` for a thread that is unknown or has no name, and in shadow mode, which sends everything.
        """
        state = None if thread is None else self._threads.peek((tenant, thread))
        if state is None or self.config.shadow:
            return NOTHING_EARLIER
        with state.lock:
            last = state.last
            if state.gatekeeper is None or last.history is None:
                return NOTHING_EARLIER
            return recall_turns(query, last.history.past, state.gatekeeper, view=last.view, max_tokens=max_tokens)

    def count(self, *texts: str) -> int:
        """Return the tokens of texts that an adapter sends beside the messages."""
        return sum(self._count(text) for text in texts if text)

    def cost(self, items: Iterable[Item]) -> int:
        """Return the tokens of messages of the framework."""
        return count_messages(map(self._read, items), token_counter=self._count)

    def view(
        self,
        items: Sequence[Item],
        request: HistoryRequest | None = None,
        *,
        thread: Hashable = None,
        tenant: str = "default",
        config: HistoryConfig | None = None,
        stored: PolicyState | None = None,
        again: bool = False,
    ) -> HistoryView:
        """Return the view with the messages to send; see ``select_history``.

        Args:
            items: the whole history, in the framework's own messages; read, never changed.
            request: the question, and what is sent beside the messages.
            thread: name of the conversation. None: the unnamed one whose earlier messages these begin with.
            tenant: of the thread: threads of two tenants share nothing, even under the same name.
            config: other settings for this call; None: those of the selector, with the name of the thread.
            stored: policy state from elsewhere; the thread continues from it if it is newer.
            again: whether the last view of the thread was not sent, and this one replaces it.

        Raises:
            ConfigError: a number is out of range.
            Exception: whatever ``read`` raises, or a failed selection if ``on_error`` is ``raise``.
        """
        request = request or HistoryRequest()
        with stage(HISTORY, thread=thread_name(thread)) as seen:
            messages = tuple(map(self._read, items))
            key = (tenant, self.name_of(messages, tenant=tenant) if thread is None else thread)
            run = self.config.run
            if run and run.compress_result:  # with the name of the thread
                named = ThreadCompressor(run.compress_result, thread_name(thread), tenant)
                run = replace(run, compress_result=named)
            config = config or replace(self.config, run=run)
            state = self._threads.get_or_put(key, ThreadEntry)
            with state.lock:
                try:
                    state.prices = config.prices or request.prices or UNKNOWN
                    can_recall = request.can_recall and self._write is not None
                    call = replace(request, prices=state.prices, notes=tuple(request.notes), can_recall=can_recall)
                    if thread is None and not state.is_beginning_of(messages):  # another conversation had the name
                        state.last = ThreadState()
                        state.reported.discard(LEFT_OUT)
                    with self._shared(thread, tenant, state):
                        if again:
                            state.last, state.inputs = state.before, ()
                        if stored is not None and stored.is_after(state.last.policy):
                            state.last = state.last._replace(policy=stored)
                        view = self._view(state, items, messages, config, call)
                except BaseException:
                    # The state may be half updated: the next call starts from scratch.
                    self._threads.discard(key, state)
                    raise
                self._report_once(view, state, config, is_guess=not (config.token_budget or request.window_tokens))
                level: Level = "WARNING" if view.status in _ALARMING else "INFO"
                seen.tell(lambda: {**view.facts(), "shadow": self.config.shadow}, level=level)
        self.last_view = view
        return view

    def report(
        self, usage: Usage, *, thread: Hashable = None, tenant: str = "default", items: Sequence[Item] = ()
    ) -> None:
        """Correct a thread's account with the usage of its last call; unknown threads and shadow mode are ignored.

        ``items`` identify a thread without a name, as in :meth:`view`.
        """
        name = self.name_of(tuple(map(self._read, items)), tenant=tenant) if thread is None else thread
        state = self._threads.peek((tenant, name))
        if state is None or self.config.shadow:
            return
        with state.lock, self._shared(thread, tenant, state):
            policy = PromptPolicy(prices=state.prices, state=state.last.policy)
            state.last = state.last._replace(policy=policy.corrected(usage))
            tell(
                USAGE,
                input_tokens=usage.input_tokens,
                cached_tokens=usage.cached_tokens,
                cache_written_tokens=usage.cache_written_tokens,
                output_tokens=usage.output_tokens,
                dollars=state.prices.dollars(usage),
            )

    def name_of(self, messages: tuple[Message, ...], *, tenant: str = "default") -> Hashable:
        """Return a name for an unnamed conversation: that of the one that these messages continue, or a new one."""
        opening = next((message.text for message in messages if message.role == "user"), None)
        free = None
        for number in range(_NAMELESS):
            name = ("nameless", hash(opening), number)
            state = self._threads.peek((tenant, name))
            if state is None:
                free = free or name
            elif state.is_beginning_of(messages):
                return name
        if free is None:
            self._nameless = (self._nameless + 1) % _NAMELESS
            free = ("nameless", hash(opening), self._nameless)
        return free

    def choose(self, items: Sequence[Item], request: HistoryRequest | None = None, **arguments: Any) -> list[Item]:
        """Return the messages to send; arguments as for :meth:`view`, result as for :meth:`kept`."""
        return self.kept(items, self.view(items, request, **arguments))

    def kept(self, items: Sequence[Item], view: HistoryView) -> list[Item]:
        """Return the messages of a view, in shadow mode all of them: the caller's own, except those replaced."""
        if self.config.shadow:
            return list(items)
        write, replaced = self._write, dict(view.replaced)
        return [write(items[at], replaced[at]) if write and at in replaced else items[at] for at in view.kept]

    def _view(
        self,
        state: ThreadEntry,
        items: Sequence[Item],
        messages: tuple[Message, ...],
        config: HistoryConfig,
        request: HistoryRequest,
    ) -> HistoryView:
        check_tokens("fixed_tokens", request.fixed_tokens)
        pinned = tuple(at for at in positions_of(items, self._pinned) if at < len(items))
        exclude = positions_of(items, self._exclude)
        state.messages, last = messages, state.last
        inputs = (replace(request, prices=None), pinned, exclude, config.token_budget, config.keep_newest)
        if last.view and last.history and last.history.messages == messages and state.inputs == inputs:
            return last.view
        history = read_history(messages, request, pinned=pinned, exclude=exclude)
        if state.gatekeeper is None:  # each call passes its own budget
            state.gatekeeper = ContextGatekeeper(
                config=self.config.gatekeeper, token_counter=self._count, embedder=self._encoder
            )
        view = select_past(
            history,
            gatekeeper=state.gatekeeper,
            config=config,
            request=request,
            state=last.at(self._clock()),
            opening=items[history.current.start] if history.current else None,
        )
        state.before, state.last, state.inputs = last, view.state or last, inputs
        if view.status == "fallback":  # the index may contain half a turn
            state.gatekeeper = None
        return state.last.view or view

    @contextmanager
    def _shared(self, thread: Hashable, tenant: str, state: ThreadEntry) -> Iterator[None]:
        """Load the policy state before a call, and store it afterwards.

        If two workers write at once, one loses: its prompt is still valid, and the next call pays for it.
        """
        name = thread_name(thread)
        if self._states is None or name is None:
            yield
            return
        version = 0
        try:
            record = self._states.load_record(tenant, name, POLICY_KIND)
            if record is not None:
                version = record.version  # also of an unreadable one: it is overwritten
                state.last = state.last._replace(policy=PolicyState.from_dict(json.loads(record.body)))
        except Exception as error:  # noqa: BLE001 - the user's store: its failure must not fail the call
            tell(STATE_LOST, error=type(error).__name__)
        before = state.last.policy
        yield
        if state.last.policy == before:
            return
        body = json.dumps(state.last.policy.to_dict())
        try:
            self._states.save_record(tenant, name, POLICY_KIND, body, upto_seq=-1, expected_version=version)
        except Exception as error:  # noqa: BLE001 - as above
            tell(STATE_LOST, error=type(error).__name__)

    def _report_once(self, view: HistoryView, state: ThreadEntry, config: HistoryConfig, *, is_guess: bool) -> None:
        """Report events that occur once per selector (the budget is a guess or too small) or once per thread."""
        setting, budget = self._budget_setting, view.budget_tokens
        if setting and is_guess and WINDOW_UNKNOWN not in self._warned:
            self._warned |= {WINDOW_UNKNOWN}
            tell(WINDOW_UNKNOWN, setting=setting, budget_tokens=budget)
        if setting and NO_ROOM not in self._warned:
            history = state.last.history
            head = [history.messages[at] for at in history.head if at >= history.provider_free] if history else []
            needed = view.fixed_tokens + count_messages(head, token_counter=self._count)
            if 0 < needed >= budget_within(self._count, budget):
                self._warned |= {NO_ROOM}
                tell(NO_ROOM, setting=setting, needed_tokens=needed, budget_tokens=budget)
        if view.left_out and LEFT_OUT not in state.reported and not self.config.shadow:
            state.reported.add(LEFT_OUT)
            spans = []
            for _, span in groupby(enumerate(view.left_out), key=lambda pair: pair[1] - pair[0]):
                ids = [turn for _, turn in span]
                spans.append(f"{ids[0]}-{ids[-1]}" if ids[1:] else str(ids[0]))
            tell(
                LEFT_OUT,
                turns_left_out=len(view.left_out),
                turn_count=view.turn_count,
                left_out=", ".join(spans),
                cause=view.cause,
            )
        ledger = state.last.policy.ledger
        is_known = view.bill is not None and state.prices != UNKNOWN and ledger.questions >= _COMPARED_QUESTIONS
        if is_known and CHEAPER not in state.reported:
            is_cache = config.strategy == "cache"
            cheaper, dollars = ("gate", ledger.gate_paid) if is_cache else ("cache", MOST * ledger.everything_paid)
            if dollars < (1 - WORTH_A_LINE) * ledger.paid:
                state.reported.add(CHEAPER)
                paid, dollars = round(ledger.paid, 4), round(dollars, 4)
                tell(CHEAPER, strategy=config.strategy, cheaper=cheaper, cheaper_dollars=dollars, paid_dollars=paid)

    # --- copies -----------------------------------------------------------------------------------------------------

    @property
    def _threads(self) -> LruCache[tuple[str, Hashable], ThreadEntry]:
        if self._process != os.getpid():  # a lock that was taken at the fork is never released
            self._forget()
        return self._entries

    def __deepcopy__(self, memo: dict[int, Any]) -> ThreadSelector[Item]:
        """Return a copy that shares the store, whose connections cannot be copied."""
        memo[id(self._states)] = self._states
        copy = memo[id(self)] = object.__new__(type(self))
        copy.__setstate__(deepcopy(self.__getstate__(), memo))
        return copy

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _SETTINGS.split()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()
