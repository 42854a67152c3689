"""Forgetting works on damaged rows as well, and says what it could not clear."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import CorruptionError
from gatekeeper_core.storage.sqlite import SQLiteStore
from tests.message_store_contract import said
from tests.storage.test_sqlite_threads import changed
from tests.store_contract import ANN, fill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.mark.parametrize("named", [{"thread": "t1"}, {"source": "t1"}, {"user": "ann"}, {}])
def test_what_is_damaged_can_still_be_forgotten(path: Path, named: dict[str, str]) -> None:
    with SQLiteStore(path) as store:
        fill(store)
    for statement in (
        "UPDATE memories SET body = x'61'",
        "UPDATE messages SET body = x'61'",
        "UPDATE records SET body = x'61'",
    ):
        changed(path, statement)
    with SQLiteStore(path) as store:
        assert store.forget("acme", **named).is_purged
        assert store.get_memory(ANN, "m1") is None
        assert bool(store.check()) == bool(named)


def test_a_damaged_memory_can_be_deleted_with_its_postings(path: Path) -> None:
    with SQLiteStore(path) as store:
        fill(store)
    changed(path, "UPDATE memories SET body = x'61'")
    with SQLiteStore(path) as store:
        assert store.delete_memories(ANN, ["m1", "m2", "m3"]) == 3
        assert store.delete_memories(ANN._replace(user="bob")) == 2
        assert store.check() == ()


def test_a_damaged_tombstone_lets_nothing_through(path: Path) -> None:
    with SQLiteStore(path) as store:
        store.forget("acme", thread="t1")
    changed(path, "UPDATE tombstones SET checksum = x'00'")
    with SQLiteStore(path) as store, pytest.raises(CorruptionError, match="tombstones"):
        store.append_messages("acme", "t1", said(0))


def test_a_purge_that_fails_is_logged_without_content(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with SQLiteStore(path, busy_timeout_ms=1) as store, SQLiteStore(path) as other:
        store.append_messages("acme", "t1", said(0))
        with caplog.at_level(logging.WARNING, "gatekeeper.storage"), other._connections.writing():
            assert not store.purge()
        assert [(entry.message, entry.gatekeeper_error) for entry in caplog.records] == [  # type: ignore[attr-defined]
            ("purge of the store failed", "OperationalError")
        ]
        assert store.purge()
