r"""The one error family of the library.

::

    GatekeeperError
    ├── BudgetError (also a ValueError)            what must be sent is larger than the limit by itself
    ├── ConfigError (also a ValueError)            a setting, a budget or a counter that cannot work
    ├── ConstraintLimitError (also a ValueError)   the constraint zone would outgrow its cap
    ├── MessageFormatError (also a ValueError)     a message that cannot be read, with its position
    └── StorageError                               a store could not do what it was asked
        ├── ConflictError                          another writer was faster; load again and repeat
        ├── CorruptionError                        what is stored was damaged; it is never given back as content
        ├── ForgottenError                         what was to be saved belongs to something deleted for good
        └── StaleReadError                         the store does not hold yet what the reader knows to be written

Wrong *types* stay built-in ``TypeError``\\ s that name the argument. Every message says what to do.
"""

from __future__ import annotations

import math


class GatekeeperError(Exception):
    """The base of every error that this library raises on purpose."""


class _LimitError(GatekeeperError, ValueError):
    """Something costs more than its limit allows."""

    _reason = ""

    def __init__(self, *, needed_tokens: int, available_tokens: int) -> None:
        self.needed_tokens = needed_tokens
        self.available_tokens = available_tokens
        super().__init__(self._reason.format(needed_tokens, available_tokens))


class BudgetError(_LimitError):
    """The mandatory parts do not fit: they cost ``needed_tokens``, the limit is ``available_tokens``."""

    _reason = (
        "system prompt, newest user message and unanswered calls need {} tokens, the limit is {}: shorten them or "
        "raise the limit"
    )


class ConfigError(GatekeeperError, ValueError):
    """A setting is impossible: a budget of zero, a ratio outside 0..1, a counter that counts below zero."""


class ConstraintLimitError(_LimitError):
    """The constraints would cost ``needed_tokens``, more than their zone may hold; nothing was changed."""

    _reason = "the constraints would need {} tokens, the cap is {}: shorten the value or remove another constraint"


class MessageFormatError(GatekeeperError, ValueError):
    """A message cannot be read: that at the 0-based ``position`` of a list, or None for a message read by itself."""

    def __init__(self, reason: str, *, position: int | None = None) -> None:
        self.reason = reason
        self.position = position
        super().__init__(reason if position is None else f"message {position}: {reason}")


class StorageError(GatekeeperError):
    """A store could not do what it was asked; nothing is half-written."""


class ConflictError(StorageError):
    """Another writer saved a record of this ``kind`` in the meantime; nothing was changed."""

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
    """Stored data is damaged or was not written by this library."""


class ForgottenError(StorageError):
    """The data to save belongs to a "tenant", "thread", "user" or "source" (``what``) that was deleted for good."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"this {what} was forgotten: nothing is saved for it until begin_anew({what}=...) is called")


class StaleReadError(StorageError):
    """The store holds messages up to ``last_seq`` only, and ``min_seq`` was asked for."""

    def __init__(self, *, min_seq: int, last_seq: int) -> None:
        self.min_seq = min_seq
        self.last_seq = last_seq
        super().__init__(
            f"the thread is stored up to message {last_seq}, and message {min_seq} is asked for: read again later, "
            "or from the server that it was written to"
        )


def check_str(argument: str, value: object) -> str:
    """Return the value of an argument that is a text, else raise TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, got {type(value).__name__}")
    return value


def check_type(argument: str, value: object, *kinds: type | None) -> None:
    """Raise TypeError where the value of an argument has none of these types; None among them allows None."""
    types = tuple(kind for kind in kinds if kind is not None)
    if not isinstance(value, types) and not (value is None and None in kinds):
        named = " or a ".join(kind.__name__ for kind in types)
        raise TypeError(f"{argument} must be a {named}, got {type(value).__name__}")


def check_range(settings: object, *names: str, low: float, high: float = math.inf, integer: bool = False) -> None:
    """Check attributes of a settings object, as :func:`check_number` does."""
    for name in names:
        place = f"{type(settings).__name__}.{name}"
        check_number(place, getattr(settings, name), low=low, high=high, integer=integer)


def check_number(name: str, value: object, *, low: float, high: float = math.inf, integer: bool = False) -> None:
    """Check a number that an argument or a setting gives; ``name`` is what an error calls it.

    Raises:
        ConfigError: it lies outside the range.
    """
    if isinstance(value, bool) or not isinstance(value, int if integer else (int, float)):
        raise TypeError(f"{name} must be {'a whole' if integer else 'a'} number, got {type(value).__name__}")
    if not low <= value <= high:
        allowed = f"be {low} or more" if high == math.inf else f"lie in {low}..{high}"
        raise ConfigError(f"{name} must {allowed}, got {value!r}")
