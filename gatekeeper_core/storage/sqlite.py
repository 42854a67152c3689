"""Stores in SQLite: in a file, for any number of threads and processes of one machine, or in memory.

::

    sqlite ── tables            what a store with tables does
           ── sqlite_schema     tables, migrations

    call ──_writing──> BEGIN IMMEDIATE … COMMIT     the one writer, all or nothing
         ──_reading──> BEGIN … COMMIT               one state of the file, while other processes write

The threads of a process share one connection, which serves one call at a time. A connection must not cross a fork:
SQLite tracks the locks it holds per process, and the child would trust the parent's and lose its writes. So a process
closes connections to files before it forks, and reopens them at the next call.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, NamedTuple
from weakref import WeakSet

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.errors import ConfigError, CorruptionError, StorageError
from gatekeeper_core.events import PURGE_FAILED, STORE_CALL, STORE_CHECKED, STORE_OPENED
from gatekeeper_core.observation import stage, tell
from gatekeeper_core.storage.sqlite_schema import MIGRATIONS, has_only_our_tables, migrate, schema_state
from gatekeeper_core.storage.tables import TableStore, Transaction, counts
from gatekeeper_core.tokens import check_tokens

Synchronous = Literal["normal", "full"]

_SYNCHRONOUS = ("normal", "full")
_RETRY_SECONDS = 0.01

_LOCKED = "locked by another writer: try again, or raise busy_timeout_ms"
_REASONS = {
    "database is locked": _LOCKED,
    "database table is locked": _LOCKED,
    "database or disk is full": "no space left: nothing from this call was stored",
    "attempt to write a readonly database": "it is read-only: check the permissions of the file and its folder",
    "unable to open database file": "it cannot be opened: check that its folder exists, and the permissions of both",
    "disk i/o error": "the system failed to read or write it",
}
"""The meaning of SQLite's messages, which are the same in all versions; Python 3.10 does not give error numbers."""

_ADVICE = "run check() and restore it from a backup"


@contextmanager
def _typed_errors(place: str) -> Iterator[None]:
    """Turn errors of SQLite into ours, which name the place but none of its content."""
    try:
        yield
    except UnicodeDecodeError as error:  # SQLite's message quotes the damaged name
        raise CorruptionError(f"{place}: the file is damaged; {_ADVICE}") from error
    except OverflowError as error:
        raise ConfigError("a number is too large to be stored") from error
    except sqlite3.Error as error:
        words = str(error).lower()
        reason = next((reason for beginning, reason in _REASONS.items() if words.startswith(beginning)), "")
        # An unreadable file is a DatabaseError; a clash of keys is damage, because they were looked up before.
        if not reason and type(error) in (sqlite3.DatabaseError, sqlite3.IntegrityError):
            raise CorruptionError(f"{place}: the file is damaged or not a database; {_ADVICE}") from error
        raise StorageError(f"{place}: {reason or f'SQLite refused the call ({type(error).__name__})'}") from error


class _Connected(TableStore):
    """A store with one connection, and one lock for all threads, which is free in a forked child."""

    _connection: sqlite3.Connection | None = None

    def __init__(self) -> None:
        self._lock = threading.RLock()  # reentrant, for a signal handler that interrupts a call
        with _stores_lock:
            _stores.add(self)

    def __del__(self) -> None:
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _before_fork(self) -> None:
        self._lock.acquire()


class StoreInfo(NamedTuple):
    """Row counts and sizes of a store.

    Attributes:
        size_bytes: size of the file with its write-ahead log.
        threads: number of threads with messages.
        memories: number of memories, including closed ones.
    """

    path: str
    schema_version: int
    size_bytes: int
    threads: int
    messages: int
    records: int
    memories: int
    blobs: int
    tombstones: int


