"""The active task of a conversation (goal, finished steps, findings) as a value, and its tracker in a store.

::

    user messages ──goals──> goal, sub-requests ╮
    start_step · finish_step · set_phase ───────┼──> ActiveTask ──> status text, JSON of a derived record
    add_finding ────────────────────────────────╯

Goal and sub-requests can be read again from the messages; the rest is valid while the messages up to it are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from gatekeeper_core.context.memory.goals import read_request
from gatekeeper_core.context.memory.thread import Thread, load_record, update_record
from gatekeeper_core.errors import ConfigError, CorruptionError, check_str
from gatekeeper_core.records import from_record, to_record
from gatekeeper_core.selection.topics import Verdict
from gatekeeper_core.storage.base import DerivedRecord, RecordStore
from gatekeeper_core.text import split_thinking
from gatekeeper_core.truncation import truncate_to_tokens

_KIND, _FORMAT = "task", 2

PINNED_CHARS = 200  # of a request, to keep and to repeat in the pin. Source: specification 001-40

# Limits; the newest of each are kept. Source: ours.
_MAX_TEXT_CHARS, _MAX_NAME_CHARS = 400, 80
_MAX_SUB_REQUESTS, _MAX_STEPS, _MAX_FINDINGS = 8, 32, 16


class Note(NamedTuple):
    """A goal, request, phase, open step or finding.

    Attributes:
        text: wording or name, on one line, possibly cut.
        seq: the message of a request; the newest at a phase or finding; the first of an open step, maybe still to come.
    """

    text: str
    seq: int


class Step(NamedTuple):
    """A finished step: its name, outcome, and the sequence numbers of its messages."""

    name: str
    summary: str  # "" if unknown
    from_seq: int
    to_seq: int  # ``from_seq - 1`` if it has no message


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTask:
    """The task that a conversation works on.

    Attributes:
        goal: the user's goal, None before the first request.
        sub_requests: later requests that do not replace the goal, oldest first.
        since_seq: notes from this message on belong to the goal; -1 means all notes.
        phase: the stretch of work ("planning", "executing"), None if not set.
        open_step: the active step, or None.
        steps: finished steps, oldest first, including those for earlier goals.
        findings: noted findings, oldest first.
        upto_seq: sequence number of the newest message that was read, -1 for none.
        before: goal, sub-requests, ``since_seq``, ``upto_seq`` before the newest turn (None: no turn), if it changes.
        version: version of the stored record, 0 if none.
        digests: ``Thread.digests`` of the sequence numbers that the task depends on.
    """

    goal: Note | None = None
    sub_requests: tuple[Note, ...] = ()
    since_seq: int = -1
    phase: Note | None = None
    open_step: Note | None = None
    steps: tuple[Step, ...] = ()
    findings: tuple[Note, ...] = ()
    upto_seq: int = -1
    before: ActiveTask | None = None
    version: int = 0
    digests: tuple[tuple[int, str], ...] = ()

    @property
    def rests_on(self) -> frozenset[int]:
        """The sequence numbers up to which the conversation must be unchanged for the task to be valid."""
        seqs = [self.upto_seq, *(step.to_seq for step in self.steps), *(finding.seq for finding in self.findings)]
        seqs += [self.phase.seq] if self.phase else []
        seqs += [self.open_step.seq - 1] if self.open_step else []
        return frozenset(seqs)

    def to_json(self) -> str:
        """Return the task as JSON in ASCII, the same bytes for equal tasks."""
        return to_record(self, format_number=_FORMAT)

    @classmethod
    def from_json(cls, body: str) -> ActiveTask:
        """Return the task that a JSON text describes; raise CorruptionError if it is damaged or of another format."""
        return from_record(cls, body, format_number=_FORMAT)


class TaskTracker:
    """The active task of each conversation, kept in a store.

    Thread- and process-safe. A blank name or text raises ``ConfigError``. Store errors pass through, nothing half done.

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
        """Return the stored task as far as it is valid for the conversation, without reading new messages or saving."""
        return _read(load_record(self._store, thread, _KIND), thread)[0]

    def update(self, thread: Thread, *, verdict: Verdict | None = None) -> ActiveTask:
        """Return the task after reading the requests of all user messages, including the newest.

        A request becomes the goal if there is none, if it announces itself ("new task: …", 先不做这个，改成…), or if
        the gate decides ``switch``, unless it corrects a misunderstanding. Every other request is a sub-request.
        ``verdict`` is the gate's on the newest turn; without one, a wording such as "new topic" counts as a switch.
        Source: specification 001-38, 004-64.
        """
        messages = thread.messages
        newest = next((at for at in reversed(range(len(messages))) if messages[at].role == "user"), -1)

        def read_on(task: ActiveTask) -> ActiveTask:
            for at in range(task.upto_seq + 1, len(messages)):
                message, goal, since_seq = messages[at], task.goal, task.since_seq
                if at == newest:
                    before = ActiveTask(goal=goal, sub_requests=task.sub_requests, since_seq=since_seq, upto_seq=at - 1)
                    task = replace(task, before=before)
                # A summary is nobody's words.
                is_users = message.role == "user" and "synthetic" not in message.metadata
                if not is_users or not (request := read_request(message.text)):
                    continue
                note = Note(_line("request", request.text, PINNED_CHARS), at)
                switch = verdict.decision == "switch" if verdict and at == newest else request.switch
                if goal is None:
                    task = replace(task, goal=note)
                elif request.explicit or (switch and not request.correction):
                    task = replace(task, goal=note, sub_requests=(), since_seq=at)
                elif note.text != goal.text:
                    task = replace(task, sub_requests=_with(task.sub_requests, note, _MAX_SUB_REQUESTS))
            return replace(task, upto_seq=max(task.upto_seq, thread.last_seq))

        return self._change(thread, read_on)

    def set_phase(self, thread: Thread, name: str, *, summary: str | None = None) -> ActiveTask:
        """Begin a phase at the next message; finish any active step first, with ``summary`` as its outcome.

        The name of the current phase changes nothing. Source: specification 002-07.
        """
        name = _line("name", name, _MAX_NAME_CHARS)

        def change(task: ActiveTask) -> ActiveTask:
            if task.phase and task.phase.text == name:
                return task
            return replace(_begun(task, thread, name, summary), phase=Note(name, thread.last_seq))

        return self._change(thread, change)

    def start_step(self, thread: Thread, name: str, *, summary: str | None = None) -> ActiveTask:
        """Start a step at the next message; finish any active step first, with ``summary`` as its outcome."""
        name = _line("name", name, _MAX_NAME_CHARS)
        return self._change(thread, lambda task: _begun(task, thread, name, summary))

    def finish_step(self, thread: Thread, summary: str | None = None) -> ActiveTask:
        """Finish the active step with the newest message; without a summary, use the assistant's last text in it.

        Source: specification 002-09.

        Raises:
            ConfigError: no step is active.
        """

        def change(task: ActiveTask) -> ActiveTask:
            if task.open_step is None:
                raise ConfigError("no step is active: call start_step or set_phase first")
            return _finished(task, thread, summary)

        return self._change(thread, change)

    def add_finding(self, thread: Thread, text: str) -> ActiveTask:
        """Note something found out; the same text again becomes the newest finding."""
        finding = Note(_line("text", text, _MAX_TEXT_CHARS), thread.last_seq)
        return self._change(thread, lambda task: replace(task, findings=_with(task.findings, finding, _MAX_FINDINGS)))

    def _change(self, thread: Thread, change: Callable[[ActiveTask], ActiveTask]) -> ActiveTask:
        def changed_record(record: DerivedRecord | None) -> tuple[ActiveTask, tuple[str, int] | None]:
            task, stored = _read(record, thread)
            # If the record rests on more messages than the thread has, and all shared ones are unchanged, another
            # worker has read on, or the conversation was cut back: keep that worker's notes.
            digests = dict(stored.digests) if stored else {}
            now = thread.digests(digests)
            is_ahead = len(now) < len(digests) and now.items() <= digests.items()
            changed = change(stored if stored and is_ahead else task)
            if changed == stored:
                return change(task), None
            seqs = changed.rests_on | ({changed.before.upto_seq} if changed.before else set())
            digests = {seq: digest for seq, digest in {**digests, **thread.digests(seqs)}.items() if seq in seqs}
            changed = replace(changed, digests=tuple(sorted(digests.items())), version=task.version + 1)
            return _holding(changed, thread), (changed.to_json(), changed.upto_seq)

        return update_record(self._store, thread, _KIND, changed_record)


