"""What a row of a store with tables is: its keys, its checksum, and what is wrong with one that was changed.

::

    names ──keys──> ThreadKey, UserKey, ScopeKey ──fields──> checksum beside them in the row
    a row that is read ──check_…──> nothing, or DamagedRowError

Nothing here knows which database holds the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.storage.base import MemoryRecord, MemoryScope
from gatekeeper_core.storage.codec import (
    checksum,
    decode_memory,
    decode_terms,
    decode_text,
    decode_vector,
    encode_memory,
    encode_terms,
    encode_text,
    encode_vector,
)

__all__ = [
    "CHUNK_BYTES",
    "DamagedRowError",
    "RowSum",
    "ScopeKey",
    "StoredMemory",
    "TABLES_OF_TENANT",
    "TABLES_OF_THREAD",
    "ThreadKey",
    "UserKey",
    "check_blob",
    "check_chunk",
    "check_message",
    "check_next_versions",
    "check_record",
    "check_thread",
    "verify",
]

TABLES_OF_TENANT = (
    "messages",
    "threads",
    "records",
    "memory_terms",
    "memory_sources",
    "memories",
    "blob_chunks",
    "blobs",
)
"""The tables that hold something of a tenant: all but the tombstones, in the order in which they are emptied."""

TABLES_OF_THREAD = ("messages", "threads", "records", "blob_chunks", "blobs")
"""Those that hold something of a thread."""

CHUNK_BYTES = 32_768
"""Bytes of one piece. Source: ours; eight pages of the file, read in 20 µs."""


class DamagedRowError(Exception):
    """A row is not as it was written; the connection's owner names the file."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(table)


def verify(table: bytes, stored: object, *fields: object) -> None:
    """Check a row against its checksum.

    Args:
        table: the table's name.
        stored: the checksum in the row.
        fields: all else in the row, and the keys that it was asked for by.

    Raises:
        DamagedRowError: they do not belong together.
    """
    try:
        matches = checksum(table, *fields) == stored  # type: ignore[arg-type]  # a damaged row may hold anything
    except ValueError:
        matches = False
    if not matches:
        raise DamagedRowError(table.decode())


class ThreadKey(NamedTuple):
    """The keys of a thread, as they are stored."""

    tenant: bytes
    thread: bytes

    @classmethod
    def of(cls, tenant: str, thread: str, *, name: Callable[[str], bytes] = encode_text) -> ThreadKey:
        """Return the keys of a thread by its names, as ``name`` writes them."""
        return cls(name(tenant), name(thread))


class UserKey(NamedTuple):
    """The keys of a scope, as they are stored."""

    tenant: bytes
    user: bytes

    @classmethod
    def of(cls, scope: MemoryScope, *, name: Callable[[str], bytes] = encode_text) -> UserKey:
        """Return the keys of a scope, as ``name`` writes its names."""
        return cls(name(scope.tenant), name(scope.user))


class ScopeKey(NamedTuple):
    """The keys of a scope, as they are stored."""

    tenant: bytes
    thread: bytes
    scope: bytes

    @classmethod
    def of(cls, tenant: str, thread: str, scope: str, *, name: Callable[[str], bytes] = encode_text) -> ScopeKey:
        """Return the keys of a scope of a thread, as ``name`` writes its names."""
        return cls(name(tenant), name(thread), name(scope))


class StoredMemory(NamedTuple):
    """One row of ``memories``; ``serial`` grows with each put of the scope."""

    id: bytes
    serial: int
    is_current: int
    key: bytes | None
    category: bytes
    body: bytes
    terms: bytes
    vector: bytes | None
    vector_of: bytes
    checksum: bytes

    @classmethod
    def of(
        cls, key: UserKey, record: MemoryRecord, serial: int, *, name: Callable[[str], bytes] = encode_text
    ) -> StoredMemory:
        """Return the row of a memory.

        Args:
            key: whose memory.
            record: the memory.
            serial: counts the puts of the scope.
            name: how the store writes a name that it looks rows up by.
        """
        memory = record.memory
        fields = (
            name(memory.id),
            serial,
            int(memory.superseded_by is None),
            None if memory.key is None else name(memory.key),
            encode_text(memory.category),
            encode_memory(memory),
            encode_terms(record.terms),
            None if record.vector is None else encode_vector(record.vector),
            encode_text(record.vector_of),
        )
        return cls(*fields, checksum(b"memories", *key, *fields))

    def record(self) -> MemoryRecord:
        """Return the memory.

        Raises:
            DamagedRowError: it cannot be read.
        """
        try:
            vector = None if self.vector is None else decode_vector(self.vector)
            terms = decode_terms(self.terms)
            return MemoryRecord(decode_memory(self.body), terms, vector, decode_text(self.vector_of))
        except ValueError as error:
            raise DamagedRowError("memories") from error

    def check(self, key: UserKey) -> None:
        """Check the row against its checksum."""
        verify(b"memories", self.checksum, *key, *self[:-1])


def check_next_versions(records: Sequence[MemoryRecord], stored: Callable[[str], MemoryRecord | None]) -> None:
    """Check that each memory of a put makes the version that follows the stored one.

    Args:
        records: the memories of the put, in order; one id may stand in it more than once.
        stored: gives what is stored under an id, or None.

    Raises:
        ConflictError: one makes another version.
    """
    versions: dict[str, int] = {}
    for memory in (record.memory for record in records):
        if memory.id not in versions:
            before = stored(memory.id)
            versions[memory.id] = before.memory.version if before else 0
        if memory.version != versions[memory.id] + 1:
            raise ConflictError("memory", expected_version=memory.version - 1, stored_version=versions[memory.id])
        versions[memory.id] = memory.version


def check_thread(key: ThreadKey, last: object, stored: object) -> None:
    """Check a row of ``threads``."""
    verify(b"threads", stored, *key, last)


def check_message(key: ThreadKey, seq: object, message_id: object, body: object, stored: object) -> None:
    """Check a row of ``messages``."""
    verify(b"messages", stored, *key, seq, message_id, body)


def check_record(key: ThreadKey, kind: bytes, body: object, upto_seq: object, version: object, stored: object) -> None:
    """Check a row of ``records``."""
    verify(b"records", stored, *key, kind, body, upto_seq, version)


def check_blob(key: ScopeKey, name: object, serial: object, size: object, stored: object) -> None:
    """Check a row of ``blobs``."""
    verify(b"blobs", stored, *key, name, serial, size)


def check_chunk(key: ScopeKey, name: object, serial: object, number: object, data: object, stored: object) -> None:
    """Check a row of ``blob_chunks``; the serial number is that of its blob."""
    verify(b"blob_chunks", stored, *key, name, serial, number, data)


class RowSum:
    """A sum over rows that is the same for the same rows in any order."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, *row: bytes | int) -> None:
        """Add a row, by its checksum."""
        self.total += int.from_bytes(checksum(*row), "big")
