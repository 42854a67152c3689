"""Forgetting in PostgreSQL: nothing that is late slips past it, and what cannot be cleared yet is said."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from gatekeeper_core.errors import CorruptionError, ForgottenError
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_postgres import PostgresStore, forgetting
from gatekeeper_postgres.schema import TABLES
from tests.memory_store_contract import record
from tests.message_store_contract import ids_of, said
from tests.store_contract import fill, memory, seen

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gatekeeper_postgres.statements import Statements

pytestmark = pytest.mark.postgres

ANN = MemoryScope("acme", "ann")

LATE: dict[str, Callable[[PostgresStore], object]] = {
    "append": lambda store: store.append_messages("acme", "t1", said(7)),
    "save": lambda store: store.save_record("acme", "t1", "task", "{}", upto_seq=0, expected_version=0),
    "remember": lambda store: store.put_memories(ANN, [memory("late", "t1")]),
    "put aside": lambda store: store.blobs_of("acme", "t1").put("scope", "late", b"x"),
}


def rows(conninfo: str) -> dict[str, int]:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        counts = {}
        for table in TABLES:
            row = connection.execute(f"SELECT count(*) FROM gatekeeper.{table}".encode()).fetchone()  # noqa: S608
            assert row is not None
            counts[table] = row[0]
        return counts


def test_of_a_forgotten_tenant_no_row_is_left_in_any_table(store: PostgresStore, conninfo: str) -> None:
    empty = rows(conninfo)
    fill(store)
    assert min(rows(conninfo).values()) >= 0
    assert store.forget("acme").is_purged
    assert rows(conninfo) == {**empty, "tombstones": 1}


@pytest.mark.parametrize("job", LATE.values(), ids=LATE)
def test_a_save_that_looked_for_the_tombstone_before_is_forgotten_with_the_rest(
    store: PostgresStore, conninfo: str, monkeypatch: pytest.MonkeyPatch, job: Callable[[PostgresStore], object]
) -> None:
    """The save has looked, the forgetting begins, the save goes on: nothing of it may be left."""
    fill(store)
    looked, go_on = threading.Event(), threading.Event()
    admit = forgetting.admit

    def slow(*names: Any, **more: Any) -> Statements[None]:
        yield from admit(*names, **more)
        looked.set()
        assert go_on.wait(20)

    monkeypatch.setattr(forgetting, "admit", slow)
    saving = threading.Thread(target=job, args=(store,))
    saving.start()
    assert looked.wait(20)
    with PostgresStore(conninfo) as other:
        gone: list[object] = []
        forgets = threading.Thread(target=lambda: gone.append(other.forget("acme", thread="t1")))
        forgets.start()
        time.sleep(0.1)
        assert gone == []  # it waits for the save
        go_on.set()
        saving.join()
        forgets.join()
        assert len(gone) == 1
        monkeypatch.undo()
        left = seen(other)
        assert left["messages"]["t1"] == []
        assert left["blobs"]["t1"] == ()
        assert other.load_record("acme", "t1", "task") is None
        assert other.get_memory(ANN, "late") is None
        assert other.check() == ()


@pytest.mark.parametrize("job", LATE.values(), ids=LATE)
def test_a_save_that_comes_while_something_is_forgotten_waits_and_is_refused(
    store: PostgresStore, conninfo: str, monkeypatch: pytest.MonkeyPatch, job: Callable[[PostgresStore], object]
) -> None:
    fill(store)
    deleted, go_on = threading.Event(), threading.Event()
    forget = forgetting.forget

    def slow(*names: Any) -> Statements[Any]:
        done = yield from forget(*names)
        deleted.set()
        assert go_on.wait(20)
        return done

    monkeypatch.setattr(forgetting, "forget", slow)
    forgets = threading.Thread(target=lambda: store.forget("acme", thread="t1"))
    forgets.start()
    assert deleted.wait(20)
    errors: list[BaseException] = []
    with PostgresStore(conninfo) as other:
        other.append_messages("neighbour", "t1", said(0))  # another tenant waits for nobody

        def save() -> None:
            try:
                job(other)
            except ForgottenError as error:
                errors.append(error)

        saving = threading.Thread(target=save)
        saving.start()
        time.sleep(0.1)
        assert saving.is_alive()
        go_on.set()
        saving.join()
        forgets.join()
        assert len(errors) == 1
        assert ids_of(other) == []


def test_rows_that_somebody_still_sees_are_gone_and_said_not_to_be_cleared(store: PostgresStore, conninfo: str) -> None:
    fill(store)
    with psycopg.connect(conninfo) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM gatekeeper.messages")
        forgotten = store.forget("acme", thread="t1")
        assert (forgotten.messages, forgotten.is_purged) == (2, False)
        assert ids_of(store) == []
        assert dead(conninfo) > 0
        reader.rollback()
    assert store.purge()
    assert dead(conninfo) == 0


def dead(conninfo: str) -> int:
    """Return how many deleted messages the server had to leave when it cleared the table."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        row = connection.execute("SELECT pg_stat_get_dead_tuples('gatekeeper.messages'::regclass)").fetchone()
        assert row is not None
        return int(row[0])


