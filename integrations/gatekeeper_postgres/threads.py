"""The messages and the derived records of threads, in the tables of a PostgreSQL store.

Each function works within the transaction that its caller has begun, and checks every row that it reads. Who appends to
a thread holds its row to the end of the transaction; a reading is of one state of the tables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.appending import EncodedMessage, StoredMessage, plan_append
from gatekeeper_core.storage.base import DerivedRecord
from gatekeeper_core.storage.codec import checksum, decode_message, decode_text, encode_text
from gatekeeper_core.storage.stored_rows import (
    DamagedRowError,
    ThreadKey,
    check_message,
    check_record,
    check_thread,
)
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
    """Return the sequence number of a thread's newest message, -1 where there is none.

    Raises:
        DamagedRowError: what is stored of the thread does not fit together.
    """
    ((last, stored, has_messages),) = yield from rows_of(_LAST, *key, *key)
    if last is not None:
        return _checked_last(key, last, stored)
    if has_messages:
        raise DamagedRowError("threads")
    return -1


def append(key: ThreadKey, given: Sequence[EncodedMessage], *, expected_seq: int | None) -> Statements[int]:
    """Store messages at the end of a thread; see ``MessageStore.append_messages``.

    Raises:
        ConflictError: see there.
        DamagedRowError: what is stored of the thread does not fit together.
    """
    last = yield from (_held_last(key) if given else last_seq(key))
    stored = yield from _stored(key, given)
    beside = yield from _beside(key, given, stored, last)
    plan = plan_append(given, stored, last_seq=last, expected_seq=expected_seq, bodies=lambda _start, _stop: beside)
    if plan.new:
        rows = []
        for seq, (name, body) in enumerate(plan.new, last + 1):
            message_id = name_key(name) if name else None
            rows.append((seq, message_id, body, checksum(b"messages", *key, seq, message_id, body)))
        yield from execute(_INSERT_MESSAGES, *key, *map(list, zip(*rows, strict=True)))
        last += len(rows)
        update = "UPDATE @threads SET last_seq = %s, checksum = %s WHERE tenant = %s AND thread = %s"
        yield from execute(update, last, checksum(b"threads", *key, last), *key)
    return plan.seq


def read(key: ThreadKey, seqs: range) -> Statements[tuple[Message, ...]]:
    """Return messages by their sequence numbers.

    Raises:
        DamagedRowError: one is not there, or not as it was written.
    """
    bodies = yield from _bodies(key, seqs)
    try:
        return tuple(map(decode_message, bodies))
    except ValueError as error:
        raise DamagedRowError("messages") from error


def load_record(key: ThreadKey, kind: str, *, hold: bool = False) -> Statements[DerivedRecord | None]:
    """Return the newest record of a kind, or None.

    Args:
        key: of which thread.
        kind: which of its records.
        hold: whether to keep others from changing it.

    Raises:
        DamagedRowError: it is not as it was written.
    """
    name = name_key(kind)
    rows = yield from rows_of(f"{_RECORD} FOR UPDATE" if hold else _RECORD, *key, name)
    if not rows:
        return None
    body, upto_seq, version, stored = rows[0]
    check_record(key, name, body, upto_seq, version, stored)
    try:
        return DerivedRecord(decode_text(body), upto_seq, version)
    except ValueError as error:
        raise DamagedRowError("records") from error


def save_record(key: ThreadKey, kind: str, record: DerivedRecord, *, expected_version: int) -> Statements[None]:
    """Save a record in the place of the version that it was made from.

    Raises:
        ConflictError: another version is stored.
        DamagedRowError: the one that is stored is damaged.
    """
    name = name_key(kind)
    stored = yield from load_record(key, kind, hold=True)
    _refuse_other(kind, stored, expected_version)
    body = encode_text(record.body)
    values = (body, record.upto_seq, record.version, checksum(b"records", *key, name, body, *record[1:]))
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
            "INSERT INTO @threads (tenant, thread, last_seq, checksum) VALUES (%s, %s, -1, %s) ON CONFLICT DO NOTHING"
        )
        if (yield from execute(insert, *key, checksum(b"threads", *key, -1))):
            if (yield from rows_of(_LAST, *key, *key))[0][2]:
                raise DamagedRowError("threads")  # messages, and no row of their thread
            return -1
        rows = yield from rows_of(f"{_THREAD} FOR UPDATE", *key)  # another writer was faster
    return _checked_last(key, *rows[0])


def _checked_last(key: ThreadKey, last: int, stored: bytes) -> int:
    check_thread(key, last, stored)
    return last


def _stored(key: ThreadKey, given: Collection[EncodedMessage]) -> Statements[dict[str, StoredMessage]]:
    """Return those of the messages that the thread holds under their id."""
    names = {name_key(message.message_id): message.message_id for message in given if message.message_id}
    if not names:
        return {}
    rows = yield from rows_of(f"{_MESSAGES} AND message_id = ANY(%s)", *key, list(names))
    found = {}
    for row in rows:
        check_message(key, *row)
        found[names[row[1]]] = StoredMessage(row[0], row[2])
    return found


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
        check_message(key, *row)
    return [row[2] for row in rows]
