"""The blobs of one thread keep the contract of every blob store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.storage.in_memory_store import InMemoryStore
from gatekeeper_core.storage.thread_blobs import Owner, ThreadBlobs
from tests.blob_store_contract import BlobStoreContract

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import BlobStore


class TestBlobsOfOneThread(BlobStoreContract):
    def make_store(self) -> BlobStore:
        return ThreadBlobs(InMemoryStore(), Owner("acme", "t1"))
