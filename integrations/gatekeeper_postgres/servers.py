"""Which server, how many connections to it, and how long to wait: the settings of a store, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from psycopg import conninfo as psycopg_conninfo
from psycopg_pool import ConnectionPool

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.tokens import check_tokens
from gatekeeper_postgres.errors import place_of

__all__ = ["Server"]

_MAX_MS = 2**31 - 1  # of the server's own settings
_GRACE_MS = 10_000


class Server(NamedTuple):
    """A server, and how it is asked.

    Attributes:
        conninfo: what psycopg connects to, ours added where the caller said nothing; "" for a pool of the caller's.
        place: names the server and the database in errors.
        timeouts: how long the server works on a statement, and waits for another writer, in milliseconds; 0: without
            end.
        max_connections: how many connections there are at most.
        pool_arguments: what a pool is made with.
    """

    conninfo: str
    place: str
    timeouts: tuple[int, int]
    max_connections: int
    pool_arguments: Mapping[str, Any]

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
        full = _completed(conninfo, statement_timeout_ms, connect_timeout_ms) if conninfo is not None else ""
        seconds = connect_timeout_ms / 1000
        pool_arguments = {
            "conninfo": full,
            "kwargs": {"autocommit": True},
            "min_size": min_connections,
            "max_size": max_connections,
            "timeout": seconds,
            # A pool that waits ever longer for a server would not be there when the server is back.
            "reconnect_timeout": seconds,
            "open": False,
        }
        timeouts = min(statement_timeout_ms, _MAX_MS), min(lock_timeout_ms, _MAX_MS)
        return cls(full, place, timeouts, max_connections, pool_arguments)


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
