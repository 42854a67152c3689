"""What a conversation is at work on: its goal, the steps done, what was found out, as one plain value.

::

    user messages ──goals──> goal, sub-requests ╮
    start_step · finish_step · set_phase ───────┼──> ActiveTask ──> status text, JSON of a derived record
    add_finding ────────────────────────────────╯

``task_tracker`` keeps the value up to date, ``steps`` tells which messages of finished steps need not be sent again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from gatekeeper_core.context.task.pin_text import quoted
from gatekeeper_core.errors import ConfigError, SnapshotError, check_range
from gatekeeper_core.text import Locale

__all__ = ["ActiveTask", "Earlier", "Finding", "OpenStep", "Phase", "Request", "Step", "TaskConfig", "status_text"]

_FORMAT = 1


class Request(NamedTuple):
    """Something that the user asked for.

    Attributes:
        text: the user's words, on one line, perhaps cut.
        seq: sequence number of the message that they come from.
    """

    text: str
    seq: int


class Phase(NamedTuple):
    """A stretch of work ("planning", "executing"), and the newest message when it began."""

    name: str
    seq: int


class OpenStep(NamedTuple):
    """The step at work, and the sequence number of its first message, which may be still to come."""

    name: str
    from_seq: int


class Step(NamedTuple):
    """A step that is done.

    Attributes:
        name: what it was called.
        summary: what came of it, "" where nobody said.
        from_seq: sequence number of its first message.
        to_seq: of its last message; ``from_seq - 1`` where it has none.
    """

    name: str
    summary: str
    from_seq: int
    to_seq: int


class Finding(NamedTuple):
    """Something found out on the way, and the newest message when it was noted."""

    text: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskConfig:
    """How much is kept of a task; what is older goes first. Source: ours.

    Attributes:
        max_goal_chars: characters of a goal or sub-request, >= 1. Source: specification 001-40 (200).
        max_text_chars: characters of a step's summary or a finding, >= 1.
        max_name_chars: characters of a step's or phase's name, >= 1.
        max_sub_requests: requests kept beside the goal, >= 0.
        max_steps: steps kept, >= 0; the messages of a step that goes are sent again where there is room.
        max_findings: findings kept, >= 0.
    """

    max_goal_chars: int = 200
    max_text_chars: int = 400
    max_name_chars: int = 80
    max_sub_requests: int = 8
    max_steps: int = 32
    max_findings: int = 16

    def __post_init__(self) -> None:
        check_range(self, "max_goal_chars", "max_text_chars", "max_name_chars", low=1, whole=True)
        check_range(self, "max_sub_requests", "max_steps", "max_findings", low=0, whole=True)


class Earlier(NamedTuple):
    """What was asked for before the newest turn: where that one is said in other words, nothing else is read again.

    Attributes:
        goal: the goal then.
        sub_requests: the sub-requests then.
        since_seq: where that goal began.
        upto_seq: sequence number of the last message before the turn.
    """

    goal: Request | None
    sub_requests: tuple[Request, ...]
    since_seq: int
    upto_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTask:
    """What a conversation is at work on.

    Attributes:
        goal: what the user wants done, None before the first request.
        sub_requests: later requests that do not replace the goal, oldest first.
        since_seq: what was noted at or after this message belongs to the goal; -1: everything does.
        phase: the stretch of work, None where nobody named one.
        open_step: the step at work, or None.
        steps: the steps done, oldest first, those for earlier goals among them.
        findings: what was found out, oldest first.
        upto_seq: sequence number of the newest message that was read, -1 for none.
        before: goal and sub-requests as they were before the newest turn, None where there was none.
        version: version of the stored record, 0 where nothing is stored.
        digests: sequence numbers that the above rests on, with ``Thread.digests`` of them: what tells whether it still
            holds.
    """

    goal: Request | None = None
    sub_requests: tuple[Request, ...] = ()
    since_seq: int = -1
    phase: Phase | None = None
    open_step: OpenStep | None = None
    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    upto_seq: int = -1
    before: Earlier | None = None
    version: int = 0
    digests: tuple[tuple[int, str], ...] = ()

    @property
    def status(self) -> Literal["active", "idle"]:
        """``active`` where there is a goal, else ``idle``."""
        return "active" if self.goal else "idle"

    @property
    def rests_on(self) -> frozenset[int]:
        """The sequence numbers up to which the conversation must be the same for all of this to hold."""
        return frozenset(
            [
                self.upto_seq,
                *([self.phase.seq] if self.phase else []),
                *([self.open_step.from_seq - 1] if self.open_step else []),
                *(step.to_seq for step in self.steps),
                *(finding.seq for finding in self.findings),
            ]
        )

    def to_json(self) -> str:
        """Return the task as JSON in ASCII, the same bytes for equal tasks; ``from_json`` gives back an equal one.

        >>> ActiveTask.from_json(ActiveTask(goal=Request("部署", 0)).to_json()).goal
        Request(text='部署', seq=0)
        """
        body = {field.name: getattr(self, field.name) for field in fields(self)}
        return json.dumps({"format": _FORMAT, **body}, separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, body: str) -> ActiveTask:
        """Return the task that a JSON text describes.

        Raises:
            SnapshotError: the text is damaged, or of another format; build the task anew from the conversation.
        """
        try:
            data = json.loads(body)
            if not isinstance(data, dict) or data.pop("format") != _FORMAT:
                raise SnapshotError("the record of the task is of another format: build it anew")
            return cls(**{name: _READ[name](value) for name, value in data.items()})
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise SnapshotError("the record of the task cannot be read: build it anew") from error


Row = TypeVar("Row", Request, Phase, OpenStep, Step, Finding)


def _number(value: Any) -> int:
    if type(value) is not int or value < -1:
        raise ValueError("no sequence number")
    return value


def _row(kind: type[Row], value: Any) -> Row:
    row = kind(*value)
    for name, kept in zip(row._fields, row, strict=True):
        if name.endswith("seq"):
            _number(kept)
        elif not isinstance(kept, str):
            raise TypeError(f"{name} must be a str")
    return row


def _digest(value: Any) -> tuple[int, str]:
    seq, digest = value
    if not isinstance(digest, str):
        raise TypeError("a digest must be a str")
    return _number(seq), digest


def _earlier(value: Any) -> Earlier:
    goal, sub_requests, since_seq, upto_seq = value
    return Earlier(
        None if goal is None else _row(Request, goal),
        tuple(_row(Request, one) for one in sub_requests),
        _number(since_seq),
        _number(upto_seq),
    )


_READ: dict[str, Any] = {
    "goal": lambda value: None if value is None else _row(Request, value),
    "sub_requests": lambda value: tuple(_row(Request, one) for one in value),
    "since_seq": _number,
    "phase": lambda value: None if value is None else _row(Phase, value),
    "open_step": lambda value: None if value is None else _row(OpenStep, value),
    "steps": lambda value: tuple(_row(Step, one) for one in value),
    "findings": lambda value: tuple(_row(Finding, one) for one in value),
    "upto_seq": _number,
    "before": lambda value: None if value is None else _earlier(value),
    "version": _number,
    "digests": lambda value: tuple(map(_digest, value)),
}


# --- The status, as the pin shows it --------------------------------------------------------------------------------

_SHOWN = 3
"""Newest sub-requests and findings that the status shows. Source: ours; the status stays within a dozen lines."""

_SHOWN_CHARS = 200

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
    """Return what is said of a task to the model, at most a dozen lines; "" where there is nothing to say.

    One line each for goal, newest sub-requests, phase, step at work, and steps done with the summary of the last one;
    then the newest findings. What was noted for an earlier goal is left out. Each text is quoted and escaped, so that
    it stays on its line; fence the status all the same where findings or summaries are not the user's own.

    Args:
        task: the task.
        locale: language of the labels, ``zh`` or ``en``.

    Raises:
        ConfigError: the locale is unknown.

    Source: specification 004-22, 001-71; the form is ours.

    >>> task = ActiveTask(goal=Request("deploy it", 0), steps=(Step("build", "all green", 1, 4),))
    >>> print(status_text(task, locale="en"))
    [TASK STATUS]
    Goal: "deploy it"
    Steps done: 1, last "build": "all green"
    """
    if locale not in get_args(Locale):
        raise ConfigError(f'locale must be "zh" or "en", got {locale!r}')
    heading, *labels = _WORDS[locale]
    lines = list(_status_lines(task, labels))
    return "\n".join([heading, *lines]) if lines else ""


def _status_lines(task: ActiveTask, labels: Sequence[str]) -> Iterator[str]:
    goal, also, phase, step, done, last, findings = labels
    steps = [one for one in task.steps if one.to_seq >= task.since_seq]
    found = [one for one in task.findings if one.seq >= task.since_seq]
    if task.goal:
        yield f"{goal}: {_shown(task.goal.text)}"
    if task.sub_requests:
        yield f"{also}: {', '.join(_shown(one.text) for one in task.sub_requests[-_SHOWN:])}"
    if task.phase and task.phase.seq >= task.since_seq:
        yield f"{phase}: {_shown(task.phase.name)}"
    if task.open_step and task.open_step.from_seq > task.since_seq and task.open_step.name != _name(task.phase):
        yield f"{step}: {_shown(task.open_step.name)}"
    if steps:
        summary = f": {_shown(steps[-1].summary)}" if steps[-1].summary else ""
        yield f"{done}: {len(steps)}, {last} {_shown(steps[-1].name)}{summary}"
    if found:
        yield f"{findings}:"
        yield from (f"- {_shown(one.text)}" for one in reversed(found[-_SHOWN:]))


def _name(phase: Phase | None) -> str | None:
    return phase.name if phase else None


def _shown(text: str) -> str:
    return quoted(text, max_chars=_SHOWN_CHARS)
