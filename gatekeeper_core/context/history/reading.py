"""The parts of a conversation: head, notes, pins, past turns, the current turn and its question.

::

    user · [note] · assistant · user · [summary] · call · results     as the list has them, all with the user's role
    user ·   ""   · assistant · user ·  system   · call · results     as the turns are read

    user · assistant · user · [compaction] assistant · user · assistant · user
    ╰── sent, cost nothing ──╯╰─ sent ─╯             ╰── selected from ──╯

A note is emptied, because it is always sent and counted apart; a summary goes with its turn. A pinned message is part
of its turn as any other, and is sent without it where the turn is not. What a provider has compacted, or stores itself,
is sent as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from gatekeeper_core.context.history.pins import beginning_of
from gatekeeper_core.context.history.rounds import reach_of
from gatekeeper_core.messages import COMPACTED, Message, Turn, is_summary, split_current_turn, turn_role

_EMPTY_USER, _EMPTY_SYSTEM = Message("user", ""), Message("system", "")


class Left(NamedTuple):
    """The beginning of a list that is sent as it is: nothing of it is chosen, cut or folded.

    Attributes:
        free: messages before this position cost nothing: something else stands for them.
        stop: messages before this one are sent as they are, >= ``free``.
    """

    free: int = 0
    stop: int = 0


def left_to_provider(messages: Sequence[Message], *, held: int = 0) -> Left:
    """Return what is left to a provider: to its newest compaction, and on to the next question.

    Args:
        messages: the conversation.
        held: so many messages the provider keeps itself, for a request that goes on from there (OpenAI's
            ``previous_response_id``).

    >>> messages = [Message("user", "?"), Message("assistant", "so far", metadata={COMPACTED: True})]
    >>> left_to_provider([*messages, Message("user", "And now?")])
    Left(free=1, stop=2)
    """
    places = [at for at, message in enumerate(messages) if _is_compacted(message)]
    if not places or places[-1] < held:
        return Left(held, held)
    behind = range(places[-1] + 1, len(messages))
    asked = next((at for at in behind if turn_role(messages[at]) == "user"), places[-1] + 1)
    return Left(places[-1], asked)


def _is_compacted(message: object) -> bool:
    return isinstance(message, Message) and bool(message.metadata) and COMPACTED in message.metadata


class History(NamedTuple):
    """A conversation as the selection sees it.

    Attributes:
        messages: the caller's messages.
        seen: the same, with the pinned ones emptied and summaries as system messages: the turns consist of these.
        head: positions before the first user message that are always sent.
        notes: further positions that are always sent and belong to no turn.
        past: the finished turns, oldest first, less the excluded ones; a note has no text and no cost in them.
        current: the turn that the model is to answer, or None where it is not in the list.
        query: the question, stripped; "" without one.
        summaries: positions of the summaries of folded messages.
        left: the part that the provider keeps itself; it belongs to the head.
        pinned: position of each message of a past turn that is always sent, and its form without the rest of the turn.
        required: past turns that are always sent whole where they fit.
    """

    messages: tuple[Message, ...]
    seen: tuple[Message, ...]
    head: tuple[int, ...]
    notes: tuple[int, ...]
    past: tuple[Turn, ...]
    current: Turn | None
    query: str
    summaries: tuple[int, ...] = ()
    left: Left = Left()
    pinned: tuple[tuple[int, Message], ...] = ()
    required: tuple[int, ...] = ()

    def turn_at(self, position: int) -> int | None:
        """Return the id of the past turn with the message at a position, None if it is in no past turn."""
        turn = bisect_right(self.past, position, key=attrgetter("start")) - 1
        return turn if turn >= 0 and position < self.past[turn].stop else None


def read_history(
    messages: Sequence[Message],
    *,
    query: str | None = None,
    notes: Collection[int] = (),
    pinned: Collection[int] = (),
    exclude: Collection[int] = (),
    all_past: bool = False,
    provider_messages: int = 0,
) -> History:
    """Return the parts of a conversation; arguments and errors as for :func:`select_history`.

    With ``all_past`` every turn is past, even if the last one holds the question: the caller asks it elsewhere. Without
    a query and a user message, everything counts as the current turn. ``notes`` are positions of user or system
    messages that are always sent, belong to no turn and do not count as questions. Nor does a summary of folded
    messages: it stays in its turn, or in the head before the first question; if it also covers rounds of the current
    turn, it is a note. The head begins with what the provider stores, ``provider_messages`` messages or its own
    compaction (see ``left_to_provider``). The current turn cannot be excluded.
    """
    messages = tuple(messages)
    left = left_to_provider(messages, held=provider_messages)
    notes = tuple(sorted({at for at in notes if at >= left.stop}))
    summaries = tuple(at for at in summaries_in(messages) if at >= left.stop)
    seen = as_said(messages, notes=notes, summaries=summaries, left=left.stop)
    question = "" if all_past else query  # no turn holds ""
    conversation = split_current_turn(seen, query=question)
    needed = summaries_needed(messages, summaries, conversation.current)
    if needed:
        notes = tuple(sorted({*notes, *needed}))
        seen = as_said(messages, notes=notes, summaries=summaries, left=left.stop)
        conversation = split_current_turn(seen, query=question)
    head, current = conversation.head, conversation.current
    if query is None and current is None and len(messages) > left.stop:
        head, current = tuple(range(left.stop)), Turn(messages[left.stop :], left.stop, len(messages))
    text = query if query is not None else current.user_text if current else ""
    inside = range(current.start, current.stop) if current else ()
    in_head, exclude = frozenset(head), frozenset(exclude)
    history = History(
        messages,
        seen,
        tuple(at for at in head if at < left.stop or at not in exclude),
        tuple(at for at in notes if at not in in_head and at not in inside),
        tuple(turn for turn in conversation.past if not any(at in exclude for at in range(turn.start, turn.stop))),
        current,
        text.strip(),
        summaries,
        left,
    )
    return with_pins(history, pinned)


def with_pins(history: History, pinned: Collection[int], *, trim: bool = True) -> History:
    """Return a conversation with further pins.

    A pinned user message brings the answer of its turn along, so that roles still alternate; without the rest of the
    turn the answer is cut to its beginning. A system message is sent alone, and any other one keeps its turn.

    Args:
        history: the conversation.
        pinned: positions.
        trim: whether answers may be cut.
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


