"""Connections to the file of a SQLite store: one for each thread, none that crosses a fork, every error typed.

::

    call ──writing──> BEGIN IMMEDIATE … COMMIT     the one writer, all or nothing
         ──reading──> BEGIN … COMMIT               one state of the file, while others write

A connection that crosses a fork loses what the child writes: SQLite keeps in each process a list of the locks that it
holds, and the child would believe in the parent's. So all connections of a process are closed before it forks, and
opened again when they are needed.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, Protocol
from weakref import WeakSet

from gatekeeper_core.errors import ConfigError, CorruptionError, StorageError
from gatekeeper_core.events import STORE_CALL, STORE_OPENED
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.storage.sqlite_schema import MIGRATIONS, Foreign, migrate, schema_problems, schema_state

__all__ = ["Connections", "SQLiteTransaction", "Synchronous", "typed_errors", "watch_forks"]

Synchronous = Literal["normal", "full"]

_SYNCHRONOUS = ("normal", "full")
_RETRY_SECONDS = 0.01
_STATEMENTS = 128

_LOCKED = "another writer kept it locked: try again, or raise busy_timeout_ms"
_REASONS = {
    "database is locked": _LOCKED,
    "database table is locked": _LOCKED,
    "database or disk is full": "there is no room left for it: nothing of this call was stored",
    "attempt to write a readonly database": "it must not be written: see to the rights on the file and its folder",
    "unable to open database file": "it cannot be opened: see whether its folder is there, and to the rights on both",
    "disk i/o error": "the system could not read or write it",
}
"""What to make of SQLite's words, which are the same in all versions; Python 3.10 does not give its numbers."""

_ADVICE = "run check(), and restore it from a backup"


class _Held(Protocol):
    """A resource that a fork waits for."""

    def hold(self) -> None:
        """Wait for the calls that run, and let no other one begin."""

    def let_go(self) -> None:
        """Let calls begin again."""


_open_here: WeakSet[_Held] = WeakSet()
_open_lock = threading.Lock()
_held_for_fork: list[_Held] = []
_inherited: list[sqlite3.Connection] = []


