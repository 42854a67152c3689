"""The errors of an evaluation; none of them holds a key or text of a conversation.

::

    GatekeeperError
    └── EvalError
        ├── LedgerError               the ledger cannot be read or written, or does not fit the chats
        └── ModelError                the model gave no answer
            ├── ModelAuthError        the key is refused, or the account is used up    401, 402, 403
            ├── ModelRateLimitError   too many requests, also after the last try       429
            ├── ModelServerError      the fault is on the other side                   5xx
            ├── ModelConnectionError  no connection, or it took too long
            └── ModelRefusedError     this one request is refused                  other 4xx, content rules

Only a ``ModelRefusedError`` lets an evaluation go on: it belongs to one request. The others end it; what was answered
before is in the ledger.
"""

from __future__ import annotations

from gatekeeper_core.errors import GatekeeperError

__all__ = [
    "EvalError",
    "LedgerError",
    "ModelAuthError",
    "ModelConnectionError",
    "ModelError",
    "ModelRateLimitError",
    "ModelRefusedError",
    "ModelServerError",
]


class EvalError(GatekeeperError):
    """The base of the family."""


class LedgerError(EvalError):
    """The ledger cannot be read or written, or does not fit the chats."""


class ModelError(EvalError):
    """The model gave no answer.

    Attributes:
        reason: what happened, in words.
        status: the HTTP status, None where there was none.
    """

    advice = ""

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        self.reason = reason
        self.status = status
        facts = "" if status is None else f" (HTTP {status})"
        super().__init__(f"{reason}{facts}" + (f": {self.advice}" if self.advice else ""))


class ModelAuthError(ModelError):
    """The key is refused, or the account is used up."""

    advice = "name the environment variable that holds the key with --key-env, and look at the account"


class ModelRateLimitError(ModelError):
    """Too many requests or tokens at once, also after the last try."""

    advice = "wait, or ask fewer at once with --jobs 1, and run the same command again: nothing is asked twice"


class ModelServerError(ModelError):
    """The fault is on the other side, also after the last try."""

    advice = "run the same command again later: nothing is asked twice"


class ModelConnectionError(ModelError):
    """There was no connection, or it took too long."""

    advice = "check --base-url, or raise --timeout, and run the same command again: nothing is asked twice"


class ModelRefusedError(ModelError):
    """This request is refused as it is; it is not sent again."""
