"""One event loop for each test, and no connection that outlives it: LlamaIndex's SQL store cannot be closed.

A connection of aiosqlite that the collector finds tells the loop that runs just then, from its own thread: a test that has
nothing to do with it fails when its loop has closed by that time.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from tests.strict_server import StrictServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.adapters.doors import Place


@pytest.fixture(autouse=True)
def words_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let adapters find turns by words alone where a test names no embedder, as without the extra ``meaning``."""
    if request.node.get_closest_marker("meaning") is None:
        monkeypatch.setattr("gatekeeper_meaning.adapter.packaged_encoder", lambda: None)


@pytest.fixture(autouse=True)
def current_loop() -> Iterator[None]:
    opened: list[Any] = []

    def remember(_connection: object, record: Any) -> None:
        opened.append(record.driver_connection)

    async def close_all() -> None:
        for connection in opened:
            if hasattr(connection, "stop"):  # aiosqlite's; the others are sqlite3's own and need no loop
                await connection.close()

    event.listen(Pool, "connect", remember)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    event.remove(Pool, "connect", remember)
    loop.run_until_complete(close_all())
    loop.run_until_complete(loop.shutdown_default_executor())
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """The stores of a test that need no server."""
    from tests.adapters.doors import Place

    return Place(tmp_path)


@pytest.fixture
def opened(place: object) -> Iterator[Any]:
    """Return a function that opens doors at the place of the test, and close them at the end."""
    doors: list[Any] = []

    def open_door(door: Any, **options: Any) -> Any:
        doors.append(door(place, **options))
        return doors[-1]

    yield open_door
    for door in doors:
        door.close()


@pytest.fixture
def server() -> Iterator[StrictServer]:
    with StrictServer() as running:
        yield running


@pytest.fixture
def events() -> Iterator[list[Any]]:
    """The events of ours that LlamaIndex's dispatcher hands out."""
    from llama_index.core.instrumentation import get_dispatcher
    from llama_index.core.instrumentation.event_handlers import BaseEventHandler

    heard: list[Any] = []

    class Listener(BaseEventHandler):
        def handle(self, event: Any, **_: Any) -> None:
            if event.class_name().startswith("Gatekeeper"):
                heard.append(event)

    root, listener = get_dispatcher(), Listener()
    root.add_event_handler(listener)
    yield heard
    root.event_handlers.remove(listener)
