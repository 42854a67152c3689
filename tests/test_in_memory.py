"""The stores in memory keep the contracts of all stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.storage.in_memory import InMemoryBlobStore, InMemoryRecordStore
from tests.blob_store_contract import BlobStoreContract
from tests.record_store_contract import RecordStoreContract

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import BlobStore, RecordStore


class TestBlobs(BlobStoreContract):
    def make_store(self) -> BlobStore:
        return InMemoryBlobStore()


class TestRecords(RecordStoreContract):
    def make_store(self) -> RecordStore:
        return InMemoryRecordStore()


def test_only_bytes_are_stored() -> None:
    with pytest.raises(TypeError, match="data must be bytes"):
        InMemoryBlobStore().put("s", "a", "text")  # type: ignore[arg-type]
