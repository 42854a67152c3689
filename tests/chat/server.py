"""A real HTTP server on loopback that speaks MiniMax's OpenAI-compatible protocol, and can fail in every way that it fails.

It answers ``POST /v1/chat/completions``, whole or as a stream, records what it was sent, and plays one behaviour per
request: a function of the exchange. Nothing here waits longer than the server lives, and no thread outlives it.

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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gatekeeper_core.token_estimate import TokenEstimator

if TYPE_CHECKING:
    from typing_extensions import Self

count_tokens = TokenEstimator()

API_KEY = "sk-test-0123456789abcdef"
PIECE_LENGTH = 7
"""Characters per piece of a stream; short and odd, so that tags and words are cut."""


class Recorded(NamedTuple):
    """One request as it arrived; headers by their lower-case names, ``body`` the JSON object of the ``raw`` bytes."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes


class Exchange(BaseHTTPRequestHandler):
    """One request and the means to answer it; what a behaviour raises ends the connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener
    request_id = ""
    recorded: Recorded

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.recorded = Recorded(self.path, headers, json.loads(raw), raw)
        self.server.owner.answer(self)

    @property
    def streaming(self) -> bool:
        """Whether the request asks for a stream."""
        return self.recorded.body.get("stream") is True

    def wait(self, seconds: float) -> None:
        """Wait, but no longer than the server lives."""
        if self.server.owner.closing.wait(seconds):
            raise ConnectionAbortedError("the server closes")

    def send(
        self,
        body: bytes,
        *headers: tuple[str, str],
        status: int = 200,
        content_type: str = "application/json; charset=utf-8",
        share: float = 1.0,
    ) -> None:
        """Send a whole answer, or a share of its bytes."""
        self._head(status, ("Content-Type", content_type), ("Content-Length", str(len(body))), *headers)
        self.wfile.write(body[: int(len(body) * share)])

    def open_stream(self) -> None:
        """Send the head of an event stream; its length is not known, so it goes in chunks."""
        self._head(200, ("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"))

    def chunk(self, data: bytes) -> None:
        """Send one chunk of a stream at once."""
        self.wfile.write(f"{len(data):x}\r\n".encode("ascii") + data + b"\r\n")
        self.wfile.flush()

    def completion(self, kind: str, choices: object, **facts: object) -> dict[str, Any]:
        """Return an answer, or an event of a stream."""
        model = self.recorded.body.get("model", "")
        return {"id": self.request_id, "object": kind, "model": model, "choices": choices, **facts}

    def event(self, delta: Mapping[str, Any], *, finish_reason: str | None = None) -> dict[str, Any]:
        """Return an event of a stream."""
        reason = {} if finish_reason is None else {"finish_reason": finish_reason}
        return self.completion("chat.completion.chunk", [{"index": 0, "delta": dict(delta), **reason}])

    def error(self, code: int, message: str) -> dict[str, Any]:
        """Return the answer, or the event, that carries an error in its body."""
        return self.completion("chat.completion", None, base_resp={"status_code": code, "status_msg": message})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the standard library's
        """Say nothing: the tests read what was recorded."""

    def _head(self, status: int, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()


Behaviour = Callable[[Exchange], None]
"""What the server does with one request."""

Reply = Callable[[dict[str, Any]], "str | Behaviour"]


@dataclass(frozen=True)
class Answer:
    """A good answer, whole or as a stream.

    Attributes:
        text: the words of the model.
        thinking: its thinking before; inline as ``<think>…</think>``, or in ``reasoning_details``.
        tool_calls: calls as the protocol writes them (``id``, ``type``, ``function``).
        usage: ``"counted"`` (from the messages), what to send, or None for no usage at all.
        finish_reason: why it ends; with tool calls ``stop`` is sent as ``tool_calls``.
        done: whether a stream ends with ``data: [DONE]``, which the service sometimes forgets.
        split: thinking goes to ``reasoning_details``.
        comments: whether comment lines separate the events.
        cut_characters: whether events are sent in two chunks that part a character.
        line_end: what ends the lines of a stream.
    """

    text: str
    thinking: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] | Literal["counted"] | None = "counted"
    finish_reason: str = "stop"
    done: bool = True
    split: bool = False
    comments: bool = False
    cut_characters: bool = False
    line_end: str = "\n"

    def __call__(self, exchange: Exchange) -> None:
        """Answer whole or as a stream, as the request asks."""
        reason = "tool_calls" if self.tool_calls and self.finish_reason == "stop" else self.finish_reason
        usage = self._usage(exchange)
        if exchange.streaming:
            self._stream(exchange, reason, usage)
            return
        message: dict[str, Any] = {"role": "assistant", "content": self._content}
        if self.thinking and self.split:
            message["reasoning_details"] = [{"type": "reasoning.text", "text": self.thinking}]
        if self.tool_calls:
            message["tool_calls"] = [dict(call) for call in self.tool_calls]
        choice = {"index": 0, "finish_reason": reason, "message": message}
        good = {"base_resp": {"status_code": 0, "status_msg": ""}}
        exchange.send(encoded(exchange.completion("chat.completion", [choice], **usage, **good)))

    @property
    def _content(self) -> str:
        return self.text if self.split or not self.thinking else f"<think>\n{self.thinking}\n</think>\n\n{self.text}"

    def _usage(self, exchange: Exchange) -> dict[str, object]:
        if self.usage != "counted":
            return {} if self.usage is None else {"usage": self.usage}
        messages = exchange.recorded.body["messages"]
        prompt = sum(count_tokens(str(message.get("content") or "")) for message in messages)
        completion = count_tokens(self.thinking + self._content)
        totals = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        return {"usage": {**totals, "prompt_tokens_details": {"cached_tokens": 0}}}

    def _stream(self, exchange: Exchange, reason: str, usage: dict[str, object]) -> None:
        events = [exchange.event({"role": "", **delta}) for delta in self._deltas()]
        events.append(exchange.event({"content": ""}, finish_reason=reason))
        if usage and exchange.recorded.body["stream_options"]["include_usage"]:
            events.append(exchange.completion("chat.completion.chunk", [], **usage))
        exchange.open_stream()
        for event in events:
            if self.comments:
                exchange.chunk(f": keep-alive{self.line_end * 2}".encode())
            data = f"data: {encoded(event).decode('utf-8')}{self.line_end * 2}".encode()
            middle = next((at for at, byte in enumerate(data) if byte & 0xC0 == 0x80), 0) if self.cut_characters else 0
            for part in (data[:middle], data[middle:]):
                if part:
                    exchange.chunk(part)
        if self.done:
            exchange.chunk(f"data: [DONE]{self.line_end * 2}".encode())
        exchange.chunk(b"")

    def _deltas(self) -> Iterator[dict[str, Any]]:
        """Yield the deltas of a stream; thinking in a field of its own comes as snapshots, each with all before it."""
        if self.thinking and self.split:
            for end in range(PIECE_LENGTH, len(self.thinking) + PIECE_LENGTH, PIECE_LENGTH):
                yield {"content": "", "reasoning_details": [{"type": "reasoning.text", "text": self.thinking[:end]}]}
        content = self._content
        for start in range(0, len(content), PIECE_LENGTH):
            yield {"content": content[start : start + PIECE_LENGTH]}
        for index, call in enumerate(self.tool_calls):
            function = call["function"]
            middle = len(function["arguments"]) // 2
            head = {"name": function["name"], "arguments": function["arguments"][:middle]}
            yield {"tool_calls": [{**call, "index": index, "function": head}]}
            yield {"tool_calls": [{"index": index, "function": {"arguments": function["arguments"][middle:]}}]}


def Failure(  # noqa: N802 - reads like Answer
    status: int,
    *,
    code: int | None = None,
    message: str = "",
    headers: Iterable[tuple[str, str]] = (),
    body: object = None,
) -> Behaviour:
    """Answer with an HTTP error and the service's body (its code at the end of the message), or with another body."""

    def play(exchange: Exchange) -> None:
        text = message if code is None else f"{message} ({code})"
        error = {
            "type": "error",
            "error": {"message": text, "http_code": str(status)},
            "request_id": exchange.request_id,
        }
        sent = body if isinstance(body, bytes) else encoded(error if body is None else body)
        exchange.send(sent, *headers, status=status)

    return play


