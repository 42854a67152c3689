"""The index in SQLite keeps the contract, in memory and in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import StorageError
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from gatekeeper_mcp import SQLiteIndex, UserThreads, index_of
from tests import command
from tests.chat_search_contract import CHATS, ChatSearchContract, places, turn

if TYPE_CHECKING:
    from gatekeeper_core.storage.tables import TableStore
    from gatekeeper_mcp.search import ChatIndex


class TestInMemory(ChatSearchContract):
    def make_store(self) -> TableStore:
        return InMemoryStore()

    def make_index(self, threads: UserThreads) -> ChatIndex:
        return index_of(threads)


class TestInAFile(ChatSearchContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self._folder_path = tmp_path

    def make_store(self) -> TableStore:
        return SQLiteStore(self._folder_path / "store.db")

    def make_index(self, threads: UserThreads) -> ChatIndex:
        return index_of(threads)


@pytest.fixture
def store(tmp_path: Path) -> SQLiteStore:
    store = SQLiteStore(tmp_path / "store.db")
    for thread, texts in CHATS.items():
        store.append_messages("acme", thread, turn(*texts))
    return store


def the_file(store: SQLiteStore) -> Path:
    (path,) = Path(f"{store.path}.search").glob("*.db")
    return path


def test_an_index_in_a_file_goes_on_where_it_ended_and_two_of_them_agree(store: SQLiteStore) -> None:
    threads = UserThreads(store, "acme")
    index_of(threads).update()
    first, second = index_of(threads), index_of(threads)
    assert first._indexed() == second._indexed() == dict.fromkeys(CHATS, (1, 0))
    store.append_messages("acme", "english", turn("kafka?", "9092"))
    with SQLiteStore(store.path) as other:
        other.append_messages("acme", "of-another", turn("heron", "yes"))
    assert places(first.search("heron")) == [("of-another", 0)]
    for index in (first, second, first):
        assert places(index.search("kafka")) == [("english", 2)]


def test_the_words_of_a_forgotten_thread_are_in_no_file_after_the_next_search(store: SQLiteStore) -> None:
    index = index_of(UserThreads(store, "acme"))
    index.search("redis")
    assert b"redis" in the_file(store).read_bytes() + the_file(store).with_suffix(".db-wal").read_bytes()
    store.forget("acme", thread="english")
    index.search("nginx")
    content = b"".join(path.read_bytes() for path in the_file(store).parent.iterdir())
    assert b"redis" not in content
    assert b"nginx" in content


def test_the_command_that_forgets_deletes_the_indexes_beside_the_store(store: SQLiteStore) -> None:
    index_of(UserThreads(store, "acme")).search("redis")
    assert the_file(store).exists()
    assert command.run("store", "forget", store.path, "acme", "--thread", "english", "--yes").exit_code == 0
    assert not Path(f"{store.path}.search").exists()


def test_a_file_that_cannot_be_used_is_named_and_may_be_deleted(store: SQLiteStore) -> None:
    threads = UserThreads(store, "acme")
    index_of(threads).close()
    path = the_file(store)
    path.write_bytes(b"no database at all" * 999)
    with pytest.raises(StorageError, match=r"\.db: the search index is unusable: delete the file"):
        index_of(threads)
    path.unlink()
    assert places(index_of(threads).search("redis")) == [("english", 0)]
    with pytest.raises(StorageError, match="its folder cannot be created"):
        SQLiteIndex(threads, f"{store.path}/search.db")
    index = SQLiteIndex(threads, str(path))
    index._connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="written by another version of this library: delete the file"):
        index_of(threads)
