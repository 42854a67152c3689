"""The gatekeeper for LangChain: middleware, chain memory, chain step; each name loads only its part of LangChain."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gatekeeper_core.arguments import needs_extra

if TYPE_CHECKING:
    from langchain_gatekeeper.edits import delay_edits as delay_edits
    from langchain_gatekeeper.memory import GatekeeperChatMemory as GatekeeperChatMemory
    from langchain_gatekeeper.middleware import GatekeeperMiddleware as GatekeeperMiddleware
    from langchain_gatekeeper.runnable import GatekeeperSelector as GatekeeperSelector
    from langchain_gatekeeper.runnable import select_messages as select_messages
    from langchain_gatekeeper.tools import recall_tool as recall_tool
    from langchain_gatekeeper.tools import working_memory_tool as working_memory_tool

_MODULES = {
    "GatekeeperChatMemory": ("memory", "langchain-classic"),
    "GatekeeperMiddleware": ("middleware", "langchain"),
    "GatekeeperSelector": ("runnable", "langchain-core"),
    "delay_edits": ("edits", "langchain"),
    "select_messages": ("runnable", "langchain-core"),
    "recall_tool": ("tools", "langchain-core"),
    "working_memory_tool": ("tools", "langchain-core"),
}
__all__ = sorted(_MODULES)  # noqa: PLE0605 - the names are above


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra = _MODULES[name]
    with needs_extra(extra, "langchain", "langchain_classic", "langchain_core", "langgraph", name=name):
        return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
