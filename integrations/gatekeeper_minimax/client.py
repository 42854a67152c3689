"""The client: one request, one answer, whole or in pieces.

The key stands in one place, :class:`_Bearer`, and goes into one header. Whatever ``requests`` raises may hold that
header: such an error is told in words, and kept neither as a cause nor as a context.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import requests
from dotenv import dotenv_values
from requests.auth import AuthBase
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from urllib3.exceptions import DecodeError, HTTPError, ProtocolError

from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.events import ANSWER, RETRY
from gatekeeper_core.observation import tell
from gatekeeper_minimax.errors import (
    MiniMaxAuthError,
    MiniMaxConnectionError,
    MiniMaxError,
    MiniMaxNoKeyError,
    MiniMaxRequestError,
    MiniMaxResponseError,
    error_in,
    refusal,
)
from gatekeeper_minimax.stream import Assembly, events
from gatekeeper_minimax.wire import Reply, prompt_tokens, read_reply, wire_messages, wire_tools

if TYPE_CHECKING:
    from types import TracebackType

    from gatekeeper_core.calibration import UsageCalibrator
    from gatekeeper_core.messages import Message

__all__ = ["MiniMaxClient", "MiniMaxConfig", "ReplyStream"]

Answered = TypeVar("Answered")


_ENVIRONMENT = {"base_url": "MINIMAX_BASE_URL", "model": "MINIMAX_MODEL"}
_KEY = "MINIMAX_API_KEY"
_REASON_CHARACTERS = 300
_READ_BYTES = 65_536
# What requests raises, and what urllib3 does where its answer is read directly.
_CUT_OFF = (
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
    ProtocolError,
    DecodeError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MiniMaxConfig:
    """The settings of a client.

    Attributes:
        base_url: where the API is. ``https://api.minimax.io/v1`` is the international one,
            ``https://api.minimaxi.com/v1`` the one in China: a key belongs to one of them.
        model: the model's name.
        connect_timeout_seconds: how long a connection may take, > 0.
        read_timeout_seconds: how long the server may be silent, > 0; a model that thinks is silent for long.
        max_attempts: tries in all, >= 1; only 429 and 5xx are tried again.
        backoff_seconds: the wait before the second try, doubled each time, >= 0. What ``Retry-After`` asks for counts
            where it is longer.
        max_backoff_seconds: the longest wait, >= 0.
        max_completion_tokens: how long the answer may be; None leaves it to the API.
        temperature: randomness, 0..2; None leaves it to the API.
        reasoning_split: whether thinking comes beside the text; None does not ask, because some models refuse the
            question.

    Raises:
        ConfigError: a value is impossible.

    Source: the API's documentation for names and URLs; times and tries are ours.
    """

    base_url: str = "https://api.minimax.io/v1"
    model: str = "MiniMax-M2.7"
    connect_timeout_seconds: float = 10.0
    read_timeout_seconds: float = 120.0
    max_attempts: int = 4
    backoff_seconds: float = 1.0
    max_backoff_seconds: float = 30.0
    max_completion_tokens: int | None = None
    temperature: float | None = None
    reasoning_split: bool | None = None

    def __post_init__(self) -> None:
        _check_url(self.base_url)
        if not self.model.strip():
            raise ConfigError("MiniMaxConfig.model must be the name of a model, got nothing")
        check_range(self, "connect_timeout_seconds", "read_timeout_seconds", low=0.001)
        check_range(self, "backoff_seconds", "max_backoff_seconds", low=0)
        check_range(self, "max_attempts", low=1, whole=True)
        if self.max_completion_tokens is not None:
            check_range(self, "max_completion_tokens", low=1, whole=True)
        if self.temperature is not None:
            check_range(self, "temperature", low=0, high=2)


class MiniMaxClient:
    """Asks a MiniMax model. Close it, or use it in a ``with``; use one for each thread.

    Args:
        api_key: the key.
        config: the settings.
        sleep: waits some seconds before another try.
        jitter: gives 0..1: how much of the second half of a wait is waited, so that many clients do not come back at
            the same time.
        calibrator: is told what each prompt was estimated at and what the model counted for it, under the model's name.

    Raises:
        TypeError: the key is no text.
        MiniMaxNoKeyError: it is empty.
        MiniMaxAuthError: it holds what no key holds.
    """

    def __init__(
        self,
        api_key: str,
        *,
        config: MiniMaxConfig | None = None,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        calibrator: UsageCalibrator | None = None,
    ) -> None:
        self._config = config or MiniMaxConfig()
        self._bearer = _Bearer(api_key)
        del api_key  # a report of an error may show the local variables
        self._bearer.check()
        self._sleep = sleep
        self._jitter = jitter
        self._calibrator = calibrator
        self._session = requests.Session()

    @classmethod
    def from_env(
        cls,
        *,
        env: Mapping[str, str] | None = None,
        env_file: str | Path | None = None,
        config: MiniMaxConfig | None = None,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        calibrator: UsageCalibrator | None = None,
    ) -> MiniMaxClient:
        """Return a client with the key, base URL and model of the environment.

        ``MINIMAX_API_KEY``, ``MINIMAX_BASE_URL`` and ``MINIMAX_MODEL`` are read; empty ones count as missing.

        Args:
            env: where to look, and no file that is not named; None: the environment of the process.
            env_file: a ``.env`` file to read as well; what the environment has wins. None: the ``.env`` of the working
                folder, if ``env`` is None and the environment has no key: a key from elsewhere is never sent to the
                address in a file that nobody named.
            config: the other settings; its base URL and model stand where the environment names none.
            sleep: as for the class.
            jitter: as for the class.
            calibrator: as for the class.

        Raises:
            MiniMaxNoKeyError: there is no key.
            MiniMaxAuthError: the key holds what no key holds.
            ConfigError: the file cannot be read, or a value is impossible.
        """
        if env is None and env_file is None and not os.environ.get(_KEY, "").strip() and Path(".env").is_file():
            env_file = ".env"
        found = _Environment(os.environ if env is None else env, env_file)
        changed: dict[str, Any] = {key: value for key, name in _ENVIRONMENT.items() if (value := found.get(name))}
        settings = replace(config or MiniMaxConfig(), **changed)
        return cls(found.get(_KEY), config=settings, sleep=sleep, jitter=jitter, calibrator=calibrator)

    @property
    def config(self) -> MiniMaxConfig:
        """The settings."""
        return self._config

    def chat(
        self, messages: Iterable[Message | Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = ()
    ) -> Reply:
        """Return the model's answer to a conversation.

        Args:
            messages: ``Message`` values or dicts in OpenAI's chat format, oldest first. See ``wire_messages`` for what
                is changed on the way.
            tools: tools in OpenAI's format.

        Raises:
            MessageFormatError: a message cannot be sent; nothing was.
            MiniMaxError: there is no answer; the subclass says why.
        """

        def answer() -> Reply:
            with self._sent(body) as response:
                return read_reply(_json(response, self._bearer), status=response.status_code)

        body = self._body(messages, tools, stream=False)
        reply = self._tried(answer)
        self._note(body, reply)
        return reply

    def stream(
        self, messages: Iterable[Message | Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = ()
    ) -> ReplyStream:
        """Return the model's answer as it comes; arguments and errors as for :meth:`chat`.

        The request is made at once and tried again as for ``chat``, up to the first piece of the answer. What fails
        later is raised by the stream.
        """
        body = self._body(messages, tools, stream=True)
        return self._tried(lambda: self._opened(body))

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def __enter__(self) -> MiniMaxClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"MiniMaxClient(base_url={self._config.base_url!r}, model={self._config.model!r})"

    def _body(
        self, messages: Iterable[Message | Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], *, stream: bool
    ) -> dict[str, Any]:
        config = self._config
        body: dict[str, Any] = {"model": config.model, "messages": wire_messages(messages), "stream": stream}
        if stream:
            body["stream_options"] = {"include_usage": True}
        if tools:
            body["tools"] = wire_tools(tools)
        for name in ("max_completion_tokens", "temperature", "reasoning_split"):
            if getattr(config, name) is not None:
                body[name] = getattr(config, name)
        return body

    def _opened(self, body: dict[str, Any]) -> ReplyStream:
        response = self._sent(body)
        try:
            split = bool(self._config.reasoning_split)
            return ReplyStream(response, bearer=self._bearer, split=split, note=partial(self._note, body))
        except BaseException:
            response.close()
            raise

    def _note(self, body: dict[str, Any], reply: Reply) -> None:
        usage = reply.usage
        reported = usage.input_tokens if usage else None
        completion = usage.output_tokens if usage else None
        tell(ANSWER, finish_reason=reply.finish_reason, input_tokens=reported, output_tokens=completion)
        if self._calibrator and reported is not None:
            estimated = prompt_tokens(body, self._calibrator.base)
            self._calibrator.observe(self._config.model, estimated_tokens=estimated, reported_tokens=reported)

    def _sent(self, body: dict[str, Any]) -> requests.Response:
        """Return an answer with HTTP 200; its body is not read yet."""
        config = self._config
        post = partial(
            self._session.post,
            f"{config.base_url.rstrip('/')}/chat/completions",
            data=json.dumps(body, ensure_ascii=False).encode("utf-8", errors="replace"),
            headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
            auth=self._bearer,
            timeout=(config.connect_timeout_seconds, config.read_timeout_seconds),
            allow_redirects=False,  # the key goes to the given address alone
            stream=True,
        )
        response = _told(post, self._bearer)
        if response.status_code == 200:
            return response
        with response:
            raise self._refused(response)

    def _refused(self, response: requests.Response) -> MiniMaxError:
        status, wait = response.status_code, response.headers.get("Retry-After")
        if 300 <= status < 400:
            return MiniMaxRequestError(
                "MiniMax's address redirects: set MINIMAX_BASE_URL to where it does", status=status
            )
        try:
            payload = _json(response, self._bearer)
        except MiniMaxResponseError:
            payload = None  # a proxy's page: the status has to do
        return error_in(payload, status, retry_after=wait) or refusal(status, retry_after=wait)

    def _tried(self, attempt: Callable[[], Answered]) -> Answered:
        def report(state: RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            status, code = getattr(error, "status", None), getattr(error, "code", None)
            tell(RETRY, attempt=state.attempt_number, wait_seconds=state.upcoming_sleep, http_status=status, code=code)

        retrying = Retrying(
            stop=stop_after_attempt(self._config.max_attempts),
            wait=self._wait,
            retry=retry_if_exception(lambda error: isinstance(error, MiniMaxError) and error.retryable),
            sleep=self._sleep,
            before_sleep=report,
            reraise=True,
        )
        return retrying(attempt)

    def _wait(self, state: RetryCallState) -> float:
        """Return how long to wait: exponential, the second half of it at random.

        Source: "equal jitter", M. Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015.
        """
        config = self._config
        longest = min(config.max_backoff_seconds, config.backoff_seconds * 2.0 ** (state.attempt_number - 1))
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_seconds if isinstance(error, MiniMaxError) else None
        return min(config.max_backoff_seconds, max(asked or 0.0, longest * (1 + self._jitter()) / 2))


class ReplyStream:
    """An answer as it comes: iterate over the pieces of its text, then read ``reply``.

    Close it, or use it in a ``with``; an answer that was read to its end is closed.
    """

    def __init__(
        self, response: requests.Response, *, bearer: _Bearer, split: bool, note: Callable[[Reply], None]
    ) -> None:
        self._response = response
        self._bearer = bearer
        self._note = note
        self._assembly = Assembly(split=split)
        self._reply: Reply | None = None
        self._pieces = self._read()
        # The first piece is part of the request: an error that comes in its place may be worth another try.
        self._first = next(self._pieces, "")

    @property
    def text(self) -> str:
        """The text so far, without thinking."""
        return self._assembly.text

    @property
    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            RuntimeError: it has not been read to its end.
        """
        if self._reply is None:
            raise RuntimeError("the answer has not come to its end: iterate over the stream first")
        return self._reply

    def __iter__(self) -> Iterator[str]:
        """Yield the pieces of the text, thinking left out.

        Raises:
            MiniMaxResponseError: the answer was cut off, or cannot be read; ``partial`` holds the text until then.
            MiniMaxConnectionError: the server fell silent.
            MiniMaxError: the server says that something else went wrong.
        """
        first, self._first = self._first, ""
        if first:
            yield first
        yield from self._pieces

    def close(self) -> None:
        """Close the connection; an answer that is still coming is given up."""
        self._response.close()

    def __enter__(self) -> ReplyStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> Iterator[str]:
        failure: MiniMaxError | None = None
        try:
            with self._response:
                if "text/event-stream" in self._response.headers.get("Content-Type", "").lower():
                    # Unlike iter_content, read1 returns as soon as there is something, with and without chunks.
                    body = iter(partial(self._response.raw.read1, _READ_BYTES, decode_content=True), b"")
                    yield from filter(None, map(self._assembly.add, map(self._bearer.redact, events(body))))
                    piece, self._reply = self._assembly.end()
                else:  # in one piece: errors come like that, and the answers of some gateways
                    self._reply = read_reply(_json(self._response, self._bearer))
                    piece = self._reply.text
                if piece:
                    yield piece
        except (requests.RequestException, HTTPError) as error:
            failure = _failure(error, self._bearer, partial=self.text)
        except MiniMaxResponseError as error:
            error.partial = self.text
            raise
        if failure:
            raise failure
        self._note(self.reply)


