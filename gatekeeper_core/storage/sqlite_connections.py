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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, Protocol
from weakref import WeakSet

from gatekeeper_core.errors import ConfigError, CorruptionError, StorageError
from gatekeeper_core.events import STORE_CALL, STORE_OPENED
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.storage.sqlite_schema import MIGRATIONS, Foreign, has_only_our_tables, migrate, schema_state

Synchronous = Literal["normal", "full"]

_SYNCHRONOUS = ("normal", "full")
_RETRY_SECONDS = 0.01
_STATEMENTS = 128

_LOCKED = "locked by another writer: try again, or raise busy_timeout_ms"
_REASONS = {
    "database is locked": _LOCKED,
    "database table is locked": _LOCKED,
    "database or disk is full": "no space left: nothing from this call was stored",
    "attempt to write a readonly database": "it is read-only: check the permissions of the file and its folder",
    "unable to open database file": "it cannot be opened: check that its folder exists, and the permissions of both",
    "disk i/o error": "the system failed to read or write it",
}
"""What to make of SQLite's words, which are the same in all versions; Python 3.10 does not give its numbers."""

_ADVICE = "run check() and restore it from a backup"


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
        reason = "this is a database of another program; nothing was changed, give another path"
        raise StorageError(f"{place}: {reason}") from error
    except UnicodeDecodeError as error:  # SQLite's own words quote a name that is damaged
        raise CorruptionError(f"{place}: the file is damaged; {_ADVICE}") from error
    except OverflowError as error:
        raise ConfigError("a number is too large to be stored") from error
    except sqlite3.Error as error:
        words = str(error).lower()
        reason = next((reason for beginning, reason in _REASONS.items() if words.startswith(beginning)), "")
        # SQLite calls a file that it cannot read a DatabaseError; a clash of keys that were looked up is damage.
        if not reason and type(error) in (sqlite3.DatabaseError, sqlite3.IntegrityError):
            raise CorruptionError(f"{place}: the file is damaged or not a database; {_ADVICE}") from error
        raise StorageError(f"{place}: {reason or f'SQLite refused the call ({type(error).__name__})'}") from error


