"""What is kept of a thread beside its messages, looked up for one build within one limit of time.

::

    in this process, model-free ──> at once, on the caller's thread
    a store or a model behind it ──> on a worker; what is not there at the deadline is a miss

A look-up never raises and never waits beyond the limit: what could not be had is named in the misses, and the build
goes on without it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.context.bounded_calls import BoundedCalls, Call, Outcome
from gatekeeper_core.context.built import Miss
from gatekeeper_core.context.summary import ThreadSummary
from gatekeeper_core.context.task_tracker import TaskTracker
from gatekeeper_core.context.thread_constraints import ThreadConstraints
from gatekeeper_core.context.thread_memory import remember_thread
from gatekeeper_core.storage.base import MemoryScope

if TYPE_CHECKING:
    from gatekeeper_core.context.memory import LongTermMemory
    from gatekeeper_core.context.memory_search import MemoryHit
    from gatekeeper_core.context.summary_record import Summary
    from gatekeeper_core.context.task import ActiveTask
    from gatekeeper_core.context.thread import Thread
    from gatekeeper_core.context.thread_memory import MemoryExtractor
    from gatekeeper_core.selection.verdicts import Verdict
    from gatekeeper_core.storage.base import RecordStore

__all__ = ["Derived", "DerivedRecords", "LookUp", "MemorySearch"]

_logger = logging.getLogger("gatekeeper.builder")
_logger.addHandler(logging.NullHandler())

_MAX_HITS = 100
"""Memories that are looked at, however many a search gives back. Source: ours; thirty times what is asked for."""


class MemorySearch(NamedTuple):
    """What memories are asked for: see ``LongTermMemory.search``."""

    limit: int
    min_similarity: float | None
    categories: tuple[str, ...] | None


class Derived(NamedTuple):
    """What a build knows of a thread beside its messages.

    Attributes:
        summary: the summary of the thread, None where there is none.
        constraints: what the user has laid down for good.
        task: what the thread is at work on, None where that is not known.
        memories: what is known of the user and fits the question, best first.
    """

    summary: Summary | None = None
    constraints: Mapping[str, str] = {}  # never changed: an empty one is as good as any
    task: ActiveTask | None = None
    memories: tuple[MemoryHit, ...] = ()


class LookUp:
    """The calls of one build, and what could not be had.

    Args:
        calls: the workers.
        timeout_seconds: how long the build may wait in all.
    """

    __slots__ = ("_calls", "_deadline", "misses")

    def __init__(self, calls: BoundedCalls, *, timeout_seconds: float) -> None:
        self._calls = calls
        self._deadline = monotonic() + timeout_seconds
        self.misses: list[Miss] = []

    def start(self, function: Callable[[], object], *, inline: bool) -> Call | None:
        """Start a call, or make it at once."""
        if not inline:
            return self._calls.start(function)
        call = Call(function)
        call.run()
        return call

    def result(self, part: str, call: Call | None) -> Any:
        """Return what a call gave, or None and note the miss."""
        outcome = call.outcome(timeout_seconds=self._deadline - monotonic()) if call else Outcome("busy")
        if outcome.status == "done":
            return outcome.value
        self.miss(part, outcome.status, outcome.reason)
        return None

    def miss(self, part: str, status: str, reason: str = "") -> None:
        """Note, and log, that a part could not be had."""
        self.misses.append(Miss(part, status, reason))
        facts = {"gatekeeper_part": part, "gatekeeper_status": status, "gatekeeper_reason": reason}
        _logger.warning("context part missing", extra=facts)


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
        calls: the workers for what may hang.
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
        calls: BoundedCalls,
    ) -> None:
        self.summaries = summaries
        self.tasks = tasks
        self.constraints = constraints
        self.memory = memory
        self._store = store
        self._extractor = extractor
        self._has_summarizer = has_summarizer
        self._calls = calls
        self._inline = getattr(store, "is_in_process", False) is True

    def look_up(
        self,
        look: LookUp,
        thread: Thread,
        prompt: str,
        *,
        summary_before: int | None,
        task: bool,
        search: MemorySearch | None,
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
        """
        inline = self._inline
        calls = {"constraints": look.start(lambda: self.constraints.of(thread), inline=inline)}
        if summary_before is not None:
            update = partial(self.summaries.update_if_needed, thread, before_seq=summary_before)
            calls["summary"] = look.start(update, inline=inline)
        if task:
            calls["task"] = look.start(lambda: self.tasks.get(thread), inline=inline)
        memory, user = self.memory, thread.user
        if memory and user and search and prompt.strip():
            self._remember(look, memory, thread)
            scope = MemoryScope(thread.tenant, user)
            asked = search._asdict()
            calls["retrieved"] = look.start(lambda: memory.search(scope, prompt, **asked), inline=memory.is_inline)
        found = {part: look.result(part, call) for part, call in calls.items()}
        return Derived(
            self._summary_of(look, found.get("summary")),
            found["constraints"] or {},
            found.get("task"),
            self._hits_of(look, found.get("retrieved")),
        )

    def update_task(self, look: LookUp, thread: Thread, verdict: Verdict | None) -> ActiveTask | None:
        """Return the task of a thread with the newest request read, None where that cannot be had."""
        call = look.start(lambda: self.tasks.update(thread, verdict=verdict), inline=self._inline)
        task: ActiveTask | None = look.result("task", call)
        return task

    def follow_up(self, thread: Thread) -> None:
        """Let models write for the next build what they write better than rules; nobody waits for them."""
        if self._has_summarizer:
            self._calls.start(partial(self.summaries.run_model, thread))
        if self._extractor and self.memory and thread.user:
            self._calls.start(partial(self._extract, self.memory, thread))

    def _remember(self, look: LookUp, memory: LongTermMemory, thread: Thread) -> None:
        """Bring memories up to date with what the user said: before the search where nothing can hang."""
        if self._extractor:
            return  # a model reads the thread after the build
        inline = self._inline and memory.is_inline
        call = look.start(partial(self._extract, memory, thread), inline=inline)
        if inline or call is None:
            look.result("extraction", call)

    def _extract(self, memory: LongTermMemory, thread: Thread) -> object:
        return remember_thread(memory, thread, self._store, extractor=self._extractor)

    @staticmethod
    def _summary_of(look: LookUp, update: Any) -> Summary | None:
        if update is None:
            return None
        if update.status in ("failed", "unsaved"):
            look.miss("summary", "degraded" if update.summary else "failed", update.reason)
        summary: Summary | None = update.summary
        return summary

    @staticmethod
    def _hits_of(look: LookUp, hits: Any) -> tuple[MemoryHit, ...]:
        if hits is None:
            return ()
        if getattr(hits, "status", "") == "fallback":
            look.miss("retrieved", "degraded", getattr(hits, "reason", None) or "")
        return tuple(hits[:_MAX_HITS])
