"""The store in memory keeps the contract of every blob store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from tests.blob_store_contract import BlobStoreContract

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import BlobStore


class TestInMemory(BlobStoreContract):
    def make_store(self) -> BlobStore:
        return InMemoryBlobStore()


def test_only_bytes_are_stored() -> None:
    with pytest.raises(TypeError, match="data must be bytes"):
        InMemoryBlobStore().put("s", "a", "text")  # type: ignore[arg-type]
