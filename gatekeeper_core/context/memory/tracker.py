"""Keeps the active task of conversations: reads new requests, takes notes of steps and findings, follows cut-backs.

Goal and sub-requests can be read again from the messages. Phases, steps and findings cannot, so each holds as long as
the messages up to it are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from gatekeeper_core.context.memory.goals import read_request
from gatekeeper_core.context.memory.pin_text import PINNED_CHARS
from gatekeeper_core.context.memory.records import NewRecord, load_record, update_record
from gatekeeper_core.context.memory.task import ActiveTask, Note, Step
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.errors import ConfigError, CorruptionError
from gatekeeper_core.messages import turn_starts
from gatekeeper_core.selection.topics import Verdict
from gatekeeper_core.storage.base import DerivedRecord, RecordStore
from gatekeeper_core.text import split_thinking
from gatekeeper_core.tokens import check_str
from gatekeeper_core.truncation import truncate_to_tokens

__all__ = ["TaskTracker"]

_KIND = "task"

# What is kept, the newest of each; a goal or sub-request is as long as the pin quotes it. Source: ours.
_MAX_TEXT_CHARS, _MAX_NAME_CHARS = 400, 80
_MAX_SUB_REQUESTS, _MAX_STEPS, _MAX_FINDINGS = 8, 32, 16


class TaskTracker:
    """The active task of each conversation, kept in a store.

    Safe to use from several threads and processes: a change that another writer overtook is made anew on what that one
    saved. Whatever the store raises passes through; nothing is half changed then.

    Args:
        store: keeps the records, one of the kind "task" for each conversation.

    >>> from gatekeeper_core.messages import Message
    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> tracker = TaskTracker(InMemoryStore())
    >>> thread = Thread("t1", (Message("user", "你好，帮我部署 Redis"),))
    >>> tracker.update(thread).goal
    Note(text='帮我部署 Redis', seq=0)
    """

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    def get(self, thread: Thread) -> ActiveTask:
        """Return the stored task as far as it holds for the conversation; nothing is read on or saved."""
        return self._read(load_record(self._store, thread, _KIND), thread)[0]

    def update(
        self, thread: Thread, *, verdict: Verdict | None = None, turn_verdicts: Sequence[Verdict] = ()
    ) -> ActiveTask:
        """Return the task with the requests of all user messages read, the newest one included.

        A request becomes the goal where there is none, where it says so itself ("new task: …", 先不做这个，改成…), and
        where the gate says ``switch``, unless it corrects a misunderstanding. Every other request is a sub-request.
        Without a verdict, a wording such as "new topic" counts as a switch.

        Args:
            thread: the conversation, with the question that is about to be answered as its last message.
            verdict: the gate's on the newest turn.
            turn_verdicts: the gate's on the turns from the first one on, as ``ContextGatekeeper.verdicts`` has them;
                with them a task that must be read again is read as it was.

        Source: specification 001-38, 004-64.
        """
        return self._change(thread, lambda task: _read_on(task, thread, verdict, turn_verdicts))

    def set_phase(self, thread: Thread, name: str, *, summary: str | None = None) -> ActiveTask:
        """Begin another phase: the step at work is finished, and the messages that follow are the phase's.

        With the name of the phase at work nothing changes.

        Args:
            thread: the conversation so far.
            name: what the phase is called, not blank.
            summary: outcome of the step or phase before, see :meth:`finish_step`.

        Raises:
            ConfigError: the name is blank.

        Source: specification 002-07.
        """
        name = _line("name", name, _MAX_NAME_CHARS)

        def change(task: ActiveTask) -> ActiveTask:
            if task.phase and task.phase.text == name:
                return task
            return replace(_begun(task, thread, name, summary), phase=Note(name, thread.last_seq))

        return self._change(thread, change)

    def start_step(self, thread: Thread, name: str, *, summary: str | None = None) -> ActiveTask:
        """Begin a step with the next message; a step at work is finished first.

        Args:
            thread: the conversation so far.
            name: what the step is called, not blank.
            summary: outcome of the step before, see :meth:`finish_step`.

        Raises:
            ConfigError: the name is blank.
        """
        name = _line("name", name, _MAX_NAME_CHARS)
        return self._change(thread, lambda task: _begun(task, thread, name, summary))

    def finish_step(self, thread: Thread, summary: str | None = None) -> ActiveTask:
        """Finish the step at work with the newest message.

        Args:
            thread: the conversation so far.
            summary: its outcome; None: the last thing that the assistant said in it.

        Raises:
            ConfigError: no step is at work.

        Source: specification 002-09.
        """

        def change(task: ActiveTask) -> ActiveTask:
            if task.open_step is None:
                raise ConfigError("no step is at work: call start_step or set_phase first")
            return _finished(task, thread, summary)

        return self._change(thread, change)

    def add_finding(self, thread: Thread, text: str) -> ActiveTask:
        """Note something found out; the same text again becomes the newest finding.

        Raises:
            ConfigError: the text is blank.
        """
        finding = Note(_line("text", text, _MAX_TEXT_CHARS), thread.last_seq)
        return self._change(thread, lambda task: replace(task, findings=_with(task.findings, finding, _MAX_FINDINGS)))

    def _change(self, thread: Thread, change: Callable[[ActiveTask], ActiveTask]) -> ActiveTask:
        """Return the task after a change, saved where it is another now."""
        result = ActiveTask()

        def changed_record(record: DerivedRecord | None) -> NewRecord | None:
            nonlocal result
            task, stored = self._read(record, thread)
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

    def _read(self, record: DerivedRecord | None, thread: Thread) -> tuple[ActiveTask, ActiveTask | None]:
        """Return the task as it holds for the conversation, and as it is stored; None where that cannot be read."""
        if record is None:
            return ActiveTask(), ActiveTask()
        try:
            stored = replace(ActiveTask.from_json(record.body), version=record.version)
        except CorruptionError:
            return ActiveTask(version=record.version), None
        return _holding(stored, thread), stored


# --- changes of a task ----------------------------------------------------------------------------------------------


def _read_on(task: ActiveTask, thread: Thread, verdict: Verdict | None, turn_verdicts: Sequence[Verdict]) -> ActiveTask:
    """Return the task with the requests of the messages that were not read yet."""
    messages = thread.messages
    newest = next((at for at in reversed(range(len(messages))) if messages[at].role == "user"), -1)
    starts = turn_starts([message.role for message in messages]) if turn_verdicts else ()
    verdicts = dict(zip(starts, turn_verdicts, strict=False))
    if verdict is not None:
        verdicts[newest] = verdict
    for at in range(task.upto_seq + 1, len(messages)):
        message, goal = messages[at], task.goal
        if at == newest:
            before = ActiveTask(goal=goal, sub_requests=task.sub_requests, since_seq=task.since_seq, upto_seq=at - 1)
            task = replace(task, before=before)
        # A message that stands for others is nobody's words.
        if message.role != "user" or "synthetic" in message.metadata or not (asked := read_request(message.text)):
            continue
        request = Note(_line("request", asked.text, PINNED_CHARS), at)
        gate = verdicts.get(at)
        switch = gate.decision == "switch" if gate else asked.switch
        if goal is None:
            task = replace(task, goal=request)
        elif asked.explicit or (switch and not asked.correction):
            task = replace(task, goal=request, sub_requests=(), since_seq=at)
        elif request.text != goal.text:
            task = replace(task, sub_requests=_with(task.sub_requests, request, _MAX_SUB_REQUESTS))
    return replace(task, upto_seq=max(task.upto_seq, thread.last_seq))


def _begun(task: ActiveTask, thread: Thread, name: str, summary: str | None) -> ActiveTask:
    return replace(_finished(task, thread, summary), open_step=Note(name, thread.last_seq + 1))


def _finished(task: ActiveTask, thread: Thread, summary: str | None) -> ActiveTask:
    """Return the task without a step at work; one that has no messages and no summary leaves nothing behind."""
    if task.open_step is None:
        return task
    name, start = task.open_step
    if summary is None:  # the assistant's last words, without what it thought aloud; never a tool's
        said = [message.text for message in reversed(thread.messages[start:]) if message.role == "assistant"]
        summary = next(filter(None, (split_thinking(text)[1].strip() for text in said)), "")
    summary = _line("summary", summary, _MAX_TEXT_CHARS, may_be_blank=True)
    steps = task.steps
    if summary or thread.last_seq >= start:
        steps = (*steps, Step(name, summary, start, max(thread.last_seq, start - 1)))[-_MAX_STEPS:]
    return replace(task, open_step=None, steps=steps)


def _with(notes: Iterable[Note], new: Note, limit: int) -> tuple[Note, ...]:
    """Return the newest notes with a new one at the end, no text twice."""
    return (*(note for note in notes if note.text != new.text), new)[-limit:]


def _line(argument: str, text: str, max_chars: int, *, may_be_blank: bool = False) -> str:
    """Return a text on one line, cut where it is longer than ``max_chars``."""
    check_str(argument, text)
    line = " ".join(text.split())
    if not line and not may_be_blank:
        raise ConfigError(f"{argument} must not be blank")
    kept = truncate_to_tokens(line, max_chars, token_counter=len, marker="…") or line[:max_chars]
    # Two halves of a surrogate pair that stand side by side are one character once they went through JSON.
    return kept.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


# --- the record -----------------------------------------------------------------------------------------------------


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
    known = stored.digests if stored else ()
    beyond = {seq: digest for seq, digest in known if seq in seqs and seq > thread.last_seq}
    return tuple(sorted({**beyond, **thread.digests(seqs)}.items()))


def _holding(task: ActiveTask, thread: Thread) -> ActiveTask:
    """Return what of a task still holds: after a cut-back or an edit requests are read again.

    From the newest turn on, where only that one is another; else from the beginning.
    """
    now = thread.digests([seq for seq, _ in task.digests])
    good = {seq for seq, digest in task.digests if now.get(seq) == digest}
    if task.rests_on <= good:
        return task
    return replace(
        task.before if task.before and task.before.upto_seq in good else ActiveTask(),
        phase=task.phase if task.phase and task.phase.seq in good else None,
        open_step=task.open_step if task.open_step and task.open_step.seq - 1 in good else None,
        steps=tuple(step for step in task.steps if step.to_seq in good),
        findings=tuple(finding for finding in task.findings if finding.seq in good),
        version=task.version,
        digests=tuple((seq, digest) for seq, digest in task.digests if seq in good),
    )
