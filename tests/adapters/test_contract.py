"""The contract of the adapters on the stores that need no server; for the others see ``test_server_histories``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.door_contract import (
    ALL_OF_IT,
    DoorContract,
    DrawnContract,
    RememberingContract,
    SharedContract,
    StoredContract,
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
    SelectMessages,
    Selector,
    SelectorInFile,
    SelectorInHistory,
    SelectorInSql,
    SelectorOfAList,
    WholeMemory,
)
from tests.adapters.histories import TOPICS
from tests.talks import talk

if TYPE_CHECKING:
    from tests.adapters.doors import Door


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
