"""Search across threads in SQLite, by FTS5.

One file holds the threads of one user, so that BM25 counts are the user's own and the file can be deleted::

    threads         number, thread, last_seq, start, turns
    turns           FTS5: the terms of a turn, already split; rowid = number of the thread and of the first message
    vocabulary      FTS5: number of turns with a term

The next searches rebuild a lost or deleted file.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import TYPE_CHECKING

from gatekeeper_core.errors import StorageError
from gatekeeper_core.storage.codec import decode_text, encode_text
from gatekeeper_core.storage.sqlite import SQLiteStore
from gatekeeper_mcp.search import ChatIndex, Frequencies, IndexedThread, Place, ThreadUpdate, scope_of

if TYPE_CHECKING:
    from gatekeeper_mcp.postgres import PostgresIndex
    from gatekeeper_mcp.threads import UserThreads

_VERSION = 1
"""The version of the tables and terms; a change of either raises it."""

# Terms come split, so only spaces may separate them. This tokenizer separates nothing beyond ASCII.
_TOKEN_CHARACTERS = "".join(char for char in map(chr, range(33, 127)) if not char.isalnum())
_TOKENIZER = "ascii tokenchars '{}'".format(_TOKEN_CHARACTERS.replace("'", "''")).replace('"', '""')
_TABLES = (
    "CREATE TABLE threads (number INTEGER PRIMARY KEY, thread BLOB NOT NULL UNIQUE, last_seq INTEGER NOT NULL, "
    "start INTEGER NOT NULL, turns INTEGER NOT NULL)",
    f'CREATE VIRTUAL TABLE turns USING fts5(terms, stop UNINDEXED, tokenize = "{_TOKENIZER}")',
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(turns, row)",
    f"PRAGMA user_version = {_VERSION}",
)
_FOLDER = ".search"
_SEQ_BITS = 32
_AT_ONCE = 500
_BUSY_SECONDS = 5.0


def index_file(store_file: str, threads: UserThreads) -> str:
    """Return the path of the index of a user's threads, in a folder next to the store's file.

    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> from gatekeeper_mcp.threads import UserThreads
    >>> index_file("chats.db", UserThreads(InMemoryStore(), "acme", "ann"))
    'chats.db.search/6474ed09d7cdbbb78c5058107fac7388.db'
    """
    return os.path.join(f"{store_file}{_FOLDER}", f"{scope_of(threads).hex()}.db")


def index_of(threads: UserThreads) -> SQLiteIndex | PostgresIndex:
    """Return the index of threads: in PostgreSQL if their store is, else in SQLite, next to the file or in memory."""
    if threads.store.backend == "postgres":
        from gatekeeper_mcp.postgres import PostgresIndex  # needs the same extra as the store

        return PostgresIndex(threads)
    store = threads.store
    return SQLiteIndex(threads, index_file(store.path, threads) if isinstance(store, SQLiteStore) else None)


def delete_indexes(store_file: str) -> None:
    """Delete the indexes next to the file of a store; the next searches rebuild them."""
    shutil.rmtree(f"{store_file}{_FOLDER}", ignore_errors=True)


class SQLiteIndex(ChatIndex):
    """A search across threads with SQLite's FTS5, for several threads and processes.

    Args:
        threads: the threads to search.
        path: file of the index, only for these threads; its folder is created. Defaults to memory.

    Raises:
        StorageError: the file cannot be used, or SQLite was built without FTS5.
    """

    def __init__(self, threads: UserThreads, path: str | None = None) -> None:
        super().__init__(threads)
        self.place = path or "the search index in memory"
        self._lock = RLock()
        with self._typed_errors(), ExitStack() as unused:
            if path is not None:
                os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            unused.callback(self._connection.close)
            for setting in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
                self._connection.execute(f"PRAGMA {setting}")
            with self._writing() as connection:
                ((version,),) = connection.execute("PRAGMA user_version")
                for statement in _TABLES if version == 0 else ():
                    connection.execute(statement)
            if version not in (0, _VERSION):
                raise StorageError(f"{self.place}: written by another version of this library: delete the file")
            unused.pop_all()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _remove(self, threads: Sequence[str]) -> None:
        query = "SELECT number FROM threads WHERE thread = ?"
        with self._writing() as connection:
            for name in map(encode_text, threads):
                for (number,) in connection.execute(query, [name]).fetchall():
                    connection.execute("DELETE FROM turns WHERE rowid BETWEEN ? AND ?", _rowids(number))
                    connection.execute("DELETE FROM threads WHERE number = ?", [number])
            connection.execute("INSERT INTO turns(turns) VALUES ('optimize')")  # drops the terms of deleted turns
        with self._lock, self._typed_errors():
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _indexed(self) -> dict[str, IndexedThread]:
        with self._lock, self._typed_errors():
            rows = self._connection.execute("SELECT thread, last_seq, start FROM threads").fetchall()
        return {decode_text(thread): IndexedThread(last_seq, start) for thread, last_seq, start in rows}

    def _write(self, updates: Sequence[ThreadUpdate]) -> None:
        if not updates:
            return
        with self._writing() as connection:
            for update in updates:
                name = encode_text(update.thread)
                connection.execute("INSERT OR IGNORE INTO threads VALUES (NULL, ?, -1, 0, 0)", [name])
                row = connection.execute("SELECT number, turns FROM threads WHERE thread = ?", [name])
                number, turns = row.fetchone()
                first, last = _rowids(number, update.from_seq)
                gone = connection.execute("DELETE FROM turns WHERE rowid BETWEEN ? AND ?", [first, last]).rowcount
                rows = [
                    (_rowids(number, turn.start)[0], " ".join(Counter(turn.terms).elements()), turn.stop)
                    for turn in update.turns
                ]
                connection.executemany("INSERT INTO turns(rowid, terms, stop) VALUES (?, ?, ?)", rows)
                connection.execute(
                    "UPDATE threads SET last_seq = ?, start = ?, turns = ? WHERE number = ?",
                    [*update.state, turns - gone + len(rows), number],
                )

    def _frequencies(self, terms: Sequence[str]) -> Frequencies:
        counts: dict[str, int] = {}
        with self._lock, self._typed_errors():
            ((turns,),) = self._connection.execute("SELECT coalesce(sum(turns), 0) FROM threads")
            for start in range(0, len(terms), _AT_ONCE):
                some = terms[start : start + _AT_ONCE]
                query = f"SELECT term, doc FROM vocabulary WHERE term IN ({', '.join('?' * len(some))})"  # noqa: S608
                counts.update(self._connection.execute(query, some))
        return Frequencies(turns, counts)

    def _ranked(self, terms: Sequence[str], frequencies: Frequencies, limit: int) -> Sequence[Place]:  # noqa: ARG002
        # A quoted string is always a term, never syntax.
        match = " OR ".join('"{}"'.format(term.replace('"', '""')) for term in terms)
        best = "SELECT rowid AS place, stop, rank AS score FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?"
        query = f"SELECT thread, place, stop FROM ({best}) JOIN threads ON number = place >> ? ORDER BY score"  # noqa: S608
        with self._lock, self._typed_errors():
            rows = self._connection.execute(query, [match, limit, _SEQ_BITS]).fetchall()
        return [(decode_text(thread), place & (2**_SEQ_BITS - 1), stop) for thread, place, stop in rows]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._typed_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise

    @contextmanager
    def _typed_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(f"{self.place}: its folder cannot be created ({error.strerror})") from error
        except sqlite3.Error as error:
            words = str(error).lower()
            reason = "the search index is unusable: delete the file; the next search rebuilds it"
            if "locked" in words:
                reason = "another process is writing the search index: try again"
            elif "fts5" in words:
                reason = "this Python's SQLite was built without FTS5, which the search needs"
            raise StorageError(f"{self.place}: {reason}") from error


def _rowids(number: int, start: int = 0) -> tuple[int, int]:
    """Return the first and the last rowid of a thread's turns from a message on."""
    return (number << _SEQ_BITS) + start, ((number + 1) << _SEQ_BITS) - 1
