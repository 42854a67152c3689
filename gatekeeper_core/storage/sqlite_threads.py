"""The messages and the derived records of threads, in the tables of a SQLite store.

Each function works within the transaction that its caller has begun, and checks every row that it reads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.appending import EncodedMessage, StoredMessage, plan_append
from gatekeeper_core.storage.base import DerivedRecord
from gatekeeper_core.storage.codec import checksum, decode_message, decode_text, encode_text
from gatekeeper_core.storage.stored_rows import DamagedRowError, ThreadKey, check_message, check_record, check_thread

__all__ = ["append", "last_seq", "load_record", "read", "save_record"]

_MESSAGES = "SELECT seq, message_id, body, checksum FROM messages WHERE tenant = ? AND thread = ?"


def last_seq(connection: sqlite3.Connection, key: ThreadKey) -> int:
    """Return the sequence number of a thread's newest message, -1 where there is none.

    Raises:
        DamagedRowError: what is stored of the thread does not fit together.
    """
    row = connection.execute("SELECT last_seq, checksum FROM threads WHERE tenant = ? AND thread = ?", key).fetchone()
    if row is not None:
        check_thread(key, *row)
        return int(row[0])
    if connection.execute("SELECT 1 FROM messages WHERE tenant = ? AND thread = ? LIMIT 1", key).fetchone():
        raise DamagedRowError("threads")
    return -1


def append(
    connection: sqlite3.Connection, key: ThreadKey, given: Sequence[EncodedMessage], *, expected_seq: int | None
) -> int:
    """Store messages at the end of a thread; see ``MessageStore.append_messages``.

    Raises:
        ConflictError: see there.
        DamagedRowError: what is stored of the thread does not fit together.
    """
    last = last_seq(connection, key)
    plan = plan_append(
        given,
        _stored(connection, key, given),
        last_seq=last,
        expected_seq=expected_seq,
        bodies=lambda start, stop: _bodies(connection, key, range(start, min(stop, last + 1))),
    )
    rows = []
    for seq, (name, body) in enumerate(plan.new, last + 1):
        message_id = encode_text(name) if name else None
        rows.append((*key, seq, message_id, body, checksum(b"messages", *key, seq, message_id, body)))
    if rows:
        connection.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", rows)
        last += len(rows)
        row = (*key, last, checksum(b"threads", *key, last))
        connection.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?)", row)
    return plan.seq


def read(connection: sqlite3.Connection, key: ThreadKey, seqs: range) -> tuple[Message, ...]:
    """Return messages by their sequence numbers.

    Raises:
        DamagedRowError: one is not there, or not as it was written.
    """
    try:
        return tuple(map(decode_message, _bodies(connection, key, seqs)))
    except ValueError as error:
        raise DamagedRowError("messages") from error


def load_record(connection: sqlite3.Connection, key: ThreadKey, kind: bytes) -> DerivedRecord | None:
    """Return the newest record of a kind, or None.

    Raises:
        DamagedRowError: it is not as it was written.
    """
    query = "SELECT body, upto_seq, version, checksum FROM records WHERE tenant = ? AND thread = ? AND kind = ?"
    row = connection.execute(query, (*key, kind)).fetchone()
    if row is None:
        return None
    check_record(key, kind, *row)
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
        DamagedRowError: the one that is stored is damaged.
    """
    stored = load_record(connection, key, kind)
    version = stored.version if stored else 0
    if version != expected_version:
        raise ConflictError(decode_text(kind), expected_version=expected_version, stored_version=version)
    fields = (*key, kind, encode_text(record.body), record.upto_seq, record.version)
    row = (*fields, checksum(b"records", *fields))
    connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def _stored(
    connection: sqlite3.Connection, key: ThreadKey, given: Sequence[EncodedMessage]
) -> dict[str, StoredMessage]:
    """Return those of the messages that the thread holds under their id."""
    found = {}
    for name in {message.message_id for message in given if message.message_id}:
        message_id = encode_text(name)
        row = connection.execute(f"{_MESSAGES} AND message_id = ?", (*key, message_id)).fetchone()
        if row is not None:
            check_message(key, row[0], message_id, row[2], row[3])
            found[name] = StoredMessage(row[0], row[2])
    return found


def _bodies(connection: sqlite3.Connection, key: ThreadKey, seqs: range) -> list[bytes]:
    query = f"{_MESSAGES} AND seq >= ? AND seq < ? ORDER BY seq"
    rows = connection.execute(query, (*key, seqs.start, seqs.stop)).fetchall()
    if [row[0] for row in rows] != list(seqs):
        raise DamagedRowError("messages")
    for row in rows:
        check_message(key, *row)
    return [row[2] for row in rows]
