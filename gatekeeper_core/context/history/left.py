"""Messages that are left to their provider: it has compacted them, or keeps them itself.

::

    user · assistant · user · [compaction] assistant · user · assistant · user
    ╰── sent, cost nothing ──╯╰─ sent ─╯             ╰── selected from ──╯
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gatekeeper_core.messages import COMPACTED, Message, turn_role

__all__ = ["Left", "left_to_provider"]


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
