"""Forwarding of a request to the upstream and of its answer to the client; only the conversation may change.

::

    request ──find_route──> Gate.select (worker thread) ──> upstream ──bytes as they come──> client
                                                                └──copy──> usage ──> Gate.report
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import httpx
from anyio import CancelScope, create_task_group, to_thread
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gatekeeper_serve.apis import Route, find_route, tenant_of
from gatekeeper_serve.gate import Gate, Gated
from gatekeeper_serve.settings import ServeSettings
from gatekeeper_serve.usage import UsageReader

_log = logging.getLogger("gatekeeper.serve")
_log.addHandler(logging.NullHandler())

OURS = "x-gatekeeper-"
"""The prefix of our own headers, which are never forwarded."""

_HOP_BY_HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
"""Headers of a single connection. Source: RFC 9110, 7.6.1; ``proxy-*`` are for proxies."""

RawHeaders = list[tuple[bytes, bytes]]


class Proxy:
    """An ASGI application that forwards every request."""

    def __init__(self, settings: ServeSettings, gate: Gate) -> None:
        self._settings = settings
        self._gate = gate
        self._timeout = httpx.Timeout(settings.idle_seconds, connect=settings.connect_seconds, pool=None)
        self.client: httpx.AsyncClient

    def open_client(self) -> httpx.AsyncClient:
        """Return a client that neither limits connections nor follows redirects."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
        self.client = httpx.AsyncClient(limits=limits, timeout=self._timeout, follow_redirects=False)
        return self.client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; if the client disconnects, end the upstream's work."""
        request = Request(scope, receive)
        route = route_of(request, self._settings)
        try:
            body = await self._body(request)
        except ClientDisconnect:
            return
        if body is None:
            reason = f"the request is larger than {self._settings.max_body_bytes:,} bytes (--max-body-mb)"
            await error_response(route, 413, reason)(scope, receive, send)
            return
        async with create_task_group() as tasks:
            tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
            gated = Gated(body, {})
            if route.api:
                tenant = tenant_of(request.headers)
                gated = await to_thread.run_sync(self._gate.select, body, route.api, tenant)
            await self._relay(route, gated, scope, receive, send)
            tasks.cancel_scope.cancel()

    async def _body(self, request: Request) -> bytes | None:
        most, size, chunks = self._settings.max_body_bytes, 0, []
        async for chunk in request.stream():
            size += len(chunk)
            if size > most:
                return None
            chunks.append(chunk)
        return b"".join(chunks)

    async def _relay(self, route: Route, gated: Gated, scope: Scope, receive: Receive, send: Send) -> None:
        query = scope["query_string"].decode("latin-1")
        request = httpx.Request(
            scope["method"],
            f"{route.url}?{query}" if query else route.url,
            headers=_passed(scope["headers"], {"host", "content-length", "expect"}),
            content=gated.body,
            extensions={"timeout": self._timeout.as_dict()},
        )
        try:
            response = await self.client.send(request, stream=True)
        except httpx.RequestError as error:
            is_late = isinstance(error, httpx.TimeoutException)
            reason = f"the upstream {'timed out' if is_late else 'cannot be reached'}: {type(error).__name__}"
            _log.warning("no response from the upstream: %s", type(error).__name__)
            await error_response(route, 504 if is_late else 502, reason, gated)(scope, receive, send)
            return
        try:
            headers = _passed(response.headers.raw)
            headers += [(name.encode(), value.encode("ascii", "replace")) for name, value in gated.headers.items()]
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            reader = UsageReader(response.headers) if gated.thread and response.is_success else None
            async for chunk in response.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                if reader:
                    reader.add(chunk)
            await send({"type": "http.response.body", "body": b""})
        except httpx.RequestError as error:
            # The response has begun: without its end the server closes the connection, as the upstream did.
            _log.warning("the upstream closed the connection: %s", type(error).__name__)
            return
        finally:
            with CancelScope(shield=True):
                await response.aclose()
        if reader and gated.thread:
            with CancelScope(shield=True):  # the client may be gone already
                await to_thread.run_sync(self._gate.report, gated.thread, reader)


async def _cancel_when_gone(receive: Receive, scope: CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def route_of(request: Request, settings: ServeSettings) -> Route:
    """Return the route of a request, with the path escaped as by the client."""
    return find_route(request.method, request.scope["raw_path"].decode("latin-1"), request.headers, settings)


def error_response(route: Route, status: int, reason: str, gated: Gated | None = None) -> Response:
    """Return our own error in the provider's format."""
    facts = {**(gated.headers if gated else {}), "x-gatekeeper-status": "error"}
    return Response(route.error(status, reason), status, facts, "application/json")


def _passed(headers: Iterable[tuple[bytes, bytes]], dropped: Iterable[str] = ()) -> RawHeaders:
    """Return headers without hop-by-hop, our own and the dropped ones."""
    headers = list(headers)
    named = Headers(raw=headers).getlist("connection")
    gone = _HOP_BY_HOP.union(dropped, (name.strip().lower() for value in named for name in value.split(",")))
    names = ((name.lower().decode("latin-1"), (name, value)) for name, value in headers)
    return [pair for name, pair in names if name not in gone and not name.startswith(OURS)]
