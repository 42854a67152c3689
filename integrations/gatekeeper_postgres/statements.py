"""What a store asks of the server, without a connection: one logic for callers that wait and for callers that await.

::

    method ──yields──> Call ──its transaction yields──> Statement ──> Answer
           <──result──      <──────────rows────────────

A driver (``connections``, ``async_connections``) runs the calls of a method one after another, each in a transaction of
its own, and hands the answers back. So no operation is written twice.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from gatekeeper_core.events import STORE_CALL
from gatekeeper_core.observation import Stage, stage
from gatekeeper_core.storage.codec import encode_text

__all__ = [
    "BACKEND",
    "MAX_NAME_BYTES",
    "Answer",
    "Call",
    "Calls",
    "Lock",
    "Statement",
    "Statements",
    "Timeouts",
    "beginning",
    "execute",
    "lock_on",
    "name_key",
    "observed",
    "one",
    "qualified",
    "rows_of",
]

T = TypeVar("T")

BACKEND = "postgres"
"""What the store is called in what it tells."""

MAX_NAME_BYTES = 400
"""Longest name that stands in an index as it is. Source: ours; an index takes rows of up to 2,704 bytes, and the widest
of ours holds four names."""

_IDLE_MS = 60_000
"""After so long without a word from a worker that has stopped in the middle of a call, the server undoes the call."""


class Statement(NamedTuple):
    """One statement: ``@name`` in it is a table of the store, each ``%s`` stands for one of the values."""

    sql: str
    values: tuple[Any, ...] = ()


class Answer(NamedTuple):
    """What the server answered: the rows, and how many were read or changed."""

    rows: Sequence[tuple[Any, ...]]
    row_count: int


Statements = Generator[Statement, Answer, T]
"""What one transaction does: it is given the answer to each statement that it yields, and returns its result."""


class Lock(NamedTuple):
    """A lock that the transaction holds to its end: a number of 64 bits; shared with others that share it, or alone."""

    number: int
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One transaction.

    Attributes:
        statements: what it does.
        kind: "read": one state of the tables, nothing written; "write": sees what others have committed; "bare": no
            transaction, each statement by itself.
        locks: what it holds from its beginning, in this order.
        is_patient: whether it may take as long as it takes, as a migration does.
    """

    statements: Statements[T]
    kind: Literal["read", "write", "bare"] = "read"
    locks: tuple[Lock, ...] = ()
    is_patient: bool = False


Calls = Generator[Call[Any], Any, T]
"""What one method does: it is given the result of each call that it yields, or the error, and returns its own."""


class Timeouts(NamedTuple):
    """How long the server works on a statement, and waits for another writer, in milliseconds; 0: without end."""

    statement_ms: int
    lock_ms: int


def one(
    statements: Statements[T],
    kind: Literal["read", "write", "bare"] = "read",
    locks: tuple[Lock, ...] = (),
    *,
    is_patient: bool = False,
) -> Calls[T]:
    """Return what a method does that is one call."""
    result: T = yield Call(statements, kind, locks, is_patient)
    return result


def execute(sql: str, *values: Any) -> Statements[int]:
    """Run one statement, and return how many rows it changed."""
    answer = yield Statement(sql, values)
    return answer.row_count


def rows_of(sql: str, *values: Any) -> Statements[Sequence[tuple[Any, ...]]]:
    """Run one statement, and return its rows."""
    answer = yield Statement(sql, values)
    return answer.rows


def name_key(name: str) -> bytes:
    r"""Return a name as it stands in an index: its bytes, or of a long one a hash, which no other name can be.

    Source: BLAKE2b, 256 bits; no encoded text begins with the byte 255.

    >>> name_key("茶"), len(name_key("x" * 401))
    (b'\xe8\x8c\xb6', 33)
    """
    data = encode_text(name)
    return data if len(data) <= MAX_NAME_BYTES else b"\xff" + blake2b(data, digest_size=32).digest()


def lock_on(*names: str | bytes, shared: bool = False) -> Lock:
    """Return the lock on something by its names; two things have the same one in one case of 2 to the power of 64."""
    running = blake2b(digest_size=8)
    for name in names:
        data = name if isinstance(name, bytes) else encode_text(name)
        running.update(b"%d:" % len(data))
        running.update(data)
    return Lock(int.from_bytes(running.digest(), "big", signed=True), shared)


def observed(call: Call[Any]) -> Stage:
    """Return the stage of one call, for those who watch; its outcome is the type of what the driver raised."""
    called = stage(STORE_CALL)
    called.tell(lambda: {"backend": BACKEND, "access": call.kind})
    return called


def beginning(call: Call[Any], timeouts: Timeouts) -> bytes:
    """Return what begins the transaction of a call: all in one message to the server.

    The search path is fixed, so that neither the caller's nor the database's own can put another function or operator
    in the place of the server's.
    """
    statement_ms, lock_ms = (0, _IDLE_MS) if call.is_patient else timeouts
    level = "REPEATABLE READ READ ONLY" if call.kind == "read" else "READ COMMITTED"
    parts = [
        f"BEGIN ISOLATION LEVEL {level}",
        "SET LOCAL search_path = pg_catalog",
        f"SET LOCAL statement_timeout = {statement_ms:d}",
        f"SET LOCAL lock_timeout = {lock_ms:d}",
        f"SET LOCAL idle_in_transaction_session_timeout = {_IDLE_MS:d}",
    ]
    for lock in call.locks:
        how = "pg_advisory_xact_lock_shared" if lock.is_shared else "pg_advisory_xact_lock"
        parts.append(f"SELECT pg_catalog.{how}({lock.number:d})")
    return "; ".join(parts).encode()


@lru_cache(maxsize=512)
def qualified(sql: str, schema: str) -> bytes:
    """Return a statement with its tables in a schema, whose name needs no more than quotes.

    >>> qualified("SELECT last_seq FROM @threads", "gatekeeper")
    b'SELECT last_seq FROM "gatekeeper".threads'
    """
    return sql.replace("@", f'"{schema}".').encode()
