"""The running summary of a conversation: topics, decisions, preferences and details from before the window.

::

    messages: [ covered by the summary ][ not yet covered ][ open turn ]
              ╰──── 0 .. upto_seq ────╯ ╰─ 10 messages or 3,000 tokens: read once, merged, bounded ─╯

The summary consists of verbatim sentences. A model may write a better one, only in :meth:`ThreadSummary.run_model`. A
failing store or model raises nothing: see :class:`SummaryUpdate`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from threading import TIMEOUT_MAX, Lock
from typing import Any, Literal, NamedTuple
from weakref import WeakValueDictionary

from gatekeeper_core.context.history.rounds import check_locale
from gatekeeper_core.context.history.summarizer import (
    MAX_MODEL_INPUT_TOKENS,
    PlainSummarizer,
    Summarizer,
    ask,
    check_summarizer,
    readable,
)
from gatekeeper_core.context.memory.summary_record import Summary, fit_summary, merged
from gatekeeper_core.context.memory.summary_sentences import CONTEXT_TURNS, read_turns, spoken_text
from gatekeeper_core.context.memory.support import unsupported
from gatekeeper_core.context.memory.thread import WRITE_ATTEMPTS, Thread
from gatekeeper_core.errors import ConflictError, CorruptionError, check_range, check_type
from gatekeeper_core.events import SUMMARY, SUMMARY_MODEL, Event
from gatekeeper_core.messages import Message, conversation_locale, group_turns, is_answered, turn_role, turn_starts
from gatekeeper_core.observation import stage
from gatekeeper_core.storage.base import RecordStore
from gatekeeper_core.text import Locale
from gatekeeper_core.token_estimate import budget_within
from gatekeeper_core.tokens import TokenCounter, check_tokens, checked_counter, count_message, count_messages

_KIND = "summary"
_MAX_MESSAGES = 1000  # of one update, in whole turns and at least one; one to three seconds. Source: ours
_TURNS_AT_ONCE = 50  # merged at a time, to bound the memory that a long conversation needs
_MAX_CHECKPOINTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryConfig:
    """Settings for when a summary is updated and how long it may be.

    Attributes:
        message_threshold: uncovered messages that make an update due, >= 1. Source: specification 004-29.
        token_compaction_threshold: uncovered tokens that do, >= 1; None: never. Source: specification 004-29, 004-46.
        max_summary_tokens: >= 1. Source: the smaller of the specification's share of 4,800 and 1,000, which is ours.
    """

    message_threshold: int = 10
    token_compaction_threshold: int | None = 3000
    max_summary_tokens: int = 1000

    def __post_init__(self) -> None:
        optional = ["token_compaction_threshold"] * (self.token_compaction_threshold is not None)
        check_range(self, "message_threshold", "max_summary_tokens", *optional, low=1, integer=True)


class SummaryUpdate(NamedTuple):
    """The result of an update.

    Attributes:
        summary: the current summary of the conversation, if there is one.
        status: ``none`` (no summary, none due), ``current`` (none due), ``updated``, ``rebuilt`` (it was damaged or its
            messages changed), ``busy`` (another caller is updating), ``unsaved`` (made, but not stored), ``failed``.
        reason: ``damaged``, ``changed``, ``conflict``, ``empty``, ``not_text``, ``too_long``, ``unsupported``,
            ``error: <type>`` or "".
        unsupported: names and figures in a model's text that no message contains.
    """

    summary: Summary | None
    status: Literal["none", "current", "updated", "rebuilt", "busy", "unsaved", "failed"]
    reason: str = ""
    unsupported: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether the store or the model failed."""
        return self.status in ("failed", "unsaved")

    def facts(self) -> dict[str, Any]:
        """Return flat JSON-ready facts for logs and events: counts and fixed words, never text."""
        return {
            "status": self.status,
            "reason": self.reason,
            "covered_messages": self.summary.covered_messages if self.summary else 0,
            "tokens": self.summary.tokens if self.summary else 0,
        }


