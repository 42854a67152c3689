"""Conversations put together from traces: each model call of a trace holds the messages that were sent with it.

::

    records of a file ──by conversation, in time──> calls ──what is new in each──> messages

What a call sends beyond the calls before it is appended, so that a loop of 24 calls is one conversation. Calls with
another system prompt that share no message either (an agent that another one asks, a title) are counted, and what is
reported of them stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_formats import base


class Said(NamedTuple):
    """A message of a call, and what was left out of it."""

    message: Message
    left_out: base.LeftOut


class Call(NamedTuple):
    """What was sent to a model, what it answered, and what was reported of it."""

    sent: Sequence[Said]
    answered: Sequence[Said]
    usage: Usage | None


class Record(NamedTuple):
    """One step of a trace.

    Attributes:
        conversation: the id of the conversation that it belongs to.
        order: when it began; sorts the steps of a conversation.
        rank: 0 for a model call, 1 for a step that holds a whole conversation, which is read where there is no model
            call, None for every other step.
        read: reads its messages; raises ``PlaceError`` where it cannot.
        created: the day on which it began.
    """

    conversation: str
    order: str
    rank: int | None
    read: Callable[[], Call]
    created: str | None


class _Thread:
    """A conversation that grows with each call."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.calls = 0
        self._known: set[Hashable] = set()
        self._system: Hashable = None

    def takes(self, call: Call) -> bool:
        """Whether a call goes on with this conversation."""
        shares = any(_key(said) in self._known for said in call.sent if said.message.role != "system")
        return not self.said or shares or _system(call.sent) == self._system

    def add(self, call: Call) -> None:
        """Append what is new in a call."""
        if not self.said:
            self._system = _system(call.sent)
        new = [*self._unsaid(call.sent), *call.answered]
        self.said += new
        self._known.update(map(_key, new))
        self.calls += 1

    def _unsaid(self, sent: Sequence[Said]) -> Sequence[Said]:
        """Return what stands behind the newest message that is known."""
        if not self.said:
            return sent
        last_at = {_key(said): at for at, said in enumerate(sent)}
        for back, said in enumerate(reversed(self.said)):
            at = last_at.get(_key(said))
            if at is not None and said.message.role != "system":
                new = sent[at + 1 :]
                # The answer before may come back changed (without its thinking, say): it was said already.
                again = back and new and new[0].message.role == self.said[-back].message.role == "assistant"
                return new[1:] if again else new
        return [said for said in sent if said.message.role != "system"]


def _key(said: Said) -> Hashable:
    message = said.message
    calls = tuple((call.id, call.name) for call in message.tool_calls)
    return message.role, message.text, calls, message.tool_call_id


def _system(sent: Sequence[Said]) -> Hashable:
    return tuple(said.message.text for said in sent if said.message.role == "system")


def conversations_of(records: Iterable[Record]) -> base.Entries:
    """Yield the conversations of the records of a file, in the order of their first records.

    All records are held: the calls of a conversation lie anywhere in a file.
    """
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
    longest = max(threads, key=lambda thread: len(thread.said))
    left_out["other_call"] += sum(thread.calls for thread in threads if thread is not longest)
    for said in longest.said:
        left_out.update(said.left_out)
        yield said.message


def said_of(messages: Iterable[Message], left_out: base.LeftOut | None = None) -> list[Said]:
    """Return messages of a call; what was left out is counted with the first of them."""
    said = [Said(message, Counter()) for message in messages]
    if said and left_out:
        said[0].left_out.update(left_out)
    return said
