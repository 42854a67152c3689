"""Migrations: numbered, each in one transaction, run once by whoever comes first."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import CorruptionError, StorageError
from gatekeeper_core.storage.sqlite import SQLiteStore
from gatekeeper_core.storage.sqlite_schema import MIGRATIONS, has_only_our_tables, migrate, schema_state
from tests.message_store_contract import messages_of

if TYPE_CHECKING:
    from pathlib import Path

NEXT = "CREATE TABLE added (tenant BLOB); ALTER TABLE records ADD COLUMN note BLOB"


class NewerStore(SQLiteStore):
    _migrations = (*MIGRATIONS, NEXT)


def version_of(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


def test_every_table_and_every_index_begins_with_the_tenant() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert len(tables) == 8
    for table in tables:
        indexes = [row[1] for row in connection.execute(f"PRAGMA index_list({table})")]
        assert indexes
        for index in indexes:
            assert connection.execute(f"PRAGMA index_info({index})").fetchone()[2] == "tenant", index
    connection.close()


def test_an_older_file_is_brought_up_to_date_and_keeps_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SQLiteStore(path) as store:
        store.append_messages("acme", "t1", messages_of(0))
    with NewerStore(path) as newer, newer._lend("bare") as connection:
        assert schema_state(connection) == (2, False, True)
        assert has_only_our_tables(connection, newer._migrations)
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (1,)


def test_a_file_of_a_newer_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    NewerStore(path).close()
    with pytest.raises(StorageError, match="written by a newer version") as caught:
        SQLiteStore(path)
    assert not isinstance(caught.value, CorruptionError)
    assert version_of(path) == 2


def test_an_older_file_is_refused_where_it_must_not_be_migrated(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SQLiteStore(path).close()
    with pytest.raises(StorageError, match="written by an older version"):
        NewerStore(path, migrate=False)
    assert version_of(path) == 1
    with SQLiteStore(path, migrate=False) as store:
        assert store.found_schema_version == 1
    with NewerStore(path) as newer:
        assert newer.found_schema_version == 1


def test_a_store_that_another_process_brings_up_to_date_writes_no_more(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SQLiteStore(path) as store:
        store.append_messages("acme", "t1", messages_of(0))
        NewerStore(path).close()
        with pytest.raises(StorageError, match="written by a newer version"):
            store.append_messages("acme", "t1", messages_of(1))
