"""Keeps the active task of conversations: reads new requests, takes notes of steps and findings, follows cut-backs.

The stored record is derived: goal and sub-requests can be read again from the messages. Phases, steps and findings
cannot, so each holds as long as the messages up to it are unchanged.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from gatekeeper_core.context.task.goals import Asked, read_request
from gatekeeper_core.context.task.task import ActiveTask, Earlier, Finding, OpenStep, Phase, Request, Step, TaskConfig
from gatekeeper_core.context.thread.records import NewRecord, load_record, update_record
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.errors import ConfigError, SnapshotError
from gatekeeper_core.messages import Message, turn_starts
from gatekeeper_core.selection.verdicts import Verdict
from gatekeeper_core.storage.base import DerivedRecord, RecordStore
from gatekeeper_core.text import split_thinking
from gatekeeper_core.truncation import truncate_to_tokens

__all__ = ["TaskTracker"]

_KIND = "task"

Noted = TypeVar("Noted", bound=Request | Finding)


class TaskTracker:
    """The active task of each conversation, kept in a store.

    Safe to use from several threads and processes: a change that another writer overtook is made anew on what that one
    saved. Whatever the store raises passes through; nothing is half changed then.

    Args:
        store: keeps the records, one of the kind "task" for each conversation.
        config: how much is kept.

    Raises:
        TypeError: ``config`` is none.

    >>> from gatekeeper_core.storage.in_memory import InMemoryRecordStore
    >>> tracker = TaskTracker(InMemoryRecordStore())
    >>> thread = Thread("t1", (Message("user", "你好，帮我部署 Redis"),))
    >>> tracker.update(thread).goal
    Request(text='帮我部署 Redis', seq=0)
    """

    def __init__(self, store: RecordStore, *, config: TaskConfig | None = None) -> None:
        if config is not None and not isinstance(config, TaskConfig):
            raise TypeError(f"config must be a TaskConfig, got {type(config).__name__}")
        self._store = store
        self._config = config or TaskConfig()

    def get(self, thread: Thread) -> ActiveTask:
        """Return the stored task as far as it holds for the conversation; nothing is read on or saved."""
        return _read(load_record(self._store, thread, _KIND), thread)[0]

    def update(
        self, thread: Thread, *, verdict: Verdict | None = None, turn_verdicts: Sequence[Verdict] = ()
    ) -> ActiveTask:
        """Return the task with the requests of all user messages read, the newest one included.

        A request becomes the goal where there is none, where it says so itself ("new task: …", 先不做这个，改成…), and
        where the gate says ``switch``, unless it corrects a misunderstanding. Every other request is a sub-request.
        Without a verdict, a wording such as "new topic" counts as a switch. What asks for nothing changes nothing.

        Give the question that is about to be answered as the last message of the thread, also where it is not saved
        yet.

        Args:
            thread: the conversation.
            verdict: the gate's on the newest turn.
            turn_verdicts: the gate's on the turns from the first one on, as ``ContextGatekeeper.verdicts`` has them;
                with them a task that must be read again is read as it was.

        Source: specification 001-38, 004-64.
        """
        return self._change(thread, lambda task: self._read_on(task, thread, verdict, turn_verdicts))

    def set_phase(self, thread: Thread, name: str, *, summary: str | None = None) -> ActiveTask:
        """Begin another phase: the step at work is finished, and the messages that follow are the phase's.

        With the name of the phase at work nothing changes.

        Args:
            thread: the conversation so far.
            name: what the phase is called, not blank.
            summary: what came of the step or phase before, see :meth:`finish_step`.

        Raises:
            ConfigError: the name is blank.

        Source: specification 002-07.
        """
        name = self._checked("name", name, self._config.max_name_chars)

        def change(task: ActiveTask) -> ActiveTask:
            if task.phase and task.phase.name == name:
                return task
            task = self._finished(task, thread, summary)
            return replace(task, phase=Phase(name, thread.last_seq), open_step=OpenStep(name, thread.last_seq + 1))

        return self._change(thread, change)

    def start_step(self, thread: Thread, name: str, *, summary: str | None = None) -> ActiveTask:
        """Begin a step with the next message; a step at work is finished first.

        Args:
            thread: the conversation so far.
            name: what the step is called, not blank.
            summary: what came of the step before, see :meth:`finish_step`.

        Raises:
            ConfigError: the name is blank.
        """
        name = self._checked("name", name, self._config.max_name_chars)

        def change(task: ActiveTask) -> ActiveTask:
            task = self._finished(task, thread, summary)
            return replace(task, open_step=OpenStep(name, thread.last_seq + 1))

        return self._change(thread, change)

    def finish_step(self, thread: Thread, summary: str | None = None) -> ActiveTask:
        """Finish the step at work with the newest message.

        Args:
            thread: the conversation so far.
            summary: what came of the step; None: the last thing that the assistant said in it.

        Raises:
            ConfigError: no step is at work.

        Source: specification 002-09.
        """

        def change(task: ActiveTask) -> ActiveTask:
            if task.open_step is None:
                raise ConfigError("no step is at work: call start_step or set_phase first")
            return self._finished(task, thread, summary)

        return self._change(thread, change)

    def add_finding(self, thread: Thread, text: str) -> ActiveTask:
        """Note something found out; the same text again becomes the newest finding.

        Raises:
            ConfigError: the text is blank.
        """
        text = self._checked("text", text, self._config.max_text_chars)
        noted = Finding(text, thread.last_seq)
        limit = self._config.max_findings
        return self._change(thread, lambda task: replace(task, findings=_with(task.findings, noted, limit)))

    # --- requests ---------------------------------------------------------------------------------------------------

    def _read_on(
        self, task: ActiveTask, thread: Thread, verdict: Verdict | None, turn_verdicts: Sequence[Verdict]
    ) -> ActiveTask:
        starts = turn_starts([message.role for message in thread.messages])
        for at in range(task.upto_seq + 1, len(thread.messages)):
            message = thread.messages[at]
            if starts and at == starts[-1]:
                task = replace(task, before=Earlier(task.goal, task.sub_requests, task.since_seq, at - 1))
            # A message that stands for others is nobody's words.
            if message.role != "user" or "synthetic" in message.metadata:
                continue
            if asked := read_request(message.text):
                turn = bisect_right(starts, at) - 1
                said = turn_verdicts[turn] if turn < len(turn_verdicts) else None
                if turn == len(starts) - 1 and verdict is not None:
                    said = verdict
                task = self._with_request(task, asked, at, said)
        return replace(task, upto_seq=max(task.upto_seq, thread.last_seq))

    def _with_request(self, task: ActiveTask, asked: Asked, at: int, verdict: Verdict | None) -> ActiveTask:
        request = Request(_cut(asked.text, self._config.max_goal_chars), at)
        switch = verdict.decision == "switch" if verdict else asked.switch
        if task.goal is None:
            return replace(task, goal=request)
        if asked.explicit or (switch and not asked.correction):
            return replace(task, goal=request, sub_requests=(), since_seq=at)
        if request.text == task.goal.text:
            return task
        return replace(task, sub_requests=_with(task.sub_requests, request, self._config.max_sub_requests))

    # --- steps ------------------------------------------------------------------------------------------------------

    def _finished(self, task: ActiveTask, thread: Thread, summary: str | None) -> ActiveTask:
        """Return the task without a step at work; one that has no messages and no summary leaves nothing behind."""
        if task.open_step is None:
            return task
        name, start = task.open_step
        if summary is None:
            summary = _last_words(thread.messages[start:])
        said = self._checked("summary", summary, self._config.max_text_chars, may_be_blank=True)
        done = [Step(name, said, start, max(thread.last_seq, start - 1))] if said or thread.last_seq >= start else []
        return replace(task, open_step=None, steps=_newest([*task.steps, *done], self._config.max_steps))

    def _checked(self, argument: str, text: str, max_chars: int, *, may_be_blank: bool = False) -> str:
        if not isinstance(text, str):
            raise TypeError(f"{argument} must be a str, got {type(text).__name__}")
        line = " ".join(text.split())
        if not line and not may_be_blank:
            raise ConfigError(f"{argument} must not be blank")
        return _cut(line, max_chars)

    # --- the record -------------------------------------------------------------------------------------------------

    def _change(self, thread: Thread, change: Callable[[ActiveTask], ActiveTask]) -> ActiveTask:
        """Return the task after a change, saved where it is another now."""
        result = ActiveTask()

        def changed_record(record: DerivedRecord | None) -> NewRecord | None:
            nonlocal result
            task, stored = _read(record, thread)
            ahead = stored is not None and _is_ahead(stored, thread)
            changed = change(stored if stored is not None and ahead else task)
            if changed == stored:
                result = change(task) if ahead else changed
                return None
            changed = replace(changed, digests=_digests(changed, thread, stored), version=task.version + 1)
            result = _holding(changed, thread) if ahead else changed
            return NewRecord(changed.to_json(), changed.upto_seq)

        update_record(self._store, thread, _KIND, changed_record)
        return result


def _read(record: DerivedRecord | None, thread: Thread) -> tuple[ActiveTask, ActiveTask | None]:
    """Return the task as it holds for the conversation, and as it is stored; None where that cannot be read."""
    if record is None:
        return ActiveTask(), ActiveTask()
    try:
        stored = replace(ActiveTask.from_json(record.body), version=record.version)
    except SnapshotError:
        return ActiveTask(version=record.version), None
    return _holding(stored, thread), stored


def _is_ahead(task: ActiveTask, thread: Thread) -> bool:
    """Return whether a task rests on more messages than a thread has, and on none that reads otherwise there.

    Another worker has read on, or the conversation was cut back. Until it goes on in another way nobody can tell, and
    what the other worker noted must not be undone.
    """
    now = thread.digests([seq for seq, _ in task.digests])
    beyond = [seq for seq, _ in task.digests if seq > thread.last_seq]
    return bool(beyond) and all(now.get(seq, digest) == digest for seq, digest in task.digests)


def _digests(task: ActiveTask, thread: Thread, stored: ActiveTask | None) -> tuple[tuple[int, str], ...]:
    """Return the digests of a conversation where a task rests on them; beyond the end of the thread those stored."""
    seqs = task.rests_on | ({task.before.upto_seq} if task.before else set())
    beyond = {seq: digest for seq, digest in (stored.digests if stored else ()) if seq > thread.last_seq}
    return tuple(
        sorted({**{seq: digest for seq, digest in beyond.items() if seq in seqs}, **thread.digests(seqs)}.items())
    )


def _holding(task: ActiveTask, thread: Thread) -> ActiveTask:
    """Return what of a task still holds: after a cut-back or an edit requests are read again.

    From the newest turn on, where only that one is another; else from the beginning.
    """
    now = thread.digests([seq for seq, _ in task.digests])
    good = {seq for seq, digest in task.digests if now.get(seq) == digest}
    if task.rests_on <= good:
        return task
    before = task.before if task.before and task.before.upto_seq in good else None
    goal, sub_requests, since_seq, upto_seq = before or Earlier(None, (), -1, -1)
    return ActiveTask(
        goal=goal,
        sub_requests=sub_requests,
        since_seq=since_seq,
        upto_seq=upto_seq,
        phase=task.phase if task.phase and task.phase.seq in good else None,
        open_step=task.open_step if task.open_step and task.open_step.from_seq - 1 in good else None,
        steps=tuple(step for step in task.steps if step.to_seq in good),
        findings=tuple(finding for finding in task.findings if finding.seq in good),
        version=task.version,
        digests=tuple((seq, digest) for seq, digest in task.digests if seq in good),
    )


def _with(kept: Iterable[Noted], new: Noted, limit: int) -> tuple[Noted, ...]:
    """Return what is kept with something new at its end, no text twice."""
    others = [one for one in kept if one.text != new.text]
    return _newest([*others, new], limit)


Kept = TypeVar("Kept")


def _newest(items: Sequence[Kept], limit: int) -> tuple[Kept, ...]:
    return tuple(items[max(0, len(items) - limit) :])


def _last_words(messages: Sequence[Message]) -> str:
    """Return the last text of the assistant, without what it thought aloud; never a tool's."""
    said = (split_thinking(message.text)[1].strip() for message in reversed(messages) if message.role == "assistant")
    return next(filter(None, said), "")


def _cut(line: str, max_chars: int) -> str:
    kept = truncate_to_tokens(line, max_chars, token_counter=len, marker="…") or line[:max_chars]
    # Two halves of a surrogate pair that stand side by side are one character once they went through JSON.
    return kept.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
