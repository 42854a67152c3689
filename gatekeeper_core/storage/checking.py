"""Whether the rows of a store with tables are whole, whatever the database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gatekeeper_core.storage.codec import checksum, decode_message, decode_text, encode_text
from gatekeeper_core.storage.forgetting import sources_of
from gatekeeper_core.storage.stored_rows import DamagedRowError, StoredMemory, UserKey, verify

__all__ = ["CHECKED_TABLES", "COUNTED_TABLES", "UNEQUAL", "MemorySums", "RowSum", "check_row", "damaged", "is_damaged"]

COUNTED_TABLES = ("threads", "messages", "records", "memories", "blobs", "tombstones")
"""The tables whose rows a ``StoreInfo`` counts, in its order."""

CHECKED_TABLES = ("threads", "messages", "records", "memories", "blobs", "blob_chunks", "tombstones")
"""The tables whose rows have a checksum, in the order of a check."""

UNEQUAL = {
    "threads": "threads have other messages than they are said to have",
    "blob_chunks": "blobs have another size than their pieces together",
}
"""By table, what its rows and those of another one may contradict each other in."""


def check_row(table: str, *row: Any) -> None:
    """Check a row of a table other than ``memories``, its content too.

    Raises:
        DamagedRowError: it does not belong to its checksum.
        ValueError: its content cannot be read.
    """
    verify(table.encode(), *row)
    if table == "messages":
        decode_message(row[4])
    elif table == "records":
        decode_text(row[3])


def is_damaged(check: Callable[..., object], row: Sequence[object]) -> bool:
    """Return whether a check refuses a row."""
    try:
        check(*row)
    except (DamagedRowError, ValueError, TypeError):
        return True
    return False


class RowSum:
    """A sum over rows that is the same for the same rows in any order."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, *row: bytes | int) -> None:
        """Add a row, by its checksum."""
        self.total += int.from_bytes(checksum(*row), "big")


class MemorySums:
    """Checks the rows of ``memories``, and sums up the rows of other tables that must belong to them.

    Attributes:
        by_table: the sums of ``memory_terms`` (tenant, user, term, serial, id) and ``memory_sources`` (tenant, source,
            user, id).
    """

    def __init__(self, name: Callable[[str], bytes] = encode_text) -> None:
        self._name = name
        self.by_table = {"memory_terms": RowSum(), "memory_sources": RowSum()}

    def check(self, tenant: bytes, user: bytes, *values: Any) -> StoredMemory:
        """Check a row, and add what belongs to it."""
        row = StoredMemory(*values)
        row.check(UserKey(tenant, user))
        record = row.record()
        for source in sources_of(record):
            self.by_table["memory_sources"].add(tenant, self._name(source), user, row.id)
        for term in set(map(self._name, record.terms)) if row.is_current else ():
            self.by_table["memory_terms"].add(tenant, user, term, row.serial, row.id)
        return row


def damaged(table: str, rows: int) -> list[str]:
    """Return what a check says of so many damaged rows."""
    return [f"{rows} rows of the table {table} are damaged"] if rows else []
