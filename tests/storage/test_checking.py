"""The checks of whole tables, whatever database holds them."""

from __future__ import annotations

from functools import partial

import pytest

from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.checking import MemorySums, RowSum, check_row, is_damaged
from gatekeeper_core.storage.codec import encode_message
from gatekeeper_core.storage.stored_rows import DamagedRowError, StoredMemory, UserKey, sealed
from tests.memory_store_contract import record


def test_a_row_is_damaged_where_its_checksum_or_its_content_is() -> None:
    body = encode_message(Message("user", "茶"))
    check_row("messages", *sealed(b"messages", b"acme", b"t1", 0, None, body))
    whole = sealed(b"records", b"acme", b"t1", b"task", b"{}", 0, 1)
    assert not is_damaged(partial(check_row, "records"), whole)
    with pytest.raises(DamagedRowError):
        check_row("messages", *sealed(b"records", b"acme", b"t1", 0, None, body))
    for table, fields in ((b"messages", (0, None, b"no message")), (b"records", (b"task", b"\xff", 0, 1))):
        with pytest.raises(ValueError, match=r"."):
            check_row(table.decode(), *sealed(table, b"acme", b"t1", *fields))
    assert is_damaged(partial(check_row, "records"), whole[1:])


def test_the_sums_of_memories_are_those_of_their_postings_and_sources() -> None:
    sums, terms, sources = MemorySums(), RowSum(), RowSum()
    user = UserKey.of(MemoryScope("acme", "ann"))
    memory = record("m1", "tea", "tea")
    memory = memory._replace(memory=memory.memory._replace(thread="t1"))
    sums.check(*user, *StoredMemory.of(user, memory, 7))
    terms.add(*user, b"tea", 7, b"m1")
    sources.add(b"acme", b"t1", b"ann", b"m1")
    assert {table: rows.total for table, rows in sums.by_table.items()} == {
        "memory_terms": terms.total,
        "memory_sources": sources.total,
    }
    closed = StoredMemory.of(user, record("m2", "tea", superseded_by="m1"), 7)
    sums.check(*user, *closed)
    assert sums.by_table["memory_terms"].total == terms.total
    with pytest.raises(DamagedRowError):
        sums.check(*user, *closed._replace(serial=8))


def test_a_sum_of_rows_knows_each_row_and_no_order() -> None:
    sums = [RowSum() for _ in range(3)]
    for total, rows in zip(sums, ([(b"a", 1), (b"b", 2)], [(b"b", 2), (b"a", 1)], [(b"a", 2), (b"b", 1)]), strict=True):
        for row in rows:
            total.add(*row)
    assert sums[0].total == sums[1].total != sums[2].total
