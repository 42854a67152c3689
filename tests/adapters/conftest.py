"""One event loop for the tests of a file: LlamaIndex's SQL store cannot be closed, and must not outlive its loop."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    gc.collect()
    made.run_until_complete(made.shutdown_default_executor())
    made.close()


@pytest.fixture(autouse=True)
def current_loop(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
