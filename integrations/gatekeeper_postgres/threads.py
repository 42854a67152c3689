"""The messages and the derived records of threads, in the tables of a PostgreSQL store.

Each function works within the transaction that its caller has begun, and checks every row that it reads: one that is
missing, or not as it was written, is a ``DamagedRowError``. Who appends to a thread holds its row to the end of the
transaction; a reading is of one state of the tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.appending import EncodedMessage, StoredMessage, plan_append
from gatekeeper_core.storage.base import DerivedRecord
from gatekeeper_core.storage.codec import decode_message, decode_text, encode_text
from gatekeeper_core.storage.stored_rows import DamagedRowError, ThreadKey, sealed, verify
from gatekeeper_postgres.statements import Statements, execute, name_key, rows_of

__all__ = ["append", "last_seq", "load_record", "read", "save_record"]

_THREAD = "SELECT last_seq, checksum FROM @threads WHERE tenant = %s AND thread = %s"
_LAST = """
SELECT t.last_seq, t.checksum, EXISTS (SELECT 1 FROM @messages AS m WHERE m.tenant = %s AND m.thread = %s)
FROM (VALUES (1)) AS one LEFT JOIN @threads AS t ON t.tenant = %s AND t.thread = %s
"""
"""In one statement, which sees one state of both tables."""

_MESSAGES = "SELECT seq, message_id, body, checksum FROM @messages WHERE tenant = %s AND thread = %s"
_RECORD = "SELECT body, upto_seq, version, checksum FROM @records WHERE tenant = %s AND thread = %s AND kind = %s"
_INSERT_MESSAGES = """
INSERT INTO @messages (tenant, thread, seq, message_id, body, checksum)
SELECT %s, %s, g.* FROM unnest(%s::bigint[], %s::bytea[], %s::bytea[], %s::bytea[]) AS g
"""
_INSERT_RECORD = """
INSERT INTO @records (tenant, thread, kind, body, upto_seq, version, checksum)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
_UPDATE_RECORD = """
UPDATE @records SET body = %s, upto_seq = %s, version = %s, checksum = %s
WHERE tenant = %s AND thread = %s AND kind = %s
"""


def last_seq(key: ThreadKey) -> Statements[int]:
    """Return the sequence number of a thread's newest message, -1 where there is none."""
    ((last, stored, has_messages),) = yield from rows_of(_LAST, *key, *key)
    if last is not None:
        verify(b"threads", *key, last, stored)
        return int(last)
    if has_messages:
        raise DamagedRowError("threads")
    return -1


def append(key: ThreadKey, given: Sequence[EncodedMessage], *, expected_seq: int | None) -> Statements[int]:
    """Store messages at the end of a thread; see ``MessageStore.append_messages``."""
    last = yield from (_held_last(key) if given else last_seq(key))
    names = {name_key(message.message_id): message.message_id for message in given if message.message_id}
    stored = {}
    if names:
        for row in (yield from rows_of(f"{_MESSAGES} AND message_id = ANY(%s)", *key, list(names))):
            verify(b"messages", *key, *row)
            stored[names[row[1]]] = StoredMessage(row[0], row[2])
    beside = yield from _beside(key, given, stored, last)
    plan = plan_append(given, stored, last_seq=last, expected_seq=expected_seq, bodies=lambda _start, _stop: beside)
    if plan.new:
        rows = [
            sealed(b"messages", *key, seq, name_key(name) if name else None, body)[2:]
            for seq, (name, body) in enumerate(plan.new, last + 1)
        ]
        yield from execute(_INSERT_MESSAGES, *key, *map(list, zip(*rows, strict=True)))
        update = "UPDATE @threads SET last_seq = %s, checksum = %s WHERE tenant = %s AND thread = %s"
        yield from execute(update, *sealed(b"threads", *key, last + len(rows))[2:], *key)
    return plan.seq


def read(key: ThreadKey, seqs: range) -> Statements[tuple[Message, ...]]:
    """Return messages by their sequence numbers."""
    bodies = yield from _bodies(key, seqs)
    try:
        return tuple(map(decode_message, bodies))
    except ValueError as error:
        raise DamagedRowError("messages") from error


def load_record(key: ThreadKey, kind: str, *, hold: bool = False) -> Statements[DerivedRecord | None]:
    """Return the newest record of a kind, or None; ``hold`` keeps others from changing it."""
    name = name_key(kind)
    rows = yield from rows_of(f"{_RECORD} FOR UPDATE" if hold else _RECORD, *key, name)
    if not rows:
        return None
    verify(b"records", *key, name, *rows[0])
    body, upto_seq, version, _ = rows[0]
    try:
        return DerivedRecord(decode_text(body), upto_seq, version)
    except ValueError as error:
        raise DamagedRowError("records") from error


def save_record(key: ThreadKey, kind: str, record: DerivedRecord, *, expected_version: int) -> Statements[None]:
    """Save a record in the place of the version that it was made from.

    Raises:
        ConflictError: another version is stored.
    """
    name = name_key(kind)
    stored = yield from load_record(key, kind, hold=True)
    _refuse_other(kind, stored, expected_version)
    values = sealed(b"records", *key, name, encode_text(record.body), record.upto_seq, record.version)[3:]
    if stored:
        yield from execute(_UPDATE_RECORD, *values, *key, name)
    elif not (yield from execute(_INSERT_RECORD, *key, name, *values)):
        _refuse_other(kind, (yield from load_record(key, kind)), expected_version)  # another one was faster
        raise DamagedRowError("records")


def _refuse_other(kind: str, stored: DerivedRecord | None, expected_version: int) -> None:
    version = stored.version if stored else 0
    if version != expected_version:
        raise ConflictError(kind, expected_version=expected_version, stored_version=version)


def _held_last(key: ThreadKey) -> Statements[int]:
    """Return the last sequence number of a thread, whose row is held from now on; a new thread gets one."""
    rows = yield from rows_of(f"{_THREAD} FOR UPDATE", *key)
    if not rows:
        insert = (
            "INSERT INTO @threads (tenant, thread, last_seq, checksum) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
        )
        if (yield from execute(insert, *sealed(b"threads", *key, -1))):
            if (yield from rows_of(_LAST, *key, *key))[0][2]:
                raise DamagedRowError("threads")  # messages, and no row of their thread
            return -1
        rows = yield from rows_of(f"{_THREAD} FOR UPDATE", *key)  # another writer was faster
    verify(b"threads", *key, *rows[0])
    return int(rows[0][0])


def _beside(
    key: ThreadKey, given: Sequence[EncodedMessage], stored: dict[str, StoredMessage], last: int
) -> Statements[list[bytes]]:
    """Return what is stored where the messages would stand if they were a repetition; without that case nothing."""
    if not stored or all(message.message_id for message in given):
        return []
    at, name = next((at, m.message_id) for at, m in enumerate(given) if m.message_id and m.message_id in stored)
    start = stored[name].seq - at
    return (yield from _bodies(key, range(start, min(start + len(given), last + 1)))) if start >= 0 else []


def _bodies(key: ThreadKey, seqs: range) -> Statements[list[bytes]]:
    if not seqs:
        return []
    rows = yield from rows_of(f"{_MESSAGES} AND seq >= %s AND seq < %s ORDER BY seq", *key, seqs.start, seqs.stop)
    if [row[0] for row in rows] != list(seqs):
        raise DamagedRowError("messages")
    for row in rows:
        verify(b"messages", *key, *row)
    return [row[2] for row in rows]
