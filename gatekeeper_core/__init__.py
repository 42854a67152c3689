"""Context Gatekeeper: the few earlier turns that a model needs, within a token budget; names load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatekeeper_core.context.history.conversation import ContextCompressor as ContextCompressor
    from gatekeeper_core.context.history.run import RunConfig as RunConfig
    from gatekeeper_core.context.history.select import select_history as select_history
    from gatekeeper_core.context.history.strategies import HistoryConfig as HistoryConfig
    from gatekeeper_core.context.history.summarizer import Summarizer as Summarizer
    from gatekeeper_core.context.history.tool_loop import compact_messages as compact_messages
    from gatekeeper_core.context.history.view import HistoryView as HistoryView
    from gatekeeper_core.context.history.view import ThreadState as ThreadState
    from gatekeeper_core.context.history.view import keep as keep
    from gatekeeper_core.context.memory.memory import LongTermMemory as LongTermMemory
    from gatekeeper_core.context.memory.thread import Thread as Thread
    from gatekeeper_core.context.prompt.budget import ContextBuilderConfig as ContextBuilderConfig
    from gatekeeper_core.context.prompt.builder import ContextBuilder as ContextBuilder
    from gatekeeper_core.context.prompt.parts import SystemPrompt as SystemPrompt
    from gatekeeper_core.context.prompt.result import BuiltContext as BuiltContext
    from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor as ToolResultCompressor
    from gatekeeper_core.context.tool_results.working_memory import ThreadMemories as ThreadMemories
    from gatekeeper_core.context.tool_results.working_memory import WorkingMemory as WorkingMemory
    from gatekeeper_core.embedding import Embedder as Embedder
    from gatekeeper_core.errors import BudgetError as BudgetError
    from gatekeeper_core.errors import ConfigError as ConfigError
    from gatekeeper_core.errors import GatekeeperError as GatekeeperError
    from gatekeeper_core.errors import MessageFormatError as MessageFormatError
    from gatekeeper_core.errors import StorageError as StorageError
    from gatekeeper_core.messages import Message as Message
    from gatekeeper_core.messages import ToolCall as ToolCall
    from gatekeeper_core.native.reading import read_messages as read_messages
    from gatekeeper_core.pricing.prices import ModelPrices as ModelPrices
    from gatekeeper_core.pricing.prices import prices_of_model as prices_of_model
    from gatekeeper_core.pricing.usage import Usage as Usage
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper as ContextGatekeeper
    from gatekeeper_core.selection.result import SelectedTurn as SelectedTurn
    from gatekeeper_core.selection.result import Selection as Selection
    from gatekeeper_core.selection.settings import GatekeeperConfig as GatekeeperConfig
    from gatekeeper_core.storage.base import MemoryScope as MemoryScope
    from gatekeeper_core.storage.base import Store as Store
    from gatekeeper_core.storage.sqlite import InMemoryStore as InMemoryStore
    from gatekeeper_core.storage.sqlite import SQLiteStore as SQLiteStore
    from gatekeeper_core.token_estimate import TokenEstimator as TokenEstimator
    from gatekeeper_core.tokens import TokenCounter as TokenCounter

__version__ = "0.1.0"

_NAMES = {
    "context.history.conversation": "ContextCompressor",
    "context.history.run": "RunConfig",
    "context.history.select": "select_history",
    "context.history.strategies": "HistoryConfig",
    "context.history.summarizer": "Summarizer",
    "context.history.tool_loop": "compact_messages",
    "context.history.view": "HistoryView ThreadState keep",
    "context.memory.memory": "LongTermMemory",
    "context.memory.thread": "Thread",
    "context.prompt.budget": "ContextBuilderConfig",
    "context.prompt.builder": "ContextBuilder",
    "context.prompt.parts": "SystemPrompt",
    "context.prompt.result": "BuiltContext",
    "context.tool_results.compressor": "ToolResultCompressor",
    "context.tool_results.working_memory": "ThreadMemories WorkingMemory",
    "embedding": "Embedder",
    "errors": "BudgetError ConfigError GatekeeperError MessageFormatError StorageError",
    "messages": "Message ToolCall",
    "native.reading": "read_messages",
    "pricing.prices": "ModelPrices prices_of_model",
    "pricing.usage": "Usage",
    "selection.gatekeeper": "ContextGatekeeper",
    "selection.result": "SelectedTurn Selection",
    "selection.settings": "GatekeeperConfig",
    "storage.base": "MemoryScope Store",
    "storage.sqlite": "InMemoryStore SQLiteStore",
    "token_estimate": "TokenEstimator",
    "tokens": "TokenCounter",
}

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - the names are listed once, above


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        if name.startswith("Gatekeeper"):  # of an adapter
            raise ImportError(f"{name} is not in {__name__}: from context_gatekeeper import {name}")
        from gatekeeper_core.arguments import missing_attribute

        raise missing_attribute(f"module {__name__!r}", name, __all__)
    found: object = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
