r"""The errors between here and the model; none of them ever holds the key.

::

    GatekeeperError
    └── MiniMaxError
        ├── MiniMaxAuthError         the key is refused                   401, 403, codes 1004 and 2049
        │   └── MiniMaxNoKeyError    there is none
        ├── MiniMaxBalanceError      the account or the plan is used up   402, codes 1008, 2056 and 2061
        ├── MiniMaxRateLimitError    too many requests or tokens          429, codes 1002, 1039, 1041 and 2045
        ├── MiniMaxRequestError      the request is refused as it is      other 3xx and 4xx, other codes
        ├── MiniMaxContentError      the text is refused                  codes 1026 and 1027
        ├── MiniMaxServerError       the fault is on the other side       5xx, codes 1000, 1001, 1013, 1024 and 1033
        ├── MiniMaxConnectionError   no connection, or it took too long
        └── MiniMaxResponseError     an answer that cannot be read, or was cut off

A code in the answer counts for more than the HTTP status: several causes share one status. Only the rate limit and the
server's faults are tried again.
Source: MiniMax's table of error codes (platform.minimax.io, "Error Codes").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gatekeeper_core.errors import GatekeeperError

__all__ = [
    "MiniMaxAuthError",
    "MiniMaxBalanceError",
    "MiniMaxConnectionError",
    "MiniMaxContentError",
    "MiniMaxError",
    "MiniMaxNoKeyError",
    "MiniMaxRateLimitError",
    "MiniMaxRequestError",
    "MiniMaxResponseError",
    "MiniMaxServerError",
    "error_in",
    "refusal",
]


class MiniMaxError(GatekeeperError):
    """The base of the family.

    Attributes:
        reason: what happened, in words.
        status: the HTTP status, None where there was no answer.
        code: MiniMax's own code (``base_resp.status_code``), None where there was none.
        request_id: what MiniMax calls the request, for its support; None where unknown.
        retry_after_seconds: how long the server asks to wait, None where it does not say.
    """

    retryable = False
    advice = ""

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        code: int | None = None,
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__()  # no arguments: what they hold would be shown beside the text
        self.reason = reason
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        facts = {"HTTP": self.status, "code": self.code, "request": self.request_id}
        known = ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
        return self.reason + (f" ({known})" if known else "") + (f": {self.advice}" if self.advice else "")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason,), self.__dict__


class MiniMaxAuthError(MiniMaxError):
    """The key is refused, by MiniMax or because it cannot be one."""

    advice = "check MINIMAX_API_KEY, and that MINIMAX_BASE_URL is the region that the key belongs to"


class MiniMaxNoKeyError(MiniMaxAuthError):
    """There is no key."""

    advice = "put MINIMAX_API_KEY=your-key into the environment, or into a file .env in the working folder"


class MiniMaxBalanceError(MiniMaxError):
    """The balance or the plan does not cover the request; waiting some seconds does not help."""

    advice = "look at the balance and the plan of the account"


class MiniMaxRateLimitError(MiniMaxError):
    """Too many requests or tokens at once, also after the last try."""

    retryable = True
    advice = "send fewer at once, or raise MiniMaxConfig(max_attempts=...)"


class MiniMaxRequestError(MiniMaxError):
    """The request is refused as it is; to send it again would not help."""


class MiniMaxContentError(MiniMaxError):
    """The text of the request or of the answer is refused by MiniMax's content rules."""


class MiniMaxServerError(MiniMaxError):
    """MiniMax failed, also at the last try."""

    retryable = True
    advice = "try again later"


class MiniMaxConnectionError(MiniMaxError):
    """MiniMax could not be reached, or did not answer in time."""


class MiniMaxResponseError(MiniMaxError):
    """The answer cannot be read, or it ended too early.

    Attributes:
        partial: the text that had come by then, without thinking.
    """

    def __init__(self, reason: str, *, partial: str = "", **facts: Any) -> None:
        self.partial = partial
        super().__init__(reason, **facts)


_BY_CODE: Mapping[int, type[MiniMaxError]] = {
    **dict.fromkeys((1004, 2049), MiniMaxAuthError),
    **dict.fromkeys((1008, 2056, 2061), MiniMaxBalanceError),
    **dict.fromkeys((1002, 1039, 1041, 2045), MiniMaxRateLimitError),
    **dict.fromkeys((1026, 1027), MiniMaxContentError),
    **dict.fromkeys((1000, 1001, 1013, 1024, 1033), MiniMaxServerError),
}
_BY_STATUS: Mapping[int, type[MiniMaxError]] = {
    401: MiniMaxAuthError,
    402: MiniMaxBalanceError,
    403: MiniMaxAuthError,
    429: MiniMaxRateLimitError,
}
_CODE_IN_TEXT = re.compile(r"\((\d{4,5})\)\s*$")
_REASON_CHARACTERS = 300


def refusal(
    status: int,
    *,
    reason: str = "",
    code: int | None = None,
    request_id: str | None = None,
    retry_after: str | None = None,
) -> MiniMaxError:
    """Return the error for an answer that is none.

    Without a ``code``, a number in round brackets at the end of the reason is taken for it. ``retry_after`` is the
    header of that name; a date in it is not read.

    >>> type(refusal(400, reason="invalid params (2013)")).__name__, refusal(200, code=1002).retryable
    ('MiniMaxRequestError', True)
    """
    found = _CODE_IN_TEXT.search(reason)
    if code is None and found:
        code, reason = int(found[1]), reason[: found.start()].rstrip()
    by_status = MiniMaxServerError if status >= 500 else _BY_STATUS.get(status, MiniMaxRequestError)
    kind = by_status if code is None else _BY_CODE.get(code, by_status)
    said = reason[:_REASON_CHARACTERS] or "no reason given"
    return kind(
        f"MiniMax refused the request: {said}",
        status=status,
        code=code,
        request_id=request_id,
        retry_after_seconds=_seconds(retry_after),
    )


def error_in(payload: object, status: int, *, retry_after: str | None = None) -> MiniMaxError | None:
    """Return the error that the JSON of an answer tells, or None where it tells none.

    Both forms are read: ``{"base_resp": {"status_code", "status_msg"}}``, also with HTTP 200, and ``{"error": ...}``.

    >>> str(error_in({"base_resp": {"status_code": 1027, "status_msg": "output sensitive"}}, 200))
    'MiniMax refused the request: output sensitive (HTTP 200, code 1027)'
    """
    if not isinstance(payload, Mapping):
        return None
    request_id = payload.get("request_id") or payload.get("id")
    known: dict[str, Any] = {
        "request_id": request_id if isinstance(request_id, str) else None,
        "retry_after": retry_after,
    }
    base = payload.get("base_resp")
    if isinstance(base, Mapping) and _whole(base.get("status_code")):
        return refusal(status, reason=str(base.get("status_msg") or ""), code=_whole(base["status_code"]), **known)
    error = payload.get("error")
    if isinstance(error, Mapping):
        return refusal(status, reason=str(error.get("message") or ""), code=_whole(error.get("code")), **known)
    return refusal(status, reason=error, **known) if isinstance(error, str) and error else None


def _whole(value: object) -> int | None:
    """Return a code that says something: not missing, not 0, no HTTP status in its place."""
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9 else value
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 1000 else None


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
