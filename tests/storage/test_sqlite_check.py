"""Whatever is changed in a file from outside, the check finds it, and says nothing of the content."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import CorruptionError
from gatekeeper_core.storage.sqlite import SQLiteStore
from tests.storage.test_sqlite_threads import changed
from tests.store_contract import fill

if TYPE_CHECKING:
    from pathlib import Path

STATEMENTS = [
    "DELETE FROM threads",
    "DELETE FROM messages",
    "DELETE FROM messages WHERE seq = 1",
    "UPDATE records SET body = x'61'",
    "DELETE FROM memory_terms",
    "DELETE FROM memory_sources",
    "DELETE FROM memories WHERE id = x'6d31'",
    "UPDATE memory_sources SET source = x'7439' WHERE id = x'6d31'",
    "DELETE FROM blobs",
    "DELETE FROM blob_chunks",
    "UPDATE tombstones SET stone = zeroblob(16)",
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with SQLiteStore(path) as store:
        fill(store)
        store.forget("acme", user="nobody")
        assert store.check() == ()
    return path


@pytest.mark.parametrize("statement", STATEMENTS)
def test_each_kind_of_change_is_found(path: Path, statement: str) -> None:
    changed(path, statement)
    with SQLiteStore(path) as store:
        found = store.check()
    assert found
    assert not [line for line in found if "text of" in line or "long result" in line]


def test_an_index_without_its_rows_is_found(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'blobs_by_age')"
        " WHERE name = 'messages_by_id'"
    )
    connection.commit()
    connection.close()
    with SQLiteStore(path) as store:
        assert store.check()


@pytest.mark.parametrize("page", range(1, 8))
def test_a_page_of_zeros_is_found(path: Path, page: int) -> None:
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(bytes(4096))
    try:
        with SQLiteStore(path) as store:
            assert store.check()
    except CorruptionError:
        return  # it is found when the file is opened
