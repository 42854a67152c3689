"""The package as a whole: its examples, its words for errors, what stands in an index."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors as server
from psycopg_pool import PoolClosed, PoolTimeout

from gatekeeper_core.errors import ConfigError, CorruptionError, StorageError
from gatekeeper_postgres.connections import lock_on
from gatekeeper_postgres.errors import UnfitTablesError, place_of, typed


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (UnfitTablesError("no store found"), StorageError, "h:1/d: no store found"),
        (server.UniqueViolation("Key (tenant)=(secret) already exists"), CorruptionError, "is inconsistent"),
        (server.DataCorrupted("secret"), CorruptionError, "is inconsistent"),
        (server.DiskFull("secret"), StorageError, "no space left"),
        (server.ReadOnlySqlTransaction("secret"), StorageError, "is read-only"),
        (server.DeadlockDetected("secret"), StorageError, "try again"),
        (server.InvalidPassword('for user "secret"'), StorageError, "refused the login"),
        (server.UndefinedTable("secret"), StorageError, "no longer exist"),
        (PoolTimeout("secret"), StorageError, "no connection in time"),
        (PoolClosed("secret"), StorageError, "is closed"),
        (server.NumericValueOutOfRange("secret"), ConfigError, "too large"),
        (psycopg.OperationalError("secret"), StorageError, "connection was lost or refused"),
        (server.SyntaxError("secret"), StorageError, r"refused the call \(SyntaxError\)"),
    ],
)
def test_an_error_is_one_of_ours_and_quotes_nothing(error: Exception, kind: type[Exception], words: str) -> None:
    ours = typed(error, "h:1/d")
    assert type(ours) is kind
    assert "secret" not in str(ours)
    with pytest.raises(kind, match=words):
        raise ours


def test_a_connection_string_that_cannot_be_read_is_not_quoted() -> None:
    for wrong in ("postgresql://ann:s3cret@[::1/x", "passwort=s3cret", "host='s3cret"):
        with pytest.raises(ConfigError, match="conninfo cannot be read") as caught:
            place_of(wrong)
        assert "s3cret" not in str(caught.value)


def test_locks_differ_by_each_of_their_names() -> None:
    locks = [lock_on("a", "b"), lock_on("ab", ""), lock_on("", "ab"), lock_on("a", "c"), lock_on("a")]
    assert len(set(locks)) == len(locks)
    assert lock_on("a", b"b", shared=True).partition("(")[2] == lock_on("a", "b").partition("(")[2]
