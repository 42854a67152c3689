"""One way to change a derived record: on what is stored, anew each time that another writer was faster."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_core.context.memory.records import (
    WRITE_ATTEMPTS,
    NewRecord,
    load_record,
    retry_conflicts,
    update_record,
)
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.errors import ConflictError
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore

if TYPE_CHECKING:
    from pathlib import Path

    from gatekeeper_core.storage.base import DerivedRecord, RecordStore

THREAD = Thread("t1", tenant="公司")


def longer(record: DerivedRecord | None) -> NewRecord:
    return NewRecord((record.body if record else "") + "字", 3)


@pytest.mark.parametrize("kind_of_store", ["memory", "sqlite"])
def test_of_many_writers_no_one_undoes_the_change_of_another(kind_of_store: str, tmp_path: Path) -> None:
    store: RecordStore = InMemoryStore() if kind_of_store == "memory" else SQLiteStore(tmp_path / "s.db")
    with ThreadPoolExecutor(4) as workers:
        list(workers.map(lambda _: update_record(store, THREAD, "tally", longer), range(40)))
    assert load_record(store, THREAD, "tally") == ("字" * 40, 3, 40)


def test_what_is_returned_is_what_is_stored_now() -> None:
    store = InMemoryStore()
    assert update_record(store, THREAD, "tally", lambda _: None) is None
    first = update_record(store, THREAD, "tally", longer)
    assert first == load_record(store, THREAD, "tally") == ("字", 3, 1)
    assert update_record(store, THREAD, "tally", lambda record: None) == first
    assert load_record(store, THREAD, "other") is None


def test_a_writer_that_always_comes_second_gives_up_after_so_many_attempts() -> None:
    tries = []

    def write() -> str:
        tries.append(1)
        if len(tries) < limit:
            raise ConflictError("tally", expected_version=0, stored_version=1)
        return "in"

    limit = WRITE_ATTEMPTS
    assert (retry_conflicts(write), len(tries)) == ("in", WRITE_ATTEMPTS)
    tries.clear()
    limit = WRITE_ATTEMPTS + 1
    with pytest.raises(ConflictError):
        retry_conflicts(write)
    assert len(tries) == WRITE_ATTEMPTS


def test_any_other_error_passes_at_once() -> None:
    tries = []

    def change(record: Any) -> NewRecord:
        tries.append(record)
        raise ValueError("the change")

    with pytest.raises(ValueError, match="the change"):
        update_record(InMemoryStore(), THREAD, "tally", change)
    assert len(tries) == 1


def test_what_is_no_thread_is_refused() -> None:
    with pytest.raises(TypeError, match="thread must be a Thread, got str"):
        update_record(InMemoryStore(), "t1", "tally", longer)  # type: ignore[arg-type]
