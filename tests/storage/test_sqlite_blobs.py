"""Blobs in a SQLite file: ranges across pieces, and pieces that were changed from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import CorruptionError
from gatekeeper_core.storage.sqlite import SQLiteStore
from gatekeeper_core.storage.stored_rows import CHUNK_BYTES
from tests.storage.test_sqlite_threads import changed

if TYPE_CHECKING:
    from pathlib import Path

BORDERS = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES + 5]
DATA = b"".join(n.to_bytes(4, "big") for n in range((3 * CHUNK_BYTES + 8) // 4))[: BORDERS[-1]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def test_a_range_is_a_slice_wherever_its_ends_lie(path: Path) -> None:
    with SQLiteStore(path) as store:
        for size in BORDERS:
            store.blobs_of("acme", "t1").put("s", str(size), DATA[:size])
            assert store.blobs_of("acme", "t1").get("s", str(size)) == DATA[:size]
        for start in BORDERS:
            for end in (*BORDERS, None, 10**12):
                assert store.blobs_of("acme", "t1").get("s", str(BORDERS[-1]), start, end) == DATA[start:end]
        assert store.check() == ()


def test_a_shorter_blob_leaves_nothing_of_a_longer_one(path: Path) -> None:
    with SQLiteStore(path) as store:
        store.blobs_of("acme", "t1").put("s", "a", DATA)
        store.blobs_of("acme", "t1").put("s", "a", b"short")
        assert (store.blobs_of("acme", "t1").get("s", "a"), store.blobs_of("acme", "t1").used_bytes("s")) == (
            b"short",
            5,
        )
        assert store.check() == ()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE blob_chunks SET data = zeroblob(32768) WHERE number = 1",
        "DELETE FROM blob_chunks WHERE number = 1",
        "UPDATE blob_chunks SET number = 7 WHERE number = 1",
        "UPDATE blob_chunks SET id = x'62' WHERE number = 1",
    ],
)
def test_a_changed_piece_is_never_given_back_and_the_others_are(path: Path, statement: str) -> None:
    with SQLiteStore(path) as store:
        store.blobs_of("acme", "t1").put("s", "a", DATA)
    changed(path, statement)
    with SQLiteStore(path) as store:
        assert store.blobs_of("acme", "t1").get("s", "a", 0, CHUNK_BYTES) == DATA[:CHUNK_BYTES]
        for start, end in ((0, None), (CHUNK_BYTES, CHUNK_BYTES + 1)):
            with pytest.raises(CorruptionError, match="blob_chunks"):
                store.blobs_of("acme", "t1").get("s", "a", start, end)
        assert store.check() != ()


def test_a_changed_size_is_never_believed(path: Path) -> None:
    with SQLiteStore(path) as store:
        store.blobs_of("acme", "t1").put("s", "a", DATA)
    changed(path, "UPDATE blobs SET size = 5")
    with SQLiteStore(path) as store:
        for read in (
            lambda: store.blobs_of("acme", "t1").get("s", "a"),
            lambda: store.blobs_of("acme", "t1").used_bytes("s"),
        ):
            with pytest.raises(CorruptionError, match="the table blobs"):
                read()
        assert "1 rows of the table blobs are damaged" in store.check()
