"""Memories in a SQLite file: postings, vectors, and rows that were changed from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import CorruptionError
from gatekeeper_core.storage import sqlite_memories
from gatekeeper_core.storage.base import EarlierText, MemoryRecord, TermCounts
from gatekeeper_core.storage.sqlite import SQLiteStore
from gatekeeper_core.vectors import unit_vector
from tests.memory_store_contract import ANN, ids, record
from tests.storage.test_sqlite_threads import changed
from tests.timing import least_seconds

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def test_a_closed_memory_takes_no_posting_of_another_one_along(path: Path) -> None:
    """A closed memory's number may be given again, to one that holds the same term."""
    with SQLiteStore(path) as store:
        store.put_memories(ANN, [record("old", "tea")])
        store.put_memories(ANN, [record("old", "tea", version=2, superseded_by="new")])
        store.put_memories(ANN, [record("new", "tea")])
        assert store.delete_memories(ANN, ["old"]) == 1
        assert ids(store.find_memories(ANN, terms=["tea"], limit=9)) == ["new"]
        assert store.check() == ()


def test_what_a_forgotten_thread_said_leaves_each_memory_and_none_becomes_newer(path: Path) -> None:
    def said_in(thread: str, memory_id: str, *earlier: str) -> MemoryRecord:
        texts = tuple(EarlierText("before", 0.0, source, 0) for source in earlier)
        found = record(memory_id, "tea")
        return found._replace(memory=found.memory._replace(thread=thread, earlier=texts))

    with SQLiteStore(path) as store:
        given = [said_in("t2", "reworded", "t1", "t2"), said_in("t1", "own"), said_in("t1", "damaged")]
        store.put_memories(ANN, [*given, said_in("t2", "newest")])
    changed(path, "UPDATE memories SET body = x'7b7d' WHERE id = x'64616d61676564'")
    with SQLiteStore(path) as store:
        assert store.forget(ANN.tenant, source="t1").memories == 3
        left = store.find_memories(ANN, limit=9)
        assert [found.memory.id for found in left] == ["newest", "reworded"]
        assert [(text.thread, left[1].memory.version) for text in left[1].memory.earlier] == [("t2", 2)]
        assert store.check() == ()


def test_of_very_many_vectors_the_newest_are_compared(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_memories, "MAX_COMPARED_VECTORS", 3)
    with SQLiteStore(path) as store:
        store.put_memories(ANN, [record("exact", vector=(1.0, 0.0))])
        store.put_memories(ANN, [record(f"m{n}", vector=(1.0, n + 1.0)) for n in range(3)])
        assert ids(store.find_memories(ANN, vector=unit_vector([1.0, 0.0]), limit=1)) == ["m0"]


def test_a_term_among_very_many_memories_is_looked_up_in_postings(path: Path) -> None:
    """004-58: whatever the number of memories."""
    with SQLiteStore(path) as store:
        store.put_memories(ANN, [record(f"m{n}", "common", f"term{n % 1000}") for n in range(5_000)])

        def finds(limit: int) -> Callable[[], object]:
            def find() -> None:
                for n in range(2):
                    assert len(store.find_memories(ANN, terms=[f"term{n}", "common"], limit=limit)) == limit

            return find

        # Each memory that is found is read, so 20 of them cost little beside all.
        assert 5 * least_seconds(finds(20)) < least_seconds(finds(5_000))
        assert store.count_memories(ANN, ["common", "term0"]) == TermCounts(5_000, {"common": 5_000, "term0": 5})


@pytest.mark.parametrize(
    "change",
    [
        "body = replace(body, x'746561', x'746562')",
        "vector = x'0000803f00000000'",
        "key = x'61'",
        "category = x'61'",
        "serial = serial + 1",
        "terms = x'5b5d'",
        "user = x'626f62'",
    ],
)
def test_a_changed_memory_is_never_given_back(path: Path, change: str) -> None:
    with SQLiteStore(path) as store:
        store.put_memories(ANN, [record("m1", "tea", key="drink", vector=(0.0, 1.0))])
    changed(path, f"UPDATE memories SET {change}")  # noqa: S608 - the changes stand above
    scope = ANN._replace(user="bob") if "user" in change else ANN
    with SQLiteStore(path) as store:
        with pytest.raises(CorruptionError, match="memories is damaged"):
            store.get_memory(scope, "m1")
        for terms, vector in ((("tea",), None), ((), unit_vector([0.0, 1.0])), ((), None)):
            if not terms or scope == ANN:  # the postings are still the other user's
                with pytest.raises(CorruptionError):
                    store.find_memories(scope, terms=terms, vector=vector, limit=1)
        assert "1 rows of the table memories are damaged" in store.check()


def test_a_posting_of_a_term_that_the_memory_does_not_hold_is_damage(path: Path) -> None:
    with SQLiteStore(path) as store:
        store.put_memories(ANN, [record("m1", "tea"), record("m2", "coffee")])
    changed(path, "UPDATE memory_terms SET term = x'6d696c6b' WHERE term = x'746561'")
    with SQLiteStore(path) as store:
        with pytest.raises(CorruptionError, match="memory_terms"):
            store.find_memories(ANN, terms=["milk"], limit=1)
        assert store.check() == ("the table memory_terms does not belong to the memories",)
