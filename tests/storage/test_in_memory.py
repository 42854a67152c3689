"""The stores in memory keep the contracts of all stores."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.storage.base import TermCounts
from gatekeeper_core.storage.in_memory import InMemoryBlobStore, InMemoryMemoryStore, InMemoryRecordStore
from tests.blob_store_contract import BlobStoreContract
from tests.memory_store_contract import ANN, MemoryStoreContract, record
from tests.record_store_contract import RecordStoreContract

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import BlobStore, MemoryStore, RecordStore


class TestBlobs(BlobStoreContract):
    def make_store(self) -> BlobStore:
        return InMemoryBlobStore()


class TestRecords(RecordStoreContract):
    def make_store(self) -> RecordStore:
        return InMemoryRecordStore()


class TestMemories(MemoryStoreContract):
    def make_store(self) -> MemoryStore:
        return InMemoryMemoryStore()


def test_a_hundred_thousand_memories_of_one_user_stay_usable() -> None:
    """004-58: terms are looked up in postings, whatever the number of memories."""
    store = InMemoryMemoryStore()
    store.put_memories(ANN, [record(f"m{n}", "common", f"term{n % 5000}") for n in range(100_000)])
    begin = time.process_time()
    for n in range(200):
        assert len(store.find_memories(ANN, terms=[f"term{n}", "common"], limit=50)) == 50
        store.put_memories(ANN, [record(f"m{n}", "common", version=2)])
    assert store.count_memories(ANN, ["common", "term0"]) == TermCounts(100_000, {"common": 100_000, "term0": 19})
    assert time.process_time() - begin < 2.0  # looking through all of them takes over 10 s


def test_only_records_are_put() -> None:
    with pytest.raises(TypeError, match="records must be MemoryRecord"):
        InMemoryMemoryStore().put_memories(ANN, ["I like tea"])  # type: ignore[list-item]


def test_only_bytes_are_stored() -> None:
    with pytest.raises(TypeError, match="data must be bytes"):
        InMemoryBlobStore().put("s", "a", "text")  # type: ignore[arg-type]