def InBody(code: int, message: str = "") -> Behaviour:  # noqa: N802 - reads like Answer
    """Answer with an error under HTTP 200, as JSON even where a stream was asked for."""
    return lambda exchange: exchange.send(encoded(exchange.error(code, message)))


def MidStream(pieces: Iterable[str], code: int, message: str = "") -> Behaviour:  # noqa: N802 - reads like Answer
    """Begin a stream and turn it into an error after some pieces; a whole answer is the error alone."""

    def play(exchange: Exchange) -> None:
        if not exchange.streaming:
            InBody(code, message)(exchange)
            return
        _begin(exchange, pieces)
        exchange.chunk(b"data: " + encoded(exchange.error(code, message)) + b"\n\n")
        exchange.chunk(b"")

    return play


def Cut(pieces: Iterable[str] = ("Half ", "an ans"), *, after_seconds: float = 0.0) -> Behaviour:  # noqa: N802
    """Send the pieces of a stream, or half the bytes of a whole answer, wait, and close the connection."""

    def play(exchange: Exchange) -> None:
        if exchange.streaming:
            _begin(exchange, pieces)
        else:
            exchange.send(encoded(exchange.completion("chat.completion", [])), share=0.5)
        exchange.wait(after_seconds)
        exchange.close_connection = True

    return play