class SQLiteTransaction:
    """A ``Transaction`` on a connection, which its lender begins and ends."""

    __slots__ = ("connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def rows(self, sql: str, /, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement, and return its rows."""
        return self.connection.execute(sql, values).fetchall()

    def execute(self, sql: str, /, *values: Any) -> int:
        """Run a statement, and return how many rows it changed."""
        return self.connection.execute(sql, values).rowcount

    def many(self, sql: str, rows: Iterable[tuple[Any, ...]], /) -> None:
        """Run a statement for each row of values."""
        self.connection.executemany(sql, rows)


@contextmanager
def typed_errors(place: str) -> Iterator[None]:
    """Make errors of SQLite into ours, which name the place and nothing that is in it."""
    try:
        yield
    except Foreign as error:
        raise StorageError(
            f"{place}: this is a database of another program; nothing was changed, give another path"
        ) from error
    except UnicodeDecodeError as error:  # SQLite's own words quote a name that is damaged
        raise CorruptionError(f"{place}: the file is damaged; {_ADVICE}") from error
    except OverflowError as error:
        raise ConfigError("a number is too large to be stored") from error
    except sqlite3.Error as error:
        words = str(error).lower()
        reason = next((reason for known, reason in _REASONS.items() if words.startswith(known)), None)
        # SQLite calls a file that it cannot read a DatabaseError; a clash of keys that were looked up is damage.
        if reason is None and type(error) in (sqlite3.DatabaseError, sqlite3.IntegrityError):
            raise CorruptionError(f"{place}: the file is damaged, or no database; {_ADVICE}") from error
        raise StorageError(f"{place}: {reason or f'SQLite refused the call ({type(error).__name__})'}") from error


class Connections:
    """Opens the file, and lends each thread its connection.

    Arguments and errors are those of ``SQLiteStore``; ``migrations`` make the tables. Once opened, a file that is gone
    is an error even with ``create``.

    Attributes:
        found_version: the schema version that the file had when it was opened, 0 for a new one.
    """

    def __init__(
        self,
        path: str,
        *,
        synchronous: Synchronous,
        busy_timeout_ms: int,
        create: bool = True,
        migrate: bool = True,
        migrations: tuple[str, ...] = MIGRATIONS,
    ) -> None:
        if synchronous not in _SYNCHRONOUS:
            raise ConfigError(f"synchronous must be one of {', '.join(_SYNCHRONOUS)}")
        self.path = path
        self.migrations = migrations
        self.found_version: int | None = None
        self._create = create
        self._migrate = migrate
        self._synchronous = synchronous
        self._busy_timeout_ms = busy_timeout_ms
        self._local = threading.local()
        self._lent: WeakSet[_Lent] = WeakSet()
        self._lock = threading.Lock()
        self._writer = threading.RLock()  # as for _Lent: a signal handler gets SQLite's error
        self._held: list[_Lent] = []
        self._is_closed = False
        watch_forks(self)
        with self.reading():
            self._create = False  # a file that cannot be used is refused here, and one that is lost later on

    def close(self) -> None:
        """Close all connections, when the calls that run are done; no call is answered after that."""
        self._is_closed = True
        self.hold()
        self.let_go()

    @contextmanager
    def writing(self) -> Iterator[SQLiteTransaction]:
        """Lend the connection of this thread for one transaction that writes: all of it is stored, or nothing."""
        with self._lend("write") as lent, self._only_writer(), self._transaction(lent, "BEGIN IMMEDIATE") as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] > len(self.migrations):
                raise self._newer()  # another process has brought the file up to date in the meantime
            yield SQLiteTransaction(connection)

    @contextmanager
    def reading(self) -> Iterator[SQLiteTransaction]:
        """Lend the connection of this thread for reading one state of the file."""
        with self._lend("read") as lent, self._transaction(lent, "BEGIN") as connection:
            yield SQLiteTransaction(connection)

    @contextmanager
    def bare(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection of this thread without a transaction, for what SQLite does outside of one."""
        with self._lend("bare") as lent:
            yield lent.opened(self._open)

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        """Let the threads of this process write in turn.

        SQLite would let them ask for its lock again and again, at growing intervals: whoever has waited longest asks
        least often, and a call may wait for seconds. Taken when the thread holds its connection, so that no process
        forks while a thread that will not be in the child holds it.
        """
        if not self._writer.acquire(timeout=self._busy_timeout_ms / 1000):
            raise StorageError(f"{self.path}: {_LOCKED}")
        try:
            yield
        finally:
            self._writer.release()

    @contextmanager
    def _transaction(self, lent: _Lent, begin: str) -> Iterator[sqlite3.Connection]:
        connection = lent.opened(self._open)
        try:
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            lent.roll_back()
            raise

    @contextmanager
    def _lend(self, access: str) -> Iterator[_Lent]:
        lent: _Lent | None = getattr(self._local, "lent", None)
        if lent is None:
            with self._lock:
                self._local.lent = lent = _Lent()
                self._lent.add(lent)
        with stage(STORE_CALL) as call, lent.lock, typed_errors(self.path):
            call.tell(lambda: {"backend": "sqlite", "access": access})
            if self._is_closed:
                raise StorageError(f"{self.path}: the store was closed")
            try:
                yield lent
            except (sqlite3.Error, UnicodeDecodeError):
                lent.discard()  # whatever state it is in, the next call gets a new one
                raise

    def _open(self) -> sqlite3.Connection:
        deadline = time.monotonic() + self._busy_timeout_ms / 1000
        while True:
            try:
                return self._opened()
            except sqlite3.OperationalError as error:  # noqa: PERF203 - the loop is there to try again
                # Who is the first to open a file waits for nobody: SQLite refuses at once.
                if "locked" not in str(error) or time.monotonic() >= deadline:
                    raise
                time.sleep(_RETRY_SECONDS)

    def _opened(self) -> sqlite3.Connection:
        log_bytes = _size_of(f"{self.path}-wal")  # first: whoever makes a store makes its log last
        if _size_of(self.path) == 0:
            if log_bytes > 0:  # SQLite would delete the log
                raise CorruptionError(
                    f"{self.path}: the file is empty or gone, and its write-ahead log is not; {_ADVICE}"
                )
            if not self._create:
                raise StorageError(f"{self.path}: there is no store")
        connection = sqlite3.connect(
            self.path,
            timeout=self._busy_timeout_ms / 1000,
            isolation_level=None,
            check_same_thread=False,  # close() may come from any thread
            cached_statements=_STATEMENTS,
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.text_factory = bytes  # there is no text in the tables, but in damaged ones there may be
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("BEGIN")  # another process may be making the tables
        state = schema_state(connection)
        connection.execute("COMMIT")
        if state.version > len(self.migrations):
            raise self._newer()
        if not (state.is_empty or self._migrate or state.version == len(self.migrations)):
            raise StorageError(f"{self.path}: it was written by an older version of this library; migrate it first")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != b"wal":
            raise StorageError(f"{self.path}: no write-ahead log can be kept there; give a path on a local disk")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA secure_delete = ON")
        migrate(connection, self.migrations)
        if self.found_version is None:
            self.found_version = state.version
            tell(STORE_OPENED, backend="sqlite", found_version=state.version, schema_version=len(self.migrations))
        if schema_problems(connection, self.migrations):
            raise CorruptionError(f"{self.path}: the tables are not as they were made; {_ADVICE}")

    def _newer(self) -> StorageError:
        return StorageError(f"{self.path}: it was written by a newer version of this library; install that one")

    def hold(self) -> None:
        """Close all connections when the calls that run are done, and let no other one begin."""
        self._lock.acquire()
        self._held = list(self._lent)
        for lent in self._held:
            lent.lock.acquire()
            lent.discard()

    def let_go(self) -> None:
        """Let calls begin again."""
        held, self._held = self._held, []
        for lent in held:
            lent.lock.release()
        self._lock.release()


def _size_of(name: str) -> int:
    try:
        return os.path.getsize(name)
    except OSError:
        return 0


class _Lent:
    """The connection of one thread. It is closed when the thread ends."""

    __slots__ = ("__weakref__", "_connection", "_process", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a signal handler that calls in the middle of a call gets an error, and no lock
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()

    def __del__(self) -> None:
        self.discard()

    def opened(self, open_one: Callable[[], sqlite3.Connection]) -> sqlite3.Connection:
        if self._process != os.getpid():
            self._leave_behind()
        if self._connection is None:
            self._connection = open_one()
        return self._connection

    def roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                self.discard()  # which undoes the transaction as well

    def discard(self) -> None:
        if self._process != os.getpid():
            self._leave_behind()
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _leave_behind(self) -> None:
        """Keep a connection of the parent process for ever: closing it here would take the parent's locks away."""
        if self._connection is not None:
            _inherited.append(self._connection)
        self._connection = None
        self._process = os.getpid()


def watch_forks(held: _Held) -> None:
    """Let forks wait for somebody's calls."""
    global _is_watching  # a hook cannot be taken back, so there is one for all
    with _open_lock:
        if not _is_watching and hasattr(os, "register_at_fork"):
            os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
            _is_watching = True
        _open_here.add(held)


_is_watching = False


def _before_fork() -> None:
    _open_lock.acquire()
    for held in list(_open_here):
        held.hold()
        _held_for_fork.append(held)


def _after_fork() -> None:
    while _held_for_fork:
        _held_for_fork.pop().let_go()
    _open_lock.release()