def test_a_role_that_may_not_clear_the_tables_is_told(store: PostgresStore, conninfo: str) -> None:
    fill(store)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
        try:
            connection.execute("GRANT USAGE ON SCHEMA gatekeeper TO guest")
            connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA gatekeeper TO guest")
            with PostgresStore(conninfo.replace("postgres@", "guest@"), create=False) as guest:
                gone = guest.forget("acme", thread="t1")
                assert (gone.messages, gone.is_purged) == (2, False)
            assert store.purge()
        finally:
            connection.execute("DROP OWNED BY guest")
            connection.execute("DROP ROLE guest")


def test_damaged_rows_are_no_content_and_can_be_forgotten(store: PostgresStore, conninfo: str) -> None:
    fill(store)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for table in ("messages", "records", "memories"):
            # A message and a record that could be read, were it not for the checksum.
            body = '{"content":"x","role":"user"}'
            connection.execute(f"UPDATE gatekeeper.{table} SET body = '{body}'".encode())  # noqa: S608
        connection.execute("UPDATE gatekeeper.blob_chunks SET data = 'x'")
    for read in (
        lambda: store.read_messages("acme", "t1"),
        lambda: store.load_record("acme", "t1", "summary"),
        lambda: store.find_memories(ANN, terms=["tea"], limit=9),
        lambda: store.get_memory(ANN, "m1"),
        lambda: store.blobs_of("acme", "t1").get("scope", "body"),
        lambda: store.save_record("acme", "t1", "summary", "{}", upto_seq=0, expected_version=1),
        lambda: store.put_memories(ANN, [record("m1", version=2)]),
    ):
        with pytest.raises(CorruptionError, match=r"a row of the table [a-z_]+ is damaged"):
            read()
    assert store.delete_memories(ANN, ["m3"]) == 1
    assert store.forget("acme", source="t1").memories == 3
    assert store.forget("acme").messages == 4
    assert store.check() == ()


def test_the_check_finds_each_kind_of_damage_and_says_nothing_of_the_content(
    store: PostgresStore, conninfo: str
) -> None:
    for change, words in (
        ("UPDATE @messages SET body = 'x' WHERE seq = 0", "2 rows of the table messages are damaged"),
        ("DELETE FROM @messages WHERE seq = 1", "2 threads have other messages than they are said to have"),
        ("UPDATE @threads SET last_seq = 7", "2 rows of the table threads are damaged"),
        ("UPDATE @records SET version = 7", "2 rows of the table records are damaged"),
        ("UPDATE @memories SET serial = serial + 10", "5 rows of the table memories are damaged"),
        ("UPDATE @memories SET dimensions = 3", "5 rows of the table memories are damaged"),
        ("DELETE FROM @memory_terms WHERE serial = 1", "the table memory_terms does not belong to the memories"),
        (
            "UPDATE @memory_sources SET source = source || 'x'",
            "the table memory_sources does not belong to the memories",
        ),
        ("DELETE FROM @blob_chunks", "2 blobs have another size than their pieces together"),
        ("UPDATE @blob_chunks SET data = 'x'", "2 rows of the table blob_chunks are damaged"),
        ("UPDATE @blobs SET name = 'x'", "2 rows of the table blobs are damaged"),
        ("UPDATE @tombstones SET checksum = 'x'", "1 rows of the table tombstones are damaged"),
    ):
        fill(store)
        store.forget("acme", user="nobody")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(change.replace("@", "gatekeeper.").encode())
        found = store.check()
        assert words in found, change
        assert "acme" not in str(found)
        store.forget("acme")
        store.begin_anew("acme")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("DELETE FROM gatekeeper.tombstones")
        assert store.check() == (), change
