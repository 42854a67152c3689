"""The parts of a conversation: head, notes, pins, past turns, the current turn and its question.

::

    user · [note] · assistant · user · [summary] · call · results     as the list has them, all with the user's role
    user ·   ""   · assistant · user ·  system   · call · results     as the turns are read

    user · assistant · user · [compaction] assistant · user · assistant · user
    ╰── sent, cost nothing ──╯╰─ sent ─╯             ╰── selected from ──╯

A note is emptied, because it is always sent and counted separately; a summary goes with its turn. A pinned message is
part of its turn, and is sent alone if the turn is not. What a provider has compacted or stores is sent unchanged.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from gatekeeper_core.context.history.pins import beginning_of
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.rounds import reach_of
from gatekeeper_core.messages import (
    COMPACTED,
    Message,
    Turn,
    checked_messages,
    is_summary,
    split_current_turn,
    turn_role,
)

_EMPTY_USER, _EMPTY_SYSTEM = Message("user", ""), Message("system", "")


class History(NamedTuple):
    """A conversation as the selection sees it.

    Attributes:
        messages: the caller's messages.
        head: positions before the first user message that are always sent.
        notes: other positions that are always sent and belong to no turn.
        past: finished turns, oldest first, less excluded ones; in them notes are empty and summaries system messages.
        current: the turn to answer; None if it is not in the list.
        query: the question, stripped; "" if there is none.
        summaries: positions of the summaries of folded messages.
        provider_stop: messages before this one are stored or compacted by the provider: in the head, sent unchanged.
        provider_free: messages before this position cost nothing: something else replaces them.
        pinned: position of each past message that is always sent, and its form when sent without its turn.
        required: past turns that are always sent whole if they fit.
    """

    messages: tuple[Message, ...]
    head: tuple[int, ...]
    notes: tuple[int, ...]
    past: tuple[Turn, ...]
    current: Turn | None
    query: str
    summaries: tuple[int, ...] = ()
    provider_stop: int = 0
    provider_free: int = 0
    pinned: tuple[tuple[int, Message], ...] = ()
    required: tuple[int, ...] = ()

    def turn_at(self, position: int) -> int | None:
        """Return the id of the past turn that contains a position, or None."""
        turn = bisect_right(self.past, position, key=attrgetter("start")) - 1
        return turn if turn >= 0 and position < self.past[turn].stop else None


def read_history(
    messages: Sequence[Message],
    request: HistoryRequest | None = None,
    *,
    pinned: Collection[int] = (),
    exclude: Collection[int] = (),
) -> History:
    """Return the parts of a conversation; pins, exclusions and errors as for :func:`select_history`.

    With neither a query nor a user message, everything is the current turn. The request's ``notes`` are user or system
    messages that belong to no turn. A summary of folded messages is not a question: it stays in its turn, or in the
    head before the first question; if it also covers rounds of the current turn, it is a note. The head begins with
    what the provider stores or has compacted, up to the next question. The current turn cannot be excluded.
    """
    messages, request = checked_messages(messages), request or HistoryRequest()
    query, stop = request.query, request.provider_messages
    free = stop
    compacted = [at for at, one in enumerate(messages) if COMPACTED in one.metadata]
    if compacted and compacted[-1] >= stop:
        free, stop = compacted[-1], compacted[-1] + 1
        stop = next((at for at in range(stop, len(messages)) if turn_role(messages[at]) == "user"), stop)
    notes = tuple(sorted({at for at in request.notes if at >= stop}))
    summaries = tuple(at for at, one in enumerate(messages) if at >= stop and is_summary(one))
    question = "" if request.all_past else query  # no turn contains ""
    read = normalized(messages, notes=notes, summaries=summaries, stop=stop)
    conversation = split_current_turn(read, query=question)
    start = conversation.current.start if conversation.current else 0

    def questions_from(at: int) -> int:
        return sum(one.role == "user" and not is_summary(one) for one in messages[at:start])

    if covering := [at for at in summaries if at < start and reach_of(messages[at]) > questions_from(at)]:
        notes = tuple(sorted({*notes, *covering}))
        read = normalized(messages, notes=notes, summaries=summaries, stop=stop)
        conversation = split_current_turn(read, query=question)
    head, current = conversation.head, conversation.current
    if query is None and current is None and len(messages) > stop:
        head, current = tuple(range(stop)), Turn(messages[stop:], stop, len(messages))
    text = query if query is not None else current.user_text if current else ""
    inside = range(current.start, current.stop) if current else ()
    in_head, exclude = frozenset(head), frozenset(exclude)
    history = History(
        messages,
        head=tuple(at for at in head if at < stop or at not in exclude),
        notes=tuple(at for at in notes if at not in in_head and at not in inside),
        past=tuple(turn for turn in conversation.past if exclude.isdisjoint(range(turn.start, turn.stop))),
        current=current,
        query=text.strip(),
        summaries=summaries,
        provider_stop=stop,
        provider_free=free,
    )
    return with_pins(history, pinned)


def with_pins(history: History, pinned: Collection[int], *, trim: bool = True) -> History:
    """Return a conversation with further pins.

    A pinned user message also keeps its turn's answer, so that roles still alternate; sent without the turn, the answer
    is cut to its beginning if ``trim``. A system message is sent alone; any other message keeps its whole turn.
    """
    pins, required = dict(history.pinned), {*history.required}
    for at in {*pinned}.difference(history.notes):
        number = history.turn_at(at)
        if number is None:
            continue
        turn, message = history.past[number], history.messages[at]
        if message.role in ("user", "system"):
            pins[at] = message
        else:
            required.add(number)
        last = history.messages[turn.stop - 1]
        if message.role == "user" and last.role == "assistant" and not last.tool_calls:
            pins[turn.stop - 1] = beginning_of(last) if trim else last
    return history._replace(pinned=tuple(sorted(pins.items())), required=tuple(sorted(required, reverse=True)))


def normalized(
    messages: tuple[Message, ...], *, notes: Collection[int], summaries: Collection[int], stop: int
) -> tuple[Message, ...]:
    """Return the messages as turns are read: only questions have the user role.

    Before the first question, a note or summary opens a turn if an answer follows, so that the answer is not lost;
    later it stays in the turn it was written in.
    """
    others, emptied = frozenset((*notes, *summaries)), frozenset(notes)
    if not others and not stop:
        return messages
    changed = [*[_EMPTY_SYSTEM] * stop, *messages[stop:]]
    first = next((at for at, one in enumerate(changed) if one.role == "user" and at not in others), len(messages))
    after = "user"  # the role of the next message that is not a system message
    for at in range(len(messages) - 1, -1, -1):
        role = messages[at].role
        opens = at < first and role == "user" and after != "user"
        if at in emptied:
            changed[at] = _EMPTY_USER if opens else _EMPTY_SYSTEM
        elif at in others and not opens:
            changed[at] = replace(messages[at], role="system")
        if at < first and role != "system":
            after = role
    return tuple(changed)
