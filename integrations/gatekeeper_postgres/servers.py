"""Which server, how many connections to it, and how long to wait: the settings of a store, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from psycopg import conninfo as psycopg_conninfo
from psycopg_pool import ConnectionPool

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.tokens import check_tokens
from gatekeeper_postgres.errors import place_of

__all__ = ["Server"]

_MAX_MS = 2**31 - 1  # of the server's own settings
_GRACE_MS = 10_000


class Timeouts(NamedTuple):
    """How long the server works on a statement, and waits for another writer, in milliseconds; 0: without end."""

    statement_ms: int
    lock_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server, and how it is asked.

    Attributes:
        conninfo: what psycopg connects to, ours added where the caller said nothing; "" for a pool of the caller's.
        place: names the server and the database in errors.
        timeouts: of statements and locks.
        connect_timeout_ms: how long a call waits for a connection.
        min_connections: how many connections are held open.
        max_connections: how many there are at most.
    """

    conninfo: str
    place: str
    timeouts: Timeouts
    connect_timeout_ms: int
    min_connections: int
    max_connections: int

    @classmethod
    def of(
        cls,
        conninfo: str | None,
        pool: ConnectionPool[Any] | None = None,
        *,
        statement_timeout_ms: int,
        lock_timeout_ms: int,
        connect_timeout_ms: int,
        min_connections: int,
        max_connections: int,
    ) -> Server:
        """Return the settings of a store, checked; a pool of the caller's has its own sizes and way to connect.

        Raises:
            TypeError: one has the wrong type.
            ConfigError: one is impossible.
        """
        if (conninfo is None) == (pool is None):
            raise ConfigError("give conninfo, or a pool of your own: one of them")
        if pool is not None:
            max_connections, connect_timeout_ms = max(1, pool.max_size), max(1, round(pool.timeout * 1000))
            min_connections = 0
        elif not isinstance(conninfo, str):
            raise TypeError(f"conninfo must be a str, got {type(conninfo).__name__}")
        check_tokens("statement_timeout_ms", statement_timeout_ms)
        check_tokens("lock_timeout_ms", lock_timeout_ms)
        check_tokens("connect_timeout_ms", connect_timeout_ms, at_least=1)
        check_tokens("min_connections", min_connections)
        check_tokens("max_connections", max_connections, at_least=max(1, min_connections))
        # First, because it refuses what cannot be read without quoting it.
        place = _place_of_pool(pool) if pool is not None else place_of(conninfo or "")
        timeouts = Timeouts(min(statement_timeout_ms, _MAX_MS), min(lock_timeout_ms, _MAX_MS))
        return cls(
            conninfo=_completed(conninfo, statement_timeout_ms, connect_timeout_ms) if conninfo is not None else "",
            place=place,
            timeouts=timeouts,
            connect_timeout_ms=connect_timeout_ms,
            min_connections=min_connections,
            max_connections=max_connections,
        )

    @property
    def pool_arguments(self) -> dict[str, Any]:
        """What a pool is made with."""
        seconds = self.connect_timeout_ms / 1000
        return {
            "conninfo": self.conninfo,
            "kwargs": {"autocommit": True},
            "min_size": self.min_connections,
            "max_size": self.max_connections,
            "timeout": seconds,
            # A pool that waits ever longer for a server would not be there when the server is back.
            "reconnect_timeout": seconds,
            "open": False,
        }


def _place_of_pool(pool: ConnectionPool[Any]) -> str:
    try:
        return place_of(pool.conninfo) if isinstance(pool.conninfo, str) else "PostgreSQL"
    except ConfigError:
        return "PostgreSQL"


def _completed(conninfo: str, statement_timeout_ms: int, connect_timeout_ms: int) -> str:
    """Add what notices a host that has vanished: without it, a call would wait for ever."""
    added: dict[str, Any] = {
        "application_name": "context-gatekeeper",
        "connect_timeout": max(1, -(-connect_timeout_ms // 1000)),
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
    }
    if statement_timeout_ms:
        added["tcp_user_timeout"] = min(statement_timeout_ms + _GRACE_MS, _MAX_MS)
    named = psycopg_conninfo.conninfo_to_dict(conninfo)
    missing = {name: value for name, value in added.items() if name not in named}
    return psycopg_conninfo.make_conninfo(conninfo, **missing)
