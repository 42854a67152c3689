"""The store that is awaited keeps every contract, too, and a task that is cancelled leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from gatekeeper_core.errors import ConfigError, StorageError
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.vectors import unit_vector
from gatekeeper_postgres import AsyncPostgresStore, PostgresStore
from gatekeeper_postgres.schema import TABLES
from tests.blob_store_contract import BlobStoreContract
from tests.fault_record import fault_round
from tests.memory_store_contract import MemoryStoreContract, record
from tests.message_store_contract import MessageStoreContract, ids_of, said
from tests.record_store_contract import RecordStoreContract
from tests.store_contract import StoreContract, fill

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator

    from gatekeeper_core.storage.base import BlobStore, Store

pytestmark = pytest.mark.postgres

ANN = MemoryScope("acme", "ann")
EVERY_STEP = os.environ.get("GATEKEEPER_FAULT_ROUNDS", "1") != "1"


class Loop:
    """An event loop in a thread of its own, for callers that wait."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Waiting:
    """A store, or the blobs of a thread, whose awaited methods are called and waited for."""

    def __init__(self, loop: Loop, inner: Any) -> None:
        self._loop = loop
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        return lambda *given, **named: self._loop.run(method(*given, **named))

    def blobs_of(self, tenant: str, thread: str) -> BlobStore:
        blobs: Any = Waiting(self._loop, self._inner.blobs_of(tenant, thread))
        return blobs  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def waiting(contract_store: PostgresStore, contract_database: str) -> Iterator[Any]:
    loop = Loop()
    inner = AsyncPostgresStore(contract_database)
    loop.run(inner.open())
    yield Waiting(loop, inner)
    loop.run(inner.close())
    loop.close()


class TestAllParts(MessageStoreContract, RecordStoreContract, MemoryStoreContract, BlobStoreContract, StoreContract):
    steps = 1

    @pytest.fixture(autouse=True)
    def _server(self, waiting: Any, emptied: Callable[[], None]) -> Iterator[None]:
        self._store, self._empty = waiting, emptied
        yield
        assert waiting.check() == ()

    def make_store(self) -> Store:
        self._empty()
        store: Store = self._store
        return store


def test_both_stores_have_the_same_methods() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert public(AsyncPostgresStore) - {"open"} == public(PostgresStore)


def test_both_stores_read_what_the_other_one_wrote(store: PostgresStore, conninfo: str) -> None:
    fill(store)

    async def work() -> None:
        async with AsyncPostgresStore(conninfo, create=False) as other:
            assert other.found_schema_version == 1
            assert other.place == store.place
            assert (await other.info()).messages == 4
            assert await other.append_messages("acme", "t1", said(2), expected_seq=1) == 2
            assert await other.blobs_of("acme", "t1").get("scope", "body") == b"a long result"
            assert await other.purge()

    asyncio.run(work())
    assert ids_of(store) == ["m0", "m1", "m2"]


def test_many_tasks_share_few_connections(store: PostgresStore, conninfo: str) -> None:
    async def work() -> list[int]:
        async with AsyncPostgresStore(conninfo, max_connections=3) as other:
            return await asyncio.gather(*(other.append_messages("acme", "t1", said(n % 40)) for n in range(120)))

    assert sorted(set(asyncio.run(work()))) == list(range(40))
    assert len(ids_of(store)) == 40


def test_a_store_that_is_not_open_says_how_to_open_it(conninfo: str) -> None:
    async def work() -> None:
        other = AsyncPostgresStore(conninfo)
        with pytest.raises(StorageError, match="use `async with`, or await open"):
            await other.last_seq("acme", "t1")
        async with other:
            assert await other.last_seq("acme", "t1") == -1
            with pytest.raises(ConfigError, match="the store is open"):
                await other.open()
        with pytest.raises(StorageError, match="use `async with`, or await open"):
            await other.last_seq("acme", "t1")
        with pytest.raises(StorageError, match=r"127\.0\.0\.1:1/nowhere: the connection was lost or refused"):
            await AsyncPostgresStore("postgresql://127.0.0.1:1/nowhere").open()
        with pytest.raises(ConfigError, match="one of them"):
            AsyncPostgresStore()

    asyncio.run(work())


def test_a_pool_of_your_own_serves_and_is_left_open_and_as_it_was(conninfo: str) -> None:
    async def work() -> None:
        kwargs: dict[str, Any] = {"row_factory": dict_row}
        async with AsyncConnectionPool(conninfo, min_size=1, max_size=2, kwargs=kwargs, open=False) as pool:
            async with AsyncPostgresStore(pool=pool) as other:
                assert await other.append_messages("acme", "t1", said(0)) == 0
            async with pool.connection() as connection:
                assert not connection.autocommit
                row = await (await connection.execute("SELECT 1 AS one")).fetchone()
                assert row == {"one": 1}

    asyncio.run(work())


