"""The settings of the proxy."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.errors import ConfigError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Hosts that only programs on the same machine can reach."""

KEEP_ALIVE_SECONDS = 75
"""Seconds until the proxy closes an idle connection. Source: nginx's default. The clients of both providers give one up
after 5 seconds (httpx), so they never send into a connection that is closing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """Settings for the proxy.

    Attributes:
        history: settings of the selection; with ``shadow`` every request is forwarded unchanged.
        openai_url: base URL of an OpenAI client; without a path, ``/v1`` is added.
        anthropic_url: base URL of an Anthropic client; a missing ``/v1`` is added.
        host: address to listen on.
        token: token that clients send as ``x-gatekeeper-token``; "" asks for none, on loopback only.
        connect_seconds: time limit for connecting to the upstream, > 0.
        idle_seconds: time limit between two bytes of a response, > 0. Source: ten minutes, as both providers' clients.
        max_body_bytes: largest request body, >= 1. Source: Anthropic takes 32 MB.

    Raises:
        ConfigError: a number is out of range, a URL is not HTTP, or a host beyond loopback has no token.
    """

    history: HistoryConfig = field(default_factory=HistoryConfig)
    openai_url: str = "https://api.openai.com"
    anthropic_url: str = "https://api.anthropic.com"
    host: str = "127.0.0.1"
    token: str = field(default="", repr=False)
    connect_seconds: float = 10.0
    idle_seconds: float = 600.0
    max_body_bytes: int = 32_000_000

    def __post_init__(self) -> None:
        for name in ("openai_url", "anthropic_url"):
            parts = urlsplit(getattr(self, name))
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
                raise ConfigError(f"{name} must be a URL such as https://host/path, without a key or a query")
        for name in ("connect_seconds", "idle_seconds", "max_body_bytes"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        if not self.token.isascii():
            raise ConfigError("token must be ASCII: clients send it in a header")
        if not self.is_local and not self.token:
            raise ConfigError(f"host {self.host} is reachable from other machines: set a token that clients must send")

    @property
    def is_local(self) -> bool:
        """Whether only programs on this machine can reach the proxy."""
        return self.host in LOOPBACK
