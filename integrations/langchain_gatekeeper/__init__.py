"""The gatekeeper for LangChain: in front of an agent's model, as the memory of a chain, as a step of a chain or graph.

Each name is imported on first use, so that it needs only its own part of LangChain.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gatekeeper_core.arguments import needs_extra

if TYPE_CHECKING:
    from langchain_gatekeeper.edits import delay_edits
    from langchain_gatekeeper.memory import GatekeeperChatMemory
    from langchain_gatekeeper.middleware import GatekeeperMiddleware
    from langchain_gatekeeper.runnable import GatekeeperSelector, select_messages
    from langchain_gatekeeper.tools import recall_tool, working_memory_tool

__all__ = [
    "GatekeeperChatMemory",
    "GatekeeperMiddleware",
    "GatekeeperSelector",
    "delay_edits",
    "recall_tool",
    "select_messages",
    "working_memory_tool",
]

_MODULES = {
    "GatekeeperChatMemory": ("memory", "langchain-classic"),
    "GatekeeperMiddleware": ("middleware", "langchain"),
    "GatekeeperSelector": ("runnable", "langchain-core"),
    "delay_edits": ("edits", "langchain"),
    "select_messages": ("runnable", "langchain-core"),
    "recall_tool": ("tools", "langchain-core"),
    "working_memory_tool": ("tools", "langchain-core"),
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra = _MODULES[name]
    with needs_extra(extra, "langchain", "langchain_classic", "langchain_core", "langgraph", name=name):
        return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
