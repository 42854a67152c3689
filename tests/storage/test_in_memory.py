"""The stores in memory keep the contracts of all stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from tests.blob_store_contract import BlobStoreContract

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import BlobStore


class TestBlobs(BlobStoreContract):
    def make_store(self) -> BlobStore:
        return InMemoryBlobStore()


def test_a_limit_of_all_blobs_lets_those_go_that_were_put_first() -> None:
    store = InMemoryBlobStore(max_bytes=10)
    for scope, blob_id, size in (("a", "1", 4), ("b", "1", 4), ("a", "1", 5), ("b", "2", 3)):
        store.put(scope, blob_id, b"x" * size)
    assert (store.used_bytes("a"), [one.id for one in store.records("b")]) == (5, ["2"])
    store.delete("a")
    store.put("c", "1", b"x" * 7)
    assert (store.used_bytes("b"), store.used_bytes("c")) == (3, 7)
    store.put("c", "2", b"x" * 99)  # larger than the limit, and all that is there
    assert (store.records("b"), [one.id for one in store.records("c")]) == ((), ["2"])


def test_a_scope_goes_with_its_last_blob() -> None:
    """A process that stores and deletes for ever would keep the name of each conversation."""
    store = InMemoryBlobStore()
    store.put("s", "a", b"1")
    store.put("s", "b", b"2")
    store.delete("s", "a")
    assert [blob.id for blob in store.records("s")] == ["b"]
    store.delete("s", "b")
    assert store._blobs == {}
