"""The threads of one user in a store with tables.

A store does not know a thread's user: :func:`assign_thread` writes it to a derived record, deleted with the thread.
"""

from __future__ import annotations

import json
from typing import Any

from gatekeeper_core.errors import ConfigError, check_str
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import RecordStore
from gatekeeper_core.storage.codec import decode_text, encode_text
from gatekeeper_core.storage.tables import TableStore

OWNER_KIND = "owner"
"""The kind of the record that names the user of a thread."""

_HASHED = b"\xff"  # PostgresStore hashes names beyond 400 bytes: they cannot be read back

# One lookup in the primary key per thread: a DISTINCT would read every message.
_NEXT = "(SELECT m.thread FROM messages AS m WHERE m.tenant = ?{after} ORDER BY m.thread LIMIT 1)"
_LAST_SEQS = f"""
WITH RECURSIVE names (thread) AS (
    SELECT {_NEXT.format(after="")}
    UNION ALL
    SELECT {_NEXT.format(after=" AND m.thread > names.thread")} FROM names WHERE names.thread IS NOT NULL
)
SELECT thread, (SELECT max(m.seq) FROM messages AS m WHERE m.tenant = ? AND m.thread = names.thread) FROM names
WHERE thread IS NOT NULL
"""  # noqa: S608 - no input
_OWNED = " AND (SELECT r.body FROM records AS r WHERE r.tenant = ? AND r.thread = names.thread AND r.kind = ?) = ?"


def assign_thread(store: RecordStore, tenant: str, thread: str, user: str) -> None:
    """Set the user of a thread, replacing any earlier one.

    Raises:
        TypeError: a name is not a str.
        ConfigError: a name is empty.
        ConflictError: another writer named a user at the same time.
        ForgottenError: the thread was deleted for good.

    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> store = InMemoryStore()
    >>> assign_thread(store, "acme", "t1", "ann")
    >>> store.load_record("acme", "t1", OWNER_KIND).body
    '"ann"'
    """
    body = _owner(user)
    record = store.load_record(tenant, thread, OWNER_KIND)
    if record is None or record.body != body:
        version = record.version if record else 0
        store.save_record(tenant, thread, OWNER_KIND, body, upto_seq=-1, expected_version=version)


class UserThreads:
    """The threads of one user of a tenant, or all threads of the tenant.

    Args:
        store: a store with tables: ``SQLiteStore``, ``InMemoryStore`` or ``PostgresStore``.
        tenant: tenant of the threads; no method reads another tenant's.
        user: the user set with :func:`assign_thread`; defaults to all threads of the tenant.

    Raises:
        TypeError: a name is not a str.
        ConfigError: a name is empty.

    >>> from gatekeeper_core.messages import Message
    >>> from gatekeeper_core.storage.sqlite import InMemoryStore
    >>> store = InMemoryStore()
    >>> for thread in ("t1", "t2"):
    ...     _ = store.append_messages("acme", thread, [Message("user", "端口?")])
    >>> assign_thread(store, "acme", "t2", "ann")
    >>> UserThreads(store, "acme").last_seqs(), UserThreads(store, "acme", "ann").last_seqs()
    ({'t1': 0, 't2': 0}, {'t2': 0})
    """

    def __init__(self, store: TableStore, tenant: str, user: str | None = None) -> None:
        if not check_str("tenant", tenant):
            raise ConfigError("tenant must not be empty")
        self.store, self.tenant, self.user = store, tenant, user
        self._owner = None if user is None else _owner(user)

    def last_seqs(self) -> dict[str, int]:
        """Return the sequence number of the newest message of each thread with messages."""
        key = self.store._key(self.tenant)
        query, values = _LAST_SEQS, list[Any]([key, key, key])
        if self._owner is not None:
            query += _OWNED
            values += [key, self.store._key(OWNER_KIND), encode_text(self._owner)]
        with self.store._reading() as transaction:
            rows = transaction.rows(query, *values)
        return {decode_text(name): seq for name, seq in rows if not name.startswith(_HASHED)}

    def version(self) -> object:
        """Return a value that stays equal while nobody writes to the store.

        Source: SQLite counts others' commits (``data_version``) and our own changes, per connection; a snapshot of
        PostgreSQL shows the transactions that have written, also to other tables.
        """
        with self.store._reading() as transaction:
            if self.store.backend == "postgres":
                return transaction.rows("SELECT pg_current_snapshot()::text")[0]
            connection = getattr(transaction, "connection")  # noqa: B009 - the protocol of transactions has none
            return connection, *transaction.rows("PRAGMA data_version")[0], connection.total_changes

    def read(self, thread: str, *, from_seq: int = 0, limit: int | None = None) -> tuple[Message, ...]:
        """Return messages of a thread, oldest first; none if it is not one of these threads."""
        if self._owner is not None:
            record = self.store.load_record(self.tenant, thread, OWNER_KIND)
            if record is None or record.body != self._owner:
                return ()
        return self.store.read_messages(self.tenant, thread, from_seq=from_seq, limit=limit)


def _owner(user: str) -> str:
    if not check_str("user", user):
        raise ConfigError("user must not be empty")
    return json.dumps(user)
