"""A model behind an OpenAI-compatible address: the bytes of a request out, an answer in.

The key goes into one header of requests to the given address alone. Whatever ``requests`` raises may hold that header:
such an error is told in words, and kept neither as a cause nor as a context.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from urllib.parse import urlsplit

try:
    import requests
    from requests.adapters import HTTPAdapter
    from requests.auth import AuthBase
    from urllib3.response import BaseHTTPResponse
    from urllib3.util import Retry
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("requests", "urllib3"):
        raise
    needed = f'a model behind an address needs {error.name}: pip install "context-gatekeeper[cli,eval]"'
    raise ImportError(needed, name=error.name) from error

from gatekeeper_core.errors import ConfigError, check_number
from gatekeeper_eval.errors import (
    ModelAuthError,
    ModelConnectionError,
    ModelError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelServerError,
)
from gatekeeper_eval.models import Reply, reply_of

__all__ = ["HttpModel"]

_CONNECT_SECONDS = 10.0
_LONGEST_WAIT_SECONDS = 60.0
_RETRIED = (429, 500, 502, 503, 504, 529)
_BY_STATUS = {401: ModelAuthError, 402: ModelAuthError, 403: ModelAuthError, 429: ModelRateLimitError}
_REASON_CHARACTERS = 300


class HttpModel:
    """A model behind an address. Close it, or use it in a ``with``.

    Args:
        base_url: the address before ``/chat/completions``.
        api_key: goes into the header ``Authorization``; "" sends none.
        timeout_seconds: how long the server may be silent, > 0.
        max_retries: further tries after a status of 429 or 5xx, >= 0; one where there is no connection. What was sent
            and not answered is not sent again: it may have been paid for.
        backoff_seconds: the wait before the second further try, doubled each time; a ``Retry-After`` counts up to 60 s.

    Raises:
        ConfigError: the address or a number is impossible, or the key holds what no key holds.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str = "",
        timeout_seconds: float = 120.0,
        max_retries: int = 4,
        backoff_seconds: float = 1.0,
    ) -> None:
        check_number("timeout_seconds", timeout_seconds, low=0.001)
        check_number("max_retries", max_retries, low=0, whole=True)
        check_number("backoff_seconds", backoff_seconds, low=0)
        self._url = f"{_checked_url(base_url).rstrip('/')}/chat/completions"
        self._bearer = _Bearer(api_key)
        del api_key  # a report of an error may show the local variables
        self._bearer.check()
        self._timeout = (_CONNECT_SECONDS, timeout_seconds)
        self._retry = _Retry(
            total=max_retries,
            connect=min(1, max_retries),
            read=False,
            status_forcelist=_RETRIED,
            allowed_methods=None,
            backoff_factor=backoff_seconds,
            backoff_max=_LONGEST_WAIT_SECONDS,
            raise_on_status=False,
        )
        self._sessions = threading.local()
        self._opened: list[requests.Session] = []

    def answer(self, body: bytes) -> Reply:
        """Return the model's answer to the bytes of a request; errors as for ``Model``."""
        failure: ModelError
        try:
            response = self._session().post(
                self._url,
                data=body,
                headers={"Content-Type": "application/json"},
                auth=self._bearer,
                timeout=self._timeout,
                allow_redirects=False,  # the key goes to the given address alone
            )
            return self._read(response)
        except requests.exceptions.Timeout:
            failure = ModelConnectionError("the model was silent for too long")
        except requests.RequestException as error:
            words = self._bearer.redact(str(error))[:_REASON_CHARACTERS]
            failure = ModelConnectionError(f"the model could not be reached: {type(error).__name__}: {words}")
        raise failure

    def close(self) -> None:
        """Close the connections."""
        for session in self._opened:
            session.close()

    def __enter__(self) -> HttpModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _session(self) -> requests.Session:
        """Return the connections of this thread."""
        session: requests.Session | None = getattr(self._sessions, "session", None)
        if session is None:
            session = self._sessions.session = requests.Session()
            for scheme in ("http://", "https://"):
                session.mount(scheme, HTTPAdapter(max_retries=self._retry))
            self._opened.append(session)
        return session

    def _read(self, response: requests.Response) -> Reply:
        status = response.status_code
        try:
            payload = json.loads(self._bearer.redact(response.content.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            payload = None  # a proxy's page: the status has to do
        if status == 200 and payload is not None:
            return reply_of(payload)
        if status == 200:
            raise ModelConnectionError("the address sent something that is no JSON")
        if 300 <= status < 400:
            raise ModelConnectionError("the address redirects: give --base-url where it does", status=status)
        if status == 404:
            raise ModelConnectionError(f"there is no model at this address: {_reason(payload)}", status=status)
        kind = ModelServerError if status >= 500 else _BY_STATUS.get(status, ModelRefusedError)
        raise kind(f"the model refused the request: {_reason(payload)}", status=status)


class _Retry(Retry):
    """Retries whose waits are bounded, whatever a server asks for."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        asked = super().get_retry_after(response)
        return None if asked is None else min(asked, _LONGEST_WAIT_SECONDS)


class _Bearer(AuthBase):
    """The key: in the header of a request, and nowhere else. Without one, no header, nor one of a netrc file."""

    __slots__ = ("_key",)

    def __init__(self, key: str) -> None:
        self._key = key.strip()

    def check(self) -> None:
        if not all("!" <= character <= "~" for character in self._key):
            raise ConfigError("the key holds a space or a character that no key holds")

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def redact(self, text: str) -> str:
        """Return a text that came from outside without the key: some servers repeat it when they refuse it."""
        return text.replace(self._key, "[key]") if self._key else text

    def __repr__(self) -> str:
        return "<the key>"


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        complete = False
    if not complete or parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            "base_url must be like https://api.openai.com/v1, without a name, password, query or fragment"
        )
    return url


def _reason(payload: object) -> str:
    error = payload.get("error") if isinstance(payload, Mapping) else None
    said = error.get("message") if isinstance(error, Mapping) else error
    return said[:_REASON_CHARACTERS] if isinstance(said, str) and said else "no reason given"