class _Bearer(AuthBase):
    """The key: in the header of a request, and nowhere else."""

    __slots__ = ("_key",)

    def __init__(self, key: str) -> None:
        if not isinstance(key, str):
            raise TypeError(f"api_key must be a str, got {type(key).__name__}")
        self._key = key.strip()

    def check(self) -> None:
        if not self._key:
            raise MiniMaxNoKeyError("there is no key")
        if not all("!" <= character <= "~" for character in self._key):
            raise MiniMaxAuthError("the key holds a space or a character that no key holds")

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def redact(self, text: str) -> str:
        """Return a text that came from outside without the key: some servers repeat it when they refuse it."""
        return text.replace(self._key, "[key]")

    def __repr__(self) -> str:
        return "<the key>"


class _Environment:
    """Settings by name, as the environment and a file have them; shows none of them."""

    __slots__ = ("_values",)

    def __init__(self, env: Mapping[str, str], env_file: str | Path | None) -> None:
        self._values = {name: env.get(name) or "" for name in (_KEY, *_ENVIRONMENT.values())}
        if env_file is not None:
            known = _file_values(Path(env_file))
            self._values = {name: value or known.get(name) or "" for name, value in self._values.items()}

    def get(self, name: str) -> str:
        return self._values[name].strip()


def _file_values(path: Path) -> Mapping[str, str | None]:
    try:
        with path.open(encoding="utf-8-sig") as stream:
            return dotenv_values(stream=stream, interpolate=False)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8") from None  # the error holds the bytes of the file


