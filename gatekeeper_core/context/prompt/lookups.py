"""What is kept of a thread beside its messages, looked up for one build within one limit of time.

::

    a store ──> directly, with the timeouts of its driver
    a plug-in ──> on a thread of its own; without an answer in time it is a miss

A look-up never raises: what failed is named in the misses, and the build goes on without it. What fails behind a build,
where a model works for the next one, is a miss of that one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from itertools import islice
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.policy import PolicyState
from gatekeeper_core.context.history.selector import POLICY_KIND
from gatekeeper_core.context.memory.search import MemoryHit, MemoryHits
from gatekeeper_core.context.memory.update import remember_thread
from gatekeeper_core.context.prompt.request import run_start
from gatekeeper_core.context.prompt.result import Miss
from gatekeeper_core.context.summary.summary import ThreadSummary
from gatekeeper_core.context.task.tracker import TaskTracker
from gatekeeper_core.context.thread.constraints import ThreadConstraints
from gatekeeper_core.context.thread.records import NewRecord, load_record, update_record
from gatekeeper_core.encoder import Waits, waiting_within
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.events import MISS
from gatekeeper_core.observation import tell
from gatekeeper_core.plugins import run_plugin, start_plugin
from gatekeeper_core.storage.base import Memory, MemoryScope

if TYPE_CHECKING:
    from gatekeeper_core.context.memory.memory import LongTermMemory
    from gatekeeper_core.context.memory.update import MemoryExtractor
    from gatekeeper_core.context.summary.record import Summary
    from gatekeeper_core.context.summary.summary import SummaryUpdate
    from gatekeeper_core.context.task.task import ActiveTask
    from gatekeeper_core.context.thread.thread import Thread
    from gatekeeper_core.selection.verdicts import Verdict
    from gatekeeper_core.storage.base import DerivedRecord, RecordStore

__all__ = ["Derived", "DerivedRecords", "LookUp", "MemorySearch"]

_MAX_HITS = 100
"""Memories that are looked at, however many a search gives back. Source: ours; thirty times what is asked for."""

_MAX_NOTED = 1024
"""Threads of which it is remembered what failed behind their last build, and which summary their run was told."""


class MemorySearch(NamedTuple):
    """What memories are asked for: see ``LongTermMemory.search``."""

    limit: int
    categories: tuple[str, ...] | None


class Derived(NamedTuple):
    """What a build knows of a thread beside its messages; memories that fit the question, best first."""

    summary: Summary | None = None
    constraints: Mapping[str, str] = {}  # never changed: an empty one is as good as any
    task: ActiveTask | None = None
    memories: tuple[MemoryHit, ...] = ()
    policy: PolicyState | None = None

    def facts(self) -> dict[str, Any]:
        """Return flat facts for logs and events: counts, never text."""
        return {
            "constraints": len(self.constraints),
            "used_summary": self.summary is not None,
            "has_task": self.task is not None,
            "memories": len(self.memories),
        }


class LookUp:
    """The calls of one build, and what failed.

    Args:
        timeout_seconds: how long the build may wait for plug-ins in all; its own work meanwhile does not count.
    """

    __slots__ = ("_misses", "_waits")

    def __init__(self, *, timeout_seconds: float) -> None:
        self._waits = Waits(timeout_seconds)
        self._misses: dict[str, Miss] = {}

    @property
    def misses(self) -> tuple[Miss, ...]:
        """The parts that failed, each once, in the order in which they did."""
        return tuple(self._misses.values())

    @property
    def left_seconds(self) -> float:
        """How long the build may still wait; below 0 not at all."""
        return self._waits.left_seconds

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
        outcome = run_plugin(plugin, function, timeout_seconds=self.left_seconds)
        self._waits.left_seconds -= monotonic() - begun
        if outcome.status != "done":
            self.miss(part, outcome.status, outcome.reason)
        return outcome.value

    def waiting(self) -> AbstractContextManager[None]:
        """Let encoders that are asked inside be waited for no longer than the other calls of the build."""
        return waiting_within(self._waits)

    def miss(self, part: str, status: str, reason: str = "") -> None:
        """Note, and log, that a part could not be had; once for each part."""
        if part in self._misses:
            return
        self._misses[part] = Miss(part, status, reason)
        tell(MISS, part=part, status=status, reason=reason)


class DerivedRecords:
    """Looks up what is kept of threads, and brings it up to date.

    Args:
        store: keeps the derived records.
        summaries: the summaries of threads in it.
        tasks: the active tasks of threads in it.
        constraints: the constraints of threads in it.
        memory: long-term memories; None: there are none.
        extractor: finds what is worth remembering with a model; None: the rules alone.
        summarizer: the model that writes summaries, if there is one.
    """

    def __init__(
        self,
        store: RecordStore,
        *,
        summaries: ThreadSummary,
        tasks: TaskTracker,
        constraints: ThreadConstraints,
        memory: LongTermMemory | None,
        extractor: MemoryExtractor | None,
        summarizer: object | None,
    ) -> None:
        self.summaries = summaries
        self.tasks = tasks
        self.constraints = constraints
        self.memory = memory
        self._store = store
        self._extractor = extractor
        self._summarizer = summarizer
        self._slow_memory = None if getattr(memory, "is_inline", False) is True else memory
        self._lock = Lock()
        self._noted: LruCache[tuple[str, str], dict[str, Miss]] = LruCache(max_entries=_MAX_NOTED)
        self._summaries: LruCache[tuple[str, str], tuple[str, Summary]] = LruCache(max_entries=_MAX_NOTED)

    def look_up(
        self,
        look: LookUp,
        thread: Thread,
        prompt: str,
        *,
        summary_before: int | None,
        task: bool,
        search: MemorySearch | None,
        policy: bool = False,
    ) -> Derived:
        """Return what is known of a thread.

        Args:
            look: the calls of this build.
            thread: the conversation.
            prompt: what the user asks now; blank: no memories are asked for.
            summary_before: sequence number of the first message that the summary leaves to the window; it is brought up
                to date first. None: no summary is wanted.
            task: whether the task is wanted.
            search: what memories are wanted, None for none.
            policy: whether it is wanted what the policy remembers.
        """
        with self._lock:
            noted = self._noted.pop((thread.tenant, thread.id)) or {}
        for miss in noted.values():  # what failed behind the last build
            look.miss(*miss)
        constraints = look.ask("constraints", lambda: self.constraints.of(thread))
        summary = None if summary_before is None else self._summary(look, thread, summary_before)
        known_task = look.ask("task", lambda: self.tasks.get(thread)) if task else None
        stored = partial(load_record, self._store, thread, POLICY_KIND)
        state = look.ask("policy", lambda: self._state_in(stored())) if policy else None
        memories: tuple[MemoryHit, ...] = ()
        if self.memory and thread.user and search and prompt.strip():
            self._remember(look, self.memory, thread)
            memories = self._search(look, self.memory, MemoryScope(thread.tenant, thread.user), prompt, search)
        return Derived(summary, constraints or {}, known_task, memories, state)

    def _summary(self, look: LookUp, thread: Thread, before_seq: int) -> Summary | None:
        wait_seconds = look.left_seconds  # for another build at this summary
        bring_up = partial(self.summaries.update_if_needed, thread, before_seq=before_seq, wait_seconds=wait_seconds)
        update: SummaryUpdate | None = look.ask("summary", bring_up)
        if update and update.status == "busy":
            look.miss("summary", "busy")
        elif update and update.has_failed:
            look.miss("summary", "degraded" if update.summary else "failed", update.reason)
        return self._told(thread, update.summary) if update and update.summary else None

    def _search(
        self, look: LookUp, memory: LongTermMemory, scope: MemoryScope, prompt: str, search: MemorySearch
    ) -> tuple[MemoryHit, ...]:
        found = look.ask("retrieved", partial(_found, memory, scope, prompt, search), plugin=self._slow_memory)
        if found is None:
            return ()
        if found.reason:
            look.miss("retrieved", "degraded" if found.hits or found.reason != _NONSENSE else "failed", found.reason)
        hits: tuple[MemoryHit, ...] = found.hits
        return hits

    def _told(self, thread: Thread, summary: Summary) -> Summary:
        """Return the summary that a run was told when it began, unless the new one covers more.

        What a model wrote in the meantime waits for the next question: it would change the prompt before the turns.
        """
        if self._summarizer is None:
            return summary
        key, start = (thread.tenant, thread.id), run_start(thread.messages)
        run = thread.digests([start - 1])[start - 1]
        with self._lock:
            told = self._summaries.get(key)
            if start < len(thread.messages) and told and told[0] == run and told[1].upto_seq == summary.upto_seq:
                return told[1]
            self._summaries.put(key, (run, summary))
        return summary

    def update_task(self, look: LookUp, thread: Thread, verdict: Verdict | None) -> ActiveTask | None:
        """Return the task of a thread with the newest request read, None where that cannot be had."""
        update = partial(self.tasks.update, thread, verdict=verdict)
        task: ActiveTask | None = look.ask("task", update)
        return task

    def save_policy(self, thread: Thread, state: PolicyState) -> None:
        """Save what the policy remembers, unless a later call is saved already.

        Of two workers that write at once one loses: what it sent is as right, and the next call pays for it.
        """

        def newer(record: DerivedRecord | None) -> NewRecord | None:
            before = self._state_in(record)
            if before and (before == state or before.is_after(state)):
                return None
            return NewRecord(json.dumps(state.to_dict()), -1)

        self._worked("policy", thread, partial(update_record, self._store, thread, POLICY_KIND, newer))

    def _state_in(self, record: DerivedRecord | None) -> PolicyState | None:
        """Return what the policy remembers by a record, None where there is none of use."""
        try:
            return PolicyState.from_dict(json.loads(record.body)) if record else None
        except (ConfigError, ValueError, AttributeError):
            return None

    def follow_up(self, thread: Thread) -> None:
        """Let models write for the next build what they write better than rules; nobody waits for it."""
        if self._summarizer is not None:
            self._behind("summary_model", thread, self._summarizer, partial(_modelled, self.summaries, thread))
        if self._extractor and self.memory and thread.user:
            self._behind("extraction", thread, self._extractor, partial(self._extract, self.memory, thread))

    def _remember(self, look: LookUp, memory: LongTermMemory, thread: Thread) -> None:
        """Bring memories up to date with what the user said: before the search where no embedder can hang."""
        if self._extractor:
            return  # a model reads the thread after the build
        extract = partial(self._extract, memory, thread)
        if self._slow_memory:
            self._behind("extraction", thread, memory, extract)
        else:
            look.ask("extraction", extract)

    def _extract(self, memory: LongTermMemory, thread: Thread) -> str:
        """Read a thread into memory, and return why rules did what a model should have done, "" where all is well."""
        return remember_thread(memory, thread, self._store, extractor=self._extractor).reason or ""

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


class _Found(NamedTuple):
    """What a search found, and why it is less than it might be, "" where it is not."""

    hits: tuple[MemoryHit, ...] = ()
    reason: str = ""


_NONSENSE = "nonsense"


def _found(memory: LongTermMemory, scope: MemoryScope, prompt: str, search: MemorySearch) -> _Found:
    """Return what a search finds: read here, where it may take its time, and as far as it makes sense."""
    hits: Any = memory.search(scope, prompt, **search._asdict())
    given = list(islice(iter(hits), _MAX_HITS))
    sound = [hit for hit in given if _is_hit(hit)]
    reason = hits.reason or "" if isinstance(hits, MemoryHits) and hits.status == "fallback" else ""
    return _Found(tuple(sound[: search.limit]), reason if len(sound) == len(given) else _NONSENSE)


def _is_hit(hit: object) -> bool:
    """Return whether something is a memory and how similar it is: a share, no NaN."""
    if not (isinstance(hit, MemoryHit) and isinstance(hit.memory, Memory)):
        return False
    text: object = hit.memory.text
    similarity: object = hit.similarity
    return isinstance(text, str) and type(similarity) in (int, float) and 0 <= hit.similarity <= 1


def _modelled(summaries: ThreadSummary, thread: Thread) -> str:
    """Let a model write the summary of a thread, and return why it did not, "" where all is well."""
    update = summaries.run_model(thread)
    return update.reason if update.has_failed else ""
