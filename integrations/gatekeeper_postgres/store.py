"""A store in PostgreSQL, for any number of threads, processes and hosts.

::

    store ── gatekeeper_core.storage.tables      logic of all stores with tables
          ── connections, errors                 transactions
          ── schema                              tables, migrations
          ── vectors                             pgvector
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from hashlib import blake2b
from typing import Any, NamedTuple

from psycopg_pool import ConnectionPool

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.errors import StorageError
from gatekeeper_core.events import NO_VECTORS, PURGE_FAILED, STORE_OPENED, VECTORS_UNINDEXED
from gatekeeper_core.observation import tell
from gatekeeper_core.storage.base import MemoryRecord, MemoryScope
from gatekeeper_core.storage.codec import decode_vector, encode_text
from gatekeeper_core.storage.tables import (
    MEMORY_COLUMNS,
    MemoryFilter,
    StoredMemory,
    TableStore,
    Transaction,
    check_records,
    counts,
)
from gatekeeper_postgres import schema as tables
from gatekeeper_postgres.connections import BACKEND, Connections, PostgresTransaction, lock_on
from gatekeeper_postgres.errors import NEWER, UnfitTablesError
from gatekeeper_postgres.schema import NEWEST, SchemaState
from gatekeeper_postgres.vectors import VectorType, as_text

MAX_NAME_BYTES = 400
"""Longest name kept unhashed. Source: ours; index rows have up to 2,704 bytes, and our widest has four names."""

EXACT_UP_TO = 1_000
"""Up to this many vectors of a user, the server compares each. Source: ours; it takes milliseconds and misses none."""

_CLEARING_TRIES = 20
_CLEARING_PAUSE_SECONDS = 0.05
_SEEN = """
SELECT count(*) FROM (
    SELECT backend_xmin AS oldest FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
        AND backend_type IS DISTINCT FROM 'autovacuum worker'
    UNION ALL SELECT backend_xid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()
    UNION ALL SELECT xmin FROM pg_replication_slots
    UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
) AS held WHERE oldest IS NOT NULL AND age(oldest) > age(?::text::xid)
"""
_NOT_OURS = """
SELECT count(*) FROM pg_class WHERE relnamespace = ?::regnamespace AND relkind = 'r'
AND NOT pg_has_role(relowner, 'USAGE')
"""
_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
WHERE relnamespace = ?::regnamespace AND relkind = 'r'
"""


class StoreInfo(NamedTuple):
    """Row counts and sizes of a store.

    Attributes:
        place: server and database.
        schema: the PostgreSQL schema.
        size_bytes: size of the tables with their indexes.
        threads: number of threads with messages.
        memories: number of memories, including closed ones.
        vectors: "pgvector", or "compared one by one" if the server does not have it.
    """

    place: str
    schema: str
    schema_version: int
    size_bytes: int
    threads: int
    messages: int
    records: int
    memories: int
    blobs: int
    tombstones: int
    vectors: str


