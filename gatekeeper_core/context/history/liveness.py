"""Liveness of the identifiers in a run: what an action named again outlives the rounds that hold it.

::

    call · result · call · result ──add──> newest mention of each identifier; has the assistant named it?
    folded messages ──of──> identifiers that no later message holds: those that the assistant named first, newest first

An identifier is a path, an id, a name, a number or a hash. A result *defines* it and an action *uses* it. One that was
used is likely to be used again; one that a later message repeats is still in the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gatekeeper_core.context.history.call_log import READ_CHARS, identifiers_in, values_of
from gatekeeper_core.messages import Message


def identifiers_of(message: Message) -> tuple[str, ...]:
    """Return the identifiers of a message's text and arguments, each once, in their order.

    >>> from gatekeeper_core.messages import ToolCall
    >>> identifiers_of(Message("assistant", "先看 src/a.py", tool_calls=(ToolCall("c", "read", '{"id": "HAT204"}'),)))
    ('src/a.py', 'HAT204')
    """
    texts = [message.text[:READ_CHARS]]
    for call in message.tool_calls:
        texts += [value.replace("\\n", "\n") for value in values_of(call.arguments)]
    return tuple(dict.fromkeys(identifiers_in("\n".join(texts))))


class LiveIdentifiers:
    """Identifiers in the messages of a growing run or conversation.

    Args:
        question: sent anyway, with its identifiers.
    """

    def __init__(self, question: str = "") -> None:
        self._known = frozenset(identifiers_in(question[:READ_CHARS]))
        self._mentions: list[Sequence[str]] = []
        self._newest: dict[str, int] = {}
        self._used: set[str] = set()

    @property
    def count(self) -> int:
        """Number of messages."""
        return len(self._mentions)

    def add(self, message: Message) -> None:
        """Add the next message."""
        identifiers = identifiers_of(message)
        self._newest.update(dict.fromkeys(identifiers, len(self._mentions)))
        self._mentions.append(identifiers)
        if message.role == "assistant":
            self._used.update(identifiers)

    def of(self, places: Sequence[int]) -> Iterator[str]:
        """Yield what only messages in these places, ascending, hold: what the assistant named first, newest first."""
        for is_used in (True, False):
            for place in reversed(places):
                for name in self._mentions[place]:
                    if self._newest[name] == place and (name in self._used) == is_used and name not in self._known:
                        yield name