def Stall(pieces: Iterable[str] = ("Half ", "an ans")) -> Behaviour:  # noqa: N802 - reads like Answer
    """Stop in the middle of an answer, the connection open."""
    return Cut(pieces, after_seconds=60.0)


def Slow(seconds: float) -> Behaviour:  # noqa: N802 - reads like Answer
    """Let the client wait for the head of its answer."""
    return lambda exchange: exchange.wait(seconds)


def Garbage(body: bytes = b"{not json", content_type: str | None = None) -> Behaviour:  # noqa: N802
    """Answer with any bytes; without a content type a stream carries them as an event."""

    def play(exchange: Exchange) -> None:
        if exchange.streaming and content_type is None:
            exchange.open_stream()
            exchange.chunk(b"data: " + body + b"\n\n")
            exchange.chunk(b"")
        else:
            exchange.send(body, content_type=content_type or "application/json")

    return play


def Redirect(to: str) -> Behaviour:  # noqa: N802 - reads like Answer
    """Send the client elsewhere."""
    return lambda exchange: exchange.send(b"", ("Location", to), status=307)


class MiniMaxServer:
    """The server, running while the ``with`` block does.

    Args:
        reply: what to answer while no behaviour is scripted: a text, or a function of the request's body.
        api_key: the only key that is let in; None lets everybody in.

    Attributes:
        requests: what was sent, in the order of arrival, refused requests among them.
    """

    def __init__(self, reply: str | Reply = "Hello.", *, api_key: str | None = API_KEY) -> None:
        self._reply = reply
        self._api_key = api_key
        self._behaviours: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self.faults: list[BaseException] = []
        self._listener = _Listener(self)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.01,), name="minimax-server")
        self.requests: list[Recorded] = []

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self._listener.server_address[1]}/v1"

    def script(self, *behaviours: Behaviour) -> None:
        """Add behaviours, one for each of the next requests that the server lets in."""
        with self._lock:
            self._behaviours.extend(behaviours)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        self.closing.set()
        self._listener.shutdown()
        self._listener.close_connections()
        self._listener.server_close()
        self._thread.join()
        if self.faults and error is None:
            raise self.faults[0]

    def answer(self, exchange: Exchange) -> None:
        """Answer an exchange with the next behaviour."""
        request = exchange.recorded
        with self._lock:
            self.requests.append(request)
            exchange.request_id = f"{len(self.requests):032x}"
            refusal = self._refusal(request)
            behaviour = refusal or (self._behaviours.popleft() if self._behaviours else None)
        if behaviour is None:
            reply = self._reply(request.body) if callable(self._reply) else self._reply
            behaviour = Answer(reply) if isinstance(reply, str) else reply
        behaviour(exchange)

    def _refusal(self, request: Recorded) -> Behaviour | None:
        if self._api_key is not None and request.headers.get("authorization") != f"Bearer {self._api_key}":
            return Failure(401, code=1004, message="login fail: Please carry the API secret key in the request header")
        return None


class _Listener(ThreadingHTTPServer):
    """Knows its open connections, so that it can end them, and waits for its threads."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, owner: MiniMaxServer) -> None:
        self.owner = owner
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Exchange)

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
        """Keep what went wrong here for the end; a client that went away is no fault."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError | TimeoutError):
            self.owner.faults.append(error)


def encoded(value: object) -> bytes:
    """Return a value as JSON in UTF-8, its characters unescaped; a lone surrogate stays an escape."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def _begin(exchange: Exchange, pieces: Iterable[str]) -> None:
    exchange.open_stream()
    for piece in pieces:
        exchange.chunk(b"data: " + encoded(exchange.event({"content": piece})) + b"\n\n")