def summaries_in(messages: tuple[Message, ...]) -> tuple[int, ...]:
    """Return the positions of the summaries in a conversation.

    >>> summaries_in((Message("user", "?"), Message("user", "[...]", metadata={"synthetic": "folded"})))
    (1,)
    """
    return tuple(
        at for at, message in enumerate(messages) if getattr(message, "metadata", None) and is_summary(message)
    )


def as_said(
    messages: tuple[Message, ...], *, notes: Collection[int] = (), summaries: Collection[int] = (), left: int = 0
) -> tuple[Message, ...]:
    """Return the messages as a reader of turns is to see them: only questions have the user's role.

    Before the first question, what is none opens a turn where an answer follows, so that this is not lost; later it
    stays within the turn that it was written into.

    Args:
        messages: the conversation.
        notes: positions of messages that are counted apart.
        summaries: positions of the summaries.
        left: so many messages are left to their provider.

    >>> [message.role for message in as_said((Message("user", "?"), Message("user", "[...]")), summaries=[1])]
    ['user', 'system']
    """
    none = frozenset((*notes, *summaries))
    if not none and not left:
        return messages
    changed = [*[_EMPTY_SYSTEM] * left, *messages[left:]]
    asked = next((at for at, one in enumerate(changed) if one.role == "user" and at not in none), len(messages))
    emptied, after = frozenset(notes), "user"  # the role of the next message that is no system message
    for at in range(len(messages) - 1, -1, -1):
        role = messages[at].role
        opens = at < asked and role == "user" and after != "user"
        if at in emptied:
            changed[at] = _EMPTY_USER if opens else _EMPTY_SYSTEM
        elif at in none and not opens:
            changed[at] = replace(messages[at], role="system")
        if at < asked and role != "system":
            after = role
    return tuple(changed)


def summaries_needed(
    messages: tuple[Message, ...], summaries: Collection[int], current: Turn | None
) -> tuple[int, ...]:
    """Return which summaries before the current turn stand for rounds of it, too: these are always needed."""
    if current is None:
        return ()
    needed, asked, behind = [], 0, current.start
    for at in sorted((at for at in summaries if at < current.start), reverse=True):
        asked += sum(one.role == "user" and not is_summary(one) for one in messages[at:behind])
        behind = at
        if reach_of(messages[at]) > asked:
            needed.append(at)
    return tuple(needed[::-1])
