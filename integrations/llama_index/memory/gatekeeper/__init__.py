"""Memories for LlamaIndex that return the turns that matter instead of the newest ones."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llama_index.memory.gatekeeper.block import GatekeeperMemoryBlock as GatekeeperMemoryBlock
    from llama_index.memory.gatekeeper.buffer import GatekeeperMemoryBuffer as GatekeeperMemoryBuffer
    from llama_index.memory.gatekeeper.events import GatekeeperContextEvent as GatekeeperContextEvent
    from llama_index.memory.gatekeeper.events import GatekeeperSelectionEvent as GatekeeperSelectionEvent
    from llama_index.memory.gatekeeper.memory import GatekeeperMemory as GatekeeperMemory
    from llama_index.memory.gatekeeper.tools import recall_tool as recall_tool
    from llama_index.memory.gatekeeper.tools import working_memory_tool as working_memory_tool

_MODULES = {
    "GatekeeperContextEvent": "events",
    "GatekeeperMemory": "memory",
    "GatekeeperMemoryBlock": "block",
    "GatekeeperMemoryBuffer": "buffer",
    "GatekeeperSelectionEvent": "events",
    "recall_tool": "tools",
    "working_memory_tool": "tools",
}
__all__ = sorted(_MODULES)  # noqa: PLE0605 - the names are above


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "llama_index.core":
            raise
        raise ImportError(
            f'{name} needs LlamaIndex: pip install "context-gatekeeper[llama-index]"', name=error.name
        ) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
