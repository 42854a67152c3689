"""The store in PostgreSQL keeps every contract, and what is said of its server."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from gatekeeper_core.errors import StorageError
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import BlobRecord, DerivedRecord, MemoryScope, TermCounts
from gatekeeper_postgres import PostgresStore
from gatekeeper_postgres.schema import NEWEST
from tests.blob_store_contract import BlobStoreContract
from tests.memory_store_contract import MemoryStoreContract, record
from tests.message_store_contract import MessageStoreContract, ids_of, messages_of
from tests.record_store_contract import RecordStoreContract
from tests.storage.test_sqlite_faults import Child
from tests.store_contract import StoreContract, fill, seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper_core.storage.base import Store


class TestAllParts(MessageStoreContract, RecordStoreContract, MemoryStoreContract, BlobStoreContract, StoreContract):
    steps = 5

    @pytest.fixture(autouse=True)
    def _server(self, contract_store: PostgresStore, emptied: Callable[[], None]) -> None:
        self._store, self._empty = contract_store, emptied

    def make_store(self) -> Store:
        self._empty()
        return self._store


def test_what_was_stored_is_there_when_the_store_is_opened_again(conninfo: str) -> None:
    """004-32: messages, derived records, memories and blobs."""
    with PostgresStore(conninfo) as store:
        assert store.found_schema_version == 0
        fill(store)
        before = seen(store)
    with PostgresStore(conninfo, create=False, migrate=False) as store:
        assert store.found_schema_version == NEWEST
        assert seen(store) == before
        assert store.append_messages("acme", "t1", messages_of(1, 2)) == 2


def test_long_names_and_ids_are_told_apart_and_come_back(store: PostgresStore) -> None:
    """An index of the server takes no row of more than 2,704 bytes; random letters, because it packs others."""
    draw = random.Random(7)
    names = ["".join(chr(draw.randrange(0x4E00, 0x9000)) for _ in range(3_000)) for _ in range(2)]
    for at, name in enumerate(names):
        scope = MemoryScope(name, name)
        store.append_messages(name, name, [Message("user", f"{at}", id=name)])
        store.save_record(name, name, name, f'"{at}"', upto_seq=0, expected_version=0)
        store.blobs_of(name, name).put(name, name, b"%d" % at)
        put = record(name, name, key=name)
        put = put._replace(memory=put.memory._replace(thread=name))
        store.put_memories(scope, [put])
        assert store.append_messages(name, name, [Message("user", f"{at}", id=name)]) == 0
        assert store.read_messages(name, name)[0].text == f"{at}"
        assert store.load_record(name, name, name) == DerivedRecord(f'"{at}"', 0, 1)
        assert store.blobs_of(name, name).records(name) == (BlobRecord(name, 1),)
        assert store.find_memories(scope, terms=[name], key=name, limit=9) == (put,)
        assert store.count_memories(scope, [name]) == TermCounts(1, {name: 1})
    assert store.forget(names[0], source=names[0]).memories == 1
    assert store.get_memory(MemoryScope(names[1], names[1]), names[1]) is not None


def test_the_search_path_of_a_role_or_database_does_not_matter(postgres_database: str) -> None:
    """A function of somebody else's with the name of the server's own is not called."""
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("CREATE FUNCTION public.max(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 9::bigint'")
        connection.execute("CREATE FUNCTION public.length(bytea) RETURNS integer LANGUAGE sql AS 'SELECT 9'")
        connection.execute(
            f"ALTER ROLE postgres IN DATABASE {connection.info.dbname} SET search_path = public, pg_catalog"
        )
    with PostgresStore(postgres_database) as store:
        fill(store)


def test_a_pool_of_your_own_serves_and_is_left_open_and_as_it_was(conninfo: str) -> None:
    """Whatever its connections are set to."""
    kwargs = {"row_factory": dict_row, "options": "-c search_path=nowhere"}
    with ConnectionPool(conninfo, min_size=1, max_size=2, kwargs=kwargs, open=True) as pool:
        with PostgresStore(pool=pool) as store:
            fill(store)
            assert store.place.startswith("127.0.0.1:")
        with pool.connection() as connection:
            assert not connection.autocommit
            assert connection.execute("SELECT 1 AS one").fetchone() == {"one": 1}
    with PostgresStore(conninfo) as store:
        assert store.last_seq("acme", "t1") == 1


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_opens_connections_of_its_own(conninfo: str) -> None:
    with PostgresStore(conninfo, max_connections=1) as store:
        store.append_messages("acme", "t1", messages_of(0))

        def backend() -> str:
            with store._connections.transaction() as transaction:
                return str(transaction.rows("SELECT pg_backend_pid()"))

        def work(say: Callable[[str], None]) -> None:
            store.append_messages("acme", "t1", messages_of(1))
            say(backend())
            store.close()

        mine = backend()
        assert Child(work).ended() != [mine]
        assert backend() == mine
        assert ids_of(store) == ["m0", "m1"]
    with ConnectionPool(conninfo, min_size=1, open=True) as pool, PostgresStore(pool=pool) as store:

        def refused(say: Callable[[str], None]) -> None:
            try:
                store.last_seq("acme", "t1")
            except StorageError as error:
                say(str(error))

        (words,) = Child(refused).ended()
        assert words.endswith("the pool belongs to the parent process: open one in this process")
        assert store.last_seq("acme", "t1") == 1


def test_timeouts_are_set_in_every_transaction(store: PostgresStore) -> None:
    """A server, a lock or a statement that hangs is an error after five seconds."""
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    for access in ("read", "write"):
        with store._connections.transaction(access) as transaction:
            assert [transaction.rows(f"SHOW {name}") for name in names] == [[("5s",)], [("5s",)], [("1min",)]]
    assert "connect_timeout=5" in store._connections.conninfo
    assert store._connections._pool().timeout == 5
