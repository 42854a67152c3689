"""The APIs that clients speak: where a request goes, and which fields hold the conversation."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from gatekeeper_core.native.anthropic import ANTHROPIC as MESSAGES
from gatekeeper_core.native.items import Format
from gatekeeper_core.native.openai_chat import CHAT
from gatekeeper_core.native.openai_responses import RESPONSES
from gatekeeper_serve.settings import ServeSettings

_VERSION = "/v1"
_KEY_HEADERS = ("authorization", "x-api-key", "api-key")
_SALT = secrets.token_bytes(16)
"""Makes the names of tenants useless outside this process."""


def _openai_error(status: int, reason: str) -> dict[str, Any]:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": reason, "type": kind, "param": None, "code": f"gatekeeper_{status}"}}


def _anthropic_error(status: int, reason: str) -> dict[str, Any]:
    kinds = {401: "authentication_error", 413: "request_too_large", 504: "timeout_error"}
    return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": reason}}


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that requests are meant for."""

    name: str  # also a path prefix: ``/anthropic/v1/messages``
    setting: str  # its URL in ``ServeSettings``
    error: Callable[[int, str], dict[str, Any]]  # returns the body of an error from a status and a reason

    def root(self, settings: ServeSettings) -> str:
        """Return the base URL of the paths after ``/v1``."""
        url = str(getattr(settings, self.setting)).rstrip("/")
        is_complete = url.endswith(_VERSION) if self is ANTHROPIC else bool(urlsplit(url).path)
        return url if is_complete else url + _VERSION


@dataclass(frozen=True, slots=True)
class Api:
    """One way to call a model."""

    name: str  # for pages and headers
    provider: Provider
    path: str  # after ``/v1``
    items: str  # the field with the conversation
    format: Format  # of the items
    fixed: tuple[str, ...]  # other fields that count towards the budget
    stored: tuple[str, ...] = ()  # fields that make the provider add earlier messages: the list is only the end


OPENAI = Provider("openai", "openai_url", _openai_error)
ANTHROPIC = Provider("anthropic", "anthropic_url", _anthropic_error)
APIS = (
    Api("chat", OPENAI, "/chat/completions", "messages", CHAT, ("tools", "functions", "response_format")),
    Api(
        "responses",
        OPENAI,
        "/responses",
        "input",
        RESPONSES,
        ("instructions", "tools"),
        ("previous_response_id", "conversation"),
    ),
    Api("messages", ANTHROPIC, "/messages", "messages", MESSAGES, ("system", "tools")),
)


@dataclass(frozen=True, slots=True)
class Route:
    """The upstream target of a request."""

    provider: Provider
    url: str  # without the query
    api: Api | None = None  # of the conversation to select from; None forwards the request unchanged

    def error(self, status: int, reason: str) -> bytes:
        """Return the body of an error in the provider's form."""
        return json.dumps(self.provider.error(status, reason)).encode()


def find_route(method: str, path: str, headers: Mapping[str, str], settings: ServeSettings) -> Route:
    """Return the route of a request.

    A prefix ``/openai`` or ``/anthropic`` names the provider; otherwise the path or Anthropic's version header shows
    it. ``/v1`` may be missing before the path of an API, as some clients have it in their base URL only.
    """
    named = next((one for one in (OPENAI, ANTHROPIC) if path.startswith(f"/{one.name}/")), None)
    path = path.removeprefix(f"/{named.name}") if named else path
    is_versioned = path.startswith(_VERSION + "/")
    rest = path.removeprefix(_VERSION) if is_versioned else path
    api = next((one for one in APIS if one.path == rest and named in (None, one.provider)), None)
    is_anthropic = rest.startswith("/messages") or "anthropic-version" in headers
    provider = named or (api.provider if api else ANTHROPIC if is_anthropic else OPENAI)
    root = provider.root(settings)
    url = root + rest if is_versioned or api else root.removesuffix(_VERSION) + path
    return Route(provider, url, api if method == "POST" else None)


def tenant_of(headers: Mapping[str, str]) -> str:
    """Return a name for the holder of a key that does not reveal the key."""
    keys = "\0".join(headers.get(name, "") for name in _KEY_HEADERS)
    return hashlib.blake2b(keys.encode(), key=_SALT, digest_size=12).hexdigest()
