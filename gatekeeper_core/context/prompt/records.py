"""The stored records of a thread: gathered before a build within one time limit, and updated after it.

::

    a store ──> directly, with the timeouts of its driver
    a plug-in ──> in its own thread; no answer in time is a miss

No call raises: the build goes on, with a named miss. The miss of a model that works for the next build is in that one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.run import RunConfig
from gatekeeper_core.context.history.selector import POLICY_KIND, ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig, with_defaults
from gatekeeper_core.context.history.summarizer import PlainSummarizer, Summarizer
from gatekeeper_core.context.history.view import HistoryView
from gatekeeper_core.context.memory.constraints import ThreadConstraints
from gatekeeper_core.context.memory.memory import LongTermMemory, MemoryHit, MemoryHits
from gatekeeper_core.context.memory.summary import SummaryConfig, ThreadSummary
from gatekeeper_core.context.memory.summary_record import Summary
from gatekeeper_core.context.memory.task import ActiveTask, TaskTracker
from gatekeeper_core.context.memory.thread import Thread, load_record, update_record
from gatekeeper_core.context.memory.update import MemoryExtractor, remember_thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.request import run_start
from gatekeeper_core.context.prompt.result import Miss
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import ResultCompressor, ResultContext, ThreadCompressor
from gatekeeper_core.encoder import TextEncoder, Waits
from gatekeeper_core.errors import check_str
from gatekeeper_core.events import LOOK_UPS, MISS
from gatekeeper_core.messages import Message, is_answered, last_turns
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.plugins import run_plugin, start_plugin
from gatekeeper_core.pricing.policy import PolicyState
from gatekeeper_core.storage.base import DerivedRecord, Memory, MemoryScope, RecordStore
from gatekeeper_core.tokens import TokenCounter, count_messages

NO_THREAD = Thread("-")
"""The thread of a build without one."""

_MAX_HITS = 100
"""Most memories read from a search. Source: ours; thirty times the default limit."""

_NONSENSE = "nonsense"
"""The reason of a miss if a search returned anything but memories."""

_MAX_THREADS = 1024
"""Threads whose failures after the last build and summary of the current run are cached. Source: ours."""

_MAX_SUMMARY_TOKENS = 1_000
"""Token limit of a summary, however large its share. Source: requirement 004-43."""


class ThreadRecords(NamedTuple):
    """The stored records of a thread for a build; memories relevant to the question, best first."""

    summary: Summary = Summary()
    constraints: Mapping[str, str] = {}  # never changed
    task: ActiveTask | None = None
    memories: tuple[MemoryHit, ...] = ()
    policy: PolicyState | None = None

    def memories_beside(self, thread: Thread, seqs: Collection[int]) -> tuple[MemoryHit, ...]:
        """Return the memories that do not come from these messages of the thread."""
        return tuple(
            hit for hit in self.memories if hit.memory.thread != thread.id or (hit.memory.seq or 0) not in seqs
        )


class BoundedCalls:
    """The calls of one build to stores and plug-ins, and their misses; ``waits`` is the time left for plug-ins."""

    def __init__(self, *, timeout_seconds: float) -> None:
        self.waits = Waits(timeout_seconds)
        self._misses: dict[str, Miss] = {}

    @property
    def misses(self) -> tuple[Miss, ...]:
        """The failed parts, each once, in order of failure."""
        return tuple(self._misses.values())

    def run(self, part: str, function: Callable[[], object], *, plugin: object | None = None) -> Any:
        """Return a call's result, or None with a miss; a plug-in gets the time left, and no call once late or busy."""
        if plugin is None:
            try:
                return function()
            except Exception as error:  # noqa: BLE001 - the user's store: it may raise anything, and a chat goes on
                self.miss(part, "failed", type(error).__name__)
                return None
        if part in self._misses and self._misses[part].status in ("late", "busy"):
            return None
        start = monotonic()
        outcome = run_plugin(plugin, function, timeout_seconds=self.waits.left_seconds)
        self.waits.left_seconds -= monotonic() - start
        if outcome.status != "done":
            self.miss(part, outcome.status, outcome.reason)
        return outcome.value

    def miss(self, part: str, status: str, reason: str = "") -> None:
        """Record and log a miss, once for each part."""
        if part not in self._misses:
            self._misses[part] = Miss(part, status, reason)
            tell(MISS, part=part, status=status, reason=reason)

    def miss_of(self, view: HistoryView) -> None:
        """Record the failures of a selection."""
        if view.status == "fallback":
            self.miss("history", "degraded", view.reason)
        missed = view.selection.embedder_missed if view.selection else ""
        if missed:
            self.miss("meaning", *((missed,) if missed in ("late", "busy") else ("degraded", missed)))


