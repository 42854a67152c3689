"""The blobs of one thread keep the contract of every blob store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.storage.base import is_in_process
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.storage.in_memory_store import InMemoryStore
from gatekeeper_core.storage.thread_blobs import Owner, ThreadBlobs, thread_blobs
from tests.blob_store_contract import BlobStoreContract
from tests.faults import Remote

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import BlobStore


class TestBlobsOfOneThread(BlobStoreContract):
    def make_store(self) -> BlobStore:
        return ThreadBlobs(InMemoryStore(), Owner("acme", "t1"))


def test_a_store_that_tells_threads_apart_gives_each_its_own_blobs_and_any_other_one_itself() -> None:
    plain, whole = InMemoryBlobStore(), InMemoryStore()
    assert thread_blobs(plain, "acme", "t1") is plain
    thread_blobs(whole, "acme", "t1").put("s", "id", b"bytes")
    assert thread_blobs(whole, "acme", "t1").get("s", "id") == b"bytes"
    assert [thread_blobs(whole, *other).records("s") for other in (("acme", "t2"), ("other", "t1"))] == [(), ()]
    with pytest.raises(ConfigError, match="thread"):
        thread_blobs(whole, "acme", "")


def test_the_blobs_of_a_thread_wait_for_somebody_where_their_store_does() -> None:
    assert is_in_process(thread_blobs(InMemoryStore(), "acme", "t1"))
    assert not is_in_process(ThreadBlobs(Remote(InMemoryStore()), Owner("acme", "t1")))
