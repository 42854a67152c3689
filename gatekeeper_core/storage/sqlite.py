"""Stores in SQLite: in a file, for any number of threads and processes of one machine, or in memory.

::

    sqlite ── tables                 what a store with tables does
           ── sqlite_connections     one for each thread, transactions, forks, errors
           ── sqlite_schema          tables, migrations
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import RLock
from typing import NamedTuple

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.events import PURGE_FAILED, STORE_CHECKED
from gatekeeper_core.observation import tell
from gatekeeper_core.storage.sqlite_connections import (
    Connections,
    SQLiteTransaction,
    Synchronous,
    close_before_fork,
    typed_errors,
)
from gatekeeper_core.storage.sqlite_schema import has_only_our_tables, migrate, schema_state
from gatekeeper_core.storage.tables import TableStore, counts
from gatekeeper_core.tokens import check_tokens


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
class SQLiteStore(TableStore):
    """A ``Store`` in a file.

    Every call is one transaction. A failed call raises a ``StorageError``, which names the file but none of its
    content; nothing is half-written, and the store stays usable.

    Each thread has its own connection, closed when the thread ends, at ``close()``, and before the process forks. A
    call may wait for another writer, so ``is_in_process`` is not set.

    Args:
        path: the file, with its write-ahead log next to it (``-wal``, ``-shm``); on a local disk, not a network share.
        synchronous: what an acknowledged write survives: "normal" a crash of the process, "full" also one of the
            operating system and a power loss, at the price of waiting for the disk at each write.
        busy_timeout_ms: how long a call waits for another writer before it fails, at least 0.
        create: whether to create a missing file.
        migrate: whether to upgrade an older file; otherwise it is refused.

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
        self._connections = Connections(
            os.path.abspath(name),
            synchronous=synchronous,
            busy_timeout_ms=min(busy_timeout_ms, 2**31 - 1),
            create=create,
            migrate=migrate,
        )
        self.place = self._connections.path

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._connections.path

    @property
    def found_schema_version(self) -> int:
        """Version of the tables when the file was opened, before any upgrade; 0 if it was new."""
        return self._connections.schema_version or 0

    def close(self) -> None:
        """Wait for running calls, then close the connections of all threads. Later calls are refused."""
        self._connections.close()

    def purge(self) -> bool:
        """Rewrite the file without deleted data, empty its log, and return whether that succeeded.

        An active reader or a full disk can prevent it: call it again. SQLite writes zeros over what it deletes, but not
        over what it has moved within a page, and the log keeps pages as they were until it is emptied.
        """
        with self._connections.bare() as connection:
            try:
                connection.execute("VACUUM")
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's words may quote a name that is damaged
                tell(PURGE_FAILED, error=type(error).__name__)
                return False
        return not busy

    def check(self) -> tuple[str, ...]:
        """Return the problems that SQLite finds in the file (``PRAGMA integrity_check``), in time linear in its size.

        Its pages and indexes, and whether the tables are those that this library made. SQLite keeps no checksum of a
        page: a byte that changed within a text is not found.
        """
        with self._connections.bare() as connection:
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
        size = 0
        for name in (self.path, f"{self.path}-wal"):
            with suppress(OSError):
                size += os.path.getsize(name)
        with self._connections.reading() as transaction:
            version = schema_state(transaction.connection).version
            return StoreInfo(path=self.path, schema_version=version, size_bytes=size, **counts(transaction))

    def _reading(self) -> AbstractContextManager[SQLiteTransaction]:
        return self._connections.reading()

    def _writing(self, *_: str | bytes, alone: bool = False) -> AbstractContextManager[SQLiteTransaction]:  # noqa: ARG002
        return self._connections.writing()  # there is one writer at a time


class InMemoryStore(TableStore):
    """A ``Store`` in a SQLite database in memory, with one connection and one lock for all threads.

    A forked process gets its own copy.

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

    def __init__(self) -> None:
        self._lock = RLock()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(self._connection)
        close_before_fork(self)

    def __del__(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()

    @contextmanager
    def _reading(self) -> Iterator[SQLiteTransaction]:
        with self._lock, typed_errors(self.place):
            yield SQLiteTransaction(self._connection)

    @contextmanager
    def _writing(self, *_: str | bytes, alone: bool = False) -> Iterator[SQLiteTransaction]:  # noqa: ARG002
        with self._reading() as transaction:
            # A savepoint, so that a signal handler may call in the middle of a call.
            self._connection.execute("SAVEPOINT call")
            try:
                yield transaction
            except BaseException:
                self._connection.execute("ROLLBACK TO call")
                raise
            finally:
                self._connection.execute("RELEASE call")

    def purge(self) -> bool:
        """Return True: deleted data is in no file."""
        return True

    def pause(self) -> None:
        """Block new calls."""
        self._lock.acquire()

    def resume(self) -> None:
        """Allow calls again."""
        self._lock.release()
