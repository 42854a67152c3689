"""The client: one request, one answer, whole or streamed.

The key goes into one header only, see :class:`_Bearer`. Errors of ``requests`` may contain that header, so the
``ChatError`` is raised outside the handler, with no such error as its cause or context.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
from dotenv import dotenv_values
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3.exceptions import DecodeError, HTTPError, ProtocolError

from gatekeeper_chat.errors import (
    ChatAuthError,
    ChatConnectionError,
    ChatError,
    ChatNoKeyError,
    ChatResponseError,
    refusal,
)
from gatekeeper_chat.stream import Assembly, events
from gatekeeper_chat.wire import Reply, read_reply, wire_messages, wire_tools
from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.calibration import UsageCalibrator
from gatekeeper_core.errors import ConfigError, check_range, check_str
from gatekeeper_core.events import ANSWER, RETRY
from gatekeeper_core.messages import Message
from gatekeeper_core.native.reading import read_messages
from gatekeeper_core.observation import tell
from gatekeeper_core.tokens import count_messages

Result = TypeVar("Result")

_KEY = "MINIMAX_API_KEY"
_ENVIRONMENT = {"base_url": "MINIMAX_BASE_URL", "model": "MINIMAX_MODEL"}
_REASON_CHARACTERS = 300
_READ_BYTES = 65_536
_CONNECT_TIMEOUT_SECONDS = 10.0  # Source: ours, like the next; the first wait before a retry is one second
_MAX_BACKOFF_SECONDS = 60.0
# requests wraps the errors of urllib3, except when its response is read directly.
_CUT_OFF = (
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
    ProtocolError,
    DecodeError,
)


@with_suggestions()
@dataclass(frozen=True, slots=True, kw_only=True)
class ChatConfig:
    """Settings of a client; the defaults are for MiniMax.

    Attributes:
        base_url: the URL before ``/chat/completions``: ``https://api.minimax.io/v1`` for MiniMax international,
            ``https://api.minimaxi.com/v1`` for MiniMax in China. A key belongs to one of them.
        model: name of the model.
        read_timeout_seconds: how long the server may be silent, > 0; thinking models stay silent for long.
        max_attempts: attempts in total, >= 1, on 429 and 5xx; the wait doubles from one second, or is a longer
            ``Retry-After``, up to a minute. A failed connection is retried once; a request without an answer is not, as
            you may have to pay for it.
        max_completion_tokens: limit of the answer; None leaves it to the API.
        temperature: randomness, 0..2; None leaves it to the API.

    Raises:
        ConfigError: a value is invalid.

    Source: MiniMax's documentation for names and URLs; times and attempts are ours.
    """

    base_url: str = "https://api.minimax.io/v1"
    model: str = "MiniMax-M2.7"
    read_timeout_seconds: float = 120.0
    max_attempts: int = 5
    max_completion_tokens: int | None = None
    temperature: float | None = None

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(check_str("ChatConfig.base_url", self.base_url))
            complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            complete = False
        if not complete or parts.username is not None or parts.query or parts.fragment:
            raise ConfigError(
                "base_url must look like https://api.openai.com/v1, without user, password, query or fragment"
            )
        if not self.model.strip():
            raise ConfigError("ChatConfig.model must be a model name, got an empty str")
        check_range(self, "read_timeout_seconds", low=0.001)
        check_range(self, "max_attempts", low=1, integer=True)
        if self.max_completion_tokens is not None:
            check_range(self, "max_completion_tokens", low=1, integer=True)
        if self.temperature is not None:
            check_range(self, "temperature", low=0, high=2)


@with_suggestions()
class ChatClient:
    """A client of a model behind a URL; thread-safe. Close it, or use it in a ``with``.

    Args:
        api_key: the API key; "" sends none, as for a local server.
        config: the settings.
        sleep: waits a number of seconds before a retry.
        jitter: returns 0..1, the part of a wait's second half to wait, so that many clients do not retry at once.
        calibrator: learns from the estimated and the reported tokens of each prompt.

    Raises:
        TypeError: the key is not a str.
        ChatAuthError: the key contains a space or another invalid character.
    """

    def __init__(
        self,
        api_key: str,
        *,
        config: ChatConfig | None = None,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        calibrator: UsageCalibrator | None = None,
    ) -> None:
        self._config = config or ChatConfig()
        self._bearer = _Bearer(api_key)
        del api_key  # a report of an error may show the local variables
        self._bearer.check()
        self._sleep, self._jitter, self._calibrator = sleep, jitter, calibrator
        self._local = threading.local()
        self._sessions: list[requests.Session] = []

    @classmethod
    def from_env(
        cls,
        *,
        env_file: str | Path | None = None,
        config: ChatConfig | None = None,
        calibrator: UsageCalibrator | None = None,
    ) -> ChatClient:
        """Return a client from ``MINIMAX_API_KEY``, ``MINIMAX_BASE_URL`` and ``MINIMAX_MODEL``; empty means missing.

        Args:
            env_file: a ``.env`` file to read, too; the environment wins. None reads ``.env`` in the working folder if
                the environment has no key, so that its key never goes to the URL in a file that you did not name.
            config: the other settings, and the base URL and model if the environment has none.
            calibrator: as for the class.

        Raises:
            ChatNoKeyError: no API key is set.
            ChatAuthError: the key contains an invalid character.
            ConfigError: the file cannot be read, or a value is invalid.
        """
        if env_file is None and not os.environ.get(_KEY, "").strip() and Path(".env").is_file():
            env_file = ".env"
        values = _Values(env_file)
        if not values.of(_KEY):
            raise ChatNoKeyError("no API key")
        changes: dict[str, Any] = {key: value for key, name in _ENVIRONMENT.items() if (value := values.of(name))}
        return cls(values.of(_KEY), config=replace(config or ChatConfig(), **changes), calibrator=calibrator)

    @property
    def config(self) -> ChatConfig:
        """The settings."""
        return self._config

    def chat(
        self, messages: Iterable[Message | Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = ()
    ) -> Reply:
        """Return the model's answer to a conversation.

        Args:
            messages: ``Message`` values or dicts in OpenAI's chat format, oldest first; ``wire_messages`` adapts them.
            tools: tools in OpenAI's format.

        Raises:
            MessageFormatError: a message cannot be sent; nothing was.
            ChatError: there is no answer; the subclass gives the reason.
        """
        body = self._body(messages, tools, stream=False)
        reply = read_reply(self.post(_encoded(body)))
        self._note(body, reply)
        return reply

    def stream(
        self, messages: Iterable[Message | Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = ()
    ) -> ReplyStream:
        """Stream the answer, as in :meth:`chat`; after the first piece, the stream raises errors, without retries."""
        body = self._body(messages, tools, stream=True)
        encoded = _encoded(body)

        def attempt() -> ReplyStream:
            return ReplyStream(self._sent(encoded), self._bearer, partial(self._note, body))

        return self._tried(attempt)

    def post(self, body: bytes) -> object:
        """Send the body of a request, with retries as in :meth:`chat`, and return the response's JSON.

        Raises:
            ChatError: there is no answer; the subclass gives the reason.
        """

        def attempt() -> object:
            with self._sent(body) as response:
                payload = _json(response, self._bearer)
            if error := refusal(response.status_code, payload):
                raise error
            return payload

        return self._tried(attempt)

    def close(self) -> None:
        """Close the connections."""
        for session in self._sessions:
            session.close()

    def __enter__(self) -> ChatClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ChatClient(base_url={self._config.base_url!r}, model={self._config.model!r})"

    def _body(
        self, messages: Iterable[Message | Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], *, stream: bool
    ) -> dict[str, Any]:
        config = self._config
        body: dict[str, Any] = {"model": config.model, "messages": wire_messages(messages), "stream": stream}
        if stream:
            body["stream_options"] = {"include_usage": True}
        if tools:
            body["tools"] = wire_tools(tools)
        limits = {"max_completion_tokens": config.max_completion_tokens, "temperature": config.temperature}
        return body | {name: value for name, value in limits.items() if value is not None}

    def _note(self, body: dict[str, Any], reply: Reply) -> None:
        reported, written = reply.usage[:2] if reply.usage else (None, None)
        tell(ANSWER, finish_reason=reply.finish_reason, input_tokens=reported, output_tokens=written)
        if self._calibrator and reported is not None:
            tools, counter = body.get("tools"), self._calibrator.base
            estimated = count_messages(read_messages(body["messages"]), token_counter=counter)
            estimated += counter(json.dumps(tools, ensure_ascii=False)) if tools else 0
            self._calibrator.observe(self._config.model, estimated_tokens=estimated, reported_tokens=reported)

    def _sent(self, body: bytes) -> requests.Response:
        """Return a response with HTTP 200, its body still unread."""
        config = self._config
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:  # the connections of this thread
            session = self._local.session = requests.Session()
            for scheme in ("http://", "https://"):
                session.mount(scheme, HTTPAdapter(max_retries=1))  # of failed connections only
            self._sessions.append(session)
        response = session.post(
            f"{config.base_url.rstrip('/')}/chat/completions",
            data=body,
            headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
            auth=self._bearer,
            timeout=(_CONNECT_TIMEOUT_SECONDS, config.read_timeout_seconds),
            allow_redirects=False,  # the key goes to the given URL only
            stream=True,
        )
        if response.status_code == 200:
            return response
        with response:
            status = response.status_code
            if 300 <= status < 400:
                raise ChatConnectionError("the URL redirects: use the base URL it leads to", status=status)
            try:
                payload = _json(response, self._bearer)
            except ChatResponseError:
                payload = None  # such as a proxy's page: only the status counts
            error = refusal(status, payload, retry_after=response.headers.get("Retry-After"))
        assert error is not None  # noqa: S101 - a status other than 200 always is one
        raise error

    def _tried(self, attempt: Callable[[], Result]) -> Result:
        """Run an attempt, and retry it on retryable errors.

        Source: "equal jitter", M. Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015.
        """
        config = self._config
        for tries in count(1):
            try:
                return attempt()
            except (requests.RequestException, HTTPError) as error:
                failure: ChatError = _failure(error, self._bearer)
            except ChatError as error:
                failure = error
            if tries == config.max_attempts or not failure.retryable:
                break
            longest = min(_MAX_BACKOFF_SECONDS, 2.0 ** (tries - 1))
            wait = max(failure.retry_after_seconds or 0.0, longest * (1 + self._jitter()) / 2)
            wait = min(_MAX_BACKOFF_SECONDS, wait)
            tell(RETRY, attempt=tries, wait_seconds=wait, http_status=failure.status, code=failure.code)
            self._sleep(wait)
        raise failure


class ReplyStream:
    """A streamed answer: iterate over its text, then read ``reply``; close it, use ``with``, or read it to the end."""

    def __init__(self, response: requests.Response, bearer: _Bearer, note: Callable[[Reply], None]) -> None:
        self._response, self._bearer, self._note = response, bearer, note
        self._assembly = Assembly()
        self._reply: Reply | None = None
        self._pieces = self._read()
        # Read the first piece within the attempt: an error in its place may be worth a retry.
        self._first = next(self._pieces, "")

    @property
    def text(self) -> str:
        """The text so far, without thinking."""
        return self._assembly.text

    @property
    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            RuntimeError: the stream has not been read to the end.
        """
        if self._reply is None:
            raise RuntimeError("the answer is not complete: iterate over the stream first")
        return self._reply

    def __iter__(self) -> Iterator[str]:
        """Yield the pieces of the text, without thinking.

        Raises:
            ChatResponseError: the answer was cut off, or cannot be read; ``partial`` holds the text until then.
            ChatConnectionError: the server was silent for too long.
            ChatError: the server reports another error.
        """
        first, self._first = self._first, ""
        if first:
            yield first
        yield from self._pieces

    def close(self) -> None:
        """Close the connection; an incomplete answer is discarded."""
        self._response.close()

    def __enter__(self) -> ReplyStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> Iterator[str]:
        failure: ChatError | None = None
        try:
            with self._response:
                if "text/event-stream" in self._response.headers.get("Content-Type", "").lower():
                    # Unlike iter_content, read1 returns as soon as there is data, chunked or not.
                    body = iter(partial(self._response.raw.read1, _READ_BYTES, decode_content=True), b"")
                    yield from filter(None, map(self._assembly.add, map(self._bearer.redact, events(body))))
                    piece, self._reply = self._assembly.end()
                else:  # not streamed: errors, and the answers of some gateways
                    self._reply = read_reply(_json(self._response, self._bearer))
                    piece = self._reply.text
                if piece:
                    yield piece
        except (requests.RequestException, HTTPError) as error:
            failure = _failure(error, self._bearer)
        except ChatError as error:
            failure = error
        if failure:
            failure.partial = self.text
            raise failure
        self._note(self.reply)