def _read(record: DerivedRecord | None, thread: Thread) -> tuple[ActiveTask, ActiveTask | None]:
    """Return the task as valid for a conversation, and as stored (None if unreadable)."""
    if record is None:
        return ActiveTask(), ActiveTask()
    try:
        stored = replace(ActiveTask.from_json(record.body), version=record.version)
    except CorruptionError:
        return ActiveTask(version=record.version), None
    return _holding(stored, thread), stored


def _begun(task: ActiveTask, thread: Thread, name: str, summary: str | None) -> ActiveTask:
    return replace(_finished(task, thread, summary), open_step=Note(name, thread.last_seq + 1))


def _finished(task: ActiveTask, thread: Thread, summary: str | None) -> ActiveTask:
    if task.open_step is None:
        return task
    name, start = task.open_step
    if summary is None:  # the assistant's last text, without thinking; never a tool's
        answers = [message.text for message in reversed(thread.messages[start:]) if message.role == "assistant"]
        summary = next(filter(None, (split_thinking(text)[1].strip() for text in answers)), "")
    summary = _line("summary", summary, _MAX_TEXT_CHARS, may_be_blank=True)
    steps = task.steps
    if summary or thread.last_seq >= start:
        steps = (*steps, Step(name, summary, start, max(thread.last_seq, start - 1)))[-_MAX_STEPS:]
    return replace(task, open_step=None, steps=steps)


def _with(notes: Iterable[Note], new: Note, limit: int) -> tuple[Note, ...]:
    return (*(note for note in notes if note.text != new.text), new)[-limit:]


def _line(argument: str, text: str, max_chars: int, *, may_be_blank: bool = False) -> str:
    check_str(argument, text)
    line = " ".join(text.split())
    if not line and not may_be_blank:
        raise ConfigError(f"{argument} must not be blank")
    kept = truncate_to_tokens(line, max_chars, token_counter=len, marker="…") or line[:max_chars]
    # Adjacent halves of a surrogate pair become one character in JSON.
    return kept.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _holding(task: ActiveTask, thread: Thread) -> ActiveTask:
    """Return the valid rest of a task: after an edit of the newest turn, ``before``; of an earlier one, no requests."""
    now = thread.digests(dict(task.digests))
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
