"""What every ``BlobStore`` must do, as a class of tests: a store's own test file inherits it and gives ``make_store``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.storage.base import thread_blobs
from gatekeeper_core.storage.tables import CHUNK_BYTES

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import BlobStore, Store

blobs = st.binary(max_size=200)
places = st.integers(0, 250)
BORDERS = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES + 5]
DATA = b"".join(n.to_bytes(4, "big") for n in range((3 * CHUNK_BYTES + 8) // 4))[: BORDERS[-1]]


class BlobStoreContract:
    def make_store(self) -> BlobStore | Store:
        raise NotImplementedError

    def make_blobs(self) -> BlobStore:
        """Return the store, of a whole one the blobs of a thread."""
        return thread_blobs(self.make_store(), "acme", "t1")

    def test_a_blob_comes_back_byte_for_byte_and_a_range_is_a_slice(self) -> None:
        @given(blobs, places, st.none() | places)
        def holds(data: bytes, start: int, end: int | None) -> None:
            store = self.make_blobs()
            store.put("s", "a", data)
            assert store.get("s", "a") == data
            assert store.get("s", "a", start, end) == data[start:end]
            assert store.used_bytes("s") == len(data)

        holds()

    def test_a_range_is_a_slice_wherever_its_ends_lie_and_a_shorter_blob_leaves_nothing_of_a_longer_one(self) -> None:
        """Also on the borders of the pieces that a database keeps it in."""
        store = self.make_blobs()
        for size in (*BORDERS, 5):
            store.put("s", "a", DATA[:size])
            assert (store.get("s", "a"), store.used_bytes("s")) == (DATA[:size], size)
        store.put("s", "a", DATA)
        for start in BORDERS:
            for end in (*BORDERS, None, 10**12):
                assert store.get("s", "a", start, end) == DATA[start:end]

    def test_the_same_id_in_two_scopes_is_two_blobs(self) -> None:
        store = self.make_blobs()
        store.put("one", "a", b"1")
        store.put("two", "a", b"22")
        assert (store.get("one", "a"), store.get("two", "a")) == (b"1", b"22")
        store.delete("one")
        assert store.used_bytes("one") == 0
        assert store.get("two", "a") == b"22"

    @pytest.mark.parametrize(("scope", "blob_id"), [("s", "b"), ("t", "a"), ("", "")])
    def test_what_is_not_there_is_a_key_error(self, scope: str, blob_id: str) -> None:
        store = self.make_blobs()
        store.put("s", "a", b"x")
        with pytest.raises(KeyError):
            store.get(scope, blob_id)
        with pytest.raises(KeyError):
            store.get(scope, blob_id, 0, 0)

    def test_a_second_put_replaces_the_first_and_is_the_newest(self) -> None:
        store = self.make_blobs()
        for blob_id, data in (("a", b"one"), ("b", b"two"), ("a", b"three")):
            store.put("s", blob_id, data)
        assert store.get("s", "a") == b"three"
        assert [tuple(record) for record in store.records("s")] == [("b", 3), ("a", 5)]
        assert store.used_bytes("s") == 8

    def test_one_blob_can_be_deleted_and_deleting_nothing_is_no_error(self) -> None:
        store = self.make_blobs()
        store.put("s", "a", b"x")
        store.put("s", "b", b"y")
        store.delete("s", "a")
        store.delete("s", "a")
        store.delete("nobody")
        assert [record.id for record in store.records("s")] == ["b"]
        store.delete("s")
        assert store.records("s") == ()