class _Bearer(AuthBase):
    """The key, which only the header of a request contains; without a key, no header, not even from a netrc file."""

    def __init__(self, key: str) -> None:
        self._key = check_str("api_key", key).strip()

    def check(self) -> None:
        if not all("!" <= character <= "~" for character in self._key):
            raise ChatAuthError("the key contains a space or another invalid character")

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def redact(self, text: str) -> str:
        """Return text from outside without the key: some servers quote it when they refuse it."""
        return text.replace(self._key, "[key]") if self._key else text

    def __repr__(self) -> str:
        return "<the key>"


class _Values:
    """Settings from the environment, then from a file; an error report that shows this object shows no value."""

    def __init__(self, env_file: str | Path | None) -> None:
        self._file: Mapping[str, str | None] = {}
        if env_file is None:
            return
        try:
            with Path(env_file).open(encoding="utf-8-sig") as stream:
                self._file = dotenv_values(stream=stream, interpolate=False)
        except OSError as error:
            raise ConfigError(f"{env_file}: {error.strerror}") from error
        except UnicodeDecodeError:
            raise ConfigError(f"{env_file}: not UTF-8") from None  # the error holds the bytes of the file

    def of(self, name: str) -> str:
        return os.environ.get(name, "").strip() or (self._file.get(name) or "").strip()


def _encoded(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", errors="replace")


def _json(response: requests.Response, bearer: _Bearer) -> object:
    body = bearer.redact(response.content.decode("utf-8-sig", errors="replace"))
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ChatResponseError("the model sent something that is not JSON", status=response.status_code) from error


def _failure(error: requests.RequestException | HTTPError, bearer: _Bearer) -> ChatError:
    if isinstance(error, _CUT_OFF):
        return ChatResponseError("the model's answer was cut off before its end")
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return ChatConnectionError("connecting to the model timed out: check the base URL")
    if isinstance(error, requests.exceptions.Timeout) or "Read timed out" in str(error):
        return ChatConnectionError("the model sent nothing for too long: raise read_timeout_seconds")
    words = bearer.redact(str(error))[:_REASON_CHARACTERS]
    return ChatConnectionError(f"the model could not be reached: {type(error).__name__}: {words}: check the base URL")
