"""Forgetting in a PostgreSQL store: rows, tombstones, and the versions of rows that the server has yet to clear.

Who saves something for a tenant shares the lock on the tenant; who forgets something of it holds the lock alone. So a
save has either ended before the rows are deleted, or looks for the tombstone after it was set.
"""

from __future__ import annotations

from collections.abc import Collection

from gatekeeper_core.errors import ForgottenError
from gatekeeper_core.storage.base import Forgotten
from gatekeeper_core.storage.forgetting import TENANT, Target, tombstone, tombstones_against, tombstones_of
from gatekeeper_core.storage.stored_rows import TABLES_OF_TENANT, TABLES_OF_THREAD, UserKey, sealed, verify
from gatekeeper_postgres import memories
from gatekeeper_postgres.schema import NEWEST, TABLES, newer_schema
from gatekeeper_postgres.statements import Statements, execute, name_key, rows_of
from gatekeeper_postgres.vectors import VectorType

__all__ = ["admit", "begin_anew", "forget", "is_unseen", "may_vacuum", "newest_transaction", "refuse_newer", "vacuum"]

_ADMIT = """
SELECT (SELECT version FROM @context_gatekeeper),
    ARRAY(SELECT stone || checksum FROM @tombstones WHERE tenant = %s AND stone = ANY(%s))
"""
_STONE_BYTES = 16

_INSERT_STONES = """
INSERT INTO @tombstones (tenant, stone, checksum) SELECT %s, g.* FROM unnest(%s::bytea[], %s::bytea[]) AS g
ON CONFLICT (tenant, stone) DO UPDATE SET checksum = excluded.checksum
"""
_SEEN = """
SELECT count(*) FROM (
    SELECT backend_xmin AS oldest FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
        AND backend_type IS DISTINCT FROM 'autovacuum worker'
    UNION ALL SELECT backend_xid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()
    UNION ALL SELECT xmin FROM pg_replication_slots
    UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
) AS held WHERE oldest IS NOT NULL AND age(oldest) > age(%s::text::xid)
"""
_NOT_OURS = """
SELECT count(*) FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r'
AND NOT pg_has_role(relowner, 'USAGE')
"""


def admit(
    tenant: str, *, thread: str | None = None, user: str | None = None, sources: Collection[str] = ()
) -> Statements[None]:
    """Refuse what is to be saved in tables of a newer version, or for something that was forgotten.

    Raises:
        UnfitTablesError: another process has brought the tables up to date in the meantime.
        ForgottenError: the tenant, the thread, the user or a source was forgotten.
    """
    of_tenant = tombstone(tenant, TENANT)
    stones = tombstones_against(tenant, thread=thread, user=user, sources=sources)
    ((version, found),) = yield from rows_of(_ADMIT, of_tenant, list(stones))
    if version != NEWEST:
        raise newer_schema()
    standing = {row[:_STONE_BYTES]: row[_STONE_BYTES:] for row in found}
    for stone, kind in stones.items():
        if stone in standing:
            verify(b"tombstones", of_tenant, stone, standing[stone])
            raise ForgottenError(kind)


def forget(target: Target, vectors: VectorType | None) -> Statements[Forgotten]:
    """Delete the rows of a target, leave its tombstones, and return how many rows there were."""
    of_tenant, stones = tombstone(target.tenant, TENANT), tombstones_of(target)
    sums = [sealed(b"tombstones", of_tenant, stone)[-1] for stone in stones]
    yield from execute(_INSERT_STONES, of_tenant, list(stones), sums)
    tenant, name = name_key(target.tenant), name_key(target.name)
    gone: dict[str, int] = {}
    if target.kind == TENANT:
        for table in TABLES_OF_TENANT:
            gone[table] = yield from execute(f"DELETE FROM @{table} WHERE tenant = %s", tenant)  # noqa: S608 - no input
    elif target.kind == "thread":
        for table in TABLES_OF_THREAD:
            where = f"DELETE FROM @{table} WHERE tenant = %s AND thread = %s"  # noqa: S608 - no input
            gone[table] = yield from execute(where, tenant, name)
    if target.kind == "user":
        gone["memories"] = yield from memories.delete_all(UserKey(tenant, name))
    elif target.kind != TENANT:
        gone["memories"] = yield from memories.forget_source(tenant, target.name, vectors)
    return Forgotten(gone.get("messages", 0), gone.get("records", 0), gone.get("memories", 0), gone.get("blobs", 0))


def begin_anew(target: Target) -> Statements[bool]:
    """Take the tombstones of a target away, and return whether there was one."""
    query = "DELETE FROM @tombstones WHERE tenant = %s AND stone = ANY(%s)"
    return bool((yield from execute(query, tombstone(target.tenant, TENANT), list(tombstones_of(target)))))


def newest_transaction() -> Statements[str]:
    """Return the number that the next transaction will have: what is deleted was deleted by one before it."""
    ((number,),) = yield from rows_of("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
    return str(int(number) % 2**32)


def is_unseen(transaction: str) -> Statements[bool]:
    """Return whether no transaction can still see what was deleted before another one."""
    ((held,),) = yield from rows_of(_SEEN, transaction)
    return not held


def may_vacuum(schema: str) -> Statements[bool]:
    """Return whether the role may clear the tables; where it may not, the server does no more than warn."""
    ((others,),) = yield from rows_of(_NOT_OURS, f'"{schema}"')
    return not others


def vacuum() -> Statements[None]:
    """Let the server clear the deleted rows from tables and indexes; in no transaction."""
    for table in TABLES:
        yield from execute(f"VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) @{table}")


def refuse_newer() -> Statements[None]:
    """Refuse to delete from tables of another version.

    Raises:
        UnfitTablesError: another process has brought the tables up to date in the meantime.
    """
    ((version,),) = yield from rows_of("SELECT version FROM @context_gatekeeper")
    if version != NEWEST:
        raise newer_schema()
