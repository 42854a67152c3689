r"""The one error family of the library.

::

    GatekeeperError
    ├── BudgetError (also a ValueError)            what must be sent is larger than the limit by itself
    ├── ConfigError (also a ValueError)            a setting, a budget or a counter that cannot work
    ├── ConstraintLimitError (also a ValueError)   the constraint zone would outgrow its cap
    ├── MessageFormatError (also a ValueError)     a message that cannot be read, with its position
    ├── SnapshotError (also a ValueError)          a snapshot that is damaged, of another version or conversation
    └── StorageError                               a store could not do what it was asked
        └── ConflictError                          another writer was faster; load again and repeat

Wrong *types* stay built-in ``TypeError``\\ s that name the argument. Every message says what to do.
"""

from __future__ import annotations

import math

__all__ = [
    "BudgetError",
    "ConfigError",
    "ConflictError",
    "ConstraintLimitError",
    "GatekeeperError",
    "MessageFormatError",
    "SnapshotError",
    "StorageError",
    "check_range",
]


class GatekeeperError(Exception):
    """The base of every error that this library raises on purpose."""


class BudgetError(GatekeeperError, ValueError):
    """What must be sent cannot be made small enough; nothing was changed.

    Attributes:
        needed_tokens: what must be sent costs by itself.
        available_tokens: the limit.
    """

    def __init__(self, *, needed_tokens: int, available_tokens: int) -> None:
        self.needed_tokens = needed_tokens
        self.available_tokens = available_tokens
        super().__init__(
            f"system prompt, newest user message and unanswered calls need {needed_tokens} tokens, the limit is "
            f"{available_tokens}: shorten them or raise the limit"
        )


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


class SnapshotError(GatekeeperError, ValueError):
    """A snapshot cannot be read here; the way out is always to build anew from the texts."""


class StorageError(GatekeeperError):
    """A store could not do what it was asked; nothing is half-written."""


class ConflictError(StorageError):
    """Another writer saved a record in the meantime; nothing was changed.

    Attributes:
        kind: which record.
        expected_version: the version that the save was made from.
        stored_version: the version that is stored.
    """

    def __init__(self, kind: str, *, expected_version: int, stored_version: int) -> None:
        self.kind = kind
        self.expected_version = expected_version
        self.stored_version = stored_version
        super().__init__(
            f"the {kind} record was changed by another writer: made from version {expected_version}, version "
            f"{stored_version} is stored; load it again and repeat"
        )


def check_range(settings: object, *names: str, low: float, high: float = math.inf, whole: bool = False) -> None:
    """Check numbers of a settings object: what every ``__post_init__`` of a settings class does.

    Args:
        settings: the object.
        names: its attributes to check.
        low: smallest value allowed.
        high: largest value allowed.
        whole: whether only whole numbers are.

    Raises:
        TypeError: a value is no number, or no whole one.
        ConfigError: a value lies outside the range.
    """
    for name in names:
        value = getattr(settings, name)
        place = f"{type(settings).__name__}.{name}"
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            raise TypeError(f"{place} must be {'a whole' if whole else 'a'} number, got {type(value).__name__}")
        if not low <= value <= high:
            allowed = f"be {low} or more" if high == math.inf else f"lie in {low}..{high}"
            raise ConfigError(f"{place} must {allowed}, got {value!r}")