@dataclass(frozen=True, slots=True)
class BoundedCompressor:
    """A compressor of tool results for one build; if it raises, hangs or returns nonsense, results stay unchanged."""

    compress: ThreadCompressor
    calls: BoundedCalls

    def __call__(self, message: Message, context: ResultContext, /) -> str:
        """Return the compressed text of a result, or the original text."""
        compress = self.compress.compress
        text = self.calls.run(
            "tool_results",
            lambda: check_str("the result of compress_result", self.compress(message, context)),
            plugin=None if isinstance(compress, ToolResultCompressor) else compress,  # ours: its store has timeouts
        )
        return message.text if text is None else text

    @property
    def working_memory(self) -> Container[str] | None:
        """The working memory of the thread, if the compressor has one."""
        memory: Container[str] | None = self.calls.run("tool_results", lambda: self.compress.working_memory)
        return memory


@dataclass(eq=False, repr=False, kw_only=True)
class BuilderParts:
    """The shared parts of a builder's builds: its arguments, the selector, summaries, tasks and constraints."""

    config: ContextBuilderConfig
    count: TokenCounter
    session_key: bytes | None
    tool_results: ResultCompressor
    store: RecordStore
    memory: LongTermMemory | None
    extractor: MemoryExtractor | None
    summarizer: Summarizer | PlainSummarizer | None
    encoder: TextEncoder | None

    def __post_init__(self) -> None:
        config, count = self.config, self.count
        # The builder handles the user's instructions itself, in the summary and the pin.
        history = replace(config.history, token_budget=config.total_budget, pin_instructions=False)
        if history.strategy == "window":
            history = replace(history, keep_newest=config.sliding_window_size)
        self.selector = ThreadSelector["Message"](
            lambda message: message,
            write=lambda _, replacement: replacement,
            config=history,
            token_counter=count,
            budget_setting=None,
            embedder=self.encoder,
        )
        share = config.shares.of(config.total_budget).summary
        summary = SummaryConfig(max_summary_tokens=max(1, min(share, _MAX_SUMMARY_TOKENS)))
        self.summaries = ThreadSummary(
            self.store, config=summary, token_counter=count, summarizer=self.summarizer, locale=config.locale
        )
        self.tasks = TaskTracker(self.store)
        self.constraints = ThreadConstraints(self.store, token_counter=count)
        self._lock = Lock()
        self._late_misses: LruCache[tuple[str, str], dict[str, Miss]] = LruCache(max_entries=_MAX_THREADS)
        self._run_summaries: LruCache[tuple[str, str], tuple[str, Summary]] = LruCache(max_entries=_MAX_THREADS)

    def gather(
        self, calls: BoundedCalls, thread: Thread | None, prompt: str, *, room_tokens: int, log: bool
    ) -> ThreadRecords:
        """Return the records of a thread; the summary covers everything older than the newest turns that fit."""
        records, config = ThreadRecords(), self.config
        with stage(LOOK_UPS, thread=thread.id if thread else None, log=log) as seen:
            if thread is not None:
                with self._lock:
                    late = self._late_misses.pop((thread.tenant, thread.id)) or {}
                for miss in late.values():
                    calls.miss(*miss)
                start, task, policy = self._window_start(thread, room_tokens), None, None
                constraints = calls.run("constraints", lambda: self.constraints.of(thread)) or {}
                summary = self._summary(calls, thread, start) if config.enable_summary else None
                if config.enable_instruction_pinning is not False:
                    task = calls.run("task", lambda: self.tasks.get(thread))
                if config.history.strategy != "window":
                    policy = calls.run("policy", lambda: _policy(load_record(self.store, thread, POLICY_KIND)))
                is_searched = config.enable_memory_retrieval and prompt.strip()
                memories = self._memories(calls, thread, prompt) if is_searched else ()
                records = ThreadRecords(summary or Summary(), constraints, task, memories, policy)
                records = records._replace(memories=records.memories_beside(thread, range(start, len(thread.messages))))
            facts = {
                "constraints": len(records.constraints),
                "used_summary": records.summary.upto_seq >= 0,
                "has_task": records.task is not None,
                "memories": len(records.memories),
                "misses": [f"{miss.part} {miss.status}" for miss in calls.misses],
            }
            seen.tell(lambda: facts)
        return records

    def _window_start(self, thread: Thread, room_tokens: int) -> int:
        """Return the start of the newest finished turns, as many as fit, which are always sent."""
        cost, start = partial(count_messages, token_counter=self.count), len(thread.messages)
        current = () if is_answered(thread.messages) else last_turns(thread.messages, 1)
        if current:  # an open turn counts extra
            run_tokens = cost(current[0].messages)
            if self.config.redistribute:  # a growing run takes the room of those turns only when it needs it
                room_tokens = min(room_tokens - cost(current[0].messages[:1]), self.config.total_budget - run_tokens)
            else:
                room_tokens -= run_tokens
            if room_tokens < 0:
                return start
            start = current[0].start
        past = thread.messages[:start]
        newest = with_defaults(self.selector.config, in_an_agent=any(one.role == "tool" for one in past)).keep_newest
        for turn in last_turns(past, newest or 0)[::-1]:
            room_tokens -= cost(turn.messages)
            if room_tokens < 0:
                break
            start = turn.start
        return start

    def history_config(self, run: RunConfig, starts: Sequence[int], *, uncovered_from: int) -> HistoryConfig:
        """Return the settings of a selection: turns not yet in the summary are always sent, like the newest."""
        config = replace(self.selector.config, run=run)
        older = starts[: -1 - (config.keep_newest or 0)]
        if config.strategy == "window" or not config.keep_newest or not self.config.enable_summary or not older:
            return config
        # only within ``message_threshold`` messages of the newest turns: a summary may never come
        first = max(uncovered_from, starts[len(older)] - self.summaries.config.message_threshold)
        return replace(config, keep_newest=config.keep_newest + sum(start >= first for start in older))

    def update_task(
        self, calls: BoundedCalls, thread: Thread | None, prompt: str, view: HistoryView | None
    ) -> ActiveTask | None:
        """Return the task updated from the thread, None if it is not tracked or cannot be updated."""
        if thread is None or self.config.enable_instruction_pinning is False or not prompt.strip():
            return None
        verdict = view.selection.gate if view and view.selection else None
        task: ActiveTask | None = calls.run("task", partial(self.tasks.update, thread, verdict=verdict))
        return task

    def _summary(self, calls: BoundedCalls, thread: Thread, before_seq: int) -> Summary | None:
        """Return the summary; within a run, the one from its beginning, unless the new one covers more messages."""
        wait_seconds = calls.waits.left_seconds  # for another build that updates this summary
        bring_up = partial(self.summaries.update_if_needed, thread, before_seq=before_seq, wait_seconds=wait_seconds)
        update = calls.run("summary", bring_up)
        if update and update.status == "busy":
            calls.miss("summary", "busy")
        elif update and update.has_failed:
            calls.miss("summary", "degraded" if update.summary else "failed", update.reason)
        summary: Summary | None = update.summary if update else None
        if summary is None or self.summarizer is None:
            return summary
        # A text that a model writes meanwhile waits for the next question: it would change the prompt before the turns.
        key, start = (thread.tenant, thread.id), run_start(thread.messages)
        run = thread.digests([start - 1])[start - 1]
        cached = self._run_summaries.get(key)
        if start < len(thread.messages) and cached and cached[0] == run and cached[1].upto_seq == summary.upto_seq:
            return cached[1]
        self._run_summaries.put(key, (run, summary))
        return summary

    def _memories(self, calls: BoundedCalls, thread: Thread, prompt: str) -> tuple[MemoryHit, ...]:
        """Return the memories relevant to the question; an inline memory without extractor reads the thread first."""
        memory, user = self.memory, thread.user
        if memory is None or user is None:
            return ()
        plugin = None if getattr(memory, "is_inline", False) is True else memory
        if self.extractor is None:  # a model reads the thread after the build
            if plugin:
                self._start("extraction", thread, memory, partial(self._extract, memory, thread))
            else:
                calls.run("extraction", partial(self._extract, memory, thread))
        search = partial(_search, memory, MemoryScope(thread.tenant, user), prompt, self.config)
        hits, reason = calls.run("retrieved", search, plugin=plugin) or ((), "")
        if reason:
            calls.miss("retrieved", "failed" if reason == _NONSENSE and not hits else "degraded", reason)
        return hits

    # --- for the next build -----------------------------------------------------------------------------------------

    def save_policy(self, thread: Thread) -> None:
        """Save the state of the policy, unless the same or a later one is stored."""
        state = self.selector.policy_of(thread.id, tenant=thread.tenant) or PolicyState()

        def newer(record: DerivedRecord | None) -> tuple[None, tuple[str, int] | None]:
            stored = _policy(record)
            is_stored = stored is not None and (stored == state or stored.is_after(state))
            return None, None if is_stored else (json.dumps(state.to_dict()), -1)

        if state.ledger.questions:
            self._run_late("policy", thread, lambda: update_record(self.store, thread, POLICY_KIND, newer))

    def follow_up(self, thread: Thread) -> None:
        """Start the models that improve on the rules' output for the next build; do not wait for them."""

        def summarize() -> str | None:
            update = self.summaries.run_model(thread)
            return update.reason if update.has_failed else None

        if self.summarizer is not None:
            self._start("summary_model", thread, self.summarizer, summarize)
        if self.extractor and self.memory and thread.user:
            self._start("extraction", thread, self.extractor, partial(self._extract, self.memory, thread))

    def _extract(self, memory: LongTermMemory, thread: Thread) -> str | None:
        """Read a thread into memory; return the cause of a fallback to rules, else None."""
        return remember_thread(memory, thread, self.store, extractor=self.extractor).reason

    def _start(self, part: str, thread: Thread, plugin: object, work: Callable[[], str | None]) -> None:
        """Start a plug-in for the next build; a failure, or the reason it returns, is a miss there."""
        if not start_plugin(plugin, partial(self._run_late, part, thread, work)):
            self._miss_late(thread, part, "busy")

    def _run_late(self, part: str, thread: Thread, work: Callable[[], str | None]) -> None:
        status = "degraded"
        try:
            reason = work()
        except Exception as error:  # noqa: BLE001 - the user's store or model: the next build reports it
            status, reason = "failed", type(error).__name__
        if reason:
            self._miss_late(thread, part, status, reason)

    def _miss_late(self, thread: Thread, part: str, status: str, reason: str = "") -> None:
        with self._lock:
            self._late_misses.get_or_put((thread.tenant, thread.id), dict)[part] = Miss(part, status, reason)


def _policy(record: DerivedRecord | None) -> PolicyState | None:
    try:
        return PolicyState.from_dict(json.loads(record.body)) if record else None
    except (ValueError, AttributeError):
        return None


def _search(
    memory: LongTermMemory, scope: MemoryScope, prompt: str, config: ContextBuilderConfig
) -> tuple[tuple[MemoryHit, ...], str]:
    """Return the valid hits of a search, and the reason of a miss, "" if it succeeded."""
    categories: Any = config.memory_categories or None
    hits: Any = memory.search(scope, prompt, limit=config.memory_limit, categories=categories)
    items: list[Any] = list(islice(iter(hits), _MAX_HITS))
    valid = tuple(filter(_is_valid, items))
    reason = hits.reason or "" if isinstance(hits, MemoryHits) else ""
    return valid[: config.memory_limit], reason if len(valid) == len(items) else _NONSENSE


def _is_valid(hit: Any) -> bool:
    is_hit = isinstance(hit, MemoryHit) and isinstance(hit.memory, Memory)
    is_sound = is_hit and isinstance(hit.memory.text, str) and type(hit.similarity) in (int, float)
    return is_sound and 0 <= hit.similarity <= 1  # no NaN
