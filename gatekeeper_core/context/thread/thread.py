"""A conversation as a plain value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import MediaPart, Message

if TYPE_CHECKING:
    from hashlib import blake2b

__all__ = ["Thread", "messages_digest"]


class _Digests:
    """The digest of no message, of the first, of the first two, and so on, and the hash that goes on with the next."""

    __slots__ = ("_running", "found")

    def __init__(self, found: tuple[str, ...] = (), running: blake2b | None = None) -> None:
        self.found = found
        self._running = running

    def continued(self, messages: Sequence[Message]) -> _Digests:
        """Return the digests of messages that begin with those of these digests."""
        from hashlib import blake2b  # here, because it is a tenth of the import of the library

        running = self._running.copy() if self._running else blake2b(digest_size=16)
        found = [] if self.found else [running.hexdigest()]
        for message in messages[max(0, len(self.found) - 1) :]:
            running.update(_said(message))
            found.append(running.hexdigest())
        return _Digests((*self.found, *found), running)

    def __reduce__(self) -> tuple[type[_Digests], tuple[()]]:
        """Return how to make none: a running hash cannot be pickled, and can be worked out again."""
        return _Digests, ()


_NO_DIGESTS = _Digests()


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation with its name and its owner.

    The sequence number of a message is its 0-based position; a longer conversation is a new value.

    Attributes:
        id: names the conversation within its tenant, not empty.
        messages: all of it, oldest first; any iterable of messages is taken.
        tenant: whose system it runs in; nothing is shared between two tenants.
        user: whose long-term memories belong to it; None: nobody's.

    Raises:
        TypeError: an id is no text, or a message is no Message.
        ConfigError: an id is empty.

    >>> Thread("t1", [Message("user", "hello")]).last_seq
    0
    """

    id: str
    messages: tuple[Message, ...] = ()
    tenant: str = "default"
    user: str | None = None
    _digests: _Digests = field(default_factory=lambda: _NO_DIGESTS, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("id", "tenant", "user"):
            value = getattr(self, name)
            if not isinstance(value, str) and not (name == "user" and value is None):
                raise TypeError(f"Thread.{name} must be a str, got {type(value).__name__}")
            if value == "":
                raise ConfigError(f"Thread.{name} must not be empty")
        object.__setattr__(self, "messages", _checked(self.messages))

    def continued(self, messages: Iterable[Message]) -> Thread:
        """Return the conversation with more messages at its end; its digests are not worked out again.

        Raises:
            TypeError: one is no Message.

        >>> Thread("t1", [Message("user", "hello")]).continued([Message("assistant", "hi")]).last_seq
        1
        """
        return self.holding(self.messages + _checked(messages, start=len(self.messages)))

    def holding(self, messages: tuple[Message, ...]) -> Thread:
        """Return the conversation with messages that are equal to its own, or go on from them; they are not checked."""
        other = copy(self)
        object.__setattr__(other, "messages", messages)
        return other

    def take_digests(self, before: Thread) -> None:
        """Take over the digests of another value of the conversation, where that one is the beginning of this one.

        >>> before, now = (Thread("t1", [Message("user", "hi")] * count) for count in (1, 2))
        >>> now.take_digests(before)
        >>> now.digests([1]) == Thread("t1", now.messages).digests([1])
        True
        """
        known = len(before._digests.found) - 1
        is_more = len(self._digests.found) <= known <= len(self.messages)
        if is_more and before.messages[:known] == self.messages[:known]:
            object.__setattr__(self, "_digests", before._digests)

    @property
    def last_seq(self) -> int:
        """Sequence number of the newest message, -1 where there is none."""
        return len(self.messages) - 1

    def digests(self, seqs: Collection[int]) -> dict[int, str]:
        """Return the digest of the messages up to each of these sequence numbers: 32 hexadecimal digits.

        What was derived from a conversation holds as long as the digest up to there is the same; ids and marks of
        messages are not in it. Linear in the text, once for each thread value and what :meth:`continued` adds.

        Args:
            seqs: sequence numbers, -1 for no message at all; those past the end are not in the result.

        Source: BLAKE2b, 128 bits.

        >>> thread = Thread("t1", (Message("user", "hello"), Message("assistant", "hi")))
        >>> thread.digests([0])[0] == Thread("t2", thread.messages[:1]).digests([0])[0] != thread.digests([1])[1]
        True
        """
        if len(self._digests.found) <= len(self.messages):
            object.__setattr__(self, "_digests", self._digests.continued(self.messages))
        found = self._digests.found
        return {seq: found[seq + 1] for seq in seqs if -1 <= seq <= self.last_seq}


def _checked(messages: Iterable[Message], *, start: int = 0) -> tuple[Message, ...]:
    checked = tuple(messages)
    for at, message in enumerate(checked, start) if {*map(type, checked)} - {Message} else ():
        if not isinstance(message, Message):
            raise TypeError(f"Thread.messages[{at}] must be a Message, got {type(message).__name__}")
    return checked


def messages_digest(messages: Iterable[Message]) -> str:
    """Return the last of the digests of a thread with these messages.

    >>> messages = (Message("user", "hello"), Message("assistant", "hi"))
    >>> messages_digest(messages) == Thread("t1", messages).digests([1])[1]
    True
    """
    from hashlib import blake2b

    running = blake2b(digest_size=16)
    for message in messages:
        running.update(_said(message))
    return running.hexdigest()


def _said(message: Message) -> bytes:
    """Return what a message says, so that no two that differ in a field are written alike."""
    fields = [message.role, message.text, message.tool_call_id or "", message.name or "", str(len(message.tool_calls))]
    for call in message.tool_calls:
        fields += (call.id, call.name, call.arguments)
    if not isinstance(message.content, str):
        fields += [part.kind for part in message.content if isinstance(part, MediaPart)]
    sizes = ",".join([str(len(field)) for field in fields])
    return f"{sizes};{''.join(fields)}".encode("utf-8", "surrogatepass")