@with_suggestions()
class SQLiteStore(_Connected):
    """A ``Store`` in a file.

    Every call is one transaction. A failed call raises a ``StorageError``, which names the file but none of its
    content, writes nothing, and leaves the store usable. Threads share one connection, which serves one call at a time
    and is closed before a fork. A call may wait for another process, so ``is_in_process`` is not set.

    Args:
        path: the file, with its write-ahead log next to it (``-wal``, ``-shm``); on a local disk, not a network share.
        synchronous: what an acknowledged write survives: "normal" a crash of the process, "full" also a crash of the
            system or a power loss, but each write waits for the disk.
        busy_timeout_ms: how long a call waits for another writer before it fails, at least 0.
        create: whether to create a missing file.
        migrate: whether to upgrade an older file; otherwise it is refused.

    Attributes:
        path: the file, as an absolute path.
        found_schema_version: version of the tables when the file was opened, before any upgrade; 0 if it was new.

    Raises:
        TypeError: an argument has the wrong type.
        ConfigError: an argument is invalid.
        StorageError: the file is unusable: no permission, or written by another program or a newer version.
        CorruptionError: the file is damaged.

    >>> import tempfile
    >>> from gatekeeper_core.messages import Message
    >>> folder = tempfile.TemporaryDirectory()
    >>> with SQLiteStore(f"{folder.name}/store.db") as store:
    ...     store.append_messages("acme", "t1", [Message("user", "hello", id="m1")])
    0
    >>> with SQLiteStore(f"{folder.name}/store.db") as store:
    ...     [message.text for message in store.read_messages("acme", "t1")]
    ['hello']
    >>> folder.cleanup()
    """

    backend = "sqlite"
    _migrations = MIGRATIONS

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        synchronous: Synchronous = "normal",
        busy_timeout_ms: int = 5_000,
        create: bool = True,
        migrate: bool = True,
    ) -> None:
        check_tokens("busy_timeout_ms", busy_timeout_ms)
        name = os.fspath(path)
        if not isinstance(name, str):
            raise TypeError(f"path must be a str or a path, got {type(path).__name__}")
        if not name or name == ":memory:" or name.startswith("file:") or "\0" in name:
            raise ConfigError("path must name a file; to keep nothing on disk, use InMemoryStore")
        if synchronous not in _SYNCHRONOUS:
            raise ConfigError(f"synchronous must be one of {', '.join(_SYNCHRONOUS)}")
        self.path = self.place = os.path.abspath(name)
        self.found_schema_version = -1
        self._create = create
        self._migrate = migrate
        self._synchronous = synchronous
        self._busy_seconds = min(busy_timeout_ms, 2**31 - 1) / 1000
        self._is_closed = False
        super().__init__()
        with self._reading():
            self._create = False  # an unusable file is refused here; one lost later is not created again

    def close(self) -> None:
        """Wait for the running call, then close the connection. Later calls are refused."""
        with self._lock:
            self._is_closed = True
            self._disconnect()

    def purge(self) -> bool:
        """Rewrite the file without deleted data, empty its log, and return whether that succeeded.

        An active reader or a full disk can prevent it: call it again. SQLite overwrites what it deletes with zeros, but
        not what it moved within a page, and the log keeps old pages until it is emptied.
        """
        with self._lend("bare") as connection:
            try:
                connection.execute("VACUUM")
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's message may quote a damaged name
                tell(PURGE_FAILED, error=type(error).__name__)
                return False
        return not busy

    def check(self) -> tuple[str, ...]:
        """Return the problems that SQLite finds in the file (``PRAGMA integrity_check``), in time linear in its size.

        It checks pages, indexes and our tables. SQLite has no page checksums: a changed byte in a text is not found.
        """
        with self._lend("bare") as connection:
            try:
                lines = [line.decode("utf-8", "replace") for (line,) in connection.execute("PRAGMA integrity_check")]
                problems = [line for line in lines if line != "ok"]
                if not has_only_our_tables(connection):
                    problems.append("the tables, indexes, views or triggers are not as they were made")
            except (sqlite3.Error, UnicodeDecodeError):
                problems = ["the file cannot be read to the end"]
        tell(STORE_CHECKED, backend=self.backend, problems=len(problems), level="WARNING" if problems else "INFO")
        return tuple(problems)

    def info(self) -> StoreInfo:
        """Return the counts and the size, in time linear in the rows."""
        size = _size_of(self.path) + _size_of(f"{self.path}-wal")
        with self._reading() as transaction:
            version = transaction.rows("PRAGMA user_version")[0][0]
            return StoreInfo(path=self.path, schema_version=version, size_bytes=size, **counts(transaction))

    def _reading(self) -> AbstractContextManager[Transaction]:
        return self._transaction("read", "BEGIN")

    @contextmanager
    def _writing(self, *_: str | bytes, alone: bool = False) -> Iterator[Transaction]:  # noqa: ARG002 - one writer at a time
        with self._transaction("write", "BEGIN IMMEDIATE") as transaction:
            if transaction.rows("PRAGMA user_version")[0][0] > len(self._migrations):
                raise self._newer()  # another process has upgraded the file meanwhile
            yield transaction

    @contextmanager
    def _transaction(self, access: str, begin: str) -> Iterator[Transaction]:
        with self._lend(access) as connection:
            connection.execute(begin)
            try:
                yield Transaction(connection)
                connection.execute("COMMIT")
            except BaseException:
                try:
                    connection.rollback()
                except sqlite3.Error:
                    self._disconnect()  # this rolls back, too
                raise

    @contextmanager
    def _lend(self, access: str) -> Iterator[sqlite3.Connection]:
        """Lend the connection without a transaction, for statements that must run outside of one."""
        with stage(STORE_CALL) as call, self._lock, _typed_errors(self.path):
            call.tell(lambda: {"backend": self.backend, "access": access})
            if self._is_closed:
                raise StorageError(f"{self.path}: the store is closed")
            self._connection = self._connection or self._open()
            try:
                yield self._connection
            except (sqlite3.Error, UnicodeDecodeError):
                self._disconnect()  # its state is unknown: the next call gets a new one
                raise

    def _open(self) -> sqlite3.Connection:
        """Return a new connection; wait while another process opens the file, because SQLite would refuse at once."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            if not self._create and not _size_of(self.path):
                raise StorageError(f"{self.path}: no store found")
            connection = sqlite3.connect(
                self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
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
        newest = len(self._migrations)
        connection.text_factory = bytes  # there is no text in the tables unless they are damaged
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("BEGIN")  # another process may be creating the tables
        version, is_empty, is_ours = schema_state(connection)
        connection.execute("COMMIT")
        if not is_ours:
            reason = "this is a database of another program; nothing was changed, give another path"
            raise StorageError(f"{self.path}: {reason}")
        if version > newest:
            raise self._newer()
        if not (is_empty or self._migrate or version == newest):
            raise StorageError(f"{self.path}: written by an older version of this library: migrate it first")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != b"wal":
            raise StorageError(f"{self.path}: no write-ahead log is possible there: use a path on a local disk")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA secure_delete = ON")
        migrate(connection, self._migrations)
        if self.found_schema_version < 0:
            self.found_schema_version = version
            tell(STORE_OPENED, backend=self.backend, found_version=version, schema_version=newest)
        if not has_only_our_tables(connection, self._migrations):
            raise CorruptionError(f"{self.path}: the tables were altered; {_ADVICE}")

    def _newer(self) -> StorageError:
        return StorageError(f"{self.path}: written by a newer version of this library: upgrade the library")

    def _before_fork(self) -> None:
        super()._before_fork()
        self._disconnect()


class InMemoryStore(_Connected):
    """A ``Store`` in an in-memory SQLite database, shared by all threads; a forked process gets its own copy.

    >>> from gatekeeper_core.messages import Message
    >>> store = InMemoryStore()
    >>> store.append_messages("acme", "t1", [Message("user", "端口?", id="m1")])
    0
    >>> store.append_messages("acme", "t1", [Message("user", "端口?", id="m1"), Message("user", "6380", id="m2")])
    1
    >>> [message.text for message in store.read_messages("acme", "t1")], store.read_messages("other", "t1")
    (['端口?', '6380'], ())
    >>> store.forget("acme", thread="t1").messages
    2
    """

    is_in_process = True
    backend = "memory"
    place = "the store in memory"

    _connection: sqlite3.Connection

    def __init__(self) -> None:
        super().__init__()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(self._connection)

    @contextmanager
    def _reading(self) -> Iterator[Transaction]:
        with self._lock, _typed_errors(self.place):
            yield Transaction(self._connection)

    @contextmanager
    def _writing(self, *_: str | bytes, alone: bool = False) -> Iterator[Transaction]:  # noqa: ARG002
        with self._reading() as transaction:
            # A savepoint, because a signal handler may interrupt a call with another.
            transaction.execute("SAVEPOINT call")
            try:
                yield transaction
            except BaseException:
                transaction.execute("ROLLBACK TO call")
                raise
            finally:
                transaction.execute("RELEASE call")

    def purge(self) -> bool:
        """Return True: deleted data is in no file."""
        return True


def _size_of(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


# --- forks ----------------------------------------------------------------------------------------------------------

_stores: WeakSet[_Connected] = WeakSet()
_stores_lock = threading.Lock()
_locked_for_fork: list[_Connected] = []


def _before_fork() -> None:
    _stores_lock.acquire()
    for store in list(_stores):
        store._before_fork()
        _locked_for_fork.append(store)


def _after_fork() -> None:
    while _locked_for_fork:
        _locked_for_fork.pop()._lock.release()
    _stores_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
