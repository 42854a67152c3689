"""A conversation as a plain value."""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message

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
