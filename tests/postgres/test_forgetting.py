"""Forgetting in PostgreSQL: nothing that is late slips past it, and what cannot be cleared yet is said."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from gatekeeper_core.errors import ForgottenError
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_postgres import PostgresStore
from tests.message_store_contract import ids_of, messages_of
from tests.store_contract import fill, memory, seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gatekeeper_postgres.connections import PostgresTransaction


ANN = MemoryScope("acme", "ann")

LATE: dict[str, Callable[[PostgresStore], object]] = {
    "append": lambda store: store.append_messages("acme", "t1", messages_of(7)),
    "save": lambda store: store.save_record("acme", "t1", "task", "{}", upto_seq=0, expected_version=0),
    "remember": lambda store: store.put_memories(ANN, [memory("late", "t1")]),
    "put aside": lambda store: store.blobs_of("acme", "t1").put("scope", "late", b"x"),
}


@pytest.mark.parametrize("job", LATE.values(), ids=LATE)
def test_a_save_that_looked_for_the_tombstone_before_is_forgotten_with_the_rest(
    store: PostgresStore, conninfo: str, monkeypatch: pytest.MonkeyPatch, job: Callable[[PostgresStore], object]
) -> None:
    """The save has looked, the forgetting begins, the save goes on: nothing of it may be left."""
    fill(store)
    looked, go_on = threading.Event(), threading.Event()
    real = store._saving

    @contextmanager
    def slow(*names: Any, **more: Any) -> Iterator[PostgresTransaction]:
        with real(*names, **more) as transaction:
            looked.set()
            assert go_on.wait(20)
            yield transaction

    monkeypatch.setattr(store, "_saving", slow)
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
        remaining = seen(other)
        assert remaining["messages"]["t1"] == []
        assert remaining["blobs"]["t1"] == ()
        assert other.load_record("acme", "t1", "task") is None
        assert other.get_memory(ANN, "late") is None


@pytest.mark.parametrize("job", LATE.values(), ids=LATE)
def test_a_save_that_comes_while_something_is_forgotten_waits_and_is_refused(
    store: PostgresStore, conninfo: str, monkeypatch: pytest.MonkeyPatch, job: Callable[[PostgresStore], object]
) -> None:
    fill(store)
    deleted, go_on = threading.Event(), threading.Event()
    real = store._writing

    @contextmanager
    def slow(*names: Any, **more: Any) -> Iterator[PostgresTransaction]:
        with real(*names, **more) as transaction:
            yield transaction
            deleted.set()
            assert go_on.wait(20)

    monkeypatch.setattr(store, "_writing", slow)
    forgets = threading.Thread(target=lambda: store.forget("acme", thread="t1"))
    forgets.start()
    assert deleted.wait(20)
    errors: list[BaseException] = []
    with PostgresStore(conninfo) as other:
        other.append_messages("neighbour", "t1", messages_of(0))  # another tenant waits for nobody

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
        return int(row[0])
