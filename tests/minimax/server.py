"""A real HTTP server on loopback that speaks MiniMax's OpenAI-compatible protocol, and can fail in every way that it fails.

It answers ``POST /v1/chat/completions``, whole or as a stream, records what it was sent, and plays one behaviour per
request. Nothing here waits longer than the server lives, and no thread outlives it.

>>> with MiniMaxServer("Hello.") as server:
...     server.script(Failure(429, code=1002, message="rate limit"), Answer("Better now."))
...     server.base_url.startswith("http://127.0.0.1:")
True
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from gatekeeper_core.token_estimate import TokenEstimator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Self

count_tokens = TokenEstimator()

API_KEY = "sk-test-0123456789abcdef"
PATH = "/v1/chat/completions"
PIECE_LENGTH = 7
"""Characters per piece of a stream; short and odd, so that tags and words are cut."""

Reply = Callable[[dict[str, Any]], "str | Behaviour"]

ERROR_TYPES = {400: "bad_request_error", 401: "authorized_error", 429: "rate_limit_error", 529: "overloaded_error"}


class Recorded(NamedTuple):
    """One request as it arrived.

    Attributes:
        path: the path with its query.
        headers: by lower-case name.
        body: the parsed JSON; ``{}`` where there was none or it was no JSON object.
        raw: the bytes of the body.
        method: ``POST``, or what a client sent instead.
    """

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes
    method: str = "POST"


class Behaviour(Protocol):
    """What the server does with one request."""

    def play(self, exchange: Exchange) -> None:
        """Answer the request."""
        ...


class Exchange:
    """One request and the means to answer it; what it raises ends the connection."""

    def __init__(self, handler: _Handler, request: Recorded, request_id: str, closing: threading.Event) -> None:
        self._handler = handler
        self._closing = closing
        self.request = request
        self.request_id = request_id

    @property
    def streaming(self) -> bool:
        """Whether the request asks for a stream."""
        return self.request.body.get("stream") is True

    @property
    def splitting(self) -> bool:
        """Whether the request asks for the thinking in a field of its own."""
        return self.request.body.get("reasoning_split") is True

    def wait(self, seconds: float) -> None:
        """Wait, but no longer than the server lives.

        Raises:
            ConnectionAbortedError: the server closes.
        """
        if self._closing.wait(seconds):
            raise ConnectionAbortedError("the server closes")

    def send_head(self, status: int, content_type: str, *headers: tuple[str, str]) -> None:
        """Send the status line and the headers."""
        self._handler.send_response(status)
        self._handler.send_header("Content-Type", content_type)
        self._handler.send_header("Trace-Id", self.request_id)
        for name, value in headers:
            self._handler.send_header(name, value)
        self._handler.end_headers()

    def send_body(self, body: bytes, *headers: tuple[str, str], status: int = 200, content_type: str) -> None:
        """Send a whole answer."""
        self.send_head(status, content_type, *headers, ("Content-Length", str(len(body))))
        self._handler.wfile.write(body)

    def send_json(self, value: object, *headers: tuple[str, str], status: int = 200) -> None:
        """Send a whole answer as JSON, its characters unescaped."""
        self.send_body(encoded(value), *headers, status=status, content_type="application/json; charset=utf-8")

    def open_stream(self) -> None:
        """Send the head of an event stream; its length is not known, so it goes in chunks."""
        self.send_head(200, "text/event-stream", ("Transfer-Encoding", "chunked"), ("Cache-Control", "no-cache"))

    def send_chunk(self, data: bytes) -> None:
        """Send one chunk of a stream at once."""
        self._handler.wfile.write(f"{len(data):x}\r\n".encode("ascii") + data + b"\r\n")
        self._handler.wfile.flush()

    def send_event(self, value: object, *, line_end: str = "\n", cut_character: bool = False) -> None:
        """Send one event; ``cut_character`` sends it in two chunks that part a character of several bytes."""
        data = f"data: {encoded(value).decode('utf-8')}{line_end * 2}".encode()
        middle = _inside_a_character(data) if cut_character else 0
        if middle:
            self.send_chunk(data[:middle])
            self.wait(0.005)  # so that the halves travel alone
        self.send_chunk(data[middle:])

    def close_stream(self) -> None:
        """Send the last chunk, which says that the stream is complete."""
        self._handler.wfile.write(b"0\r\n\r\n")

    def send_raw(self, data: bytes) -> None:
        """Send bytes of a body as they are."""
        self._handler.wfile.write(data)

    def break_off(self) -> None:
        """Close the connection after this answer, whatever it still owes."""
        self._handler.close_connection = True

    def completion(self, message: Mapping[str, Any], *, finish_reason: str, usage: object) -> dict[str, Any]:
        """Return a whole answer."""
        choice = {"index": 0, "finish_reason": finish_reason, "message": dict(message)}
        extra = {} if usage is None else {"usage": usage}
        return {**self._envelope("chat.completion"), "choices": [choice], **extra, "base_resp": base_resp(0, "")}

    def chunk(self, delta: Mapping[str, Any], *, finish_reason: str | None = None) -> dict[str, Any]:
        """Return one event of a stream."""
        reason = {} if finish_reason is None else {"finish_reason": finish_reason}
        return {**self._envelope("chat.completion.chunk"), "choices": [{"index": 0, "delta": dict(delta), **reason}]}

    def last_chunk(self, usage: object) -> dict[str, Any]:
        """Return the event that carries the usage."""
        return {**self._envelope("chat.completion.chunk"), "choices": [], "usage": usage}

    def error_chunk(self, code: int, message: str) -> dict[str, Any]:
        """Return the answer, or the event, that carries an error in its body."""
        kind = "chat.completion.chunk" if self.streaming else "chat.completion"
        return {**self._envelope(kind), "choices": None, "base_resp": base_resp(code, message)}

    def _envelope(self, kind: str) -> dict[str, Any]:
        model = self.request.body.get("model", "")
        return {"id": self.request_id, "object": kind, "created": 1_750_000_000, "model": model}


@dataclass(frozen=True)
class Answer:
    """A good answer, whole or as a stream.

    Attributes:
        text: what the model says.
        thinking: what it thinks before; inline as ``<think>…</think>``, or in ``reasoning_details``.
        tool_calls: calls as the protocol writes them (``id``, ``type``, ``function``).
        usage: ``"counted"`` (from the messages), what to send, or None for no usage at all.
        finish_reason: why it ends; with tool calls ``stop`` is sent as ``tool_calls``.
        done: whether a stream ends with ``data: [DONE]``, which the service sometimes forgets.
        split: thinking goes to ``reasoning_details`` even where the request does not ask for it.
        pieces: the content of each event of a stream, in place of ``text`` and of inline thinking.
        empty_roles: whether each event but the first carries ``"role": ""``, as the service does.
        comments: whether comment lines stand between the events.
        cut_characters: whether events are sent in two chunks that part a character.
        line_end: what ends the lines of a stream.
        pause_seconds: rest after each event.
    """

    text: str
    thinking: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] | Literal["counted"] | None = "counted"
    finish_reason: str = "stop"
    done: bool = True
    split: bool = False
    pieces: tuple[str, ...] | None = None
    empty_roles: bool = True
    comments: bool = False
    cut_characters: bool = False
    line_end: str = "\n"
    pause_seconds: float = 0.0

    def play(self, exchange: Exchange) -> None:
        """Answer whole or as a stream, as the request asks."""
        if exchange.streaming:
            self._stream(exchange)
        else:
            message = self._message(exchange)
            usage = self._usage(exchange)
            exchange.send_json(exchange.completion(message, finish_reason=self._reason, usage=usage))

    @property
    def _reason(self) -> str:
        return "tool_calls" if self.tool_calls and self.finish_reason == "stop" else self.finish_reason

    def _splits(self, exchange: Exchange) -> bool:
        return bool(self.thinking) and (self.split or exchange.splitting)

    def _content(self, exchange: Exchange) -> str:
        if self.pieces is not None:
            return "".join(self.pieces)
        if not self.thinking or self._splits(exchange):
            return self.text
        return f"<think>\n{self.thinking}\n</think>\n\n{self.text}"

    def _message(self, exchange: Exchange) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self._content(exchange)}
        if self._splits(exchange):
            message["reasoning_details"] = [{"type": "reasoning.text", "text": self.thinking}]
        if self.tool_calls:
            message["tool_calls"] = [dict(call) for call in self.tool_calls]
        return message

    def _usage(self, exchange: Exchange) -> object:
        if self.usage != "counted":
            return self.usage
        messages = exchange.request.body["messages"]
        prompt = sum(count_tokens(str(message.get("content") or "")) for message in messages)
        completion = count_tokens(self.thinking + self._content(exchange))
        totals = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        return {**totals, "prompt_tokens_details": {"cached_tokens": 0}}

    def _stream(self, exchange: Exchange) -> None:
        exchange.open_stream()
        for number, delta in enumerate(self._deltas(exchange)):
            if self.comments:
                exchange.send_chunk(f": keep-alive{self.line_end * 2}".encode())
            role = {"role": "assistant" if number == 0 else ""} if number == 0 or self.empty_roles else {}
            self._send(exchange, exchange.chunk({**role, **delta}))
            if self.pause_seconds:
                exchange.wait(self.pause_seconds)
        self._send(exchange, exchange.chunk({"content": ""}, finish_reason=self._reason))
        usage = self._usage(exchange)
        if usage is not None and (exchange.request.body.get("stream_options") or {}).get("include_usage"):
            self._send(exchange, exchange.last_chunk(usage))
        if self.done:
            exchange.send_chunk(f"data: [DONE]{self.line_end * 2}".encode())
        exchange.close_stream()

    def _send(self, exchange: Exchange, event: object) -> None:
        exchange.send_event(event, line_end=self.line_end, cut_character=self.cut_characters)

    def _deltas(self, exchange: Exchange) -> Iterator[dict[str, Any]]:
        """Yield the deltas of a stream; thinking in a field of its own comes as snapshots, each with all before it."""
        if self._splits(exchange):
            for end in range(PIECE_LENGTH, len(self.thinking) + PIECE_LENGTH, PIECE_LENGTH):
                yield {"content": "", "reasoning_details": [{"type": "reasoning.text", "text": self.thinking[:end]}]}
        for piece in in_pieces(self._content(exchange)) if self.pieces is None else self.pieces:
            yield {"content": piece}
        for index, call in enumerate(self.tool_calls):
            yield from _call_deltas(index, call)


@dataclass(frozen=True)
class Failure:
    """An HTTP error with the service's body, or with another.

    Attributes:
        status: the HTTP status.
        code: the service's own code, at the end of the message in brackets.
        message: what it says.
        headers: pairs such as ``("Retry-After", "1")``.
        body: sent in place of the service's body; bytes as they are, anything else as JSON.
    """

    status: int
    code: int | None = None
    message: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: object = None

    def play(self, exchange: Exchange) -> None:
        """Answer with the error."""
        if isinstance(self.body, bytes):
            exchange.send_body(self.body, *self.headers, status=self.status, content_type="text/html")
            return
        body = error_body(self.status, self.code, self.message, exchange.request_id) if self.body is None else self.body
        exchange.send_json(body, *self.headers, status=self.status)


@dataclass(frozen=True)
class InBody:
    """An error under HTTP 200, as JSON even where a stream was asked for."""

    code: int
    message: str = ""

    def play(self, exchange: Exchange) -> None:
        """Answer with the error."""
        exchange.send_json(exchange.error_chunk(self.code, self.message))


@dataclass(frozen=True)
class MidStream:
    """A stream that turns into an error after some pieces; a whole answer is the error alone."""

    pieces: tuple[str, ...]
    code: int
    message: str = ""

    def play(self, exchange: Exchange) -> None:
        """Answer with the pieces, then the error."""
        if not exchange.streaming:
            InBody(self.code, self.message).play(exchange)
            return
        _begin_stream(exchange, self.pieces)
        exchange.send_event(exchange.error_chunk(self.code, self.message))
        exchange.close_stream()


@dataclass(frozen=True)
class Cut:
    """A connection that closes in the middle: of a stream after the pieces, of a whole answer after half its bytes."""

    pieces: tuple[str, ...] = ("Half ", "an ans")

    def play(self, exchange: Exchange) -> None:
        """Send a part and close."""
        _send_part(exchange, self.pieces)
        exchange.break_off()


@dataclass(frozen=True)
class Slow:
    """An answer that lets the client wait for its head."""

    seconds: float
    then: Behaviour = field(default_factory=lambda: Answer("Late, but here."))

    def play(self, exchange: Exchange) -> None:
        """Wait, then answer."""
        exchange.wait(self.seconds)
        self.then.play(exchange)


@dataclass(frozen=True)
class Stall:
    """An answer that stops in its middle, the connection open, and is cut after the wait."""

    pieces: tuple[str, ...] = ("Half ", "an ans")
    seconds: float = 60.0

    def play(self, exchange: Exchange) -> None:
        """Send a part, wait, close."""
        _send_part(exchange, self.pieces)
        exchange.wait(self.seconds)
        exchange.break_off()


@dataclass(frozen=True)
class Garbage:
    """An answer that is no JSON; without a content type a stream carries it as an event."""

    body: bytes = b"{not json"
    content_type: str | None = None

    def play(self, exchange: Exchange) -> None:
        """Answer with it."""
        if exchange.streaming and self.content_type is None:
            exchange.open_stream()
            exchange.send_chunk(b"data: " + self.body + b"\n\n")
            exchange.close_stream()
        else:
            exchange.send_body(self.body, content_type=self.content_type or "application/json")


@dataclass(frozen=True)
class Redirect:
    """An answer that sends the client elsewhere."""

    to: str
    status: int = 307

    def play(self, exchange: Exchange) -> None:
        """Answer with the place."""
        exchange.send_body(b"", ("Location", self.to), status=self.status, content_type="text/plain")


class MiniMaxServer:
    """The server, running while the ``with`` block does.

    Args:
        reply: what to answer while no behaviour is scripted: a text, or a function of the request's body.
        api_key: the only key that is let in.

    Attributes:
        requests: what was sent, in the order of arrival, refused requests among them.
    """

    def __init__(self, reply: str | Reply = "Hello.", *, api_key: str = API_KEY) -> None:
        self._reply = reply
        self._api_key = api_key
        self._behaviours: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._faults: list[BaseException] = []
        self._listener = _Listener(self)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.01,), name="minimax-server")
        self.requests: list[Recorded] = []

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._listener.server_address[1]}"

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"{self.origin}/v1"

    @property
    def unplayed(self) -> tuple[Behaviour, ...]:
        """The scripted behaviours that no request has met yet."""
        with self._lock:
            return tuple(self._behaviours)

    def script(self, *behaviours: Behaviour) -> None:
        """Add behaviours, one for each of the next requests that the server lets in."""
        with self._lock:
            self._behaviours.extend(behaviours)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closing.set()
        self._listener.shutdown()
        self._listener.close_connections()
        self._listener.server_close()
        self._thread.join()
        if self._faults and error is None:
            raise self._faults[0]

    def _answer(self, handler: _Handler) -> None:
        request = handler.read_request()
        with self._lock:
            self.requests.append(request)
            request_id = f"{len(self.requests):032x}"
            refusal = self._refusal(request)
            behaviour = refusal or (self._behaviours.popleft() if self._behaviours else None)
        exchange = Exchange(handler, request, request_id, self._closing)
        (behaviour or self._default(request)).play(exchange)

    def _default(self, request: Recorded) -> Behaviour:
        reply = self._reply(request.body) if callable(self._reply) else self._reply
        return Answer(reply) if isinstance(reply, str) else reply

    def _refusal(self, request: Recorded) -> Failure | None:
        if request.headers.get("authorization") != f"Bearer {self._api_key}":
            return Failure(401, code=1004, message="login fail: Please carry the API secret key in the request header")
        if request.path != PATH or request.method != "POST":
            return Failure(404, body=b"404 page not found")
        if not isinstance(request.body.get("messages"), list):
            return Failure(400, code=2013, message="invalid params, messages is empty")
        return None

    def _note_fault(self, error: BaseException | None) -> None:
        """Keep what went wrong here for the end; a client that went away is nothing wrong."""
        if error is not None and not isinstance(error, ConnectionError | TimeoutError):
            self._faults.append(error)


class _Listener(ThreadingHTTPServer):
    """Knows its open connections, so that it can end them, and waits for its threads."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, owner: MiniMaxServer) -> None:
        self.owner = owner
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Wake the threads that wait for a next request."""
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):  # the other side may be quicker
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        self.owner._note_fault(sys.exc_info()[1])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def read_request(self) -> Recorded:
        """Read the body and return the whole request."""
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Recorded(self.path, headers, body if isinstance(body, dict) else {}, raw, self.command)

    def do_POST(self) -> None:
        assert isinstance(self.server, _Listener)
        self.server.owner._answer(self)

    do_GET = do_POST  # noqa: N815 - the name is the standard library's

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the standard library's
        """Say nothing: the tests read what was recorded."""


def base_resp(code: int, message: str) -> dict[str, Any]:
    """Return the part of an answer that says how it went; code 0 is success."""
    return {"status_code": code, "status_msg": message}


def error_body(status: int, code: int | None, message: str, request_id: str) -> dict[str, Any]:
    """Return the service's body of an HTTP error."""
    text = message if code is None else f"{message} ({code})"
    kind = ERROR_TYPES.get(status, "api_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": text, "http_code": str(status)},
        "request_id": request_id,
    }


