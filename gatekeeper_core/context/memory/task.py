"""The active task of a conversation: its goal, the steps done, what was found out, as one plain value.

::

    user messages ──goals──> goal, sub-requests ╮
    start_step · finish_step · set_phase ───────┼──> ActiveTask ──> status text, JSON of a derived record
    add_finding ────────────────────────────────╯

:mod:`~gatekeeper_core.context.memory.tracker` keeps the value up to date.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from gatekeeper_core.context.memory.pin_text import quoted
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.storage.codec import from_record, to_record
from gatekeeper_core.text import Locale

__all__ = ["ActiveTask", "Note", "Step", "status_text"]

_FORMAT = 2


class Note(NamedTuple):
    """A goal, request, phase, open step or finding.

    Attributes:
        text: its wording or name, on one line, perhaps cut.
        seq: sequence number of the message that a request comes from, or of the first message of an open step, which
            may be still to come; of a phase or finding, the newest message when it was noted.
    """

    text: str
    seq: int


class Step(NamedTuple):
    """A finished step.

    Attributes:
        name: what it was called.
        summary: its outcome, "" if unknown.
        from_seq: sequence number of its first message.
        to_seq: of its last message; ``from_seq - 1`` where it has none.
    """

    name: str
    summary: str
    from_seq: int
    to_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTask:
    """The task that a conversation works on.

    Attributes:
        goal: what the user wants done, None before the first request.
        sub_requests: later requests that do not replace the goal, oldest first.
        since_seq: what was noted at or after this message belongs to the goal; -1: everything does.
        phase: the stretch of work ("planning", "executing"), None where nobody named one.
        open_step: the step at work, or None.
        steps: the steps done, oldest first, those for earlier goals among them.
        findings: what was found out, oldest first.
        upto_seq: sequence number of the newest message that was read, -1 for none.
        before: goal, sub-requests, ``since_seq`` and ``upto_seq`` from before the newest turn, so that only this turn
            is read again if its wording changes; None where there was none.
        version: version of the stored record, 0 where nothing is stored.
        digests: the sequence numbers that all this depends on, with ``Thread.digests`` of them: they tell whether it
            still holds.
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
    def status(self) -> Literal["active", "idle"]:
        """``active`` where there is a goal, else ``idle``."""
        return "active" if self.goal else "idle"

    @property
    def rests_on(self) -> frozenset[int]:
        """The sequence numbers up to which the conversation must be the same for all of this to hold."""
        noted = {self.upto_seq, *(step.to_seq for step in self.steps), *(finding.seq for finding in self.findings)}
        if self.phase:
            noted.add(self.phase.seq)
        if self.open_step:
            noted.add(self.open_step.seq - 1)
        return frozenset(noted)

    def to_json(self) -> str:
        """Return the task as JSON in ASCII, the same bytes for equal tasks; ``from_json`` gives back an equal one.

        >>> ActiveTask.from_json(ActiveTask(goal=Note("部署", 0)).to_json()).goal
        Note(text='部署', seq=0)
        """
        return to_record(self, format_number=_FORMAT)

    @classmethod
    def from_json(cls, body: str) -> ActiveTask:
        """Return the task that a JSON text describes.

        Raises:
            CorruptionError: the text is damaged, or of another format; build the task anew from the conversation.
        """
        return from_record(cls, body, format_number=_FORMAT)


# --- The status, as the pin shows it --------------------------------------------------------------------------------

_SHOWN = 3
"""Newest sub-requests and findings that the status shows. Source: ours; the status stays within a dozen lines."""

_WORDS = {
    "zh": ("[任务状态]", "目标", "补充要求", "阶段", "当前步骤", "已完成步骤", "最近一步", "发现(最新在前)"),
    "en": (
        "[TASK STATUS]",
        "Goal",
        "Also asked",
        "Phase",
        "Current step",
        "Steps done",
        "last",
        "Findings, newest first",
    ),
}


def status_text(task: ActiveTask, *, locale: Locale = "zh") -> str:
    """Return what the pin tells the model about a task, at most a dozen lines; "" where there is nothing to say.

    What was noted for an earlier goal is left out. Each text is quoted and escaped; fence the status all the same where
    findings or summaries are not the user's own.

    Raises:
        ConfigError: the locale is unknown.

    Source: specification 004-22, 001-71; the form is ours.

    >>> task = ActiveTask(goal=Note("deploy it", 0), steps=(Step("build", "all green", 1, 4),))
    >>> print(status_text(task, locale="en"))
    [TASK STATUS]
    Goal: "deploy it"
    Steps done: 1, last "build": "all green"
    """
    if locale not in get_args(Locale):
        raise ConfigError(f'locale must be "zh" or "en", got {locale!r}')
    heading, goal, also, phase, step, done, last, findings = _WORDS[locale]
    named = task.phase.text if task.phase else None
    steps = [one for one in task.steps if one.to_seq >= task.since_seq]
    found = [one for one in task.findings if one.seq >= task.since_seq]
    lines: list[str] = []
    if task.goal:
        lines.append(f"{goal}: {quoted(task.goal.text)}")
    if task.sub_requests:
        lines.append(f"{also}: {', '.join(quoted(one.text) for one in task.sub_requests[-_SHOWN:])}")
    if task.phase and task.phase.seq >= task.since_seq:
        lines.append(f"{phase}: {quoted(task.phase.text)}")
    if task.open_step and task.open_step.seq > task.since_seq and task.open_step.text != named:
        lines.append(f"{step}: {quoted(task.open_step.text)}")
    if steps:
        summary = f": {quoted(steps[-1].summary)}" if steps[-1].summary else ""
        lines.append(f"{done}: {len(steps)}, {last} {quoted(steps[-1].name)}{summary}")
    if found:
        lines += [f"{findings}:", *(f"- {quoted(one.text)}" for one in reversed(found[-_SHOWN:]))]
    return "\n".join([heading, *lines]) if lines else ""
