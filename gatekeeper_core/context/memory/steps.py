"""The messages of finished steps, which need not be sent again because the step's summary replaces them.

A turn that lies wholly in a step is left out whole. Of other turns, of the newest one, and of those with the goal or a
sub-request, only rounds of tool use (each whole) and the assistant's texts go. System messages always stay. So a list
that a provider accepts is accepted without the cleared messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, get_args

from gatekeeper_core.context.history.rounds import read_rounds
from gatekeeper_core.context.memory.pin_text import quoted
from gatekeeper_core.context.memory.task import ActiveTask, Step
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message, is_answer, turn_starts
from gatekeeper_core.text import Locale


class ClearedStep(NamedTuple):
    """A finished step whose messages need not be sent.

    Attributes:
        step: the step.
        ranges: first and last sequence number of each run of messages that it stands for, ascending.
    """

    step: Step
    ranges: tuple[tuple[int, int], ...]

    @property
    def seqs(self) -> tuple[int, ...]:
        """The sequence numbers in the ranges, ascending."""
        return tuple(at for first, last in self.ranges for at in range(first, last + 1))


def cleared_steps(thread: Thread, task: ActiveTask) -> tuple[ClearedStep, ...]:
    """Return the finished steps that stand for messages, oldest first, with the ranges of what need not be sent.

    Source: specification 002-07, 002-09.

    >>> thread = Thread("t1", (Message("user", "build it"), Message("assistant", "done"), Message("user", "and now?")))
    >>> cleared_steps(thread, ActiveTask(steps=(Step("build", "green", 1, 1),)))[0].ranges
    ((1, 1),)
    """
    if not task.steps:
        return ()
    bundles = list(_bundles(thread.messages, task))
    cleared, taken = [], set[int]()
    for step in task.steps:
        inside = [bundle for bundle in bundles if step.from_seq <= bundle[0] and bundle[-1] <= step.to_seq]
        seqs = {at for bundle in inside for at in bundle} - taken
        taken |= seqs
        if seqs:
            firsts = sorted(at for at in seqs if at - 1 not in seqs)
            lasts = sorted(at for at in seqs if at + 1 not in seqs)
            cleared.append(ClearedStep(step, tuple(zip(firsts, lasts, strict=True))))
    return tuple(cleared)


def stand_in_text(cleared: ClearedStep, *, locale: Locale = "zh") -> str:
    """Return what to send in place of a step's messages: its name, how many there were, and its summary.

    The name is quoted and escaped, the summary is not: fence the text.

    Raises:
        ConfigError: the locale is unknown.

    >>> print(stand_in_text(ClearedStep(Step("build", "all green", 1, 4), ((1, 4),)), locale="en"))
    [step "build" is done; its 4 messages are left out]
    all green
    """
    if locale not in get_args(Locale):
        raise ConfigError(f'locale must be "zh" or "en", got {locale!r}')
    name, count = quoted(cleared.step.name), len(cleared.seqs)
    heading = f"[step {name} is done; its {count} message{'s are' if count > 1 else ' is'} left out]"
    if locale == "zh":
        heading = f"[步骤{name}已完成,省略其 {count} 条消息]"
    return f"{heading}\n{cleared.step.summary}".strip()


def _bundles(messages: Sequence[Message], task: ActiveTask) -> Iterator[tuple[int, ...]]:
    """Yield the positions that are left out together, if at all."""
    starts = turn_starts([message.role for message in messages])
    requests = {request.seq for request in (*filter(None, [task.goal]), *task.sub_requests)}
    for start, stop in pairwise(starts):
        if requests.isdisjoint(range(start, stop)):
            yield tuple(at for at in range(start, stop) if messages[at].role != "system")
    first = starts[0] if starts else len(messages)  # a greeting before the first turn is not sent anyway
    rounds = (one.positions for one in read_rounds(messages) if one.answered)
    yield from (positions for positions in rounds if positions[0] >= first)
    yield from ((at,) for at in range(first, len(messages)) if is_answer(messages[at]))
