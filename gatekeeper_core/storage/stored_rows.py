"""The rows of a store with tables, whatever the database: their keys, and the checksum that each one ends with.

::

    names ──> ThreadKey, UserKey, ScopeKey ──sealed──> the row, its checksum last
    a row that is read ──verify──> nothing, or DamagedRowError
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.storage.appending import check_name
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
from gatekeeper_core.storage.forgetting import TENANT

__all__ = [
    "CHUNK_BYTES",
    "DamagedRowError",
    "MEMORY_COLUMNS",
    "ScopeKey",
    "StoredMemory",
    "TABLES_OF_TENANT",
    "TABLES_OF_THREAD",
    "ThreadKey",
    "UserKey",
    "check_next_versions",
    "sealed",
    "verify",
]

TABLES_OF_THREAD = ("messages", "threads", "records", "blob_chunks", "blobs")
"""The tables that hold something of a thread."""

TABLES_OF_TENANT = (*TABLES_OF_THREAD, "memory_terms", "memory_sources", "memories")
"""The tables that hold something of a tenant: all but the tombstones."""

MEMORY_COLUMNS = "id, serial, is_current, key, category, body, terms, vector, vector_of, checksum"
"""The columns of ``StoredMemory``, in its order."""

CHUNK_BYTES = 32_768
"""Bytes of one piece of a blob. Source: ours; eight pages of the file, read in 20 µs."""


class DamagedRowError(Exception):
    """A row is not as it was written; the connection's owner names the file."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(table)


def sealed(table: bytes, *fields: bytes | int | None) -> tuple[bytes | int | None, ...]:
    """Return the fields of a row, its keys first, with their checksum behind them."""
    return (*fields, checksum(table, *fields))


def verify(table: bytes, *row: object) -> None:
    """Check a row against the checksum at its end.

    Raises:
        DamagedRowError: they do not belong together.
    """
    *fields, stored = row
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
        """Return the keys of a thread by its names, which are checked, as ``name`` writes them."""
        return cls(name(check_name(TENANT, tenant)), name(check_name("thread", thread)))


class UserKey(NamedTuple):
    """The keys of a user, as they are stored."""

    tenant: bytes
    user: bytes

    @classmethod
    def of(cls, scope: MemoryScope, *, name: Callable[[str], bytes] = encode_text) -> UserKey:
        """Return the keys of a user by the names, which are checked, as ``name`` writes them."""
        return cls(name(check_name(TENANT, scope.tenant)), name(check_name("user", scope.user)))


class ScopeKey(NamedTuple):
    """The keys of a scope of a thread's blobs, as they are stored."""

    tenant: bytes
    thread: bytes
    scope: bytes


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
        """Return the row of a memory; ``name`` writes what the store looks rows up by."""
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
        verify(b"memories", *key, *self)


def check_next_versions(records: Sequence[MemoryRecord], stored: Callable[[str], MemoryRecord | None]) -> None:
    """Check that each memory of a put, which may hold an id more than once, makes the version after the stored one.

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
