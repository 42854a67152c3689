r"""The one error family of the library.

::

    GatekeeperError
    ├── ConfigError (also a ValueError)            a setting, a budget or a counter that cannot work
    ├── ConstraintLimitError (also a ValueError)   the constraint zone would outgrow its cap
    └── MessageFormatError (also a ValueError)     a message that cannot be read, with its position

Wrong *types* stay built-in ``TypeError``\\ s that name the argument. Every message says what to do.
"""

from __future__ import annotations

__all__ = ["ConfigError", "ConstraintLimitError", "GatekeeperError", "MessageFormatError"]


class GatekeeperError(Exception):
    """The base of every error that this library raises on purpose."""


class ConfigError(GatekeeperError, ValueError):
    """A setting is impossible: a budget of zero, a ratio outside 0..1, a counter that counts below zero."""


class ConstraintLimitError(GatekeeperError, ValueError):
    """The constraints would need more tokens than their zone may hold; nothing was changed.

    Attributes:
        needed_tokens: what all constraints would cost together.
        available_tokens: the cap of the zone.
    """

    def __init__(self, *, needed_tokens: int, available_tokens: int) -> None:
        self.needed_tokens = needed_tokens
        self.available_tokens = available_tokens
        super().__init__(
            f"the constraints would need {needed_tokens} tokens, the cap is {available_tokens}: shorten the value, "
            "remove another constraint, or raise ConstraintConfig(max_tokens=...)"
        )


class MessageFormatError(GatekeeperError, ValueError):
    """A message cannot be read.

    Attributes:
        position: 0-based index of the message in the list that was read, or None for a message read by itself.
    """

    def __init__(self, reason: str, *, position: int | None = None) -> None:
        self.reason = reason
        self.position = position
        super().__init__(reason if position is None else f"message {position}: {reason}")
