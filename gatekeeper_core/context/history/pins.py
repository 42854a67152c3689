"""Messages that are sent and are no question: those that a caller pins, and summaries of folded messages.

::

    user · [pinned] · assistant · user · [summary] · call · results     as the list has them, all with the user's role
    user ·   ""     · assistant · user ·  system   · call · results     as the turns are read

A pinned message is emptied, because it is always sent and counted apart; a summary goes with its turn.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gatekeeper_core.context.compaction.rounds import reach_of
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message, Turn, is_summary

__all__ = ["as_said", "check_position", "checked_pins", "summaries_in", "summaries_needed"]

_EMPTY_USER, _EMPTY_SYSTEM = Message("user", ""), Message("system", "")


def summaries_in(messages: tuple[Message, ...]) -> tuple[int, ...]:
    """Return the positions of the summaries in a conversation.

    >>> summaries_in((Message("user", "?"), Message("user", "[...]", metadata={"synthetic": "folded"})))
    (1,)
    """
    return tuple(
        at for at, message in enumerate(messages) if getattr(message, "metadata", None) and is_summary(message)
    )


def as_said(
    messages: tuple[Message, ...], *, pinned: Collection[int] = (), summaries: Collection[int] = (), left: int = 0
) -> tuple[Message, ...]:
    """Return the messages as a reader of turns is to see them: only questions have the user's role.

    Before the first question, what is none opens a turn where an answer follows, so that this is not lost; later it
    stays within the turn that it was written into.

    Args:
        messages: the conversation.
        pinned: positions of messages that are counted apart.
        summaries: positions of the summaries.
        left: so many messages are left to their provider.

    >>> [message.role for message in as_said((Message("user", "?"), Message("user", "[...]")), summaries=[1])]
    ['user', 'system']
    """
    none = frozenset((*pinned, *summaries))
    if not none and not left:
        return messages
    changed = [*[_EMPTY_SYSTEM] * left, *messages[left:]]
    asked = next((at for at, one in enumerate(changed) if one.role == "user" and at not in none), len(messages))
    emptied, after = frozenset(pinned), "user"  # the role of the next message that is no system message
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


def checked_pins(messages: tuple[Message, ...], pinned: Collection[int]) -> tuple[int, ...]:
    """Return the positions of messages that are always sent, ascending, each once.

    Raises:
        TypeError: a position is no whole number, or what stands there no message.
        ConfigError: nothing stands there, or a message of the assistant or of a tool.
    """
    for at in pinned:
        check_position(at, len(messages))
        if not isinstance(messages[at], Message):
            raise TypeError(f"messages[{at}] must be a Message, got {type(messages[at]).__name__}")
        role = messages[at].role
        if role not in ("user", "system"):
            raise ConfigError(f"message {at} has the role {role}: only user and system messages can be pinned")
    return tuple(sorted(set(pinned)))


def check_position(at: object, count: int) -> None:
    """Check that a pinned position is one of a list of so many messages.

    Raises:
        TypeError: it is no whole number.
        ConfigError: nothing stands there.
    """
    if isinstance(at, bool) or not isinstance(at, int):
        raise TypeError(f"pinned must hold positions, got {type(at).__name__}")
    if not 0 <= at < count:
        raise ConfigError(f"pinned position {at} is not in a list of {count} messages")
