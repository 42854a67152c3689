"""The application: access control, the pages, and the proxy for everything else."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from gatekeeper_cli.texts import ENGLISH, Texts
from gatekeeper_serve.gate import Gate
from gatekeeper_serve.pages import Pages, collected_metrics
from gatekeeper_serve.proxy import Proxy, error_response, route_of
from gatekeeper_serve.settings import LOOPBACK, ServeSettings


def create_app(settings: ServeSettings | None = None, *, texts: Texts = ENGLISH) -> Starlette:
    """Return the proxy as an ASGI application.

    Args:
        settings: the settings; default to ``ServeSettings()``.
        texts: texts of the pages, in one language.

    Raises:
        TypeError: ``settings`` has the wrong type.
    """
    settings = ServeSettings() if settings is None else settings
    if not isinstance(settings, ServeSettings):
        raise TypeError(f"settings must be a ServeSettings, got {type(settings).__name__}")
    gate = Gate(settings.history)
    proxy, pages = Proxy(settings, gate), Pages(gate, texts)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with collected_metrics() as pages.metrics:
            async with proxy.open_client():
                yield

    entrance = [Middleware(TokenMiddleware, settings=settings)]
    if settings.is_local:  # against DNS rebinding: another site's host name may resolve to this machine
        hosts = [*LOOPBACK, "[::1]"]
        entrance.insert(0, Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False))
    routes = [*pages.routes(), Mount("/", app=proxy)]
    return Starlette(routes=routes, middleware=entrance, lifespan=lifespan)


class TokenMiddleware:
    """A check for the token, if there is one: in our header or, for pages, as the browser's password."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._settings = settings
        self._token = settings.token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer 401."""
        if scope["type"] == "http" and self._token and scope["path"] != "/healthz":
            request = Request(scope)
            if not hmac.compare_digest(self._token, _token_in(request)):
                reason = "this proxy needs its token in the x-gatekeeper-token header"
                response = error_response(route_of(request, self._settings), 401, reason)
                if _is_page(scope["path"]):
                    response.headers["www-authenticate"] = 'Basic realm="gatekeeper"'
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _is_page(path: str) -> bool:
    return path in ("/", "/metrics") or path.startswith("/threads/")


def _token_in(request: Request) -> bytes:
    token = request.headers.get("x-gatekeeper-token", "")
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if not token and _is_page(request.url.path) and scheme.lower() == "basic":
        try:
            return base64.b64decode(credentials, validate=True).partition(b":")[2]
        except binascii.Error:
            return b""
    return token.encode("latin-1")
