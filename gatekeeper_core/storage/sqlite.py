"""A whole store in one SQLite file, for any number of threads and processes of one machine.

::

    sqlite ── sqlite_connections     one for each thread, transactions, forks, errors
           ── sqlite_schema          tables, migrations
           ── sqlite_threads         messages and derived records
           ── sqlite_memories        memories, postings, vectors
           ── sqlite_blobs           bodies in pieces
           ── sqlite_forgetting      tombstones, what deleted rows leave behind
           ── sqlite_check           whether the file is whole
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Sequence
from types import TracebackType

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.events import STORE_CHECKED, STORE_FORGOT
from gatekeeper_core.messages import Message
from gatekeeper_core.observation import tell
from gatekeeper_core.storage import sqlite_forgetting, sqlite_memories, sqlite_threads
from gatekeeper_core.storage.appending import check_name, encoded, next_record, reading_range
from gatekeeper_core.storage.base import (
    BlobStore,
    DerivedRecord,
    Forgotten,
    MemoryRecord,
    MemoryScope,
    Store,
    TermCounts,
)
from gatekeeper_core.storage.codec import encode_text
from gatekeeper_core.storage.forgetting import named_target, sources_of_all
from gatekeeper_core.storage.sqlite_blobs import SQLiteThreadBlobs
from gatekeeper_core.storage.sqlite_check import StoreInfo, problems, store_info
from gatekeeper_core.storage.sqlite_connections import Connections, Synchronous
from gatekeeper_core.storage.stored_rows import ThreadKey, UserKey
from gatekeeper_core.tokens import check_tokens

__all__ = ["SQLiteStore"]


class SQLiteStore(Store):
    """A ``Store`` in a file.

    Every call is one transaction. A call that cannot be answered raises one of the ``StorageError`` family, which names
    the file and nothing that is in it; nothing is half-written then, and the store can be used as before.

    Each thread has a connection of its own, closed when the thread ends, at ``close()``, and before the process forks.
    A call may wait for another writer, so ``is_in_process`` is not true of this store.

    Args:
        path: the file. Beside it lie its write-ahead log and the index of that (``-wal``, ``-shm``): on one local disk,
            no network share.
        synchronous: what an acknowledged write survives. "normal": the end of the process, by whatever signal; "full":
            also that of the operating system and of the power, for one wait for the disk with each write.
        busy_timeout_ms: how long a call waits for another writer before it gives up, at least 0.
        create: whether to make the file where there is none.
        migrate: whether to bring an older file up to date; False: it is refused.

    Raises:
        TypeError: an argument has the wrong type.
        ConfigError: an argument is impossible.
        StorageError: the file cannot be used: no rights, another program's, a newer version's.
        CorruptionError: it is damaged.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with SQLiteStore(f"{folder.name}/store.db") as store:
    ...     store.append_messages("acme", "t1", [Message("user", "hello", id="m1")])
    0
    >>> with SQLiteStore(f"{folder.name}/store.db") as store:
    ...     [message.text for message in store.read_messages("acme", "t1")]
    ['hello']
    >>> folder.cleanup()
    """

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
            raise ConfigError("path must name a file; without one, use InMemoryStore")
        self._connections = Connections(
            os.path.abspath(name),
            synchronous=synchronous,
            busy_timeout_ms=min(busy_timeout_ms, 2**31 - 1),
            create=create,
            migrate=migrate,
        )

    def __enter__(self) -> SQLiteStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._connections.path

    @property
    def found_schema_version(self) -> int:
        """The version of the file's tables when it was opened, before it was brought up to date; 0: it was new."""
        return self._connections.found_version or 0

    def close(self) -> None:
        """Close the connections of all threads, when the calls that run are done. Any later call is refused."""
        self._connections.close()

    def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], /, *, expected_seq: int | None = None
    ) -> int:
        key = ThreadKey.of(tenant, thread)
        given = encoded(messages, expected_seq=expected_seq)
        with self._connections.writing() as connection:
            sqlite_forgetting.refuse_forgotten(connection, tenant, thread=thread)
            return sqlite_threads.append(connection, key, given, expected_seq=expected_seq)

    def read_messages(
        self, tenant: str, thread: str, /, *, from_seq: int = 0, limit: int | None = None, min_seq: int | None = None
    ) -> tuple[Message, ...]:
        key = ThreadKey.of(tenant, thread)
        with self._connections.reading() as connection:
            last = sqlite_threads.last_seq(connection, key)
            wanted = reading_range(from_seq=from_seq, limit=limit, min_seq=min_seq, last_seq=last)
            return sqlite_threads.read(connection, key, wanted)

    def last_seq(self, tenant: str, thread: str, /) -> int:
        key = ThreadKey.of(tenant, thread)
        with self._connections.reading() as connection:
            return sqlite_threads.last_seq(connection, key)

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        key, name = ThreadKey.of(tenant, thread), encode_text(check_name("kind", kind))
        with self._connections.reading() as connection:
            return sqlite_threads.load_record(connection, key, name)

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        key, name = ThreadKey.of(tenant, thread), encode_text(check_name("kind", kind))
        record = next_record(body, upto_seq=upto_seq, expected_version=expected_version)
        with self._connections.writing() as connection:
            sqlite_forgetting.refuse_forgotten(connection, tenant, thread=thread)
            sqlite_threads.save_record(connection, key, name, record, expected_version=expected_version)
        return record.version

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        key = UserKey.of(scope)
        sources = sources_of_all(records)
        with self._connections.writing() as connection:
            sqlite_forgetting.refuse_forgotten(connection, scope.tenant, user=scope.user, sources=sources)
            sqlite_memories.put(connection, key, records)

    def get_memory(self, scope: MemoryScope, memory_id: str, /) -> MemoryRecord | None:
        key = UserKey.of(scope)
        with self._connections.reading() as connection:
            return sqlite_memories.get(connection, key, memory_id)

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> int:
        """Delete memories as every ``MemoryStore`` does, and overwrite their bytes in the file with zeros.

        Only ``forget`` clears what the log still holds.
        """
        key = UserKey.of(scope)
        with self._connections.writing() as connection:
            if memory_ids is None:
                return sqlite_memories.delete_all(connection, key)
            return sum([sqlite_memories.delete(connection, key, memory_id) for memory_id in memory_ids])

    def find_memories(
        self,
        scope: MemoryScope,
        *,
        terms: Sequence[str] = (),
        vector: array[float] | None = None,
        key: str | None = None,
        categories: Collection[str] = (),
        limit: int,
    ) -> tuple[MemoryRecord, ...]:
        """Return current memories as every ``MemoryStore`` does.

        A vector is compared with those of the newest 10,000 memories that the key and the categories allow.
        """
        user = UserKey.of(scope)
        with self._connections.reading() as connection:
            return sqlite_memories.find(
                connection, user, terms=terms, vector=vector, memory_key=key, categories=categories, limit=limit
            )

    def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> TermCounts:
        key = UserKey.of(scope)
        with self._connections.reading() as connection:
            return sqlite_memories.count(connection, key, terms)

    def blobs_of(self, tenant: str, thread: str, /) -> BlobStore:
        ThreadKey.of(tenant, thread)
        return SQLiteThreadBlobs(self._connections, tenant, thread)

    def forget(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Forgotten:
        """Delete for good what belongs to a thread, a user or the tenant, as every ``Store`` does.

        The file is written anew, so that its bytes hold nothing of what was deleted: that takes time and, for a moment,
        room as the file does. Where a reader in the way or a full disk keeps it from that, ``is_purged`` is False; the
        rows are gone, and ``purge`` does the rest.
        """
        target = named_target(tenant, thread=thread, user=user, source=source)
        with self._connections.writing() as connection:
            forgotten = sqlite_forgetting.forget(connection, target)
        forgotten = forgotten._replace(is_purged=self.purge())
        tell(STORE_FORGOT, backend="sqlite", what=target.kind, **forgotten._asdict())
        return forgotten

    def purge(self) -> bool:
        """Write the file anew without what was deleted, and return whether that could be done."""
        with self._connections.bare() as connection:
            return sqlite_forgetting.purge(connection)

    def begin_anew(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> bool:
        target = named_target(tenant, thread=thread, user=user, source=source)
        with self._connections.writing() as connection:
            return sqlite_forgetting.begin_anew(connection, target)

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the file, in words that hold nothing of its content; nothing: it is whole.

        SQLite's own check of all pages, every row against its checksum, and what the tables say of each other. Linear
        in the file.

        Raises:
            StorageError: the file cannot be opened any more.
        """
        with self._connections.reading() as connection:
            found = tuple(problems(connection, self._connections.migrations))
        tell(STORE_CHECKED, backend="sqlite", problems=len(found), level="WARNING" if found else "INFO")
        return found

    def info(self) -> StoreInfo:
        """Return how much lies in the store; linear in its rows."""
        with self._connections.reading() as connection:
            return store_info(connection, self.path)
