"""A store over the tables of a SQL database, whichever database it is.

::

    TableStore ── SQLiteStore, InMemoryStore    sqlite, in_memory
               ── PostgresStore                 the package gatekeeper_postgres

    messages                         tenant, thread, seq
    records                          tenant, thread, kind
    memories ── memory_terms         tenant, user, term, serial   of current memories; a later put, a higher serial
             ── memory_sources       tenant, source, user, id     which threads a memory's texts come from
    blobs ── blob_chunks             tenant, thread, scope, id    in pieces: a range reads only its own
    tombstones                       tenant, stone                hashes, no names

Every table and index begins with the tenant. Names and texts are bytes, because a database's text type holds no lone
surrogates and not always NUL. Each method is one transaction. A write locks the tenant and what it changes if the
database allows more than one writer at a time.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from heapq import nlargest
from typing import Any, NamedTuple, TypeVar

from gatekeeper_core.errors import (
    ConfigError,
    ConflictError,
    CorruptionError,
    ForgottenError,
    StaleReadError,
    check_str,
    check_type,
)
from gatekeeper_core.events import STORE_FORGOT
from gatekeeper_core.messages import Message, checked_messages
from gatekeeper_core.observation import tell
from gatekeeper_core.records import UNREADABLE
from gatekeeper_core.storage import codec
from gatekeeper_core.storage.base import (
    BlobRecord,
    BlobStore,
    DerivedRecord,
    Forgotten,
    MemoryRecord,
    MemoryScope,
    Store,
    TermCounts,
)
from gatekeeper_core.tokens import check_tokens
from gatekeeper_core.vectors import cosine

S = TypeVar("S", bound="TableStore")
V = TypeVar("V")

CHUNK_BYTES = 32_768
"""Size of one piece of a blob. Source: ours; eight pages of a SQLite file, read in 20 µs."""

MAX_COMPARED_VECTORS = 10_000
"""Vectors that one search compares without a vector index: the newest. Source: ours; 0.6 s with 384 dimensions."""

MEMORY_COLUMNS = "tenant, user_id, id, serial, is_current, key, category, body, terms, vector, vector_of"

_AT_ONCE = 500  # names per statement. Source: SQLite took 999 values in a statement, and 500 parts, before 3.32

_TERMS_AT_ONCE = 50
_LARGEST = 2**62
_TENANT = "tenant"
_OF_THREAD = ("messages", "records", "blob_chunks", "blobs")
_OF_USER = ("memory_terms", "memory_sources", "memories")
_MEMORIES = "FROM memories AS m WHERE m.tenant = ? AND m.user_id = ?"
_REPLACE_RECORD = (
    "ON CONFLICT (tenant, thread, kind) DO UPDATE "
    "SET body = excluded.body, upto_seq = excluded.upto_seq, version = excluded.version"
)


class Transaction:
    """A transaction on a sqlite3 connection; each ``?`` in a statement is a placeholder."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def rows(self, sql: str, /, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Run a statement, and return its rows."""
        rows: list[tuple[Any, ...]] = self.connection.execute(sql, values).fetchall()
        return rows

    def execute(self, sql: str, /, *values: Any) -> int:
        """Run a statement, and return how many rows it changed."""
        return int(self.connection.execute(sql, values).rowcount)

    def many(self, sql: str, rows: Iterable[tuple[Any, ...]], /) -> None:
        """Run a statement for each row of values."""
        self.connection.executemany(sql, rows)

    def rows_of(self, names: Sequence[bytes], sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query for many names, in batches; their placeholders replace ``{}`` in the query."""
        rows: list[tuple[Any, ...]] = []
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            rows += self.rows(sql.format(", ".join("?" * len(some))), *values, *some)
        return rows

    def insert(self, table: str, columns: str, rows: Sequence[tuple[Any, ...]], otherwise: str = "") -> None:
        """Insert rows; ``otherwise`` is the clause for conflicts with existing ones."""
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self.many(f"INSERT INTO {table} ({columns}) VALUES ({marks}) {otherwise}", rows)  # noqa: S608

    def delete(self, tables: Iterable[str], where: str, *values: Any) -> dict[str, int]:
        """Delete rows of tables, and return their number in each."""
        return {table: self.execute(f"DELETE FROM {table} WHERE {where}", *values) for table in tables}  # noqa: S608


class MemoryFilter(NamedTuple):
    """A filter for a memory search: a condition on ``memories AS m``, and its values."""

    sql: str
    values: tuple[Any, ...]


class StoredMemory(NamedTuple):
    """The columns read from one row of ``memories``; ``serial`` grows with each put in the scope."""

    id: bytes
    serial: int
    is_current: int
    body: bytes
    terms: bytes
    vector: bytes | None
    vector_of: bytes


class TableStore(Store):
    """A ``Store`` over a database; a subclass provides its transactions, and the form of names in indexes.

    Attributes:
        backend: name of the store in events.
        place: names the database in errors, but none of its content.
    """

    backend: str
    place: str

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what the store holds open. Later calls are refused."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that reads one state of the tables."""

    @abstractmethod
    def _writing(self, tenant: str, *key: bytes, alone: bool = False) -> AbstractContextManager[Transaction]:
        """Begin a transaction that writes all or nothing.

        Args:
            tenant: owner of the rows; its writers share the lock on it.
            key: what changes; only one transaction per key runs at a time. Empty: only the tenant is locked.
            alone: whether to lock out all other writers of the tenant.
        """

    @staticmethod
    def _key(name: str) -> bytes:
        return codec.encode_text(name)  # the form of a name in an index

    def append_messages(
        self, tenant: str, thread: str, messages: Sequence[Message], /, *, expected_seq: int | None = None
    ) -> int:
        key = self._thread(tenant, thread)
        if expected_seq is not None:
            check_tokens("expected_seq", expected_seq, at_least=-1)
        messages = checked_messages(messages)
        appended = [
            (self._key(message.id) if message.id else None, codec.encode_message(message)) for message in messages
        ]
        query = "SELECT message_id, seq, body FROM messages WHERE tenant = ? AND thread = ? AND message_id IN ({})"
        with self._saving(tenant, b"thread", *key, thread=thread) as transaction:
            last = seq = _last_seq(transaction, key)
            ids = list(dict.fromkeys(message_id for message_id, _ in appended if message_id))
            rows = transaction.rows_of(ids, query, *key)
            stored: dict[bytes | None, tuple[int, bytes]] = {name: (number, body) for name, number, body in rows}
            if stored and len([message_id for message_id, _ in appended if message_id]) < len(appended):
                # Without an id to recognise each one, they must be adjacent.
                start = next(stored[name][0] - at for at, (name, _) in enumerate(appended) if name in stored)
                stop = start + len(appended)
                if start < 0 or _bodies(transaction, key, range(start, stop)) != [body for _, body in appended]:
                    raise _other_content()
                return stop - 1
            new: list[tuple[Any, ...]] = []
            for name, body in appended:
                if name not in stored:
                    seq = last + len(new) + 1
                    new.append((*key, seq, name, body))
                    if name:
                        stored[name] = seq, body
                elif stored[name][1] == body:
                    seq = stored[name][0]
                else:
                    raise _other_content()
            if expected_seq not in (None, last) and (new or not appended):
                reason = f"the thread ends with message {last}, not {expected_seq}"
                reason += ": read what another writer added, then retry"
                raise ConflictError("thread", expected_version=expected_seq or 0, stored_version=last, reason=reason)
            transaction.insert("messages", "tenant, thread, seq, message_id, body", new)
        return seq

    def read_messages(
        self, tenant: str, thread: str, /, *, from_seq: int = 0, limit: int | None = None, min_seq: int | None = None
    ) -> tuple[Message, ...]:
        key = self._thread(tenant, thread)
        for name, value in (("from_seq", from_seq), ("limit", limit), ("min_seq", min_seq)):
            if value is not None:
                check_tokens(name, value)
        with self._reading() as transaction:
            last = _last_seq(transaction, key)
            if min_seq is not None and last < min_seq:
                raise StaleReadError(min_seq=min_seq, last_seq=last)
            seqs = range(from_seq, last + 1 if limit is None else min(last + 1, from_seq + limit))
            bodies = _bodies(transaction, key, seqs) if seqs else []
        return tuple([self._decoded(codec.decode_message, body) for body in bodies])

    def last_seq(self, tenant: str, thread: str, /) -> int:
        key = self._thread(tenant, thread)
        with self._reading() as transaction:
            return _last_seq(transaction, key)

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        key = (*self._thread(tenant, thread), self._key(_checked_name("kind", kind)))
        with self._reading() as transaction:
            row = _record(transaction, key)
        return DerivedRecord(self._decoded(codec.decode_text, row[0]), row[1], row[2]) if row else None

    def save_record(
        self, tenant: str, thread: str, kind: str, body: str, /, *, upto_seq: int, expected_version: int
    ) -> int:
        key = (*self._thread(tenant, thread), self._key(_checked_name("kind", kind)))
        check_str("body", body)
        check_tokens("upto_seq", upto_seq, at_least=-1)
        with self._saving(tenant, b"record", *key, thread=thread) as transaction:
            row = _record(transaction, key)
            version = int(row[2]) if row else 0
            if version != expected_version:
                raise ConflictError(kind, expected_version=expected_version, stored_version=version)
            new = (*key, codec.encode_text(body), upto_seq, version + 1)
            transaction.insert("records", "tenant, thread, kind, body, upto_seq, version", [new], _REPLACE_RECORD)
        return version + 1

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        key = self._user(scope)
        sources = check_records(records)
        with self._saving(scope.tenant, b"user", *key, user=scope.user, sources=sources) as transaction:
            stored = self._memories(transaction, key, [record.memory.id for record in records])
            versions = {name: self._record_of(row).memory.version for name, row in stored.items()}
            newest: dict[bytes, MemoryRecord] = {}
            for record in records:  # of a repeated id, the last one is stored, at its position
                name, memory = self._key(record.memory.id), record.memory
                if memory.version != (version := versions.get(name, 0)) + 1:
                    raise ConflictError("memory", expected_version=memory.version - 1, stored_version=version)
                versions[name] = memory.version
                newest.pop(name, None)
                newest[name] = record
            self._delete_memories(transaction, key, list(newest))
            ((last,),) = transaction.rows(f"SELECT max(m.serial) {_MEMORIES} AND m.is_current = 1", *key)
            self._insert_memories(transaction, key, enumerate(newest.values(), (last or 0) + 1))

    def get_memory(self, scope: MemoryScope, memory_id: str, /) -> MemoryRecord | None:
        key = self._user(scope)
        with self._reading() as transaction:
            rows = self._memories(transaction, key, [memory_id])
        return next(map(self._record_of, rows.values()), None)

    def delete_memories(self, scope: MemoryScope, memory_ids: Collection[str] | None = None, /) -> int:
        """Delete memories as every ``MemoryStore`` does; only ``forget`` also erases their bytes from the file."""
        key = self._user(scope)
        with self._writing(scope.tenant, b"user", *key) as transaction:
            if memory_ids is None:
                return transaction.delete(_OF_USER, "tenant = ? AND user_id = ?", *key)["memories"]
            return self._delete_memories(transaction, key, list(dict.fromkeys(map(self._key, memory_ids))))

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
        """Return current memories. Without an index, a vector is compared with the newest 10,000 the filter allows."""
        user, limit = self._user(scope), min(limit, _LARGEST)
        where = MemoryFilter("", ()) if key is None else MemoryFilter(" AND m.key = ?", (self._key(key),))
        if categories:
            condition = f"{where.sql} AND m.category IN ({', '.join('?' * len(categories))})"
            where = MemoryFilter(condition, (*where.values, *map(codec.encode_text, categories)))
        with self._reading() as transaction:
            rows: list[StoredMemory] = []
            if terms:
                rows += self._holding(transaction, user, terms, where, limit)
            elif vector is None:
                columns = ", ".join(StoredMemory._fields)
                query = f"SELECT {columns} {_MEMORIES} AND m.is_current = 1{where.sql} ORDER BY m.serial DESC LIMIT ?"
                rows += [StoredMemory(*row) for row in transaction.rows(query, *user, *where.values, limit)]
            if vector is not None:
                near = self._nearest(transaction, user, vector, where, limit)
                rows += sorted(near, key=lambda row: -cosine(codec.decode_vector(row.vector or b""), vector))[:limit]
        return tuple(map(self._record_of, {row.id: row for row in rows}.values()))

    def count_memories(self, scope: MemoryScope, terms: Collection[str], /) -> TermCounts:
        key = self._user(scope)
        names = {self._key(term): term for term in terms}
        query = (
            "SELECT term, count(*) FROM memory_terms WHERE tenant = ? AND user_id = ? AND term IN ({}) GROUP BY term"
        )
        with self._reading() as transaction:
            counts = transaction.rows_of([*names], query, *key)
            # The condition on the serial makes SQLite count in the index, not in the table with its texts.
            ((memories,),) = transaction.rows(
                f"SELECT count(*) {_MEMORIES} AND m.is_current = 1 AND m.serial > 0", *key
            )
        return TermCounts(memories, {names[name]: count for name, count in counts})

    def blobs_of(self, tenant: str, thread: str, /) -> BlobStore:
        self._thread(tenant, thread)
        return _ThreadBlobs(self, tenant, thread)

    def forget(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> Forgotten:
        kind, name = _target(tenant, thread=thread, user=user, source=source)
        key = self._key(tenant), self._key(name)
        gone: dict[str, int] = {}
        with self._writing(tenant, alone=True) as transaction:
            transaction.insert("tombstones", "tenant, stone", _tombstones(tenant, kind, name), "ON CONFLICT DO NOTHING")
            if kind == _TENANT:
                gone = transaction.delete((*_OF_THREAD, *_OF_USER), "tenant = ?", key[0])
            elif kind == "user":
                gone = transaction.delete(_OF_USER, "tenant = ? AND user_id = ?", *key)
            else:
                if kind == "thread":
                    gone = transaction.delete(_OF_THREAD, "tenant = ? AND thread = ?", *key)
                gone["memories"] = self._forget_source(transaction, key[0], name)
        deleted = {table: gone.get(table, 0) for table in ("messages", "records", "memories", "blobs")}
        forgotten = Forgotten(**deleted, is_purged=self.purge())
        tell(STORE_FORGOT, backend=self.backend, what=kind, **forgotten._asdict())
        return forgotten

    @abstractmethod
    def purge(self) -> bool:
        """Erase the bytes of deleted data from the storage, and return whether that succeeded."""

    def begin_anew(
        self, tenant: str, /, *, thread: str | None = None, user: str | None = None, source: str | None = None
    ) -> bool:
        stones = _tombstones(tenant, *_target(tenant, thread=thread, user=user, source=source))
        query = "DELETE FROM tombstones WHERE tenant = ? AND stone = ?"
        with self._writing(tenant, alone=True) as transaction:
            return sum([transaction.execute(query, *stone) for stone in stones]) > 0

    @contextmanager
    def _saving(
        self, tenant: str, *key: bytes, thread: str | None = None, user: str | None = None, sources: Iterable[str] = ()
    ) -> Iterator[Transaction]:
        """Begin a transaction that saves something; raise ``ForgottenError`` if it belongs to what was forgotten."""
        named = [(_TENANT, ""), ("thread", thread), ("user", user), *(("source", source) for source in sources)]
        stones = {_tombstone(tenant, kind, name): kind for kind, name in named if name is not None}
        query = "SELECT stone FROM tombstones WHERE tenant = ? AND stone IN ({})"
        with self._writing(tenant, *key) as transaction:
            for (stone,) in transaction.rows_of([*stones], query, _tombstone(tenant, _TENANT)):
                raise ForgottenError(stones[stone])
            yield transaction

    def _thread(self, tenant: str, thread: str) -> tuple[bytes, bytes]:
        return self._key(_checked_name(_TENANT, tenant)), self._key(_checked_name("thread", thread))

    def _user(self, scope: MemoryScope) -> tuple[bytes, bytes]:
        return self._key(_checked_name(_TENANT, scope.tenant)), self._key(_checked_name("user", scope.user))

    def _decoded(self, decode: Callable[[bytes], V], data: bytes) -> V:
        try:
            return decode(data)
        except UNREADABLE as error:
            raise CorruptionError(f"{self.place}: a stored row cannot be read; restore it from a backup") from error

    def _record_of(self, row: StoredMemory) -> MemoryRecord:
        memory, terms = self._decoded(codec.decode_memory, row.body), self._decoded(codec.decode_terms, row.terms)
        vector = None if row.vector is None else self._decoded(codec.decode_vector, row.vector)
        return MemoryRecord(memory, terms, vector, self._decoded(codec.decode_text, row.vector_of))

    def _memories(
        self, transaction: Transaction, key: tuple[bytes, bytes], names: Iterable[str | bytes]
    ) -> dict[bytes, StoredMemory]:
        """Return the stored memories with these ids or keys of ids, in that order."""
        keys = [name if isinstance(name, bytes) else self._key(name) for name in names]
        query = f"SELECT {', '.join(StoredMemory._fields)} {_MEMORIES} AND m.id IN ({{}})"
        rows = {row[0]: StoredMemory(*row) for row in transaction.rows_of(keys, query, *key)}
        return {name: rows[name] for name in keys if name in rows}

    def _holding(
        self, transaction: Transaction, key: tuple[bytes, bytes], terms: Sequence[str], where: MemoryFilter, limit: int
    ) -> list[StoredMemory]:
        """Return the current memories with any of the terms, by the first of their terms, newest first."""
        joined = (
            "JOIN memories AS m ON m.tenant = t.tenant AND m.user_id = t.user_id AND m.id = t.id" if where.sql else ""
        )
        names = list(dict.fromkeys(map(self._key, terms)))
        first: dict[bytes, None] = {}
        for start in range(0, len(names), _TERMS_AT_ONCE):
            parts, values = [], list[Any]()
            for place, name in enumerate(names[start : start + _TERMS_AT_ONCE]):
                parts.append(
                    f"SELECT * FROM (SELECT t.id, {place} AS place, t.serial FROM memory_terms AS t {joined} "  # noqa: S608
                    f"WHERE t.tenant = ? AND t.user_id = ? AND t.term = ?{where.sql} ORDER BY t.serial DESC LIMIT ?"
                    f") AS part_{place}"
                )
                values += [*key, name, *where.values, limit]
            rows = transaction.rows(" UNION ALL ".join(parts) + " ORDER BY place, serial DESC", *values)
            first.update(dict.fromkeys(row[0] for row in rows))
            if len(first) >= limit:
                break
        return list(self._memories(transaction, key, list(first)[:limit]).values())

    def _nearest(
        self, transaction: Transaction, key: tuple[bytes, bytes], vector: array[float], where: MemoryFilter, limit: int
    ) -> Iterable[StoredMemory]:
        """Return the current memories nearest to a vector, in any order, perhaps with some others."""
        size = len(codec.encode_vector(vector))
        query = f"SELECT m.id, m.vector {_MEMORIES} AND m.is_current = 1 AND length(m.vector) = ?{where.sql} "
        query += "ORDER BY m.serial DESC LIMIT ?"
        rows = transaction.rows(query, *key, size, *where.values, MAX_COMPARED_VECTORS)
        best = nlargest(limit, rows, key=lambda row: cosine(codec.decode_vector(row[1]), vector))
        return self._memories(transaction, key, [row[0] for row in best]).values()

    def _insert_memories(
        self, transaction: Transaction, key: tuple[bytes, bytes], records: Iterable[tuple[int, MemoryRecord]]
    ) -> None:
        rows, terms, sources = [], [], []
        for serial, record in records:
            memory, name = record.memory, self._key(record.memory.id)
            is_current = memory.superseded_by is None
            about = (None if memory.key is None else self._key(memory.key), codec.encode_text(memory.category))
            vector = None if record.vector is None else codec.encode_vector(record.vector)
            body = (
                codec.encode_memory(memory),
                codec.encode_terms(record.terms),
                vector,
                codec.encode_text(record.vector_of),
            )
            rows.append((*key, name, serial, int(is_current), *about, *body))
            if is_current:
                terms += [(*key, self._key(term), serial, name) for term in dict.fromkeys(record.terms)]
            sources += [(key[0], self._key(source), key[1], name) for source in _sources_of(record)]
        self._insert_rows(transaction, rows)
        transaction.insert("memory_terms", "tenant, user_id, term, serial, id", terms)
        transaction.insert("memory_sources", "tenant, source, user_id, id", sources)

    def _insert_rows(self, transaction: Transaction, rows: Sequence[tuple[Any, ...]]) -> None:
        """Store rows of ``memories``, in the order of ``MEMORY_COLUMNS``."""
        transaction.insert("memories", MEMORY_COLUMNS, rows)

    def _delete_memories(self, transaction: Transaction, key: tuple[bytes, bytes], names: Sequence[bytes]) -> int:
        gone = 0
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            where = f"tenant = ? AND user_id = ? AND id IN ({', '.join('?' * len(some))})"
            gone += transaction.delete(_OF_USER, where, *key, *some)["memories"]
        return gone

    def _forget_source(self, transaction: Transaction, tenant: bytes, source: str) -> int:
        """Delete what a tenant's memories hold from a thread, and return how many were deleted or changed."""
        query = "SELECT user_id, id FROM memory_sources WHERE tenant = ? AND source = ?"
        rows = transaction.rows(query, tenant, self._key(source))
        for user, name in rows:
            key, rest = (tenant, user), list[tuple[int, MemoryRecord]]()
            for row in self._memories(transaction, key, [name]).values():
                try:
                    record = self._record_of(row)
                except CorruptionError:
                    continue  # what cannot be read is deleted
                memory = record.memory
                if memory.thread != source:
                    earlier = tuple(text for text in memory.earlier if text.thread != source)
                    memory = memory._replace(earlier=earlier, version=memory.version + 1)
                    rest.append((row.serial, record._replace(memory=memory)))  # as old as it was
            self._delete_memories(transaction, key, [name])
            self._insert_memories(transaction, key, rest)
        return len(rows)


class _ThreadBlobs(BlobStore):
    def __init__(self, store: TableStore, tenant: str, thread: str) -> None:
        self._store = store
        self._tenant, self._thread = tenant, thread

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        check_type("data", data, bytes)
        key, name = self._key(scope), self._store._key(blob_id)
        chunks = [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)]
        with self._store._saving(self._tenant, b"scope", *key, thread=self._thread) as transaction:
            transaction.delete(("blob_chunks", "blobs"), f"{_OF_SCOPE} AND id = ?", *key, name)
            ((last,),) = transaction.rows(f"SELECT max(serial) FROM blobs WHERE {_OF_SCOPE}", *key)  # noqa: S608
            row = (*key, name, codec.encode_text(blob_id), (last or 0) + 1, len(data))
            transaction.insert("blobs", "tenant, thread, scope, id, name, serial, size", [row])
            rows = [(*key, name, number, chunk) for number, chunk in enumerate(chunks)]
            transaction.insert("blob_chunks", "tenant, thread, scope, id, number, data", rows)

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        key = (*self._key(scope), self._store._key(blob_id))
        with self._store._reading() as transaction:
            rows = transaction.rows(f"SELECT size FROM blobs WHERE {_OF_SCOPE} AND id = ?", *key)  # noqa: S608
            if not rows:
                raise KeyError(blob_id)
            size = int(rows[0][0])
            start, end = max(0, start), size if end is None else min(max(0, end), size)
            if start >= end:
                return b""
            first = start // CHUNK_BYTES
            query = f"SELECT data FROM blob_chunks WHERE {_OF_SCOPE} AND id = ? AND number >= ? AND number <= ?"  # noqa: S608
            chunks = transaction.rows(f"{query} ORDER BY number", *key, first, (end - 1) // CHUNK_BYTES)
        data = b"".join([chunk for (chunk,) in chunks])[start - first * CHUNK_BYTES : end - first * CHUNK_BYTES]
        if len(data) != end - start:
            raise CorruptionError(f"{self._store.place}: a stored blob is incomplete; restore it from a backup")
        return data

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        key, where = self._key(scope), _OF_SCOPE
        if blob_id is not None:
            key, where = (*key, self._store._key(blob_id)), f"{_OF_SCOPE} AND id = ?"
        with self._store._writing(self._tenant, b"scope", *key[:3]) as transaction:
            transaction.delete(("blob_chunks", "blobs"), where, *key)

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        key = self._key(scope)
        with self._store._reading() as transaction:
            rows = transaction.rows(f"SELECT name, size FROM blobs WHERE {_OF_SCOPE} ORDER BY serial", *key)  # noqa: S608
        return tuple([BlobRecord(self._store._decoded(codec.decode_text, name), size) for name, size in rows])

    def _key(self, scope: str) -> tuple[bytes, ...]:
        return tuple(map(self._store._key, (self._tenant, self._thread, scope)))


_OF_SCOPE = "tenant = ? AND thread = ? AND scope = ?"


def _last_seq(transaction: Transaction, key: tuple[bytes, bytes]) -> int:
    ((last,),) = transaction.rows("SELECT max(seq) FROM messages WHERE tenant = ? AND thread = ?", *key)
    return -1 if last is None else int(last)


def _bodies(transaction: Transaction, key: tuple[bytes, bytes], seqs: range) -> list[bytes]:
    query = "SELECT body FROM messages WHERE tenant = ? AND thread = ? AND seq >= ? AND seq < ? ORDER BY seq"
    return [body for (body,) in transaction.rows(query, *key, seqs.start, seqs.stop)]


def _record(transaction: Transaction, key: tuple[bytes, ...]) -> tuple[Any, ...] | None:
    query = "SELECT body, upto_seq, version FROM records WHERE tenant = ? AND thread = ? AND kind = ?"
    return next(iter(transaction.rows(query, *key)), None)


def counts(transaction: Transaction) -> dict[str, int]:
    """Return the number of threads with messages, and of the rows in each table of data."""
    tables = {"threads": "(SELECT DISTINCT tenant, thread FROM messages) AS threads"}
    tables |= {table: table for table in ("messages", "records", "memories", "blobs", "tombstones")}
    return {name: transaction.rows(f"SELECT count(*) FROM {table}")[0][0] for name, table in tables.items()}  # noqa: S608


def _other_content() -> ConflictError:
    reason = (
        "the thread holds a message under an id that was given again with other content or other neighbours: give "
        "each message an id of its own"
    )
    return ConflictError("message", expected_version=0, stored_version=1, reason=reason)


def _checked_name(what: str, name: object) -> str:
    text = check_str(what, name)
    if not text:
        raise ConfigError(f"{what} must not be empty")
    return text


# --- forgetting -----------------------------------------------------------------------------------------------------


def _target(tenant: str, *, thread: str | None, user: str | None, source: str | None) -> tuple[str, str]:
    """Return the kind and name of what to forget: a thread, a user, a source, or the tenant with ""."""
    _checked_name(_TENANT, tenant)
    options = (("thread", thread), ("user", user), ("source", source))
    named = [(kind, name) for kind, name in options if name is not None]
    if len(named) > 1:
        raise ConfigError("name only one of thread, user and source, or none of them for the whole tenant")
    for kind, name in named:
        return kind, _checked_name(kind, name)
    return _TENANT, ""


def _tombstones(tenant: str, kind: str, name: str) -> list[tuple[bytes, bytes]]:
    """Return the rows of ``tombstones`` for a target; a thread is also a source."""
    kinds = ("thread", "source") if kind == "thread" else (kind,)
    return [(_tombstone(tenant, _TENANT), _tombstone(tenant, each, name)) for each in kinds]


def _tombstone(tenant: str, kind: str, name: str = "") -> bytes:
    """Return a 16-byte tombstone without the name. Source: BLAKE2b, 128 bits, over the names with their lengths."""
    from hashlib import blake2b  # imported here: a tenth of the library's import time

    parts = map(codec.encode_text, (tenant, kind, name))
    return blake2b(b"".join([b"%d:%b" % (len(part), part) for part in parts]), digest_size=16).digest()


def _sources_of(record: MemoryRecord) -> tuple[str, ...]:
    """Return the threads that a memory's current and earlier texts come from, each once."""
    memory = record.memory
    threads = (memory.thread, *(earlier.thread for earlier in memory.earlier))
    return tuple(dict.fromkeys(thread for thread in threads if thread))


def check_records(records: Iterable[MemoryRecord]) -> set[str]:
    """Return the threads that the texts of memories come from; TypeError if one is not a ``MemoryRecord``."""
    for record in records:
        check_type("records", record, MemoryRecord)
    return {source for record in records for source in _sources_of(record)}
