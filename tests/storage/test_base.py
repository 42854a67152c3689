"""The contract of the stores: a class of the user's own fits by its methods alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.storage.base import BlobRecord
from tests.blob_store_contract import BlobStoreContract

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import BlobStore


class ListStore:
    """The simplest store that could work: it inherits nothing."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, bytes]] = []

    def put(self, scope: str, blob_id: str, data: bytes, /) -> None:
        self.delete(scope, blob_id)
        self._rows.append((scope, blob_id, data))

    def get(self, scope: str, blob_id: str, start: int = 0, end: int | None = None, /) -> bytes:
        for row in list(self._rows):
            if row[:2] == (scope, blob_id):
                return row[2][start:end]
        raise KeyError(blob_id)

    def delete(self, scope: str, blob_id: str | None = None, /) -> None:
        for row in list(self._rows):
            if row[0] == scope and blob_id in (None, row[1]):
                self._rows.remove(row)

    def used_bytes(self, scope: str, /) -> int:
        return sum(len(row[2]) for row in self._rows if row[0] == scope)

    def records(self, scope: str, /) -> tuple[BlobRecord, ...]:
        return tuple(BlobRecord(row[1], len(row[2])) for row in self._rows if row[0] == scope)


class TestAStoreOfTheUsersOwn(BlobStoreContract):
    def make_store(self) -> BlobStore:
        return ListStore()
