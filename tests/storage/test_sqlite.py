"""The store in a SQLite file keeps every contract, and what is said of its file."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import StorageError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage import tables
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from gatekeeper_core.vectors import unit_vector
from tests.blob_store_contract import BlobStoreContract
from tests.memory_store_contract import ANN, MemoryStoreContract, ids, record
from tests.message_store_contract import MessageStoreContract, ids_of, messages_of
from tests.record_store_contract import RecordStoreContract
from tests.store_contract import StoreContract, fill, seen
from tests.timing import assert_slower

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper_core.storage.base import Store


class TestAllParts(MessageStoreContract, RecordStoreContract, MemoryStoreContract, BlobStoreContract, StoreContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> Iterator[None]:
        self._path, self._stores = tmp_path, list[SQLiteStore]()
        yield
        for store in self._stores:
            assert store.check() == ()
            store.close()

    def make_store(self) -> Store:
        store = SQLiteStore(self._path / f"{len(self._stores)}.db")
        self._stores.append(store)
        return store


class TestInMemory(MessageStoreContract, RecordStoreContract, MemoryStoreContract, BlobStoreContract, StoreContract):
    def make_store(self) -> Store:
        return InMemoryStore()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def test_what_was_stored_is_there_when_the_file_is_opened_again(path: Path) -> None:
    """004-32: messages, derived records, memories and blobs."""
    with SQLiteStore(path) as store:
        fill(store)
        before = seen(store)
    with SQLiteStore(path) as store:
        assert seen(store) == before
        assert store.append_messages("acme", "t1", messages_of(1, 2)) == 2
        assert store.check() == ()


def files_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


@pytest.mark.parametrize("named", [{"thread": "thread-of-hers"}, {"user": "ann"}, {}], ids=["thread", "user", "tenant"])
def test_a_search_of_the_files_finds_nothing_of_what_was_forgotten(path: Path, named: dict[str, str]) -> None:
    """Neither the file nor its log holds a text, an id or a name; also not of what had been changed or moved before."""
    secret, kept = "我住在汉堡的 Elbchaussee", "she has a dog"
    scope, others = MemoryScope("acme", "ann"), MemoryScope("acme", "bob")
    with SQLiteStore(path) as store:
        for n in range(30):
            store.append_messages("acme", "thread-of-hers", [Message("user", f"{secret} {n}", id=f"hers-{n}")])
            store.append_messages("acme", "t2", [Message("user", f"{kept} {n}", id=f"his-{n}")])
        for version in range(1, 4):
            memory = record("hers-m", "elbchaussee", version=version)
            of_hers = memory.memory._replace(text=secret, thread="thread-of-hers")
            store.put_memories(scope, [memory._replace(memory=of_hers)])
            store.save_record("acme", "thread-of-hers", "summary", secret, upto_seq=1, expected_version=version - 1)
        store.put_memories(others, [record("his-m", "dog")])
        store.blobs_of("acme", "thread-of-hers").put("s", "b", f"{secret} ".encode() * 5_000)
        assert secret.encode() in files_of(path)
        assert store.forget("acme", **named).is_purged
        if "user" in named:
            assert store.forget("acme", thread="thread-of-hers").is_purged
        found = files_of(path)
        for needle in (secret, "汉堡", "Elbchaussee", "elbchaussee", "hers-1", "thread-of-hers", "hers-m"):
            assert needle.encode() not in found, needle
        assert (kept.encode() in found) == bool(named)
        assert store.check() == ()


def test_rows_that_cannot_be_purged_are_gone_all_the_same(path: Path) -> None:
    """A reader in another place keeps the log from being emptied; the answer says so, and purge does the rest."""
    with SQLiteStore(path, busy_timeout_ms=1) as store, SQLiteStore(path) as other:
        store.append_messages("acme", "t1", messages_of(0))
        with other._reading() as transaction:
            transaction.rows("SELECT count(*) FROM messages")
            forgotten = store.forget("acme", thread="t1")
            assert (forgotten.messages, forgotten.is_purged) == (1, False)
            assert ids_of(store) == []
        assert store.purge()
        assert b"message 0" not in files_of(path)


def test_info_counts_what_lies_in_the_file(path: Path) -> None:
    with SQLiteStore(path) as store:
        fill(store)
        store.forget("acme", thread="t2")
        info = store.info()
        assert (info.path, info.schema_version) == (str(path), 1)
        assert (info.threads, info.messages, info.records, info.memories, info.blobs) == (1, 2, 1, 3, 1)
        assert info.tombstones == 2
        assert info.size_bytes >= path.stat().st_size > 0


def test_a_closed_store_answers_no_call_and_may_be_closed_twice(path: Path) -> None:
    store = SQLiteStore(path)
    store.close()
    store.close()
    with pytest.raises(StorageError, match="the store is closed"):
        store.last_seq("acme", "t1")


def test_a_hundred_thousand_memories_of_one_user_stay_usable() -> None:
    """004-58: terms are looked up in postings, whatever the number of memories."""

    def finds_in(size: int) -> Callable[[], object]:
        store = InMemoryStore()
        store.put_memories(ANN, [record(f"m{n}", "common", f"term{n % 500}") for n in range(size)])
        versions = count(2)

        def find() -> None:
            version = next(versions)
            for n in range(100):
                assert len(store.find_memories(ANN, terms=[f"term{n}", "common"], limit=10)) == 10
                store.put_memories(ANN, [record(f"m{n}", "common", version=version)])
            assert store.count_memories(ANN, ["term0"]).memories == size

        return find

    assert_slower(finds_in, small=5_000, large=100_000, at_most=8)  # looking through all of them: 20 times


def test_of_very_many_vectors_the_newest_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_COMPARED_VECTORS", 3)
    store = InMemoryStore()
    store.put_memories(ANN, [record("exact", vector=(1.0, 0.0))])
    store.put_memories(ANN, [record(f"m{n}", vector=(1.0, n + 1.0)) for n in range(3)])
    assert ids(store.find_memories(ANN, vector=unit_vector([1.0, 0.0]), limit=1)) == ["m0"]


def test_a_call_in_the_middle_of_a_call_in_memory_is_a_part_of_it() -> None:
    """As when a signal handler saves: it is stored, unless the call around it fails."""
    store = InMemoryStore()
    with store._writing("acme"):
        assert store.append_messages("acme", "t1", messages_of(0)) == 0

    def fail_in_the_middle() -> None:
        with store._writing("acme"):
            store.append_messages("acme", "t1", messages_of(1))
            raise KeyError("the caller's")

    with pytest.raises(KeyError, match="the caller's"):
        fail_in_the_middle()
    assert ids_of(store) == ["m0"]
