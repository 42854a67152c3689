"""A conversation as a plain value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import MediaPart, Message

__all__ = ["Thread"]


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
    _digests: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("id", "tenant", "user"):
            value = getattr(self, name)
            if not isinstance(value, str) and not (name == "user" and value is None):
                raise TypeError(f"Thread.{name} must be a str, got {type(value).__name__}")
            if value == "":
                raise ConfigError(f"Thread.{name} must not be empty")
        object.__setattr__(self, "messages", tuple(self.messages))
        for at, message in enumerate(self.messages):
            if not isinstance(message, Message):
                raise TypeError(f"Thread.messages[{at}] must be a Message, got {type(message).__name__}")

    @property
    def last_seq(self) -> int:
        """Sequence number of the newest message, -1 where there is none."""
        return len(self.messages) - 1

    def digests(self, seqs: Collection[int]) -> dict[int, str]:
        """Return for each sequence number what tells the messages up to it from all others: 32 hexadecimal digits.

        What was derived from a conversation holds as long as the digest up to there is the same. Two messages that read
        the same count as the same, whatever their ids and marks. Linear in the text, once for each thread value.

        Args:
            seqs: sequence numbers, -1 for no message at all; those past the end are not in the result.

        Source: BLAKE2b, 128 bits.

        >>> thread = Thread("t1", (Message("user", "hello"), Message("assistant", "hi")))
        >>> thread.digests([0])[0] == Thread("t2", thread.messages[:1]).digests([0])[0] != thread.digests([1])[1]
        True
        """
        if not self._digests:
            object.__setattr__(self, "_digests", _running_digests(self.messages))
        return {seq: self._digests[seq + 1] for seq in seqs if -1 <= seq <= self.last_seq}


def _running_digests(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the digest of no message, of the first, of the first two, and so on."""
    import hashlib  # here, because it is a tenth of the import of the library

    running = hashlib.blake2b(digest_size=16)
    found = [running.hexdigest()]
    for message in messages:
        fields = _fields(message)
        sizes = ",".join([str(len(part)) for part in fields])
        running.update(f"{sizes};{''.join(fields)}".encode("utf-8", "surrogatepass"))
        found.append(running.hexdigest())
    return tuple(found)


def _fields(message: Message) -> list[str]:
    """Return what a message says, in a fixed order."""
    fields = [message.role, message.text, message.tool_call_id or "", message.name or "", str(len(message.tool_calls))]
    for call in message.tool_calls:
        fields += (call.id, call.name, call.arguments)
    if not isinstance(message.content, str):
        fields += [part.kind for part in message.content if isinstance(part, MediaPart)]
    return fields