@with_suggestions()
class PostgresStore(TableStore):
    """A ``Store`` in a PostgreSQL database.

    Every call is one transaction. A failed call raises a ``StorageError``, which names the server and the database, but
    never a user, a password or stored data; nothing is half-written, and the store stays usable, even after the server
    was down for a while. Thread-safe; a forked process opens its own connections. A call waits for the server, so
    ``is_in_process`` is not set: in a coroutine, call it with ``asyncio.to_thread``.

    Args:
        conninfo: ``postgresql://host:port/database`` or ``key=value`` pairs, over libpq's variables and password file.
        pool: your own open pool instead, which the store does not close.
        schema: PostgreSQL schema of the tables; use one per store in a database.
        statement_timeout_ms: time limit of a statement; 0 means none. Migrations, ``forget`` and ``info`` have none.
        lock_timeout_ms: how long a call waits for another writer; 0 means without limit.
        connect_timeout_ms: how long a call waits for a connection.
        min_connections: connections kept open.
        max_connections: maximum number of connections; further calls wait.
        create: whether to create missing tables, and to install pgvector if the role may.
        migrate: whether to upgrade older tables; otherwise they are refused.

    Attributes:
        found_schema_version: version of the tables when the store was opened, before any upgrade; 0 if there were none.

    Raises:
        TypeError: an argument has the wrong type.
        ConfigError: an argument is invalid.
        StorageError: the server cannot be reached, or the tables are unusable: no permission, not ours, or too new.
    """

    backend = BACKEND

    def __init__(
        self,
        conninfo: str | None = None,
        *,
        pool: ConnectionPool[Any] | None = None,
        schema: str = "gatekeeper",
        statement_timeout_ms: int = 5_000,
        lock_timeout_ms: int = 5_000,
        connect_timeout_ms: int = 5_000,
        min_connections: int = 1,
        max_connections: int = 10,
        create: bool = True,
        migrate: bool = True,
    ) -> None:
        self._connections = Connections(
            conninfo,
            pool,
            tables.check_schema_name(schema),
            statement_timeout_ms=statement_timeout_ms,
            lock_timeout_ms=lock_timeout_ms,
            connect_timeout_ms=connect_timeout_ms,
            connections=(min_connections, max_connections),
        )
        self.place = self._connections.place
        self._schema = schema
        self._dimensions: set[int] = set()
        self._connections.check_reachable()
        try:
            self._open(create=create, migrate=migrate)
        except BaseException:
            self._connections.close()
            raise

    def _open(self, *, create: bool, migrate: bool) -> None:
        with self._connections.transaction() as transaction:
            state = tables.schema_state(transaction, self._schema)
            if state.version > NEWEST:
                raise UnfitTablesError(NEWER)
            if state.version == 0 and not create:
                raise UnfitTablesError("no store found")
            if 0 < state.version < NEWEST and not migrate:
                older = "its tables were written by an older version of this library: migrate them first"
                raise UnfitTablesError(older)
        self.found_schema_version = state.version
        if state.version < NEWEST:
            with self._migrating() as transaction:
                tables.migrate(transaction, self._schema)
        if migrate and not state.has_embeddings:
            state = self._make_room_for_vectors(create=create)
        self._vectors = state.vectors if state.has_embeddings else None
        tell(STORE_OPENED, backend=BACKEND, found_version=self.found_schema_version, schema_version=NEWEST)

    def close(self) -> None:
        """Wait for running calls, then close the connections of this process. Later calls are refused."""
        self._connections.close()

    def put_memories(self, scope: MemoryScope, records: Sequence[MemoryRecord], /) -> None:
        """Store memories, all or none; other writers wait while the first vector of a dimension creates its index."""
        check_records(records)
        vectors = self._vectors
        for dimensions in {len(record.vector) for record in records if record.vector} - self._dimensions:
            if vectors and vectors.indexed(dimensions):
                with self._migrating() as transaction:
                    tables.index_dimensions(transaction, self._schema, dimensions, vectors)
            self._dimensions.add(dimensions)
        super().put_memories(scope, records)

    def purge(self) -> bool:
        """Let the server erase deleted rows, and return whether it did.

        It waits up to a second for transactions that see them. If these or missing rights prevent it, call it again.
        """
        try:
            with self._connections.transaction() as transaction:
                if transaction.rows(_NOT_OURS, f'"{self._schema}"') != [(0,)]:
                    return False  # the server would only warn
                ((number,),) = transaction.rows("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
            is_visible = True
            for _ in range(_CLEARING_TRIES):
                with self._connections.transaction() as transaction:
                    is_visible = transaction.rows(_SEEN, str(int(number) % 2**32)) != [(0,)]
                if not is_visible:
                    break
                time.sleep(_CLEARING_PAUSE_SECONDS)
            self._connections.vacuum(tables.TABLES)
        except StorageError as error:
            tell(PURGE_FAILED, error=type(error).__name__)
            return False
        return not is_visible

    def info(self) -> StoreInfo:
        """Return the counts and the size, in time linear in the rows."""
        with self._connections.transaction(is_patient=True) as transaction:
            ((version,),) = transaction.rows("SELECT version FROM context_gatekeeper")
            ((size,),) = transaction.rows(_SIZE, f'"{self._schema}"')
            return StoreInfo(
                place=self.place,
                schema=self._schema,
                schema_version=version,
                size_bytes=size,
                vectors="pgvector" if self._vectors else "compared one by one",
                **counts(transaction),
            )

    @staticmethod
    def _key(name: str) -> bytes:
        r"""Return a name as an index stores it: its bytes or, if they are too many, a hash that no name equals.

        Source: BLAKE2b, 256 bits; no encoded text begins with the byte 255.

        >>> PostgresStore._key("茶"), len(PostgresStore._key("x" * 401))
        (b'\xe8\x8c\xb6', 33)
        """
        data = encode_text(name)
        return data if len(data) <= MAX_NAME_BYTES else b"\xff" + blake2b(data, digest_size=32).digest()

    def _reading(self) -> AbstractContextManager[PostgresTransaction]:
        return self._connections.transaction()

    def _writing(self, tenant: str, *key: bytes, alone: bool = False) -> AbstractContextManager[PostgresTransaction]:
        """Begin a transaction that writes.

        Saves share the lock on the tenant, and ``forget`` holds it alone: a save either ends before the rows are
        deleted, or looks for the tombstone after it is set.
        """
        locks = [lock_on(self._schema, "tenant", tenant, shared=not alone)]
        locks += [lock_on(self._schema, *key)] if key else []
        return self._connections.transaction("write", *locks, is_patient=alone, version=NEWEST)

    def _migrating(self) -> AbstractContextManager[PostgresTransaction]:
        return self._connections.transaction("write", lock_on(self._schema, "migrate"), is_patient=True)

    def _make_room_for_vectors(self, *, create: bool) -> SchemaState:
        try:
            if create:
                with self._migrating() as transaction:
                    tables.install_pgvector(transaction)
        except StorageError:
            tell(NO_VECTORS)
        try:
            with self._migrating() as transaction:
                tables.add_embeddings(transaction, self._schema)
        except StorageError as error:
            tell(VECTORS_UNINDEXED, error=type(error).__name__)
        with self._connections.transaction() as transaction:
            return tables.schema_state(transaction, self._schema)

    def _insert_rows(self, transaction: Transaction, rows: Sequence[tuple[Any, ...]]) -> None:
        if self._vectors is None:
            return super()._insert_rows(transaction, rows)
        columns = MEMORY_COLUMNS.split(", ")
        at, marks = columns.index("vector"), ", ".join("?" * len(columns))
        insert = f"INSERT INTO memories ({MEMORY_COLUMNS}, embedding) VALUES ({marks}, ?::{self._vectors.name})"  # noqa: S608
        copies = [as_text(decode_vector(row[at])) if row[at] is not None else None for row in rows]
        return transaction.many(insert, [(*row, copy) for row, copy in zip(rows, copies, strict=True)])

    def _nearest(
        self, transaction: Transaction, key: tuple[bytes, bytes], vector: array[float], where: MemoryFilter, limit: int
    ) -> Iterable[StoredMemory]:
        """Return the current memories nearest to a vector; those that pgvector lacks are compared by this process."""
        text = as_text(vector)
        names: list[bytes] = []
        if self._vectors:
            if text:
                names = self._nearest_on_server(transaction, key, (text, len(vector)), where, limit, self._vectors)
            where = MemoryFilter(f"{where.sql} AND m.embedding IS NULL", where.values)
        here = super()._nearest(transaction, key, vector, where, limit)
        return [*self._memories(transaction, key, names).values(), *here]

    @staticmethod
    def _nearest_on_server(
        transaction: Transaction,
        key: tuple[bytes, bytes],
        vector: tuple[str, int],
        where: MemoryFilter,
        limit: int,
        vectors: VectorType,
    ) -> list[bytes]:
        """Return the ids of the nearest memories that pgvector holds.

        A few are compared one by one. Among many, the index is searched for enough of this user; if it gives up early,
        all are compared one by one, so that none is lost, whatever others have stored.
        """
        text, dimensions = vector
        source = "FROM memories AS m WHERE m.tenant = ? AND m.user_id = ? AND m.is_current = 1 "
        source += f"AND length(m.vector) = {4 * dimensions:d} AND m.embedding IS NOT NULL{where.sql}"
        values = (*key, *where.values)
        query = f"SELECT count(*) FROM (SELECT 1 {source} LIMIT ?) AS counted"  # noqa: S608 - no input
        ((many,),) = transaction.rows(query, *values, EXACT_UP_TO + 1)
        indexed = vectors.indexed(dimensions)
        if indexed and many > EXACT_UP_TO:
            transaction.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            near = f"{indexed} {vectors.distance} {vectors.placeholder(dimensions)}"
            most = limit if "halfvec" not in indexed else 2 * limit
            rows = transaction.rows(f"SELECT m.id {source} ORDER BY {near} LIMIT ?", *values, text, most)
            if len(rows) == most:
                return [row[0] for row in rows]
        # No index has this expression, so the server compares all.
        distance = f"(embedding {vectors.distance} ?::{vectors.name})"
        rows = transaction.rows(f"SELECT m.id {source} ORDER BY {distance} LIMIT ?", *values, text, limit)
        return [row[0] for row in rows]