def _check_url(url: object) -> None:
    if not isinstance(url, str):
        raise TypeError(f"MiniMaxConfig.base_url must be a str, got {type(url).__name__}")
    try:
        parts = urlsplit(url)
        complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        complete = False
    if not complete:
        raise ConfigError("MiniMaxConfig.base_url must be like https://api.minimax.io/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError("MiniMaxConfig.base_url must hold no name, password, query or fragment")


def _json(response: requests.Response, bearer: _Bearer) -> object:
    """Return the body of an answer as JSON; a ``MiniMaxResponseError`` where it is none or was cut off."""
    body = _told(lambda: response.content, bearer)
    try:
        return json.loads(bearer.redact(body.decode("utf-8-sig", errors="replace")))
    except (ValueError, RecursionError):
        failure = MiniMaxResponseError("MiniMax sent something that is no JSON", status=response.status_code)
    raise failure


def _told(act: Callable[[], Answered], bearer: _Bearer) -> Answered:
    """Return what a call of ``requests`` gives; an error of it is told in words, outside of its handler."""
    try:
        return act()
    except requests.RequestException as error:
        failure = _failure(error, bearer)
    raise failure


def _failure(error: requests.RequestException | HTTPError, bearer: _Bearer, *, partial: str = "") -> MiniMaxError:
    """Return the error that tells what went wrong on the way, in words."""
    if isinstance(error, _CUT_OFF):
        return MiniMaxResponseError("MiniMax's answer was cut off before its end", partial=partial)
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return MiniMaxConnectionError("MiniMax could not be reached in time: raise connect_timeout_seconds")
    if isinstance(error, requests.exceptions.Timeout) or "Read timed out" in str(error):
        return MiniMaxConnectionError("MiniMax was silent for too long: raise read_timeout_seconds")
    words = bearer.redact(str(error))[:_REASON_CHARACTERS]
    return MiniMaxConnectionError(f"MiniMax could not be reached: {type(error).__name__}: {words}")
