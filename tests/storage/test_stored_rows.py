"""Keys, checksums and versions of rows, whatever database holds them."""

from __future__ import annotations

import pytest

from gatekeeper_core.errors import ConflictError
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.codec import checksum
from gatekeeper_core.storage.stored_rows import (
    DamagedRowError,
    StoredMemory,
    ThreadKey,
    UserKey,
    check_next_versions,
    sealed,
    verify,
)
from tests.memory_store_contract import record

ANN = MemoryScope("acme", "ann")


def test_a_row_is_checked_with_all_of_its_fields() -> None:
    stored = checksum(b"table", b"acme", 1, None)
    verify(b"table", b"acme", 1, None, stored)
    assert sealed(b"table", b"acme", 1, None) == (b"acme", 1, None, stored)
    for fields in ((b"acme", 2, None), (b"other", 1, None), (b"acme", 1, "x"), (b"acme", 1, 1.0)):
        with pytest.raises(DamagedRowError):
            verify(b"table", *fields, stored)


def test_a_memory_is_the_same_after_its_row() -> None:
    memory = record("m1", "tea", "茶", key="drink", vector=(1.0, 0.5))
    row = StoredMemory.of(UserKey.of(ANN), memory, 7)
    assert row.record() == memory
    row.check(UserKey.of(ANN))
    for changed in (row._replace(serial=8), row._replace(vector=None), row._replace(is_current=0)):
        with pytest.raises(DamagedRowError):
            changed.check(UserKey.of(ANN))
    with pytest.raises(DamagedRowError):
        row.check(UserKey.of(MemoryScope("other", "ann")))
    with pytest.raises(DamagedRowError):
        row._replace(body=b"{}").record()


def test_keys_are_written_as_the_store_writes_names() -> None:
    def name(text: str) -> bytes:
        return text.upper().encode()

    assert ThreadKey.of("acme", "t1", name=name) == (b"ACME", b"T1")
    assert UserKey.of(ANN, name=name) == (b"ACME", b"ANN")
    row = StoredMemory.of(UserKey.of(ANN), record("m1", key="drink"), 1, name=name)
    assert (row.id, row.key) == (b"M1", b"DRINK")


def test_each_memory_of_a_put_makes_the_next_version() -> None:
    stored = {"m1": record("m1", version=3)}
    check_next_versions([record("m1", version=4), record("m1", version=5), record("m2")], stored.get)
    for wrong, expected, found in ((record("m1", version=3), 2, 3), (record("m2", version=2), 1, 0)):
        with pytest.raises(ConflictError) as caught:
            check_next_versions([wrong], stored.get)
        assert (caught.value.expected_version, caught.value.stored_version) == (expected, found)
