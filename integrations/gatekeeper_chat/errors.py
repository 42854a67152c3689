r"""The errors of a chat client; none ever contains the key.

::

    GatekeeperError
    └── ChatError
        ├── ChatAuthError         the key is refused                   401, 403, codes 1004 and 2049
        │   └── ChatNoKeyError    there is no key
        ├── ChatBalanceError      the account or the plan is used up   402, codes 1008, 2056 and 2061
        ├── ChatRateLimitError    too many requests or tokens          429, codes 1002, 1039, 1041 and 2045
        ├── ChatRequestError      this request is refused              other 4xx, other codes
        ├── ChatContentError      the text is refused                  codes 1026 and 1027
        ├── ChatServerError       the service failed                   5xx, codes 1000, 1001, 1013, 1024 and 1033
        ├── ChatConnectionError   no connection, a timeout, or no model at the URL (3xx, 404)
        └── ChatResponseError     an answer that cannot be read, or was cut off

A code in the answer overrides the HTTP status, which several causes share. Only rate limits and server faults are
retried. Source: MiniMax's table of error codes (platform.minimax.io, "Error Codes").
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gatekeeper_core.errors import GatekeeperError


class ChatError(GatekeeperError):
    """The base class of the family.

    Attributes:
        reason: description of the error.
        status: HTTP status, None without a response.
        code: MiniMax's own code (``base_resp.status_code``), if any.
        request_id: the service's id of the request, None if unknown.
        retry_after_seconds: wait that the server asks for, if any.
        partial: text streamed so far, without thinking.
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
        partial: str = "",
    ) -> None:
        super().__init__(reason)
        self.reason, self.status, self.code, self.request_id = reason, status, code, request_id
        self.retry_after_seconds, self.partial = retry_after_seconds, partial

    def __str__(self) -> str:
        facts = {"HTTP": self.status, "code": self.code, "request": self.request_id}
        details = ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
        return self.reason + (f" ({details})" if details else "") + (f": {self.advice}" if self.advice else "")


class ChatAuthError(ChatError):
    """The key is refused by the service, or is not a valid key."""

    advice = "check the key, and that the base URL is in its region (MINIMAX_API_KEY, MINIMAX_BASE_URL)"


class ChatNoKeyError(ChatAuthError):
    """No API key is set."""

    advice = "set MINIMAX_API_KEY in the environment, or in a file .env in the working folder"


class ChatBalanceError(ChatError):
    """The balance or the plan does not cover the request; retrying soon does not help."""

    advice = "check the balance and the plan of the account"


class ChatRateLimitError(ChatError):
    """Too many requests or tokens at once, even at the last attempt."""

    retryable = True
    advice = "send fewer requests at once, or raise ChatConfig(max_attempts=...)"


class ChatRequestError(ChatError):
    """The request is refused; sending it again does not help."""


class ChatContentError(ChatError):
    """The text of the request or the answer violates the service's content rules."""


class ChatServerError(ChatError):
    """The service failed, even at the last attempt."""

    retryable = True
    advice = "try again later"


class ChatConnectionError(ChatError):
    """The model could not be reached, did not answer in time, or is not at this URL."""


class ChatResponseError(ChatError):
    """The answer cannot be read, or ended too early."""


_BY_CODE: Mapping[int, type[ChatError]] = {
    **dict.fromkeys((1004, 2049), ChatAuthError),
    **dict.fromkeys((1008, 2056, 2061), ChatBalanceError),
    **dict.fromkeys((1002, 1039, 1041, 2045), ChatRateLimitError),
    **dict.fromkeys((1026, 1027), ChatContentError),
    **dict.fromkeys((1000, 1001, 1013, 1024, 1033), ChatServerError),
}
_BY_STATUS: Mapping[int, type[ChatError]] = {
    401: ChatAuthError,
    402: ChatBalanceError,
    403: ChatAuthError,
    404: ChatConnectionError,
    429: ChatRateLimitError,
}
_CODE_IN_TEXT = re.compile(r"\((\d{4,5})\)\s*$")
_REASON_CHARACTERS = 300


def refusal(status: int, payload: object, *, retry_after: str | None = None) -> ChatError | None:
    """Return the error in an answer, or None.

    Both forms are read: ``{"base_resp": {"status_code", "status_msg"}}``, also with HTTP 200, and ``{"error": ...}``.
    ``retry_after`` is the header of that name; a date in it is ignored.

    >>> str(refusal(200, {"base_resp": {"status_code": 1027, "status_msg": "output sensitive"}}))
    'the model refused the request: output sensitive (HTTP 200, code 1027)'
    >>> type(refusal(400, {"error": {"message": "rate limit (1002)"}})).__name__
    'ChatRateLimitError'
    """
    facts = payload if isinstance(payload, Mapping) else {}
    base, error = facts.get("base_resp"), facts.get("error")
    code, reason = None, ""
    if isinstance(base, Mapping) and (code := _code(base.get("status_code"))):
        reason = str(base.get("status_msg") or "")
    elif isinstance(error, Mapping):
        code, reason = _code(error.get("code")), str(error.get("message") or "")
    elif isinstance(error, str):
        reason = error
    if status == 200 and code is None and not error:
        return None
    at_end = _CODE_IN_TEXT.search(reason)
    if code is None and at_end:
        code, reason = int(at_end[1]), reason[: at_end.start()].rstrip()
    try:
        wait_seconds = float(retry_after or -1)
    except ValueError:
        wait_seconds = -1.0
    by_status = ChatServerError if status >= 500 else _BY_STATUS.get(status, ChatRequestError)
    request_id = facts.get("request_id") or facts.get("id")
    return (by_status if code is None else _BY_CODE.get(code, by_status))(
        f"the model refused the request: {reason[:_REASON_CHARACTERS] or 'no reason given'}",
        status=status,
        code=code,
        request_id=request_id if isinstance(request_id, str) else None,
        retry_after_seconds=wait_seconds if 0 <= wait_seconds < float("inf") else None,
    )


def _code(value: object) -> int | None:
    """Return a MiniMax code; None if it is missing, 0 or an HTTP status."""
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9 else value
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 1000 else None
