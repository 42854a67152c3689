"""Forgetting in a SQLite store: rows, tombstones, and the bytes that deleted rows leave in the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from gatekeeper_core.errors import ForgottenError
from gatekeeper_core.events import PURGE_FAILED
from gatekeeper_core.observation import tell
from gatekeeper_core.storage import sqlite_memories
from gatekeeper_core.storage.base import Forgotten
from gatekeeper_core.storage.codec import encode_text
from gatekeeper_core.storage.forgetting import TENANT, Target, tombstone, tombstones_against, tombstones_of
from gatekeeper_core.storage.stored_rows import TABLES_OF_TENANT, TABLES_OF_THREAD, UserKey, sealed, verify

__all__ = ["begin_anew", "forget", "purge", "refuse_forgotten"]


def refuse_forgotten(
    connection: sqlite3.Connection,
    tenant: str,
    *,
    thread: str | None = None,
    user: str | None = None,
    sources: Collection[str] = (),
) -> None:
    """Refuse what is to be saved for something that was forgotten, with a ``ForgottenError``."""
    of_tenant = tombstone(tenant, TENANT)
    query = "SELECT checksum FROM tombstones WHERE tenant = ?"
    if connection.execute(f"{query} LIMIT 1", (of_tenant,)).fetchone() is None:
        return
    for stone, kind in tombstones_against(tenant, thread=thread, user=user, sources=sources).items():
        row = connection.execute(f"{query} AND stone = ?", (of_tenant, stone)).fetchone()
        if row is not None:
            verify(b"tombstones", of_tenant, stone, row[0])
            raise ForgottenError(kind)


def forget(connection: sqlite3.Connection, target: Target) -> Forgotten:
    """Delete the rows of a target, leave its tombstones, and return how many rows there were."""
    of_tenant = tombstone(target.tenant, TENANT)
    rows = [sealed(b"tombstones", of_tenant, stone) for stone in tombstones_of(target)]
    connection.executemany("INSERT OR REPLACE INTO tombstones VALUES (?, ?, ?)", rows)
    tenant, name = encode_text(target.tenant), encode_text(target.name)
    gone: dict[str, int] = {}
    if target.kind == TENANT:
        for table in TABLES_OF_TENANT:
            query = f"DELETE FROM {table} WHERE tenant = ?"  # noqa: S608 - no input
            gone[table] = connection.execute(query, (tenant,)).rowcount
    elif target.kind == "thread":
        for table in TABLES_OF_THREAD:
            query = f"DELETE FROM {table} WHERE tenant = ? AND thread = ?"  # noqa: S608 - no input
            gone[table] = connection.execute(query, (tenant, name)).rowcount
    if target.kind == "user":
        gone["memories"] = sqlite_memories.delete_all(connection, UserKey(tenant, name))
    elif target.kind != TENANT:
        gone["memories"] = sqlite_memories.forget_source(connection, tenant, target.name)
    return Forgotten(gone.get("messages", 0), gone.get("records", 0), gone["memories"], gone.get("blobs", 0))


def begin_anew(connection: sqlite3.Connection, target: Target) -> bool:
    """Take the tombstones of a target away, and return whether there was one."""
    of_tenant = tombstone(target.tenant, TENANT)
    query = "DELETE FROM tombstones WHERE tenant = ? AND stone = ?"
    deleted = [connection.execute(query, (of_tenant, stone)).rowcount for stone in tombstones_of(target)]
    return any(deleted)


def purge(connection: sqlite3.Connection) -> bool:
    """Write the file anew without what was deleted, empty its log, and return whether that could be done.

    SQLite writes zeros over what it deletes, but not over what it has moved within a page before, and the log keeps
    pages as they were until it is emptied.
    """
    try:
        connection.execute("VACUUM")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's words may quote a name that is damaged
        tell(PURGE_FAILED, error=type(error).__name__)
        return False
    return not busy
