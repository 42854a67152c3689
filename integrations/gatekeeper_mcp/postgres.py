"""Search across threads in PostgreSQL: three tables, each partitioned by tenant, and one GIN index.

::

    chat_threads    tenant, scope, thread                    newest message, newest turn, counts
    chat_turns      tenant, scope, thread, start     terms   one GIN index over the terms
    chat_terms      tenant, scope, term                      number of turns with the term

The tables are in the schema of the store. A term is a 64-bit hash over the user and the term, so that users share no
index entries, and all entries have the same size. A tenant's rows are in one partition, so a database that spreads
tables over hosts can spread these by tenant. The server computes BM25; removed rows disappear when it vacuums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from hashlib import blake2b

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.storage.codec import decode_text, encode_text
from gatekeeper_core.storage.tables import Transaction
from gatekeeper_mcp.search import K1, B, ChatIndex, Frequencies, IndexedThread, Place, ThreadUpdate, scope_of
from gatekeeper_mcp.threads import UserThreads
from gatekeeper_postgres import PostgresStore

PARTITIONS = 16
"""Partitions of each table. Source: ours; the number cannot grow later, and a small database can handle 16."""

_COLUMNS = {
    "chat_threads": (
        "thread bytea NOT NULL, last_seq bigint NOT NULL, start bigint NOT NULL, turns bigint NOT NULL, "
        "terms bigint NOT NULL, PRIMARY KEY (tenant, scope, thread)"
    ),
    "chat_turns": (
        "thread bytea NOT NULL, start bigint NOT NULL, stop bigint NOT NULL, terms bigint[] NOT NULL, "
        "PRIMARY KEY (tenant, scope, thread, start)"
    ),
    "chat_terms": "term bigint NOT NULL, turns bigint NOT NULL, PRIMARY KEY (tenant, scope, term)",
}
_TABLES = (
    *(
        f"CREATE TABLE {table} (tenant bytea NOT NULL, scope bytea NOT NULL, {columns}) PARTITION BY HASH (tenant)"
        for table, columns in _COLUMNS.items()
    ),
    *(
        f"CREATE TABLE {table}_{number} PARTITION OF {table} FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        for table in _COLUMNS
        for number in range(PARTITIONS)
    ),
    "CREATE INDEX chat_turns_by_term ON chat_turns USING gin (terms)",
)
_MISSING = "SELECT 1 WHERE to_regclass('chat_terms') IS NULL"

_OF_THREAD = "tenant = ? AND scope = ? AND thread = ?"
_COUNT = """
INSERT INTO chat_terms (tenant, scope, term, turns)
SELECT ?, ?, term, turns FROM unnest(?::bigint[], ?::bigint[]) AS counted (term, turns) ORDER BY term
ON CONFLICT (tenant, scope, term) DO UPDATE SET turns = chat_terms.turns + excluded.turns
"""
_SAVE_THREAD = """
INSERT INTO chat_threads (tenant, scope, thread, last_seq, start, turns, terms) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, scope, thread) DO UPDATE SET last_seq = excluded.last_seq, start = excluded.start,
turns = chat_threads.turns + excluded.turns, terms = chat_threads.terms + excluded.terms
"""
# BM25 as in FTS5. One index scan per term, so that a term is counted only in the turns that contain it.
_RANK = f"""
SELECT thread, start, stop FROM unnest(?::bigint[], ?::float8[]) AS query (term, idf), LATERAL (
    SELECT thread, start, stop, cardinality(terms) AS length, cardinality(array_positions(terms, query.term)) AS tf
    FROM chat_turns WHERE tenant = ? AND scope = ? AND terms @> ARRAY[query.term]
) AS found
GROUP BY thread, start, stop
ORDER BY sum(idf * tf * {K1 + 1} / (tf + {K1} * ({1 - B} + {B} * length / ?::float8))) DESC, thread, start LIMIT ?
"""  # noqa: S608 - no input


class PostgresIndex(ChatIndex):
    """A search across threads in the database of a ``PostgresStore``, for any number of processes.

    Args:
        threads: the threads to search, of a ``PostgresStore``; the first index needs a role that may create tables.

    Raises:
        ConfigError: the store is not a ``PostgresStore``.
        StorageError: the server cannot be reached, or the tables cannot be created.
    """

    def __init__(self, threads: UserThreads) -> None:
        super().__init__(threads)
        if not isinstance(threads.store, PostgresStore):
            raise ConfigError("a PostgresIndex needs the threads of a PostgresStore")
        self._store = threads.store
        self._scope = scope_of(threads)
        self._key = self._store._key(threads.tenant), self._scope
        with self._store._reading() as transaction:
            is_new = transaction.rows(_MISSING)
        if is_new:
            with self._store._migrating() as transaction:
                for statement in _TABLES if transaction.rows(_MISSING) else ():  # another process may have been faster
                    transaction.execute(statement)

    def _remove(self, threads: Sequence[str]) -> None:
        with self._writing() as transaction:
            counts = Counter[int]()
            for name in map(encode_text, threads):
                for terms in self._delete_turns(transaction, name, 0):
                    counts.subtract({*terms})
                transaction.execute(f"DELETE FROM chat_threads WHERE {_OF_THREAD}", *self._key, name)  # noqa: S608
            self._count(transaction, counts)
            transaction.execute("DELETE FROM chat_terms WHERE tenant = ? AND scope = ? AND turns = 0", *self._key)

    def _indexed(self) -> dict[str, IndexedThread]:
        query = "SELECT thread, last_seq, start FROM chat_threads WHERE tenant = ? AND scope = ?"
        with self._store._reading() as transaction:
            rows = transaction.rows(query, *self._key)
        return {decode_text(thread): IndexedThread(last_seq, start) for thread, last_seq, start in rows}

    def _write(self, updates: Sequence[ThreadUpdate]) -> None:
        if not updates:
            return
        insert = (
            "INSERT INTO chat_turns (tenant, scope, thread, start, stop, terms) VALUES (?, ?, ?, ?, ?, ?::bigint[])"
        )
        with self._writing() as transaction:
            counts = Counter[int]()
            for update in updates:
                name = encode_text(update.thread)
                gone = self._delete_turns(transaction, name, update.from_seq)
                new = [list(map(self._term, Counter(turn.terms).elements())) for turn in update.turns]
                rows = zip(update.turns, new, strict=True)
                places = [(*self._key, name, turn.start, turn.stop, _array(terms)) for turn, terms in rows]
                transaction.many(insert, places)
                length = sum(map(len, new)) - sum(map(len, gone))
                transaction.execute(_SAVE_THREAD, *self._key, name, *update.state, len(new) - len(gone), length)
                for terms in new:
                    counts.update({*terms})
                for terms in gone:
                    counts.subtract({*terms})
            self._count(transaction, counts)

    def _frequencies(self, terms: Sequence[str]) -> Frequencies:
        ids = {self._term(term): term for term in terms}
        sums = "SELECT coalesce(sum(turns), 0)::bigint, coalesce(sum(terms), 0)::bigint FROM chat_threads"
        counts = "SELECT term, turns FROM chat_terms WHERE tenant = ? AND scope = ? AND term = ANY(?) AND turns > 0"
        with self._store._reading() as transaction:
            ((turns, length),) = transaction.rows(f"{sums} WHERE tenant = ? AND scope = ?", *self._key)
            rows = transaction.rows(counts, *self._key, list(ids))
        return Frequencies(turns, {ids[term]: count for term, count in rows}, length / (turns or 1))

    def _ranked(self, terms: Sequence[str], frequencies: Frequencies, limit: int) -> Sequence[Place]:
        ids = list(map(self._term, terms))
        idf = list(map(frequencies.idf, terms))
        with self._store._reading() as transaction:
            rows = transaction.rows(_RANK, ids, idf, *self._key, frequencies.mean_length, limit)
        return [(decode_text(thread), start, stop) for thread, start, stop in rows]

    def _writing(self) -> AbstractContextManager[Transaction]:
        return self._store._writing(self.threads.tenant, b"search", self._scope)

    def _delete_turns(self, transaction: Transaction, name: bytes, from_seq: int) -> list[list[int]]:
        delete = f"DELETE FROM chat_turns WHERE {_OF_THREAD} AND start >= ? RETURNING terms"  # noqa: S608
        return [terms for (terms,) in transaction.rows(delete, *self._key, name, from_seq)]

    def _count(self, transaction: Transaction, counts: Counter[int]) -> None:
        changed = {term: count for term, count in counts.items() if count}
        if changed:
            transaction.execute(_COUNT, *self._key, _array(changed), _array(changed.values()))

    def _term(self, term: str) -> int:
        """Return a term's number. Source: BLAKE2b, 64 bits: two of a million terms collide in 1 of 30 million cases."""
        digest = blake2b(encode_text(term), digest_size=8, key=self._scope).digest()
        return int.from_bytes(digest, "big", signed=True)


def _array(numbers: Iterable[int]) -> str:
    # psycopg takes ten times as long for a list.
    return f"{{{','.join(map(str, numbers))}}}"
