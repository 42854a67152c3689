r"""The one error family of the library.

::

    GatekeeperError
    ├── BudgetError (also a ValueError)            what must be sent is larger than the limit by itself
    ├── ConfigError (also a ValueError)            a setting, a budget or a counter that cannot work
    ├── ConstraintLimitError (also a ValueError)   the constraint zone would outgrow its cap
    ├── MessageFormatError (also a ValueError)     a message that cannot be read, with its position
    ├── SnapshotError (also a ValueError)          a snapshot that is damaged, of another version or conversation
    └── StorageError                               a store could not do what it was asked
        ├── ConflictError                          another writer was faster; load again and repeat
        ├── CorruptionError                        what is stored was damaged; it is never given back as content
        ├── ForgottenError                         what was to be saved belongs to something deleted for good
        └── StaleReadError                         the store does not hold yet what the reader knows to be written

Wrong *types* stay built-in ``TypeError``\\ s that name the argument. Every message says what to do.
"""

from __future__ import annotations

import math

__all__ = [
    "BudgetError",
    "ConfigError",
    "ConflictError",
    "ConstraintLimitError",
    "CorruptionError",
    "ForgottenError",
    "GatekeeperError",
    "MessageFormatError",
    "SnapshotError",
    "StaleReadError",
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
            "remove another constraint, or raise GatekeeperConfig.constraint_tokens"
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

    def __init__(self, kind: str, *, expected_version: int, stored_version: int, reason: str | None = None) -> None:
        self.kind = kind
        self.expected_version = expected_version
        self.stored_version = stored_version
        super().__init__(
            reason
            or f"the {kind} record was changed by another writer: made from version {expected_version}, version "
            f"{stored_version} is stored; load it again and repeat"
        )


class CorruptionError(StorageError):
    """What is stored is damaged or was not written by this library; nothing of it is given back as content."""


class ForgottenError(StorageError):
    """What was to be saved belongs to a tenant, thread or user that was deleted for good; nothing was changed.

    Attributes:
        what: "tenant", "thread", "user" or "source".
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"this {what} was forgotten: nothing is saved for it until begin_anew({what}=...) is called")


class StaleReadError(StorageError):
    """The store does not hold yet what the reader knows to be written; read again, or read from the primary.

    Attributes:
        min_seq: sequence number of the message that must be there.
        last_seq: sequence number of the newest message that is.
    """

    def __init__(self, *, min_seq: int, last_seq: int) -> None:
        self.min_seq = min_seq
        self.last_seq = last_seq
        super().__init__(
            f"the thread is stored up to message {last_seq}, and message {min_seq} is asked for: read again later, "
            "or from the server that it was written to"
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