class ThreadSummary:
    """The summaries of conversations in a store, which processes may share. Thread-safe; each has one update at a time.

    Args:
        store: keeps the records.
        config: the settings.
        token_counter: counts a text; None: ``TokenEstimator()``.
        summarizer: writes a better summary, see :meth:`run_model`; None: sentences only.
        locale: language of the headings, ``zh`` or ``en``; None: that of the thread, by its first user message.

    >>> from gatekeeper_core.messages import Message
    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> thread = Thread("t1", [Message("user", "Let's go with Redis."), Message("assistant", "Good.")])
    >>> print(ThreadSummary(InMemoryStore()).update(thread).summary.text)
    Important decisions:
    - Let's go with Redis.
    """

    def __init__(
        self,
        store: RecordStore,
        *,
        config: SummaryConfig | None = None,
        token_counter: TokenCounter | None = None,
        summarizer: Summarizer | PlainSummarizer | None = None,
        locale: Locale | None = None,
    ) -> None:
        check_locale("locale", locale)
        check_type("config", config, SummaryConfig, None)
        check_summarizer(summarizer)
        self.config = config or SummaryConfig()
        self._store = store
        self._counter = checked_counter(token_counter)
        self._summarizer, self._locale = summarizer, locale
        self._lock = Lock()
        self._running: WeakValueDictionary[tuple[str, str, str, int], Lock] = WeakValueDictionary()

    def get(self, thread: Thread) -> Summary | None:
        """Return the stored summary; None without one, if the store fails, or if the covered messages have changed."""
        return self._load(thread)[0]

    def update_if_needed(
        self, thread: Thread, *, before_seq: int | None = None, wait_seconds: float = 0.0
    ) -> SummaryUpdate:
        """Bring the summary up to date if enough was said since the last update, without a model.

        An update is due at ``message_threshold`` messages or ``token_compaction_threshold`` tokens of finished turns
        that are not covered yet. It covers whole turns, and no message from ``before_seq`` on, which the window shows.
        If another caller is updating this conversation, wait up to ``wait_seconds``, then return what is stored.

        Raises:
            ConfigError: ``before_seq`` is negative.
        """
        work = partial(self._by_sentences, thread, before_seq, only_if_due=True)
        return self._exclusively(SUMMARY, thread, partial(_repeated, work), wait_seconds)

    def update(self, thread: Thread, *, before_seq: int | None = None, wait_seconds: float = 0.0) -> SummaryUpdate:
        """Bring the summary up to date if there is anything new; otherwise as :meth:`update_if_needed`."""
        work = partial(self._by_sentences, thread, before_seq, only_if_due=False)
        return self._exclusively(SUMMARY, thread, partial(_repeated, work), wait_seconds)

    def model_due(self, thread: Thread) -> bool:
        """Return whether there is a summarizer, and the summary covers messages that it has not seen."""
        summary = self.get(thread) if self._summarizer else None
        return summary is not None and summary.model_upto_seq < summary.upto_seq

    def run_model(self, thread: Thread) -> SummaryUpdate:
        """Let the summarizer rewrite the summary, then check and store it; blocks, so run it in your own thread.

        The summary stays unchanged if the model raises, returns nothing or too much, or invents a name or a number.
        """
        return self._exclusively(SUMMARY_MODEL, thread, partial(self._by_model, thread))

    # --- One update ---------------------------------------------------------------------------------------------------

    def _exclusively(
        self, event: Event, thread: Thread, work: Callable[[], SummaryUpdate], wait_seconds: float = 0.0
    ) -> SummaryUpdate:
        check_type("thread", thread, Thread)
        with self._lock:  # by process: an update that was under way at a fork never ends in the child
            running = self._running.setdefault((thread.tenant, thread.id, event.key, os.getpid()), Lock())
        with stage(event, thread=thread.id) as seen:
            if running.acquire(timeout=min(max(0.0, wait_seconds), TIMEOUT_MAX)):
                try:
                    update = work()
                finally:
                    running.release()
            else:
                update = SummaryUpdate(self.get(thread), "busy")
            seen.tell(update.facts, level="WARNING" if update.has_failed else None)
        return update

    def _by_sentences(self, thread: Thread, before_seq: int | None, *, only_if_due: bool) -> SummaryUpdate:
        check_tokens("before_seq", 0 if before_seq is None else before_seq)
        # Up to the end of the last finished turn that ends before the message.
        starts, count = turn_starts([turn_role(message) for message in thread.messages]), len(thread.messages)
        stops = [*starts[1:], count] if starts and is_answered(thread.messages) else starts[1:]
        stop = max((stop for stop in stops if before_seq is None or stop <= before_seq), default=0)
        old, version, flaw = self._load(thread)
        if version < 0:
            return SummaryUpdate(None, "failed", flaw)
        start, most = old.upto_seq + 1 if old else 0, self.config.token_compaction_threshold
        new = [message for message in thread.messages[start:stop] if message.role != "system"]
        is_due = not only_if_due or len(new) >= self.config.message_threshold
        is_due = is_due or (most is not None and count_messages(new, token_counter=self._counter) >= most)
        if stop <= start or not is_due:
            return SummaryUpdate(old, "current" if old else "none", flaw)
        summary = self._extended(thread, old, stop)
        return self._save(thread, summary, version, flaw, unsaved=summary)

    def _extended(self, thread: Thread, old: Summary | None, stop: int) -> Summary:
        summary = old or Summary(locale=self._locale or conversation_locale(thread.messages))
        from_seq = summary.upto_seq + 1
        turns = group_turns(thread.messages[:stop])
        first = next(at for at, turn in enumerate(turns) if turn.stop > from_seq)
        limit = max(turns[first].stop, from_seq + _MAX_MESSAGES)
        turns = tuple(turn for turn in turns if turn.stop <= limit)
        stop = turns[-1].stop
        for at in range(first, len(turns), _TURNS_AT_ONCE):
            new = turns[max(0, at - CONTEXT_TURNS) : at + _TURNS_AT_ONCE]
            items = read_turns(new, from_seq=max(from_seq, turns[at].start))
            texts = filter(None, map(spoken_text, thread.messages[summary.upto_seq + 1 : new[-1].stop]))
            summary = replace(
                summary,
                items=merged(summary.items, items),
                upto_seq=new[-1].stop - 1,
                covered_tokens=summary.covered_tokens + sum(map(self._counter, texts)),
            )
            summary = self._fitted(summary)
        return replace(
            summary,
            covered_messages=sum(message.role != "system" for message in thread.messages[:stop]),
            checkpoints=(*summary.checkpoints, *thread.digests([stop - 1]).items())[-_MAX_CHECKPOINTS:],
        )

    def _fitted(self, summary: Summary) -> Summary:
        return fit_summary(summary, self.config.max_summary_tokens, token_counter=self._counter)

    def _by_model(self, thread: Thread) -> SummaryUpdate:
        read, count = self.get(thread), self._counter
        if self._summarizer is None or read is None or read.model_upto_seq >= read.upto_seq:
            return SummaryUpdate(read, "current" if read else "none")
        # The model reads the messages since its last text, or the newest that fit (at least one) and the sentences of
        # the summary in place of the others.
        messages = thread.messages[read.model_upto_seq + 1 : read.upto_seq + 1]
        new = [Message(each.role, text, name=each.name) for each in messages if (text := spoken_text(each)).strip()]
        costs = accumulate(count_message(message, token_counter=count) for message in reversed(new))
        start = max(0, len(new) - max(1, sum(cost <= MAX_MODEL_INPUT_TOKENS for cost in costs)))
        previous = read.text if start else read.model_text
        fitting = readable(new[start:], MAX_MODEL_INPUT_TOKENS, token_counter=count, locale=read.locale)
        # A text that is too long or unsupported is refused, never cut.
        max_tokens, inventions = budget_within(count, self.config.max_summary_tokens), tuple[str, ...]()
        text, reason = ask(self._summarizer, fitting, previous or None, max_tokens)
        if not reason and count(text) > max_tokens:
            reason = "too_long"
        elif not reason and (inventions := unsupported(text, [*(message.text for message in fitting), previous])):
            reason = "unsupported"
        if reason:
            return SummaryUpdate(read, "failed", reason, inventions)

        def write() -> SummaryUpdate:
            # The newest summary may cover more by now; it takes the text if it extends what the model read.
            newest, version, flaw = self._load(thread, since=read.checkpoints[-1])
            if newest is None or newest.model_upto_seq > read.upto_seq:
                return SummaryUpdate(newest or read, "unsaved", flaw or "changed")
            summary = self._fitted(replace(newest, model_text=text, model_upto_seq=read.upto_seq))
            return self._save(thread, summary, version, flaw, unsaved=read)

        return _repeated(write)

    # --- The store ----------------------------------------------------------------------------------------------------

    def _load(self, thread: Thread, *, since: tuple[int, str] | None = None) -> tuple[Summary | None, int, str]:
        """Return the summary if valid or with checkpoint ``since``, its version (-1: the store failed), its flaw."""
        check_type("thread", thread, Thread)
        try:
            record = self._store.load_record(thread.tenant, thread.id, _KIND)
            if record is None:
                return None, 0, ""
            body, _, version = record
        except Exception as error:  # noqa: BLE001 - the caller's own store: it may raise anything, and a chat goes on
            return None, -1, f"error: {type(error).__name__}"
        try:
            summary = Summary.from_json(body, version=version)
            newest = summary.checkpoints[-1]
        except (CorruptionError, IndexError):
            return None, version, "damaged"
        is_unchanged = newest in thread.digests([summary.upto_seq]).items() and all(
            item.text in spoken_text(thread.messages[seq]) for item in summary.items for seq in item.seqs
        )
        if not (is_unchanged or since in summary.checkpoints):
            return None, version, "changed"
        # In the language and within the limit of the current settings.
        return self._fitted(replace(summary, locale=self._locale or summary.locale)), version, ""

    def _save(self, thread: Thread, summary: Summary, version: int, flaw: str, *, unsaved: Summary) -> SummaryUpdate:
        key, body = (thread.tenant, thread.id, _KIND), summary.to_json()
        try:
            version = self._store.save_record(*key, body, upto_seq=summary.upto_seq, expected_version=version)
        except Exception as error:  # noqa: BLE001 - as for loading
            reason = "conflict" if isinstance(error, ConflictError) else f"error: {type(error).__name__}"
            return SummaryUpdate(unsaved, "unsaved", reason)
        return SummaryUpdate(replace(summary, version=version), "rebuilt" if flaw else "updated", flaw)


def _repeated(write: Callable[[], SummaryUpdate]) -> SummaryUpdate:
    for _ in range(WRITE_ATTEMPTS):
        update = write()
        if update.reason != "conflict":
            break
    return update
