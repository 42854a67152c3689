"""The contract of the adapters on the frameworks' own Redis and PostgreSQL stores."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_core.messages import Message, ToolCall
from tests.adapters import test_llama_index_contract as contract
from tests.adapters.door_contract import DrawnContract, RememberingContract, SharedContract, StoredContract, for_doors
from tests.adapters.doors import Place
from tests.adapters.histories import to_langchain, to_llama_index
from tests.adapters.server_doors import (
    AsyncClassicMemoryOnPostgres,
    AsyncMiddlewareOnPostgres,
    BufferOfEngineOnPostgres,
    BufferOfEngineOnRedis,
    BufferOnPostgres,
    BufferOnRedis,
    ClassicMemoryOnPostgres,
    ClassicMemoryOnRedis,
    MiddlewareOnPostgres,
    SelectorInPostgres,
    SelectorInRedis,
    WholeMemoryOnPostgres,
    postgres_store,
    redis_store,
)
from tests.adapters.test_workers import check_that_workers_lose_nothing

if TYPE_CHECKING:
    from tests.adapters.doors import Door
    from tests.servers import PostgresServer, RedisServer

pytestmark = pytest.mark.servers

SHARED_DOORS: list[type[Door]] = [
    ClassicMemoryOnRedis,
    ClassicMemoryOnPostgres,
    AsyncClassicMemoryOnPostgres,
    BufferOfEngineOnRedis,
    BufferOfEngineOnPostgres,
    BufferOnRedis,
    BufferOnPostgres,
    WholeMemoryOnPostgres,
]
# A question to these is written to the store, or opens a thread of its own; for one thread from several sides see
# test_server_workers.
DOORS = [*SHARED_DOORS, SelectorInRedis, SelectorInPostgres, MiddlewareOnPostgres, AsyncMiddlewareOnPostgres]


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> str:
    return postgres_server.database()


@pytest.fixture
def place(database: str, redis_server: RedisServer) -> Place:
    return Place(postgres=database, redis=redis_server.url, thread=str(uuid.uuid4()))


@for_doors(DOORS)
class TestEveryServerDoor(StoredContract):
    pass


@for_doors([ClassicMemoryOnRedis, ClassicMemoryOnPostgres, BufferOnRedis, BufferOnPostgres, WholeMemoryOnPostgres])
class TestRememberingOnServers(RememberingContract):
    pass


@for_doors(SHARED_DOORS)
class TestSharedServers(SharedContract):
    pass


@for_doors([ClassicMemoryOnRedis, ClassicMemoryOnPostgres, BufferOnRedis, BufferOnPostgres, MiddlewareOnPostgres])
class TestDrawnOnServers(DrawnContract):
    pass


@for_doors([ClassicMemoryOnRedis, ClassicMemoryOnPostgres, BufferOnRedis, BufferOnPostgres, WholeMemoryOnPostgres])
def test_several_processes_lose_nothing(door: type[Door], place: Place) -> None:
    check_that_workers_lose_nothing(door, place)


# --- LlamaIndex's own contract

# What only a store in the memory of the process can give: the very objects, and a copy of itself.
OF_THIS_PROCESS = {
    "test_buffer_gives_back_the_stored_objects",
    "test_buffer_can_be_copied_deeply",
}
# It makes a loop and closes it; a client that is connected belongs to its loop. The doors above go the same ways.
OF_ANOTHER_LOOP = {"test_buffer_async_put_get"}
OF_ANY_STORE = sorted(
    name
    for name, test in vars(contract).items()
    if name.startswith("test_buffer_") and not hasattr(test, "pytestmark")  # the one with arguments has no history
    if name not in OF_THIS_PROCESS | OF_ANOTHER_LOOP
)


@pytest.mark.parametrize("store", [redis_store, postgres_store], ids=lambda store: store.__name__)
@pytest.mark.parametrize("name", OF_ANY_STORE)
def test_the_contract_of_a_buffer_holds_on_a_server(
    store: Any, name: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store(place) as opened:
        monkeypatch.setitem(contract.STRICT, "chat_store", opened)
        monkeypatch.setitem(contract.STRICT, "chat_store_key", place.thread)
        vars(contract)[name]()


# --- what goes in comes out

TEXT = "苹果 \t\r\n\x1f and 🍎 \"quoted\" \\u0041 'single' {brace}"  # NUL is more than PostgreSQL's JSON can hold
TALK = [
    Message("system", TEXT),
    Message("user", TEXT),
    Message("assistant", TEXT, tool_calls=(ToolCall("c1", "查询", json.dumps({"q": TEXT, "n": [1, None]})),)),
    Message("tool", TEXT, tool_call_id="c1", name="查询"),
    Message("assistant", TEXT),
]


@for_doors([ClassicMemoryOnRedis, ClassicMemoryOnPostgres])
def test_langchain_gets_the_messages_as_they_were(door: type[Any], opened: Any) -> None:
    at_door = opened(door)
    at_door.fill(TALK)
    assert at_door.memory.load_memory_variables({"input": TEXT})["history"] == to_langchain(TALK)


@for_doors([BufferOnRedis, BufferOnPostgres, WholeMemoryOnPostgres])
def test_llama_index_gets_the_messages_as_they_were(door: type[Any], opened: Any) -> None:
    at_door = opened(door)
    at_door.fill(TALK)
    assert at_door.memory.get() == to_llama_index(TALK)
