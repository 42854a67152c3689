"""Real servers on loopback: the proxy, and an upstream that notes what it gets and answers as a test tells it.

>>> import httpx
>>> with serving(Upstream()) as url:
...     httpx.post(f"{url}/v1/chat/completions", json={"messages": []}).json()["object"]
'chat.completion'
"""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from gatekeeper_core import HistoryConfig
from gatekeeper_serve import ServeSettings, create_app
from gatekeeper_serve.settings import KEEP_ALIVE_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@dataclass(frozen=True)
class Got:
    """A request as the upstream got it."""

    method: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.body)
        return value

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


@dataclass
class Upstream:
    """An ASGI application that answers every request, by default with a short text in the API's form."""

    answer: Callable[[Got], Response] | None = None
    got: list[Got] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        headers = [(name.decode(), value.decode("latin-1")) for name, value in request.headers.raw]
        path = scope["raw_path"].decode()
        got = Got(request.method, path, request.url.query, headers, await request.body())
        self.got.append(got)
        response = (self.answer or default_answer)(got)
        try:
            await response(scope, receive, send)
        finally:
            if isinstance(response, Endless):
                self.gone.set()


class Endless(StreamingResponse):
    """Events that come until the client goes away; the response begins after a time."""

    def __init__(self, *, before: float = 0.0, between: float = 0.02) -> None:
        super().__init__(self._events(between), media_type="text/event-stream")
        self._before = before

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with anyio.move_on_after(self._before):
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        await super().__call__(scope, receive, send)

    async def _events(self, between: float) -> AsyncIterator[bytes]:
        for number in range(3_000):
            yield b'data: {"n": %d}\n\n' % number
            await anyio.sleep(between)


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Run an application on a free port of loopback; give its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            app,
            ws="none",
            log_config=None,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + 20
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


SMALL = HistoryConfig(token_budget=400, passthrough_below=0, on_error="raise")


@contextmanager
def proxied(upstream: ASGIApp | str, **settings: Any) -> Iterator[str]:
    """Run the proxy in front of an upstream; give its address."""
    if isinstance(upstream, str):
        settings = {"history": SMALL, "openai_url": upstream, "anthropic_url": upstream, **settings}
        with serving(create_app(ServeSettings(**settings))) as url:
            yield url
        return
    with serving(upstream) as address, proxied(address, **settings) as url:
        yield url


# --- answers


def default_answer(got: Got) -> Response:
    """Return "ok", whole or as a stream, with a call of the tool if there is one and no result yet."""
    path = "/v1" + got.path.partition("/v1")[2]
    if path not in ANSWERS or got.method != "POST":
        return JSONResponse({"object": "list", "data": [], "path": got.path})
    body = got.json
    calls = bool(body.get("tools")) and not any(sign in got.body.decode() for sign in RESULTS)
    full, events = ANSWERS[path]
    if not body.get("stream"):
        return JSONResponse(full(calls))
    return StreamingResponse(_sse(events(calls)), media_type="text/event-stream")


RESULTS = ('"tool_call_id"', '"function_call_output"', '"tool_result"')


async def _sse(events: list[dict[str, Any]]) -> AsyncIterator[bytes]:
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        yield f"{name}data: {json.dumps(event)}\n\n".encode()
    if "type" not in events[0]:
        yield b"data: [DONE]\n\n"


CHAT_USAGE = {
    "prompt_tokens": 900,
    "completion_tokens": 7,
    "total_tokens": 907,
    "prompt_tokens_details": {"cached_tokens": 512},
}
ARGUMENTS = '{"city": "Köln"}'


def chat_whole(calls: bool) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]} if calls else _message("ok 好")
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {**_chat("chat.completion"), "choices": [choice], "usage": CHAT_USAGE}


def chat_events(calls: bool) -> list[dict[str, Any]]:
    if calls:
        head = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ""}}
        tail = {"index": 0, "function": {"arguments": ARGUMENTS}}
        deltas: list[dict[str, Any]] = [
            {"role": "assistant", "tool_calls": [head]},
            {"tool_calls": [tail]},
        ]
    else:
        deltas = [_message("ok "), {"content": "好"}]
    chunk = {**_chat("chat.completion.chunk"), "usage": None}
    chunks = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}
    return [*chunks, {**chunk, "choices": [end]}, {**chunk, "choices": [], "usage": CHAT_USAGE}]


def _message(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _chat(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "gpt-4o"}


def responses_whole(calls: bool) -> dict[str, Any]:
    text = {"type": "output_text", "text": "ok 好", "annotations": []}
    item: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    item |= {"content": [text]}
    if calls:
        item = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "weather", "status": "completed"}
        item |= {"arguments": ARGUMENTS}
    usage = {"input_tokens": 900, "output_tokens": 7, "total_tokens": 907}
    usage_details = {"input_tokens_details": {"cached_tokens": 512}, "output_tokens_details": {"reasoning_tokens": 0}}
    response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-4o", "status": "completed"}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "metadata": {}}
    return {**response, **settings, "output": [item], "usage": {**usage, **usage_details}}


def responses_events(calls: bool) -> list[dict[str, Any]]:
    done = responses_whole(calls)
    item = done["output"][0]
    place = {"output_index": 0, "item_id": item["id"]}
    created = {**done, "status": "in_progress", "output": [], "usage": None}
    opened = {**item, "status": "in_progress"} | ({"arguments": ""} if calls else {"content": []})
    events = [
        {"type": "response.created", "response": created},
        {"type": "response.output_item.added", "output_index": 0, "item": opened},
    ]
    if calls:
        events += [
            {"type": "response.function_call_arguments.delta", **place, "delta": ARGUMENTS},
            {"type": "response.function_call_arguments.done", **place, "arguments": ARGUMENTS, "name": "weather"},
        ]
    else:
        part = {**place, "content_index": 0}
        events += [
            {"type": "response.content_part.added", **part, "part": {**item["content"][0], "text": ""}},
            {"type": "response.output_text.delta", **part, "delta": "ok 好", "logprobs": []},
            {"type": "response.output_text.done", **part, "text": "ok 好", "logprobs": []},
            {"type": "response.content_part.done", **part, "part": item["content"][0]},
        ]
    events += [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def messages_whole(calls: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": "ok 好"}
    if calls:
        block = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": json.loads(ARGUMENTS)}
    usage = {"input_tokens": 388, "cache_read_input_tokens": 512, "output_tokens": 7}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-of-this-test"}
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    return {**message, "content": [block], **stop, "usage": usage}


def messages_events(calls: bool) -> list[dict[str, Any]]:
    message = messages_whole(calls)
    block = message["content"][0]
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    opened = {**block, "input": {}} if calls else {**block, "text": ""}
    delta = (
        {"type": "input_json_delta", "partial_json": ARGUMENTS} if calls else {"type": "text_delta", "text": "ok 好"}
    )
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]


ANSWERS = {
    CHAT: (chat_whole, chat_events),
    RESPONSES: (responses_whole, responses_events),
    MESSAGES: (messages_whole, messages_events),
}
