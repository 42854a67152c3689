"""The contract of the adapters on the stores that need no server; for the others see ``test_server_histories``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import HumanMessage
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.messages import Message
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from llama_index.memory.gatekeeper import GatekeeperMemoryBlock
from tests.adapters.door_contract import (
    ALL_OF_IT,
    DoorContract,
    DrawnContract,
    RememberingContract,
    SharedContract,
    StoredContract,
    chosen_by_core,
    for_doors,
)
from tests.adapters.doors import (
    AsyncClassicMemory,
    AsyncMiddleware,
    Buffer,
    BufferOfAgent,
    BufferOfEngine,
    BufferReloaded,
    ClassicMemory,
    ClassicMemoryOnFile,
    ClassicMemoryOnSql,
    Middleware,
    MiddlewareOnSqlite,
    Place,
    SelectMessages,
    Selector,
    SelectorInFile,
    SelectorInHistory,
    SelectorInSql,
    SelectorOfAList,
    WholeMemory,
    tokens_of,
)
from tests.adapters.histories import TOPICS, talk, to_llama_index
from tests.histories import view_with

if TYPE_CHECKING:
    from pathlib import Path

    from tests.adapters.doors import Door

pytestmark = [
    pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:langchain_community.*"),
]

FINISHED_DOORS = [ClassicMemory, AsyncClassicMemory, ClassicMemoryOnFile, ClassicMemoryOnSql, Selector, BufferOfEngine]
STORED_DOORS = [ClassicMemoryOnFile, ClassicMemoryOnSql, SelectorInFile, SelectorInSql, MiddlewareOnSqlite]
ADAPTERS: list[type[Door]] = [
    ClassicMemory,
    AsyncClassicMemory,
    Selector,
    BufferOfEngine,
    SelectorOfAList,
    SelectMessages,
    SelectorInHistory,
    Middleware,
    AsyncMiddleware,
    Buffer,
    BufferOfAgent,
    BufferReloaded,
    WholeMemory,
]
REMEMBERING_DOORS = [door for door in [*ADAPTERS, *STORED_DOORS] if door not in (SelectMessages, BufferReloaded)]
# One door of each adapter, for the tests that draw many histories.
QUICK_DOORS = [
    door
    for door in ADAPTERS
    if not door.__name__.startswith("Async") and door not in (SelectorInHistory, BufferReloaded)
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@for_doors(ADAPTERS)
class TestEveryDoor(DoorContract):
    pass


@for_doors(STORED_DOORS)
class TestEveryStore(StoredContract):
    pass


@for_doors(REMEMBERING_DOORS)
class TestRemembering(RememberingContract):
    pass


@for_doors([ClassicMemoryOnFile, ClassicMemoryOnSql, WholeMemory])
class TestSharedStores(SharedContract):
    pass


@for_doors(QUICK_DOORS)
class TestDrawn(DrawnContract):
    pass


@for_doors(FINISHED_DOORS)
def test_without_a_question_the_newest_turns_come(door: type[Door], opened: Any) -> None:
    pairs, _ = TOPICS["english"]
    at_door = opened(door, budget=60, **ALL_OF_IT)
    at_door.fill(talk(pairs))
    kept = at_door.ask(None)
    if door is BufferOfEngine:  # without an input LlamaIndex means the last user message
        return
    assert kept == list(range(kept[0], 2 * len(pairs)))
    assert 0 < len(kept) < 2 * len(pairs)
    assert at_door.view().status == "no_query"


@for_doors([ClassicMemoryOnSql, AsyncClassicMemory, Buffer, BufferOfEngine, WholeMemory])
@pytest.mark.parametrize("shadow", [False, True])
def test_errors_of_the_store_pass_unchanged(
    door: type[Door], shadow: bool, opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = OSError("no route to the store")

    def away(*_: Any, **__: Any) -> Any:
        raise error

    at_door = opened(door, shadow=shadow, on_error="fallback")
    store = type(at_door.store)
    for name, value in (("messages", property(away)), ("get_messages", away), ("aget_messages", away)):
        if hasattr(store, name):
            monkeypatch.setattr(store, name, value)
    with pytest.raises(OSError, match="no route") as caught:
        at_door.ask("Redis?")
    assert caught.value is error


def test_the_block_brings_back_archived_turns(tmp_path: Path) -> None:
    pairs, question = TOPICS["english"]
    store = SQLAlchemyChatStore(table_name="m", async_database_uri=f"sqlite+aiosqlite:///{tmp_path / 'chat.db'}")
    block = GatekeeperMemoryBlock(chat_store=store, config=HistoryConfig(on_error="raise", passthrough_below=0))

    async def run() -> str:
        await store.add_messages("s", to_llama_index(talk(pairs)))
        await store.archive_oldest_messages("s", n=len(pairs) * 2)
        return await block.aget(to_llama_index([Message("user", question)]), session_id="s")

    text = asyncio.run(run())
    assert "6380" in text
    assert "oven" not in text


def test_the_core_is_asked_the_same_way_by_hand() -> None:
    """The doors and ``select_history`` agree, so that what holds for one holds for the others."""
    pairs, question = TOPICS["chinese"]
    messages = [*talk(pairs), Message("user", question)]
    view = view_with(messages, gatekeeper=ContextGatekeeper(token_counter=tokens_of), token_budget=4000)
    assert list(view.kept) == chosen_by_core(messages, question, 4000, inside=True)
    assert HumanMessage(question).text == question
