"""One connection, none across a fork, every error typed and naming the file only."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.context.memory.thread import StoredThreads
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.errors import StorageError
from gatekeeper_core.storage.sqlite import SQLiteStore
from tests.message_store_contract import ids_of, messages_of
from tests.storage.test_sqlite_faults import CALLS, Child
from tests.store_contract import fill, seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    with SQLiteStore(path) as opened:
        yield opened


def test_a_writer_in_the_way_is_an_error_after_the_time_that_was_given(path: Path) -> None:
    with SQLiteStore(path) as store, SQLiteStore(path, busy_timeout_ms=1) as hasty:
        with store._writing():
            with pytest.raises(StorageError, match="raise busy_timeout_ms") as caught:
                hasty.append_messages("acme", "t1", messages_of(0))
            assert str(path) in str(caught.value)
            assert hasty.last_seq("acme", "t1") == -1  # reading goes on
        assert hasty.append_messages("acme", "t1", messages_of(0)) == 0


def test_opening_waits_for_another_process_where_sqlite_itself_does_not(path: Path) -> None:
    """Turning the log of a new file on is refused at once while somebody else writes."""
    path.touch()
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="raise busy_timeout_ms"):
        SQLiteStore(path, busy_timeout_ms=20)
    end = threading.Timer(0.1, writer.execute, ["COMMIT"])
    end.start()
    with SQLiteStore(path) as store:
        assert store.append_messages("acme", "t1", messages_of(0)) == 0
    end.join()
    writer.close()


def test_a_call_in_the_middle_of_a_call_is_an_error_and_no_lock(store: SQLiteStore) -> None:
    """As when a signal handler saves: the outer call is undone as well."""
    with pytest.raises(StorageError), store._writing():
        store.append_messages("acme", "t1", messages_of(0))
    assert store.append_messages("acme", "t1", messages_of(0)) == 0


def test_a_file_that_is_gone_is_an_error_and_no_new_store(path: Path) -> None:
    with SQLiteStore(path) as store:
        assert store.found_schema_version == 0
        path.rename(f"{path}.moved")
        store._disconnect()  # as before a fork, and after an error
        with pytest.raises(StorageError, match="no store found"):
            store.last_seq("acme", "t1")
    assert not path.exists()


def test_a_file_is_made_only_where_it_may_be(path: Path) -> None:
    for _ in range(2):
        with pytest.raises(StorageError, match="no store found"):
            SQLiteStore(path, create=False)
        assert not path.exists() or path.stat().st_size == 0
        path.touch()


@pytest.mark.parametrize(
    "content", [b"a diary of mine\n" * 500, b"xy", os.urandom(9_000), b"SQLite format 3\0" + bytes(84)]
)
def test_a_file_that_is_no_database_is_refused_and_not_touched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StorageError) as caught:
        SQLiteStore(path)
    assert str(path) in str(caught.value)
    assert "diary" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_not_touched(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE diary (entry TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="a database of another program"):
        SQLiteStore(path)
    assert path.read_bytes() == before


def become_nobody() -> None:
    """Give up the rights of root, whom the rights on files do not bind."""
    if os.geteuid() == 0:
        os.setuid(65534)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others can come to, as they cannot to ``tmp_path``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
        folder.chmod(0o755)


@pytest.mark.parametrize("folder_mode", [0o777, 0o555], ids=["the file", "the file and its folder, while it is open"])
def test_a_file_that_may_only_be_read_is_read_and_refuses_each_write(open_folder: Path, folder_mode: int) -> None:
    """The error says what to do; a build goes on without what it would have saved."""
    name = open_folder / "store.db"

    def work(_: Callable[[str], None]) -> None:
        become_nobody()
        with SQLiteStore(name) as store:
            assert seen(store) == before
            for write in CALLS.values():
                with pytest.raises(StorageError, match="it is read-only: check the permissions of the file"):
                    write(store)
                assert seen(store) == before
            assert store.check() == ()
            thread = StoredThreads(store).load("t1", tenant="acme")
            context = ContextBuilder(store=store).build(thread, "端口 port?", "Be brief.")
            assert [message.text for message in context.messages][-4:-1] == ["message 0", "message 1", "端口 port?"]

    with SQLiteStore(name) as store:
        fill(store)
        store.forget("acme", user="gone")
        before = seen(store)
    with closing(sqlite3.connect(name)) as elsewhere:  # not one of ours, which a fork closes
        elsewhere.execute("SELECT count(*) FROM messages").fetchone()
        name.chmod(0o444)
        open_folder.chmod(folder_mode)
        Child(work).ended()
    name.chmod(0o644)
    open_folder.chmod(0o777)
    with SQLiteStore(name) as store:
        assert store.append_messages("acme", "t1", messages_of(7)) == 2


def test_a_transaction_that_cannot_be_undone_goes_with_its_connection(store: SQLiteStore) -> None:
    """What the failed call wrote is gone, and the thread's next call starts a transaction of its own."""

    def refuse_to_undo(action: int, name: str | None, *_: object) -> int:
        return sqlite3.SQLITE_DENY if (action, name) == (sqlite3.SQLITE_TRANSACTION, "ROLLBACK") else sqlite3.SQLITE_OK

    def fail_in_the_middle() -> None:
        with store._writing() as transaction:
            transaction.execute("DELETE FROM messages")
            transaction.connection.set_authorizer(refuse_to_undo)
            raise KeyError("the caller's")

    store.append_messages("acme", "t1", messages_of(0))
    with pytest.raises(KeyError, match="the caller's"):
        fail_in_the_middle()
    store.append_messages("acme", "t1", messages_of(1))
    assert ids_of(store) == ["m0", "m1"]
