"""The choice of an index for a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.storage.sqlite import SQLiteStore
from gatekeeper_mcp.sqlite import SQLiteIndex, index_file

if TYPE_CHECKING:
    from gatekeeper_mcp.postgres import PostgresIndex
    from gatekeeper_mcp.threads import UserThreads


def index_of(threads: UserThreads) -> SQLiteIndex | PostgresIndex:
    """Return the index of threads: in PostgreSQL if their store is, else in SQLite, next to the file or in memory."""
    if threads.store.backend == "postgres":
        from gatekeeper_mcp.postgres import PostgresIndex  # which needs the extra that the store has needed

        return PostgresIndex(threads)
    store = threads.store
    return SQLiteIndex(threads, index_file(store.path, threads) if isinstance(store, SQLiteStore) else None)
