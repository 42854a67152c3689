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
from gatekeeper_core.storage.appending import check_name, encoded, reading_range
from gatekeeper_core.storage.base import (
    BlobStore,
    DerivedRecord,
    Forgotten,
    MemoryRecord,
    MemoryScope,
    TermCounts,
)
from gatekeeper_core.storage.codec import encode_text
from gatekeeper_core.storage.forgetting import TENANT, named_target, sources_of
from gatekeeper_core.storage.sqlite_blobs import SQLiteThreadBlobs
from gatekeeper_core.storage.sqlite_check import StoreInfo, problems, store_info
from gatekeeper_core.storage.sqlite_connections import Connections, Synchronous
from gatekeeper_core.storage.stored_rows import ThreadKey, UserKey
from gatekeeper_core.tokens import check_tokens

__all__ = ["SQLiteStore"]


class SQLiteStore:
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

    __slots__ = ("_connections",)

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
        self._connections = Connections(
            _whole_path(path),
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
        """Store messages at the end of a thread; see ``MessageStore``."""
        key = _thread_key(tenant, thread)
        given = encoded(messages, expected_seq=expected_seq)
        with self._connections.writing() as connection:
            sqlite_forgetting.refuse_forgotten(connection, tenant, thread=thread)
            return sqlite_threads.append(connection, key, given, expected_seq=expected_seq)

    def read_messages(
        self, tenant: str, thread: str, /, *, from_seq: int = 0, limit: int | None = None, min_seq: int | None = None
    ) -> tuple[Message, ...]:
        """Return the messages of a thread from a sequence number on; see ``MessageStore``."""
        key = _thread_key(tenant, thread)
        with self._connections.reading() as connection:
            last = sqlite_threads.last_seq(connection, key)
            wanted = reading_range(from_seq=from_seq, limit=limit, min_seq=min_seq, last_seq=last)
            return sqlite_threads.read(connection, key, wanted)

    def last_seq(self, tenant: str, thread: str, /) -> int:
        """Return the sequence number of a thread's newest message, -1 for none; see ``MessageStore``."""
        key = _thread_key(tenant, thread)
        with self._connections.reading() as connection:
            return sqlite_threads.last_seq(connection, key)

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        """Return the newest record of a kind, or None; see ``RecordStore``."""
        key, name = _thread_key(tenant, thread), encode_text(check_name("kind", kind))
        with self._connections.reading() as connection:
            return sqlite_threads.load_record(connection, key, name)

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        """Save a record in the place of the version that it was made from; see ``RecordStore``.

        Raises:
            TypeError: the body is no text.
            ConflictError: another version is stored by now.
            ForgottenError: the thread was forgotten.
        """
        key, name = _thread_key(tenant, thread), encode_text(check_name("kind", kind))
        if not isinstance(body, str):
            raise TypeError(f"body must be a str, got {type(body).__name__}")
        check_tokens("upto_seq", upto_seq, at_least=-1)
        record = DerivedRecord(body, upto_seq, expected_version + 1)
        with self._connections.writing() as connection:
            sqlite_forgetting.refuse_forgotten(connection, tenant, thread=thread)
            sqlite_threads.save_record(connection, key, name, record, expected_version=expected_version)
        return record.version

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        """Store memories, all or none; see ``MemoryStore``.

        Raises:
            TypeError: one is no ``MemoryRecord``.
            ConflictError: one is stored in another version by now.
            ForgottenError: the user, or a thread that a text comes from, was forgotten.
        """
        key = _user_key(scope)
        for record in records:
            if not isinstance(record, MemoryRecord):
                raise TypeError(f"records must be MemoryRecord, got {type(record).__name__}")
        sources = {source for record in records for source in sources_of(record)}
        with self._connections.writing() as connection:
            sqlite_forgetting.refuse_forgotten(connection, scope.tenant, user=scope.user, sources=sources)
            sqlite_memories.put(connection, key, records)

    def get_memory(self, scope: MemoryScope, memory_id: str, /) -> MemoryRecord | None:
        """Return the memory of an id, or None; see ``MemoryStore``."""
        key = _user_key(scope)
        with self._connections.reading() as connection:
            return sqlite_memories.get(connection, key, memory_id)

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> int:
        """Delete memories or all of the scope; see ``MemoryStore``.

        Their bytes are overwritten with zeros in the file; only ``forget`` clears what its log still holds.
        """
        key = _user_key(scope)
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
        """Return current memories by term, by nearness, or the newest put; see ``MemoryStore``.

        A vector is compared with those of the newest 10,000 memories that the key and the categories allow.
        """
        user = _user_key(scope)
        with self._connections.reading() as connection:
            return sqlite_memories.find(
                connection, user, terms=terms, vector=vector, memory_key=key, categories=categories, limit=limit
            )

    def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> TermCounts:
        """Return how many current memories there are, and how many hold each term; see ``MemoryStore``."""
        key = _user_key(scope)
        with self._connections.reading() as connection:
            return sqlite_memories.count(connection, key, terms)

    def blobs_of(self, tenant: str, thread: str, /) -> BlobStore:
        """Return the blobs of one thread as a store of their own; see ``Store``."""
        _thread_key(tenant, thread)
        return SQLiteThreadBlobs(self._connections, tenant, thread)

    def forget(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Forgotten:
        """Delete for good what belongs to a thread, a user or the tenant; see ``Store``.

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
        """Take a tombstone away; see ``Store``."""
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


def _whole_path(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"path must be a str or a path, got {type(path).__name__}")
    if not name or name == ":memory:" or name.startswith("file:") or "\0" in name:
        raise ConfigError("path must name a file; without one, use InMemoryStore")
    return os.path.abspath(name)


def _thread_key(tenant: str, thread: str) -> ThreadKey:
    return ThreadKey.of(check_name(TENANT, tenant), check_name("thread", thread))


def _user_key(scope: MemoryScope) -> UserKey:
    check_name(TENANT, scope.tenant)
    check_name("user", scope.user)
    return UserKey.of(scope)
