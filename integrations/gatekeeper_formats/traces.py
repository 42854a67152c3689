"""Conversations from traces, in which each model call holds all messages that were sent with it.

::

    records of a file ──by conversation, in time──> calls ──what is new in each──> messages

The new messages of each call are appended, so a loop of 24 calls is one conversation. Calls with another system prompt
and no common message (a subagent, a title) are only counted; their usage is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_formats import base


class TracedMessage(NamedTuple):
    """A message of a call, with counts of what was left out of it."""

    message: Message
    left_out: base.LeftOut


class Call(NamedTuple):
    """A call of a model: the messages sent, the answer, and the usage."""

    sent: Sequence[TracedMessage]
    answered: Sequence[TracedMessage]
    usage: Usage | None


class Record(NamedTuple):
    """One step of a trace."""

    conversation: str  # its id
    order: str  # start time; sorts the steps of a conversation
    rank: int | None  # 0: model call; 1: whole conversation, read if there is no model call; None: another step
    read: Callable[[], Call]  # raises ``PlaceError`` if it cannot
    created: str | None  # start day


class _Thread:
    def __init__(self) -> None:
        self.messages: list[TracedMessage] = []
        self.calls = 0
        self._known: set[Hashable] = set()
        self._system: Hashable = None

    def takes(self, call: Call) -> bool:
        """Return whether a call continues this conversation."""
        shares = any(_key(traced) in self._known for traced in call.sent if traced.message.role != "system")
        return not self.messages or shares or _system(call.sent) == self._system

    def add(self, call: Call) -> None:
        """Append the new messages of a call: those after the newest known one."""
        new = [traced for traced in call.sent if not self.messages or traced.message.role != "system"]
        if not self.messages:
            self._system = _system(call.sent)
        last_at = {_key(traced): at for at, traced in enumerate(call.sent)}
        for back, traced in enumerate(reversed(self.messages)):
            at = last_at.get(_key(traced))
            if at is not None and traced.message.role != "system":
                new = list(call.sent[at + 1 :])
                # The previous answer may come back changed, such as without its thinking: it is already here.
                if back and new and new[0].message.role == self.messages[-back].message.role == "assistant":
                    del new[0]
                break
        new += call.answered
        self.messages += new
        self._known.update(map(_key, new))
        self.calls += 1


def _key(traced: TracedMessage) -> Hashable:
    message = traced.message
    calls = tuple((call.id, call.name) for call in message.tool_calls)
    return message.role, message.text, calls, message.tool_call_id


def _system(sent: Sequence[TracedMessage]) -> Hashable:
    return tuple(traced.message.text for traced in sent if traced.message.role == "system")


def conversations_of(records: Iterable[Record]) -> base.Entries:
    """Yield the conversations of all records of a file, in the order of their first records."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.conversation, []).append(record)
    for name, group in groups.items():
        ranks = [record.rank for record in group if record.rank is not None]
        if not ranks:
            continue
        group.sort(key=lambda record: record.order)
        steps = [record for record in group if record.rank == min(ranks)]
        beside = len(group) - len(steps)
        created = next((record.created for record in group if record.created), None)
        yield base.Entry(
            base.loader(partial(_messages, steps, beside), prefix=f"conversation {name!a:.60}: "),
            id=name,
            created=created,
        )


def _messages(steps: Sequence[Record], beside: int, left_out: base.LeftOut) -> base.Reports:
    left_out["trace_step"] += beside
    threads: list[_Thread] = []
    for step in steps:
        call = step.read()
        thread = next((thread for thread in threads if thread.takes(call)), None)
        if thread is None:
            thread = _Thread()
            threads.append(thread)
        thread.add(call)
        yield call.usage
    longest = max(threads, key=lambda thread: len(thread.messages))
    left_out["other_call"] += sum(thread.calls for thread in threads if thread is not longest)
    for traced in longest.messages:
        left_out.update(traced.left_out)
        yield traced.message


def traced_messages(messages: Iterable[Message], left_out: base.LeftOut | None = None) -> list[TracedMessage]:
    """Return the messages of a call; ``left_out`` is counted with the first one."""
    traced = [TracedMessage(message, Counter()) for message in messages]
    if traced and left_out:
        traced[0].left_out.update(left_out)
    return traced