class CancelledAt:
    """Awaits something, and has its own task cancelled when it comes to wait for the nth time."""

    def __init__(self, awaited: Awaitable[Any], number: int) -> None:
        self._awaited = awaited
        self._left = number

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._awaited.__await__()
        try:
            waits_for = next(steps)
            while True:
                self._left -= 1
                if self._left == 0:
                    task = asyncio.current_task()
                    assert task is not None
                    task.cancel()
                try:
                    given = yield waits_for
                except BaseException as error:  # noqa: BLE001 - handed on
                    waits_for = steps.throw(error)
                else:
                    waits_for = steps.send(given)
        except StopIteration as stop:
            return stop.value


CALLS: dict[str, Callable[[AsyncPostgresStore], Awaitable[Any]]] = {
    "append": lambda store: store.append_messages("acme", "t1", said(1, 2, 3)),
    "append to a new thread": lambda store: store.append_messages("acme", "t3", said(1, 2, 3)),
    "save": lambda store: store.save_record("acme", "t1", "summary", '"b"', upto_seq=1, expected_version=1),
    "remember": lambda store: store.put_memories(
        ANN, [record("m1", "coffee", version=2), record("m9", "tea", vector=(1.0, 0.0, 0.5))]
    ),
    "delete": lambda store: store.delete_memories(ANN, ["m1", "m2"]),
    "put aside": lambda store: store.blobs_of("acme", "t1").put("scope", "body", bytes(70_000)),
    "forget": lambda store: store.forget("acme", thread="t1"),
    "begin anew": lambda store: store.begin_anew("acme", user="gone"),
    "read": lambda store: store.read_messages("acme", "t1"),
    "find": lambda store: store.find_memories(ANN, terms=["tea"], vector=unit_vector([1.0, 0.5]), limit=3),
}


def all_rows(connection: psycopg.Connection[Any]) -> list[Any]:
    return [
        sorted(connection.execute(f"SELECT * FROM gatekeeper.{table}".encode()), key=repr)  # noqa: S608 - ours
        for table in TABLES
    ]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_cancelled_at_any_await_is_stored_as_a_whole_or_not_at_all(
    store: PostgresStore, conninfo: str, name: str
) -> None:
    """And the connection comes back: one is all there are."""
    call = CALLS[name]

    async def work(admin: psycopg.Connection[Any]) -> None:
        def begin() -> list[Any]:
            store.forget("acme")
            admin.execute("DELETE FROM gatekeeper.tombstones")
            fill(store)
            store.forget("acme", user="gone")
            return all_rows(admin)

        async with AsyncPostgresStore(conninfo, min_connections=1, max_connections=1) as other:
            before = begin()
            await call(other)
            done, number, cancelled = all_rows(admin), 0, 0
            assert begin() == before
            while True:
                # Clearing what is deleted and committed is long, and much the same at each of its steps.
                number += 1 if all_rows(admin) == before or EVERY_STEP else 11
                before = before if all_rows(admin) == before else begin()
                try:
                    await CancelledAt(call(other), number)
                except asyncio.CancelledError:
                    cancelled += 1
                else:
                    assert cancelled >= 3
                    assert all_rows(admin) == done
                    return
                with fault_round("PostgreSQL", "cancelled at the Nth await of a call") as found:
                    # The task goes on: what was begun is undone, or was done, and the connection is there again.
                    await asyncio.wait_for(other.last_seq("acme", "t2"), 10)
                    found.content(all_rows(admin) in (before, done), "half a call")
                    found.content(store.check() == (), "the check found something")

    with psycopg.connect(conninfo, autocommit=True) as admin:
        asyncio.run(work(admin))


def test_an_opening_that_is_cancelled_at_any_await_makes_all_tables_or_none(conninfo: str) -> None:
    """And leaves no connection behind."""

    async def work(admin: psycopg.Connection[Any]) -> None:
        clients = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'context-gatekeeper' AND datname = current_database()"
        opened = cancelled = 0
        number = 1
        while not opened:
            other = AsyncPostgresStore(conninfo)
            with fault_round("PostgreSQL", "cancelled at the Nth await of its opening") as found:
                try:
                    await CancelledAt(other.open(), number)
                except asyncio.CancelledError:
                    cancelled += 1
                else:
                    opened += 1
                await other.close()
                there = admin.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'gatekeeper'").fetchone()
                found.content(there in ((0,), (len(TABLES),)), f"some of the tables: {there}")
                deadline = time.monotonic() + 10
                while admin.execute(clients).fetchone() != (0,):
                    assert time.monotonic() < deadline, "a connection was left open"
                    await asyncio.sleep(0.01)
            admin.execute("DROP SCHEMA IF EXISTS gatekeeper CASCADE")
            number += 1 if EVERY_STEP else 5
        assert cancelled >= 3

    with psycopg.connect(conninfo, autocommit=True) as admin:
        asyncio.run(work(admin))
