"""A local proxy between a client and its model that sends with each request only the earlier turns it needs.

Clients only change their base URL. The proxy speaks OpenAI Chat Completions, OpenAI Responses and Anthropic Messages;
``gatekeeper serve`` starts it, and :func:`create_app` returns it as an ASGI application.
"""

from __future__ import annotations

from gatekeeper_core.arguments import needs_extra
from gatekeeper_serve.settings import ServeSettings

with needs_extra("serve", "anyio", "httpx", "jinja2", "markupsafe", "starlette", name=__name__):
    from gatekeeper_serve.app import create_app

__all__ = ["ServeSettings", "create_app"]
