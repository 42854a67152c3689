r"""The error family of the library.

::

    GatekeeperError
    ├── BudgetError (also a ValueError)            the mandatory parts alone exceed the limit
    ├── ConfigError (also a ValueError)            an invalid setting, budget or token counter
    ├── ConstraintLimitError (also a ValueError)   the constraints would exceed their cap
    ├── MessageFormatError (also a ValueError)     a message that cannot be read, and its position
    └── StorageError                               a store operation failed
        ├── ConflictError                          another writer was faster; reload and retry
        ├── CorruptionError                        stored data is damaged; it is never returned as content
        ├── ForgottenError                         the data to save belongs to something deleted for good
        └── StaleReadError                         the store does not yet hold a message that was written

Wrong *types* stay built-in ``TypeError``\\ s that name the argument. Every message says what to do.
"""

from __future__ import annotations

import math


class GatekeeperError(Exception):
    """The base class of every error that this library raises on purpose."""


class _LimitError(GatekeeperError, ValueError):
    _reason = ""

    def __init__(self, *, needed_tokens: int, available_tokens: int) -> None:
        self.needed_tokens = needed_tokens
        self.available_tokens = available_tokens
        super().__init__(self._reason.format(needed_tokens, available_tokens))


class BudgetError(_LimitError):
    """The mandatory parts do not fit: they cost ``needed_tokens``, the limit is ``available_tokens``."""

    _reason = (
        "system prompt, newest user message and open tool calls need {} tokens, the limit is {}: shorten them or "
        "raise the limit"
    )


class ConfigError(GatekeeperError, ValueError):
    """A setting is invalid: a budget of zero, a ratio outside 0..1, a counter that returns a str."""


class ConstraintLimitError(_LimitError):
    """The constraints would cost ``needed_tokens``, over their cap of ``available_tokens``; nothing was changed."""

    _reason = "the constraints would need {} tokens, the cap is {}: shorten this one or remove another"


class MessageFormatError(GatekeeperError, ValueError):
    """A message cannot be read; ``position`` is its 0-based index in the list, None for a single message."""

    def __init__(self, reason: str, *, position: int | None = None) -> None:
        self.reason = reason
        self.position = position
        super().__init__(reason if position is None else f"message {position}: {reason}")


class StorageError(GatekeeperError):
    """A store operation failed; nothing is half-written."""


class ConflictError(StorageError):
    """Another writer saved a record of this ``kind`` in the meantime; nothing was changed."""

    def __init__(self, kind: str, *, expected_version: int, stored_version: int, reason: str | None = None) -> None:
        self.kind = kind
        self.expected_version = expected_version
        self.stored_version = stored_version
        super().__init__(
            reason
            or f"another writer changed the {kind} record: expected version {expected_version}, found version "
            f"{stored_version}; reload it and retry"
        )


class CorruptionError(StorageError):
    """Stored data is damaged or was not written by this library."""


class ForgottenError(StorageError):
    """The data to save belongs to a "tenant", "thread", "user" or "source" (``what``) that was deleted for good."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"this {what} was deleted for good: call begin_anew({what}=...) before saving to it again")


class StaleReadError(StorageError):
    """The store holds messages only up to ``last_seq``, but ``min_seq`` was requested."""

    def __init__(self, *, min_seq: int, last_seq: int) -> None:
        self.min_seq = min_seq
        self.last_seq = last_seq
        super().__init__(
            f"the thread is stored only up to message {last_seq}, but message {min_seq} was requested: retry later, "
            "or read from the server it was written to"
        )


def check_str(argument: str, value: object) -> str:
    """Return the value of a str argument; raise TypeError for any other type."""
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, got {type(value).__name__}")
    return value


def check_type(argument: str, value: object, *kinds: type | None) -> None:
    """Raise TypeError unless the value of an argument has one of these types; None among them allows None."""
    types = tuple(kind for kind in kinds if kind is not None)
    if not isinstance(value, types) and not (value is None and None in kinds):
        named = " or a ".join(kind.__name__ for kind in types)
        raise TypeError(f"{argument} must be a {named}, got {type(value).__name__}")


def check_range(settings: object, *names: str, low: float, high: float = math.inf, integer: bool = False) -> None:
    """Check attributes of a settings object with :func:`check_number`."""
    for name in names:
        place = f"{type(settings).__name__}.{name}"
        check_number(place, getattr(settings, name), low=low, high=high, integer=integer)


def check_number(name: str, value: object, *, low: float, high: float = math.inf, integer: bool = False) -> None:
    """Check the number of an argument or setting; errors call it ``name``.

    Raises:
        ConfigError: the number is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int if integer else (int, float)):
        raise TypeError(f"{name} must be {'an int' if integer else 'a number'}, got {type(value).__name__}")
    if not low <= value <= high:
        allowed = f"{low} or more" if high == math.inf else f"between {low} and {high}"
        raise ConfigError(f"{name} must be {allowed}, got {value!r}")
