"""The tables of a PostgreSQL store: made once, whoever comes at once; refused where they are not ours or newer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest

from gatekeeper_core.errors import StorageError
from gatekeeper_postgres import PostgresStore, schema
from tests.message_store_contract import messages_of
from tests.store_contract import fill, seen

if TYPE_CHECKING:
    from collections.abc import Iterator


ADDED = "CREATE TABLE added (tenant bytea); ALTER TABLE records ADD COLUMN note bytea"


@pytest.fixture
def admin(conninfo: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        yield connection


def migrated(store: PostgresStore, migrations: tuple[str, ...]) -> int:
    with store._migrating() as transaction:
        return schema.migrate(transaction, "gatekeeper", migrations)


def test_every_table_is_known_and_begins_with_the_tenant(
    store: PostgresStore, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    query = "SELECT tablename FROM pg_tables WHERE schemaname = 'gatekeeper'"
    assert {name for (name,) in admin.execute(query)} == set(schema.TABLES)
    query = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'gatekeeper'"
    for name, definition in admin.execute(query):
        assert "(tenant, " in str(definition) or name == "context_gatekeeper_is_one", name


def test_many_that_open_an_empty_database_at_once_make_the_tables_once(conninfo: str) -> None:
    def opened(_: int) -> int:
        with PostgresStore(conninfo) as store:
            return store.append_messages("acme", "t1", messages_of(0))

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(opened, range(6))) == [0] * 6


def test_a_schema_of_another_program_is_refused_and_left_as_it_is(
    conninfo: str, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    admin.execute("CREATE SCHEMA gatekeeper")
    admin.execute("CREATE TABLE gatekeeper.messages (diary text)")
    with pytest.raises(
        StorageError, match="the schema gatekeeper holds tables of another program; nothing was changed"
    ):
        PostgresStore(conninfo)
    query = "SELECT tablename FROM pg_tables WHERE schemaname = 'gatekeeper'"
    assert list(admin.execute(query)) == [("messages",)]


def test_tables_of_a_newer_version_are_refused_also_when_they_come_while_the_store_is_open(
    store: PostgresStore, conninfo: str
) -> None:
    fill(store)
    assert migrated(store, (*schema.MIGRATIONS, ADDED)) == 1
    for write in (
        lambda: store.append_messages("acme", "t1", messages_of(2)),
        lambda: store.save_record("acme", "t1", "task", "{}", upto_seq=0, expected_version=0),
        lambda: store.blobs_of("acme", "t1").put("s", "a", b""),
        lambda: store.blobs_of("acme", "t1").delete("s"),
        lambda: store.forget("acme"),
        lambda: store.begin_anew("acme"),
        lambda: PostgresStore(conninfo),
    ):
        with pytest.raises(StorageError, match="a newer version of this library"):
            write()
    assert seen(store)["messages"]["t1"] == ["m0", "m1"]


def test_older_tables_are_brought_up_to_date_or_refused(
    store: PostgresStore, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    before = seen(store)
    monkeypatch.setattr("gatekeeper_postgres.store.NEWEST", 2)
    with pytest.raises(StorageError, match="an older version of this library: migrate them first"):
        PostgresStore(conninfo, migrate=False)
    assert seen(store) == before
    assert migrated(store, (*schema.MIGRATIONS, ADDED)) == 1
    assert migrated(store, (*schema.MIGRATIONS, ADDED)) == 0
    assert seen(store) == before


def test_a_store_that_is_not_there_is_not_made_unless_it_may(
    conninfo: str, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    with pytest.raises(StorageError, match=r"/test_[0-9]+: no store found"):
        PostgresStore(conninfo, create=False)
    assert admin.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'gatekeeper'").fetchone() is None
