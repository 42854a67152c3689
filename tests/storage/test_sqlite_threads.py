"""Rows of threads that were changed from outside are noticed when they are read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from gatekeeper_core.errors import ConflictError, CorruptionError
from gatekeeper_core.storage.base import DerivedRecord
from gatekeeper_core.storage.sqlite import SQLiteStore
from gatekeeper_core.storage.stored_rows import ThreadKey
from tests.message_store_contract import ids_of, said

CHANGES = {
    "a byte of a text": "UPDATE messages SET body = replace(body, x'6d657373', x'6d657374') WHERE seq = 1",
    "a text that is another message's": "UPDATE messages SET body = (SELECT body FROM messages WHERE seq = 0) WHERE seq = 1",
    "a message gone": "DELETE FROM messages WHERE seq = 1",
    "the last message gone": "DELETE FROM messages WHERE seq = 2",
    "a message of another thread": "UPDATE messages SET thread = x'7431' WHERE thread = x'7432' AND seq = 3",
    "another tenant's message": "UPDATE messages SET tenant = x'61636d65', seq = 3, message_id = x'6d39' WHERE tenant = x'6f74686572'",
    "another number": "UPDATE messages SET seq = 9 WHERE seq = 1",
    "another count": "UPDATE threads SET last_seq = 1",
    "no count": "DELETE FROM threads",
    "a number that is none": "UPDATE threads SET last_seq = 'two'",
}


def changed(path: Path, statement: str) -> None:
    """Change a closed store from outside."""
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()


def read_all(store: SQLiteStore) -> list[object]:
    return [store.read_messages(tenant, thread) for tenant, thread in (("acme", "t1"), ("acme", "t2"), ("other", "t1"))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with SQLiteStore(path) as store:
        store.append_messages("acme", "t1", said(0, 1, 2))
        store.append_messages("acme", "t2", said(0, 1, 2, 3))
        store.append_messages("other", "t1", said(0))
        store.save_record("acme", "t1", "task", '"it"', upto_seq=2, expected_version=0)
    return path


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES.keys())
def test_a_changed_row_is_never_given_back(path: Path, statement: str) -> None:
    changed(path, statement)
    with SQLiteStore(path) as store:
        with pytest.raises(CorruptionError, match=r"store\.db: a row of the table") as caught:
            read_all(store)
        assert "mess" not in str(caught.value).replace("messages", "")
        assert store.check() != ()


@pytest.mark.parametrize("column", ["body = x'7b7d'", "upto_seq = 1", "version = 2", "kind = x'61'", "body = 'text'"])
def test_a_changed_record_is_never_given_back(path: Path, column: str) -> None:
    changed(path, f"UPDATE records SET {column}")  # noqa: S608 - the columns stand above
    with SQLiteStore(path) as store:
        kind = "a" if "kind" in column else "task"
        with pytest.raises(CorruptionError):
            store.load_record("acme", "t1", kind)
        with pytest.raises(CorruptionError):
            store.save_record("acme", "t1", kind, "{}", upto_seq=2, expected_version=1)
        assert store.check() == ("1 rows of the table records are damaged",)


def test_a_record_comes_back_with_the_last_message_that_it_has_read_and_its_version(path: Path) -> None:
    with SQLiteStore(path) as store:
        assert store.load_record("acme", "t1", "task") == DerivedRecord('"it"', upto_seq=2, version=1)


def test_a_repetition_is_compared_with_a_row_that_is_whole(path: Path) -> None:
    changed(path, CHANGES["a byte of a text"])
    with SQLiteStore(path) as store, pytest.raises(CorruptionError):
        store.append_messages("acme", "t1", said(1))


def test_a_range_reads_no_row_beside_it(path: Path) -> None:
    changed(path, CHANGES["a byte of a text"])
    with SQLiteStore(path) as store:
        assert [message.id for message in store.read_messages("acme", "t1", from_seq=2)] == ["m2"]
        assert store.last_seq("acme", "t1") == 2


def test_an_append_that_fails_in_the_middle_stores_nothing(path: Path) -> None:
    with SQLiteStore(path) as store:
        with pytest.raises(ConflictError):
            store.append_messages("acme", "t1", [*said(7, 8), *said(0, text="other")])
        assert ids_of(store) == ["m0", "m1", "m2"]


def test_the_keys_of_a_thread_are_its_names_as_bytes() -> None:
    assert ThreadKey.of("acme", "\ud800") == (b"acme", b"\xed\xa0\x80")
