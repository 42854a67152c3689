"""A local proxy between a client and its model that sends with each request only the earlier turns it needs.

A client only changes its base URL. The proxy speaks OpenAI Chat Completions, OpenAI Responses and Anthropic Messages;
``gatekeeper serve`` starts it, and :func:`create_app` returns it as an ASGI application.
"""

from __future__ import annotations

try:
    from gatekeeper_serve.app import create_app
except ModuleNotFoundError as error:
    packages = ("anyio", "httpx", "jinja2", "markupsafe", "starlette")
    if (error.name or "").partition(".")[0] not in packages:
        raise
    needed = 'gatekeeper_serve needs an extra: pip install "context-gatekeeper[serve]"'
    raise ImportError(needed, name=error.name) from error
from gatekeeper_serve.settings import ServeSettings

__all__ = ["ServeSettings", "create_app"]
