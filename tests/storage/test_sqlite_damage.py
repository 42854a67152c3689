"""A damaged file is found by SQLite, and what cannot be read is an error that can still be forgotten."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import CorruptionError
from gatekeeper_core.storage.sqlite import SQLiteStore
from tests.case_files import from_file, rows
from tests.store_contract import ANN, fill, seen

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with SQLiteStore(path) as store:
        fill(store)
        assert store.check() == ()
    return path


def changed(path: Path, *statements: str) -> None:
    """Change a closed store from outside."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


UNREADABLE = dict(rows("sqlite_damage", "unreadable"))


@pytest.mark.parametrize("table", UNREADABLE)
def test_a_row_that_cannot_be_read_is_an_error_that_names_the_file_and_no_content(path: Path, table: str) -> None:
    changed(path, UNREADABLE[table])
    with SQLiteStore(path) as store:
        reads = {
            "messages": lambda: store.read_messages("acme", "t1"),
            "records": lambda: store.load_record("acme", "t1", "summary"),
            "memories": lambda: store.get_memory(ANN, "m1"),
            "blobs": lambda: store.blobs_of("acme", "t1").records("scope"),
            "blob_chunks": lambda: store.blobs_of("acme", "t1").get("scope", "body"),
        }
        with pytest.raises(CorruptionError, match=r"store\.db: a stored") as caught:
            reads[table.partition(",")[0]]()
        assert "text of" not in str(caught.value)


@pytest.mark.parametrize("named", [{"thread": "t1"}, {"source": "t1"}, {"user": "ann"}, {}])
def test_what_cannot_be_read_can_still_be_forgotten(path: Path, named: dict[str, str]) -> None:
    changed(path, *(statement for table, statement in UNREADABLE.items() if table != "blob_chunks"))
    with SQLiteStore(path) as store:
        assert store.forget("acme", **named).is_purged
        assert store.get_memory(ANN, "m1") is None
        if not named:
            assert seen(store) == seen(store, "nobody")


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


@from_file("statement")
def test_a_trigger_or_a_changed_column_is_refused(path: Path, statement: str) -> None:
    changed(path, statement)
    with pytest.raises(CorruptionError, match="the tables were altered"):
        SQLiteStore(path)