class Connections:
    """The connections to a file, one for each thread.

    Arguments and errors are those of ``SQLiteStore``; ``migrations`` make the tables. Once opened, a file that is gone
    is an error even with ``create``.

    Attributes:
        schema_version: the schema version that the file had when it was opened, 0 for a new one.
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
        self.schema_version: int | None = None
        self._create = create
        self._migrate = migrate
        self._synchronous = synchronous
        self._busy_seconds = busy_timeout_ms / 1000
        self._local = threading.local()
        self._slots: WeakSet[_Slot] = WeakSet()
        self._lock = threading.Lock()
        self._paused: list[_Slot] = []
        self._is_closed = False
        close_before_fork(self)
        with self.reading():
            self._create = False  # a file that cannot be used is refused here, and one that is lost later on

    def close(self) -> None:
        """Close all connections, when the calls that run are done; no call is answered after that."""
        self._is_closed = True
        self.pause()
        self.resume()

    @contextmanager
    def writing(self) -> Iterator[SQLiteTransaction]:
        """Lend the connection of this thread for one transaction that writes: all of it is stored, or nothing."""
        with self._transaction("write", "BEGIN IMMEDIATE") as transaction:
            if transaction.rows("PRAGMA user_version")[0][0] > len(self.migrations):
                raise self._newer()  # another process has brought the file up to date in the meantime
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[SQLiteTransaction]:
        """Lend the connection of this thread for reading one state of the file."""
        with self._transaction("read", "BEGIN") as transaction:
            yield transaction

    @contextmanager
    def bare(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection of this thread without a transaction, for what SQLite does outside of one."""
        with self._lend("bare") as slot:
            yield slot.connection

    @contextmanager
    def _transaction(self, access: str, begin: str) -> Iterator[SQLiteTransaction]:
        with self._lend(access) as slot:
            try:
                slot.connection.execute(begin)
                yield SQLiteTransaction(slot.connection)
                slot.connection.execute("COMMIT")
            except BaseException:
                try:
                    slot.connection.rollback()
                except sqlite3.Error:
                    slot.close()  # which undoes the transaction as well
                raise

    @contextmanager
    def _lend(self, access: str) -> Iterator[_Slot]:
        slot: _Slot | None = getattr(self._local, "slot", None)
        if slot is None:
            with self._lock:
                self._local.slot = slot = _Slot()
                self._slots.add(slot)
        with stage(STORE_CALL) as call, slot.lock, typed_errors(self.path):
            call.tell(lambda: {"backend": "sqlite", "access": access})
            if self._is_closed:
                raise StorageError(f"{self.path}: the store is closed")
            if not slot.is_open:
                slot.connection, slot.is_open = self._open(), True
            try:
                yield slot
            except (sqlite3.Error, UnicodeDecodeError):
                slot.close()  # whatever state it is in, the next call gets a new one
                raise

    def _open(self) -> sqlite3.Connection:
        """Return a new connection; who is the first to open a file waits here, for SQLite would refuse at once."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            if not self._create and not _is_filled(self.path):
                raise StorageError(f"{self.path}: no store found")
            connection = sqlite3.connect(
                self.path,
                timeout=self._busy_seconds,
                isolation_level=None,
                check_same_thread=False,  # close() may come from any thread
                cached_statements=_STATEMENTS,
            )
            try:
                self._prepare(connection)
            except BaseException as error:
                connection.close()
                is_locked = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
                if not is_locked or time.monotonic() >= deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        newest = len(self.migrations)
        connection.text_factory = bytes  # there is no text in the tables, but in damaged ones there may be
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("BEGIN")  # another process may be making the tables
        state = schema_state(connection)
        connection.execute("COMMIT")
        if state.version > newest:
            raise self._newer()
        if not (state.is_empty or self._migrate or state.version == newest):
            raise StorageError(f"{self.path}: written by an older version of this library: migrate it first")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != b"wal":
            raise StorageError(f"{self.path}: no write-ahead log is possible there: use a path on a local disk")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA secure_delete = ON")
        migrate(connection, self.migrations)
        if self.schema_version is None:
            self.schema_version = state.version
            tell(STORE_OPENED, backend="sqlite", found_version=state.version, schema_version=newest)
        if not has_only_our_tables(connection, self.migrations):
            raise CorruptionError(f"{self.path}: the tables were altered; {_ADVICE}")

    def _newer(self) -> StorageError:
        return StorageError(f"{self.path}: written by a newer version of this library: upgrade the library")

    def pause(self) -> None:
        """Block new calls, wait for running ones, then close all connections."""
        self._lock.acquire()
        self._paused = list(self._slots)
        for slot in self._paused:
            slot.lock.acquire()
            slot.close()

    def resume(self) -> None:
        """Let calls begin again."""
        paused, self._paused = self._paused, []
        for slot in paused:
            slot.lock.release()
        self._lock.release()


class _Slot:
    """The connection of one thread, while ``is_open``. It is closed when the thread ends."""

    __slots__ = ("__weakref__", "connection", "is_open", "lock")
    connection: sqlite3.Connection

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a signal handler that calls in the middle of a call gets an error, and no lock
        self.is_open = False

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            with suppress(sqlite3.Error):
                self.connection.close()


def _is_filled(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False


# --- forks ----------------------------------------------------------------------------------------------------------


class _Pausable(Protocol):
    def pause(self) -> None: ...
    def resume(self) -> None: ...


_open_here: WeakSet[_Pausable] = WeakSet()
_open_lock = threading.Lock()
_paused_for_fork: list[_Pausable] = []


def close_before_fork(store: _Pausable) -> None:
    """Let forks wait for the calls of a store."""
    with _open_lock:
        _open_here.add(store)


def _before_fork() -> None:
    _open_lock.acquire()
    for store in list(_open_here):
        store.pause()
        _paused_for_fork.append(store)


def _after_fork() -> None:
    while _paused_for_fork:
        _paused_for_fork.pop().resume()
    _open_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
