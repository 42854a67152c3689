"""The stored records of a thread, looked up for one build within one time limit.

::

    a store ──> directly, with the timeouts of its driver
    a plug-in ──> on a thread of its own; without an answer in time it is a miss

A look-up never raises: what failed is named in the misses, and the build goes on without it. What fails behind a build,
where a model works for the next one, is a miss of that one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.policy import PolicyState
from gatekeeper_core.context.history.selector import POLICY_KIND, ThreadSelector
from gatekeeper_core.context.memory.constraints import ThreadConstraints
from gatekeeper_core.context.memory.records import NewRecord, load_record, update_record
from gatekeeper_core.context.memory.search import MemoryHit, MemoryHits
from gatekeeper_core.context.memory.summary import SummaryConfig, ThreadSummary
from gatekeeper_core.context.memory.task import TaskTracker
from gatekeeper_core.context.memory.update import remember_thread
from gatekeeper_core.context.prompt.request import run_start
from gatekeeper_core.context.prompt.result import Miss
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import memory_of
from gatekeeper_core.encoder import Waits
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.events import MISS
from gatekeeper_core.observation import tell
from gatekeeper_core.plugins import run_plugin, start_plugin
from gatekeeper_core.storage.base import Memory, MemoryScope

if TYPE_CHECKING:
    from gatekeeper_core.context.history.summarizer import PlainSummarizer, Summarizer
    from gatekeeper_core.context.memory.memory import LongTermMemory
    from gatekeeper_core.context.memory.summary import SummaryUpdate
    from gatekeeper_core.context.memory.summary_record import Summary
    from gatekeeper_core.context.memory.task import ActiveTask
    from gatekeeper_core.context.memory.thread import Thread
    from gatekeeper_core.context.memory.update import MemoryExtractor
    from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
    from gatekeeper_core.context.tool_results.context import ResultCompressor, ResultContext
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.messages import Message
    from gatekeeper_core.storage.base import DerivedRecord, RecordStore
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["BoundedCompressor", "Derived", "LookUp", "Setup"]

_MAX_HITS = 100
"""Memories that are looked at, however many a search gives back. Source: ours; thirty times what is asked for."""

_MAX_NOTED = 1024
"""Threads of which it is remembered what failed behind their last build, and which summary their run was told."""


_MAX_SUMMARY_TOKENS = 1_000
"""What a summary may cost where its share is larger. Source: requirement 004-43."""


class Derived(NamedTuple):
    """The stored records of a thread that a build uses; memories that fit the question, best first."""

    summary: Summary | None = None
    constraints: Mapping[str, str] = {}  # never changed: an empty one is as good as any
    task: ActiveTask | None = None
    memories: tuple[MemoryHit, ...] = ()
    policy: PolicyState | None = None


class LookUp:
    """The calls of one build, and what failed.

    Args:
        timeout_seconds: how long the build may wait for plug-ins in all; its own work meanwhile does not count.

    Attributes:
        waits: how long it may still wait.
    """

    def __init__(self, *, timeout_seconds: float) -> None:
        self.waits = Waits(timeout_seconds)
        self._misses: dict[str, Miss] = {}

    @property
    def misses(self) -> tuple[Miss, ...]:
        """The parts that failed, each once, in the order in which they did."""
        return tuple(self._misses.values())

    def ask(self, part: str, function: Callable[[], object], *, plugin: object | None = None) -> Any:
        """Return what a call gives, or None and note the miss.

        The call is made directly; that of a plug-in within the time that is left, and not at all if the part was late
        before: nothing is waited for twice.
        """
        if plugin is None:
            try:
                return function()
            except Exception as error:  # noqa: BLE001 - a store of the caller's: it may raise anything, and a chat goes on
                self.miss(part, "failed", type(error).__name__)
                return None
        if part in self._misses and self._misses[part].status in ("late", "busy"):
            return None
        begun = monotonic()
        outcome = run_plugin(plugin, function, timeout_seconds=self.waits.left_seconds)
        self.waits.left_seconds -= monotonic() - begun
        if outcome.status != "done":
            self.miss(part, outcome.status, outcome.reason)
        return outcome.value

    def miss(self, part: str, status: str, reason: str = "") -> None:
        """Note, and log, that a part could not be had; once for each part."""
        if part in self._misses:
            return
        self._misses[part] = Miss(part, status, reason)
        tell(MISS, part=part, status=status, reason=reason)


class BoundedCompressor:
    """A compressor of tool results for one build, and the ids of its memory: it may raise, hang, or return nonsense.

    A ``ToolResultCompressor`` is called directly, with the timeouts of its store; one of your own is a plug-in. A
    result that it fails at stays as it is, and a pointer is not there.
    """

    def __init__(self, compress: ResultCompressor, look: LookUp, *, thread_id: str | None, tenant: str) -> None:
        self._compress = compress
        self._look = look
        self._thread_id = thread_id
        self._tenant = tenant
        self._plugin = None if isinstance(compress, ToolResultCompressor) else compress

    def __call__(self, message: Message, context: ResultContext, /) -> str:
        """Return the text of a result made smaller, or as it is."""
        context = context._replace(thread_id=self._thread_id, tenant=self._tenant)
        text = self._look.ask("tool_results", partial(_text_of, self._compress, message, context), plugin=self._plugin)
        return text if isinstance(text, str) else message.text

    def __contains__(self, pointer: object) -> bool:
        memory = partial(memory_of, self._compress, self._thread_id, tenant=self._tenant)
        return self._look.ask("tool_results", lambda: pointer in (memory() or ())) is True


@dataclass(eq=False, repr=False, kw_only=True)
class Setup:
    """The parts that all builds with the same settings share; it looks up the records of threads and updates them.

    Besides what it is given it has a ``selector`` among turns, and the ``summaries``, ``tasks`` and ``constraints``.

    Attributes:
        config: the settings.
        count: counts the tokens of a text.
        session_key: names the fences, None where they are named by what they hold.
        tool_results: makes tool results smaller.
        store: keeps the derived records.
        memory: long-term memories; None: there are none.
        extractor: finds what is worth remembering with a model; None: the rules alone.
        summarizer: the model that writes summaries, if there is one.
        encoder: gives vectors of texts, if there is one.
    """

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
        # Instructions of the user are the builder's own parts: the summary has them, and the pin.
        history = replace(config.history, token_budget=config.total_budget, pin_instructions=False)
        if history.strategy == "window":
            history = replace(history, keep_newest=config.sliding_window_size)
        self.selector = ThreadSelector["Message"](
            lambda message: message,
            write=lambda _, instead: instead,
            config=history,
            token_counter=count,
            budget_setting=None,
            embedder=self.encoder,
        )
        share = config.shares.of(config.total_budget).summary
        summary = SummaryConfig(locale=config.locale, max_summary_tokens=max(1, min(share, _MAX_SUMMARY_TOKENS)))
        self.summaries = ThreadSummary(self.store, config=summary, token_counter=count, summarizer=self.summarizer)
        self.tasks = TaskTracker(self.store)
        self.constraints = ThreadConstraints(self.store, token_counter=count)
        self._slow_memory = None if getattr(self.memory, "is_inline", False) is True else self.memory
        self._lock = Lock()
        self._noted: LruCache[tuple[str, str], dict[str, Miss]] = LruCache(max_entries=_MAX_NOTED)
        self._summaries: LruCache[tuple[str, str], tuple[str, Summary]] = LruCache(max_entries=_MAX_NOTED)

    def look_up(self, look: LookUp, thread: Thread, prompt: str, *, window_start: int) -> Derived:
        """Return what is known of a thread, as far as the settings want it.

        Args:
            look: the calls of this build.
            thread: the conversation.
            prompt: what the user asks now; blank: no memories are asked for.
            window_start: sequence number of the first message that the summary leaves to the window; it is brought up
                to date first.
        """
        config = self.config
        with self._lock:
            noted = self._noted.pop((thread.tenant, thread.id)) or {}
        for miss in noted.values():  # what failed behind the last build
            look.miss(*miss)
        constraints = look.ask("constraints", lambda: self.constraints.of(thread))
        summary = self._summary(look, thread, window_start) if config.enable_summary else None
        task = state = None
        if config.enable_instruction_pinning is not False:
            task = look.ask("task", lambda: self.tasks.get(thread))
        if config.history.strategy != "window":
            state = look.ask("policy", lambda: _state_in(load_record(self.store, thread, POLICY_KIND)))
        memories: Sequence[MemoryHit] = ()
        if self.memory and thread.user and config.enable_memory_retrieval and prompt.strip():
            self._remember(look, self.memory, thread)
            search = partial(_found, self.memory, MemoryScope(thread.tenant, thread.user), prompt, config)
            memories, status, reason = look.ask("retrieved", search, plugin=self._slow_memory) or ((), "", "")
            if reason:
                look.miss("retrieved", status, reason)
        return Derived(summary, constraints or {}, task, tuple(memories), state)

    def _summary(self, look: LookUp, thread: Thread, before_seq: int) -> Summary | None:
        wait_seconds = look.waits.left_seconds  # for another build at this summary
        bring_up = partial(self.summaries.update_if_needed, thread, before_seq=before_seq, wait_seconds=wait_seconds)
        update: SummaryUpdate | None = look.ask("summary", bring_up)
        if update and update.status == "busy":
            look.miss("summary", "busy")
        elif update and update.has_failed:
            look.miss("summary", "degraded" if update.summary else "failed", update.reason)
        return self._told(thread, update.summary) if update and update.summary else None

    def _told(self, thread: Thread, summary: Summary) -> Summary:
        """Return the summary that a run was told when it began, unless the new one covers more.

        What a model wrote in the meantime waits for the next question: it would change the prompt before the turns.
        """
        if self.summarizer is None:
            return summary
        key, start = (thread.tenant, thread.id), run_start(thread.messages)
        run = thread.digests([start - 1])[start - 1]
        with self._lock:
            told = self._summaries.get(key)
            if start < len(thread.messages) and told and told[0] == run and told[1].upto_seq == summary.upto_seq:
                return told[1]
            self._summaries.put(key, (run, summary))
        return summary

    def save_policy(self, thread: Thread) -> None:
        """Save what the policy remembers, unless a later call is saved already.

        Of two workers that write at once one loses: what it sent is as right, and the next call pays for it.
        """
        state = self.selector.policy_of(thread.id, tenant=thread.tenant)
        if state is None or not state.questions:
            return

        def newer(record: DerivedRecord | None) -> NewRecord | None:
            before = _state_in(record)
            if before and (before == state or before.is_after(state)):
                return None
            return NewRecord(json.dumps(state.to_dict()), -1)

        self._worked("policy", thread, partial(update_record, self.store, thread, POLICY_KIND, newer))

    def follow_up(self, thread: Thread) -> None:
        """Let models write for the next build what they write better than rules; nobody waits for it."""
        if self.summarizer is not None:
            self._behind("summary_model", thread, self.summarizer, partial(self._modelled, thread))
        if self.extractor and self.memory and thread.user:
            self._behind("extraction", thread, self.extractor, partial(self._extract, self.memory, thread))

    def _remember(self, look: LookUp, memory: LongTermMemory, thread: Thread) -> None:
        """Bring memories up to date with what the user said: before the search where no embedder can hang."""
        if self.extractor:
            return  # a model reads the thread after the build
        extract = partial(self._extract, memory, thread)
        if self._slow_memory:
            self._behind("extraction", thread, memory, extract)
        else:
            look.ask("extraction", extract)

    def _extract(self, memory: LongTermMemory, thread: Thread) -> str:
        """Read a thread into memory, and return why rules did what a model should have done, "" where all is well."""
        return remember_thread(memory, thread, self.store, extractor=self.extractor).reason or ""

    def _modelled(self, thread: Thread) -> str:
        """Let the model write the summary of a thread, and return why it did not, "" where all is well."""
        update = self.summaries.run_model(thread)
        return update.reason if update.has_failed else ""

    # --- what nobody waits for --------------------------------------------------------------------------------------

    def _behind(self, part: str, thread: Thread, plugin: object, work: Callable[[], object]) -> None:
        """Let a plug-in work for the next build; its failure, or the reason that it returns, is noted for that one."""
        if not start_plugin(plugin, partial(self._worked, part, thread, work)):
            self._note(thread, Miss(part, "busy"))

    def _worked(self, part: str, thread: Thread, work: Callable[[], object]) -> None:
        try:
            reason = work()
        except Exception as error:  # noqa: BLE001 - a store or a model of the caller's: the next build says so
            self._note(thread, Miss(part, "failed", type(error).__name__))
        else:
            if reason and isinstance(reason, str):
                self._note(thread, Miss(part, "degraded", reason))

    def _note(self, thread: Thread, miss: Miss) -> None:
        with self._lock:
            self._noted.get_or_put((thread.tenant, thread.id), dict)[miss.part] = miss


def _text_of(compress: ResultCompressor, message: Message, context: ResultContext) -> str:
    text: object = compress(message, context)
    if not isinstance(text, str):
        raise TypeError(f"compress_result must return str, got {type(text).__name__}")
    return text


def _state_in(record: DerivedRecord | None) -> PolicyState | None:
    """Return what the policy remembers by a record, None where there is none of use."""
    try:
        return PolicyState.from_dict(json.loads(record.body)) if record else None
    except (ConfigError, ValueError, AttributeError):
        return None


def _found(
    memory: LongTermMemory, scope: MemoryScope, prompt: str, config: ContextBuilderConfig
) -> tuple[list[MemoryHit], str, str]:
    """Return what a search finds, as far as it makes sense, and the miss that it is, "" where it is none.

    It is read here, where it may take its time.
    """
    categories: Any = config.memory_categories or None
    hits: Any = memory.search(scope, prompt, limit=config.memory_limit, categories=categories)
    given = list(islice(iter(hits), _MAX_HITS))
    sound = [hit for hit in given if _is_hit(hit)]
    reason = hits.reason or "" if isinstance(hits, MemoryHits) and hits.status == "fallback" else ""
    if len(sound) < len(given):
        return sound[: config.memory_limit], "degraded" if sound else "failed", "nonsense"
    return sound[: config.memory_limit], "degraded", reason


def _is_hit(hit: object) -> bool:
    """Return whether something is a memory and how similar it is: a share, no NaN."""
    if not (isinstance(hit, MemoryHit) and isinstance(hit.memory, Memory)):
        return False
    text: object = hit.memory.text
    similarity: object = hit.similarity
    return isinstance(text, str) and type(similarity) in (int, float) and 0 <= hit.similarity <= 1
