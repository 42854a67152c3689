"""A real HTTP server on loopback that speaks the formats of four providers, and refuses what they would refuse.

It takes ``POST`` to OpenAI's chat completions and responses, Anthropic's messages and Gemini's generateContent, whole
answers only, no streams. A request that breaks the provider's rules, or that changes what was signed or marked, gets 400 with the
provider's kind of error; another one gets the next line of the script. The rules are those of ``tests/native_lists.py``.

>>> from tests.native_lists import CHAT, Round
>>> with StrictServer() as server:
...     server.begin(CHAT, [], [Round("", "Hello.")])
...     answer = server.post(CHAT, [{"role": "user", "content": "hi"}])
>>> answer.status, answer.body["choices"][0]["message"]["content"]
(200, 'Hello.')
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.native_lists import ANTHROPIC, CHAT, GEMINI, RESPONSES, Native, Round, anthropic_request_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from typing_extensions import Self

    from tests.native_lists import Carried, Items, NativeTurn


HISTORIES = int(os.environ.get("GATEKEEPER_WIRE_HISTORIES", "12"))
"""How many random conversations each test of what is sent goes through; ``make thorough``: 1,000."""


def chat_answer(items: Items, number: int) -> dict[str, Any]:
    called = bool(items[0].get("tool_calls"))
    choice = {"index": 0, "message": items[0], "finish_reason": "tool_calls" if called else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    base = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": "strict"}
    return {**base, "choices": [choice], "usage": usage}


def responses_answer(items: Items, number: int) -> dict[str, Any]:
    output = [{"id": f"{item['type']}_{number}_{at}", "status": "completed", **item} for at, item in enumerate(items)]
    base = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "strict", "status": "completed"}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "metadata": {}}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details}
    return {**base, **settings, "incomplete_details": None, "instructions": None, "output": output, "usage": usage}


def anthropic_answer(items: Items, number: int) -> dict[str, Any]:
    content = items[0]["content"]
    called = any(block["type"] == "tool_use" for block in content)
    base = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "strict", "content": content}
    stop = {"stop_reason": "tool_use" if called else "end_turn", "stop_sequence": None}
    return {**base, **stop, "usage": {"input_tokens": 1, "output_tokens": 1}}


def gemini_answer(items: Items, number: int) -> dict[str, Any]:
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {
        "candidates": [{"content": items[0], "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage,
        "modelVersion": "strict",
        "responseId": f"response-{number}",
    }


def openai_error(reason: str) -> dict[str, Any]:
    return {"error": {"message": reason, "type": "invalid_request_error", "param": "messages", "code": None}}


def anthropic_error(reason: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": reason}}


def gemini_error(reason: str) -> dict[str, Any]:
    return {"error": {"code": 400, "message": reason, "status": "INVALID_ARGUMENT"}}


class Endpoint(NamedTuple):
    """Where a format is taken: the path, the field of a request that holds the list, how answers and errors look."""

    native: Native
    path: str
    field: str
    answer: Callable[[Items, int], dict[str, Any]]
    error: Callable[[str], dict[str, Any]]


ENDPOINTS = (
    Endpoint(CHAT, "/v1/chat/completions", "messages", chat_answer, openai_error),
    Endpoint(RESPONSES, "/v1/responses", "input", responses_answer, openai_error),
    Endpoint(ANTHROPIC, "/v1/messages", "messages", anthropic_answer, anthropic_error),
    Endpoint(GEMINI, "/v1/models/gemini-3-pro:generateContent", "contents", gemini_answer, gemini_error),
)


class Posted(NamedTuple):
    """What came back: the status and the parsed JSON."""

    status: int
    body: dict[str, Any]


class StrictServer(ThreadingHTTPServer):
    """The server, on a free port of loopback while it is open.

    Attributes:
        accepted: how many requests were answered.
        last_request: the newest one, parsed.
        usage: what Anthropic's answers report.
        refused: why others were not.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.accepted = 0
        self.last_request: dict[str, Any] = {}
        self.usage = {"input_tokens": 1, "output_tokens": 1}
        self.refused: list[str] = []
        self._script: deque[Round | None] = deque()
        self._issued: Carried = {}
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})

    def begin(self, native: Native, turns: Iterable[NativeTurn], script: Iterable[Round | None]) -> None:
        """Begin a conversation.

        Args:
            native: its format.
            turns: what it may come to: what is signed and marked in it must come back so.
            script: the answers, in order; None: the server fails, with status 500. Then it says "ok".
        """
        self._issued = native.carried(native.write([*turns]))
        self._script = deque(script)

    @property
    def unsaid(self) -> int:
        """How much of the script nobody has asked for."""
        return len(self._script)

    def post(self, native: Native, items: Items, **settings: Any) -> Posted:
        """Send a list as it is, with other fields of a request, without a client."""
        endpoint = next(one for one in ENDPOINTS if one.native is native)
        connection = HTTPConnection("127.0.0.1", self.server_port)
        body = json.dumps({"model": "strict", endpoint.field: items, **settings}).encode()
        connection.request("POST", endpoint.path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        posted = Posted(response.status, json.loads(response.read()))
        connection.close()
        return posted

    def respond(self, path: str, body: dict[str, Any]) -> Posted:
        """Return the answer to a request."""
        endpoint = next((one for one in ENDPOINTS if one.path == path.partition("?")[0].replace("v1beta", "v1")), None)
        if endpoint is None:
            return Posted(404, openai_error(f"no {path} here"))
        self.last_request = body
        items = body[endpoint.field]
        if isinstance(items, str):  # which the Responses endpoint takes for the user's message
            items = [{"role": "user", "content": items}]
        try:
            faults = endpoint.native.faults(items) or endpoint.native.changes(items, self._issued)
            faults += anthropic_request_faults(body) if endpoint.native is ANTHROPIC else []
        except (AttributeError, KeyError, TypeError) as error:
            faults = [f"malformed: {error!r}"]
        if faults:
            self.refused += faults
            return Posted(400, endpoint.error("; ".join(faults)))
        self.accepted += 1
        reply = self._script.popleft() if self._script else Round("", "ok")
        if reply is None:
            return Posted(500, endpoint.error("the server had an error"))
        answer = endpoint.answer(endpoint.native.answer(reply), self.accepted)
        return Posted(200, answer | {"usage": self.usage} if endpoint.native is ANTHROPIC else answer)

    def __enter__(self) -> Self:
        """Start the server."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    # HTTP/1.0: each request has its own connection, which no client can leave open.
    server: StrictServer

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        posted = self.server.respond(self.path, json.loads(raw))
        body = json.dumps(posted.body).encode()
        self.send_response(posted.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
