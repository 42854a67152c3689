"""Errors of psycopg as ours, which name the server and the database, but no user and no data."""

from __future__ import annotations

import psycopg
from psycopg import conninfo as psycopg_conninfo
from psycopg import errors as server
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from gatekeeper_core.errors import ConfigError, CorruptionError, StorageError

NEWER = "its tables were written by a newer version of this library; install that one"


class UnfitTablesError(Exception):
    """The tables cannot be used; ``typed`` adds the server to the reason."""


EXPECTED = (psycopg.Error, UnfitTablesError)
"""The errors that ``typed`` converts."""

_REASONS: tuple[tuple[type[psycopg.Error] | tuple[type[psycopg.Error], ...], str], ...] = (
    (PoolClosed, "the store is closed"),
    (TooManyRequests, "too many calls are waiting for a connection: try again, or raise max_connections"),
    (PoolTimeout, "no connection in time: all are busy (raise max_connections), or the server cannot be reached"),
    (server.QueryCanceled, "the call timed out and was rolled back: try again, or raise statement_timeout_ms"),
    (server.LockNotAvailable, "locked by another writer: try again, or raise lock_timeout_ms"),
    ((server.DeadlockDetected, server.SerializationFailure), "rolled back because of a concurrent call: try again"),
    (server.ReadOnlySqlTransaction, "the server is read-only: connect to the primary"),
    (server.InsufficientPrivilege, "the role lacks permission: check its rights on the schema and its tables"),
    (server.DiskFull, "no space left: nothing from this call was stored"),
    (
        (server.TooManyConnections, server.OutOfMemory, server.ConfigurationLimitExceeded),
        "the server has no resources left: lower max_connections, or raise the server's limits",
    ),
    (
        (server.InvalidPassword, server.InvalidAuthorizationSpecification),
        "the server refused the login: check the user, the password and pg_hba.conf",
    ),
    (server.InvalidCatalogName, "there is no such database"),
    ((server.UndefinedTable, server.UndefinedColumn, server.InvalidSchemaName), "the tables no longer exist"),
)
_DAMAGED = (server.DataCorrupted, server.IndexCorrupted, psycopg.IntegrityError)


def place_of(conninfo: str) -> str:
    """Return the server and the database of a connection string, and nothing else from it.

    Raises:
        ConfigError: the connection string cannot be read.

    >>> place_of("postgresql://ann:secret@db.example:5433/chats?sslmode=require")
    'db.example:5433/chats'
    >>> place_of("dbname=chats")
    'localhost:5432/chats'
    """
    try:
        parts = psycopg_conninfo.conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:  # its message quotes conninfo
        raise ConfigError("conninfo cannot be read: use postgresql://host:port/database or key=value pairs") from None
    host = parts.get("host") or parts.get("hostaddr") or "localhost"
    return f"{host}:{parts.get('port') or 5432}/{parts.get('dbname') or ''}"


def typed(error: Exception, place: str) -> Exception:
    """Convert an error of ``EXPECTED`` into ours; ``place`` names the server and the database."""
    if isinstance(error, UnfitTablesError):
        return StorageError(f"{place}: {error}")
    if isinstance(error, server.NumericValueOutOfRange):
        return ConfigError("a number is too large to be stored")
    if isinstance(error, _DAMAGED):
        return CorruptionError(f"{place}: the stored data is inconsistent; restore it from a backup")
    for kinds, reason in _REASONS:
        if isinstance(error, kinds):
            return StorageError(f"{place}: {reason}")
    if isinstance(error, psycopg.OperationalError):
        return StorageError(
            f"{place}: the connection was lost or refused ({type(error).__name__}): try again; a repeated "
            "write shows whether the first one was stored"
        )
    return StorageError(f"{place}: the server refused the call ({type(error).__name__})")