def tool_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return a call of a function as the protocol writes it; ``arguments`` is JSON text."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def encoded(value: object) -> bytes:
    """Return a value as JSON in UTF-8, its characters unescaped; a lone surrogate stays an escape."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def in_pieces(text: str) -> tuple[str, ...]:
    """Return the text cut into short pieces."""
    return tuple(text[start : start + PIECE_LENGTH] for start in range(0, len(text), PIECE_LENGTH))


def _call_deltas(index: int, call: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a call in two parts: who is called, and the second half of the arguments."""
    function = call["function"]
    middle = len(function["arguments"]) // 2
    head = {"name": function["name"], "arguments": function["arguments"][:middle]}
    yield {"tool_calls": [{**call, "index": index, "function": head}]}
    yield {"tool_calls": [{"index": index, "function": {"arguments": function["arguments"][middle:]}}]}


def _begin_stream(exchange: Exchange, pieces: Sequence[str]) -> None:
    exchange.open_stream()
    for number, piece in enumerate(pieces):
        exchange.send_event(exchange.chunk({"role": "" if number else "assistant", "content": piece}))


def _send_part(exchange: Exchange, pieces: Sequence[str]) -> None:
    if exchange.streaming:
        _begin_stream(exchange, pieces)
        return
    message = {"role": "assistant", "content": "".join(pieces)}
    body = encoded(exchange.completion(message, finish_reason="stop", usage=None))
    exchange.send_head(200, "application/json; charset=utf-8", ("Content-Length", str(len(body))))
    exchange.send_raw(body[: len(body) // 2])


def _inside_a_character(data: bytes) -> int:
    """Return an offset inside the first character of several bytes, or 0."""
    return next((offset for offset, byte in enumerate(data) if byte & 0xC0 == 0x80), 0)
