"""The whole store in memory keeps the contracts of its parts and of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.storage.in_memory_store import InMemoryStore
from tests.blob_store_contract import BlobStoreContract
from tests.memory_store_contract import MemoryStoreContract
from tests.message_store_contract import MessageStoreContract
from tests.record_store_contract import RecordStoreContract
from tests.store_contract import StoreContract

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import Store


class TestAllParts(MessageStoreContract, RecordStoreContract, MemoryStoreContract, BlobStoreContract, StoreContract):
    def make_store(self) -> Store:
        return InMemoryStore()
