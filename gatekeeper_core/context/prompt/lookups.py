"""What is kept of a thread beside its messages, looked up for one build within one limit of time.

::

    in this process, model-free ──> at once, on the caller's thread
    a store or a model behind it ──> on a worker; what is not there at the deadline is a miss

A look-up never raises and never waits beyond the limit: what could not be had is named in the misses, and the build
goes on without it. What fails behind a build, where a model works for the next one, is a miss of that one.
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
from gatekeeper_core.context.thread.records import NewRecord, ReadRecords, load_record, update_record
from gatekeeper_core.encoder import Waits, waiting_within
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.events import MISS
from gatekeeper_core.observation import tell
from gatekeeper_core.storage.base import Memory, MemoryScope, is_in_process
from gatekeeper_core.workers import BoundedCalls, Call, CallLanes, Outcome

if TYPE_CHECKING:
    from gatekeeper_core.context.memory.memory import LongTermMemory
    from gatekeeper_core.context.memory.update import MemoryExtractor
    from gatekeeper_core.context.summary.record import Summary
    from gatekeeper_core.context.task.task import ActiveTask
    from gatekeeper_core.context.thread.thread import Thread
    from gatekeeper_core.selection.verdicts import Verdict
    from gatekeeper_core.storage.base import DerivedRecord, RecordStore

__all__ = ["Derived", "DerivedRecords", "LookUp", "MemorySearch"]

_MAX_HITS = 100
"""Memories that are looked at, however many a search gives back. Source: ours; thirty times what is asked for."""

_LAST_SHARE = 0.1
"""Share of the limit that is kept for what is asked last, so that one slow search does not take the task with it, which
is brought up to date when the turns are chosen. Source: ours; 50 ms of 500."""

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
    """The calls of one build, and what could not be had.

    Args:
        timeout_seconds: how long the build may wait in all; what it works meanwhile does not count.
    """

    __slots__ = ("_last_seconds", "_misses", "_waits")

    def __init__(self, *, timeout_seconds: float) -> None:
        self._last_seconds = timeout_seconds * _LAST_SHARE
        self._waits = Waits(timeout_seconds - self._last_seconds)
        self._misses: dict[str, Miss] = {}

    @property
    def misses(self) -> tuple[Miss, ...]:
        """What could not be had, each part once, in the order in which that was found out."""
        return tuple(self._misses.values())

    @property
    def left_seconds(self) -> float:
        """How long the calls but the last may still be waited for; below 0 not at all."""
        return self._waits.left_seconds

    def start(self, lane: BoundedCalls | None, function: Callable[[], object]) -> Call | None:
        """Start a call on a worker, or without a lane make it at once; None where it was refused."""
        if lane is not None:
            return lane.start(function)
        call = Call(function)
        call.run()
        return call

    def result(self, part: str, call: Call | None, *, last: bool = False) -> Any:
        """Return what a call gave, or None and note the miss; the last call of a build may take all that is left."""
        start = monotonic()
        left = self.left_seconds + (self._last_seconds if last else 0)
        outcome = call.outcome(timeout_seconds=left) if call else Outcome("busy")
        self._waits.left_seconds -= monotonic() - start
        if outcome.status == "done":
            return outcome.value
        self.miss(part, outcome.status, outcome.reason)
        return None

    def ask(self, part: str, lane: BoundedCalls | None, function: Callable[[], object], *, last: bool = False) -> Any:
        """Return what a call gives, or None: also where the part was late before, which is not waited for twice."""
        known = self._misses.get(part)
        if known and known.status in ("late", "busy"):
            return None
        return self.result(part, self.start(lane, function), last=last)

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
        has_summarizer: whether a model writes summaries.
        lanes: the workers for what may hang.
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
        has_summarizer: bool,
        lanes: CallLanes,
    ) -> None:
        self.summaries = summaries
        self.tasks = tasks
        self.constraints = constraints
        self.memory = memory
        self._store = store
        self._extractor = extractor
        self._has_summarizer = has_summarizer
        self._lanes = lanes
        self._store_lane = None if is_in_process(store) else lanes.store
        self._memory_lane = None if getattr(memory, "is_inline", False) is True else lanes.memory
        self._lock = Lock()
        self._noted: LruCache[tuple[str, str], dict[str, Miss]] = LruCache(max_entries=_MAX_NOTED)
        self._summaries: LruCache[tuple[str, str], tuple[str, Summary]] = LruCache(max_entries=_MAX_NOTED)
        self._states = ReadRecords(lambda body, _: PolicyState.from_dict(json.loads(body)))

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
        lane = self._store_lane
        calls = {"constraints": look.start(lane, lambda: self.constraints.of(thread))}
        if summary_before is not None:
            brought_up = partial(
                self.summaries.update_if_needed, thread, before_seq=summary_before, wait_seconds=look.left_seconds
            )
            calls["summary"] = look.start(lane, brought_up)
        if task:
            calls["task"] = look.start(lane, lambda: self.tasks.get(thread))
        if policy:
            calls["policy"] = look.start(lane, lambda: self._state_in(load_record(self._store, thread, POLICY_KIND)))
        if self.memory and thread.user and search and prompt.strip():
            self._remember(look, self.memory, thread)
            scope = MemoryScope(thread.tenant, thread.user)
            calls["retrieved"] = look.start(self._memory_lane, partial(_found, self.memory, scope, prompt, search))
        results = {part: look.result(part, call) for part, call in calls.items()}
        update, found = results.get("summary"), results.get("retrieved") or _Found()
        if update and update.status == "busy":
            look.miss("summary", "busy")
        elif update and update.status in ("failed", "unsaved"):
            look.miss("summary", "degraded" if update.summary else "failed", update.reason)
        if found.reason:
            look.miss("retrieved", "degraded" if found.hits or found.reason != _NONSENSE else "failed", found.reason)
        summary = self._told(thread, update.summary) if update and update.summary else None
        constraints = results["constraints"] or {}
        return Derived(summary, constraints, results.get("task"), found.hits, results.get("policy"))

    def _told(self, thread: Thread, summary: Summary) -> Summary:
        """Return the summary that a run was told when it began, unless the new one covers more.

        What a model wrote in the meantime waits for the next question: it would change the prompt before the turns.
        """
        if not self._has_summarizer:
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
        task: ActiveTask | None = look.ask("task", self._store_lane, update, last=True)
        return task

    def save_policy(self, thread: Thread, state: PolicyState) -> None:
        """Save what the policy remembers, unless a later call is saved already; nobody waits for a store that may hang.

        Of two workers that write at once one loses: what it sent is as right, and the next call pays for it.
        """

        def newer(record: DerivedRecord | None) -> NewRecord | None:
            before = self._state_in(record)
            if before and (before == state or before.is_after(state)):
                return None
            return NewRecord(json.dumps(state.to_dict()), -1)

        save = partial(update_record, self._store, thread, POLICY_KIND, newer)
        if self._store_lane is None:
            self._worked("policy", thread, save)
        else:
            self._behind("policy", thread, save)

    def _state_in(self, record: DerivedRecord | None) -> PolicyState | None:
        """Return what the policy remembers by a record, None where there is none of use."""
        try:
            return self._states.of(record.body, record.version) if record else None
        except (ConfigError, ValueError, AttributeError):
            return None

    def follow_up(self, thread: Thread, save_index: Callable[[], object] | None = None) -> None:
        """Let models write for the next build what they write better than rules, and save what is to be saved.

        Nobody waits for any of it.
        """
        if save_index:
            self._behind("index", thread, save_index)
        if self._has_summarizer:
            self._behind("summary_model", thread, partial(_modelled, self.summaries, thread))
        if self._extractor and self.memory and thread.user:
            self._behind("extraction", thread, partial(self._extract, self.memory, thread))

    def _remember(self, look: LookUp, memory: LongTermMemory, thread: Thread) -> None:
        """Bring memories up to date with what the user said: before the search where nothing can hang."""
        if self._extractor:
            return  # a model reads the thread after the build
        extract = partial(self._extract, memory, thread)
        if self._store_lane or self._memory_lane:
            self._behind("extraction", thread, extract)
        else:
            look.ask("extraction", None, extract)

    def _extract(self, memory: LongTermMemory, thread: Thread) -> str:
        """Read a thread into memory, and return why rules did what a model should have done, "" where all is well."""
        return remember_thread(memory, thread, self._store, extractor=self._extractor).reason or ""

    # --- what nobody waits for --------------------------------------------------------------------------------------

    def _behind(self, part: str, thread: Thread, work: Callable[[], object]) -> None:
        """Start work for the next build; what becomes of it, or the reason that it returns, is noted for that one."""
        if self._lanes.models.start(partial(self._worked, part, thread, work)) is None:
            self._note(thread, Miss(part, "busy"))

    def _worked(self, part: str, thread: Thread, work: Callable[[], object]) -> None:
        call = Call(work)
        call.run()
        outcome = call.outcome(timeout_seconds=0)
        if outcome.status != "done":
            self._note(thread, Miss(part, outcome.status, outcome.reason))
        elif isinstance(outcome.value, str) and outcome.value:
            self._note(thread, Miss(part, "degraded", outcome.value))

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
    return update.reason if update.status in ("failed", "unsaved") else ""
