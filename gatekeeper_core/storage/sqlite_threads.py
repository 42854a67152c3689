"""The messages and the derived records of threads, in the tables of a SQLite store.

Each function works within the transaction that its caller has begun, and checks every row that it reads: one that is
missing, or not as it was written, is a ``DamagedRowError``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.appending import EncodedMessage, StoredMessage, plan_append
from gatekeeper_core.storage.base import DerivedRecord
from gatekeeper_core.storage.codec import decode_message, decode_text, encode_text
from gatekeeper_core.storage.stored_rows import DamagedRowError, ThreadKey, sealed, verify

__all__ = ["append", "last_seq", "load_record", "read", "save_record"]

_MESSAGES = "SELECT seq, message_id, body, checksum FROM messages WHERE tenant = ? AND thread = ?"


def last_seq(connection: sqlite3.Connection, key: ThreadKey) -> int:
    """Return the sequence number of a thread's newest message, -1 where there is none."""
    row = connection.execute("SELECT last_seq, checksum FROM threads WHERE tenant = ? AND thread = ?", key).fetchone()
    if row is not None:
        verify(b"threads", *key, *row)
        return int(row[0])
    if connection.execute("SELECT 1 FROM messages WHERE tenant = ? AND thread = ? LIMIT 1", key).fetchone():
        raise DamagedRowError("threads")
    return -1


def append(
    connection: sqlite3.Connection, key: ThreadKey, given: Sequence[EncodedMessage], *, expected_seq: int | None
) -> int:
    """Store messages at the end of a thread; see ``MessageStore.append_messages``."""
    last = last_seq(connection, key)
    stored = {}
    for name in {message.message_id for message in given if message.message_id}:
        row = connection.execute(f"{_MESSAGES} AND message_id = ?", (*key, encode_text(name))).fetchone()
        if row is not None:
            seq, _, body, stored_sum = row
            verify(b"messages", *key, seq, encode_text(name), body, stored_sum)
            stored[name] = StoredMessage(seq, body)
    plan = plan_append(
        given,
        stored,
        last_seq=last,
        expected_seq=expected_seq,
        bodies=lambda start, stop: _bodies(connection, key, range(start, min(stop, last + 1))),
    )
    rows = [
        sealed(b"messages", *key, seq, encode_text(name) if name else None, body)
        for seq, (name, body) in enumerate(plan.new, last + 1)
    ]
    if rows:
        connection.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", rows)
        row = sealed(b"threads", *key, last + len(rows))
        connection.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?)", row)
    return plan.seq


def read(connection: sqlite3.Connection, key: ThreadKey, seqs: range) -> tuple[Message, ...]:
    """Return messages by their sequence numbers."""
    try:
        return tuple(map(decode_message, _bodies(connection, key, seqs)))
    except ValueError as error:
        raise DamagedRowError("messages") from error


def load_record(connection: sqlite3.Connection, key: ThreadKey, kind: bytes) -> DerivedRecord | None:
    """Return the newest record of a kind, or None."""
    query = "SELECT body, upto_seq, version, checksum FROM records WHERE tenant = ? AND thread = ? AND kind = ?"
    row = connection.execute(query, (*key, kind)).fetchone()
    if row is None:
        return None
    verify(b"records", *key, kind, *row)
    try:
        return DerivedRecord(decode_text(row[0]), row[1], row[2])
    except ValueError as error:
        raise DamagedRowError("records") from error


def save_record(
    connection: sqlite3.Connection, key: ThreadKey, kind: bytes, record: DerivedRecord, *, expected_version: int
) -> None:
    """Save a record in the place of the version that it was made from.

    Raises:
        ConflictError: another version is stored.
    """
    stored = load_record(connection, key, kind)
    version = stored.version if stored else 0
    if version != expected_version:
        raise ConflictError(decode_text(kind), expected_version=expected_version, stored_version=version)
    row = sealed(b"records", *key, kind, encode_text(record.body), record.upto_seq, record.version)
    connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def _bodies(connection: sqlite3.Connection, key: ThreadKey, seqs: range) -> list[bytes]:
    query = f"{_MESSAGES} AND seq >= ? AND seq < ? ORDER BY seq"
    rows = connection.execute(query, (*key, seqs.start, seqs.stop)).fetchall()
    if [row[0] for row in rows] != list(seqs):
        raise DamagedRowError("messages")
    for row in rows:
        verify(b"messages", *key, *row)
    return [row[2] for row in rows]
