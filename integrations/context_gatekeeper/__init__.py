"""The public names of the distribution ``context-gatekeeper``, from the core and all adapters.

Each name is imported on first use. If its framework is missing, the error shows the install command.

>>> import context_gatekeeper
>>> context_gatekeeper.ContextGatekeeper(token_budget=1000).select("hello")
[]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import gatekeeper_core
from gatekeeper_core.arguments import missing_attribute

if TYPE_CHECKING:
    from gatekeeper_chat import ChatClient as ChatClient
    from gatekeeper_chat import ChatConfig as ChatConfig
    from gatekeeper_core import BudgetError as BudgetError
    from gatekeeper_core import BuiltContext as BuiltContext
    from gatekeeper_core import ConfigError as ConfigError
    from gatekeeper_core import ContextBuilder as ContextBuilder
    from gatekeeper_core import ContextBuilderConfig as ContextBuilderConfig
    from gatekeeper_core import ContextCompressor as ContextCompressor
    from gatekeeper_core import ContextGatekeeper as ContextGatekeeper
    from gatekeeper_core import Embedder as Embedder
    from gatekeeper_core import GatekeeperConfig as GatekeeperConfig
    from gatekeeper_core import GatekeeperError as GatekeeperError
    from gatekeeper_core import HistoryConfig as HistoryConfig
    from gatekeeper_core import HistoryView as HistoryView
    from gatekeeper_core import InMemoryStore as InMemoryStore
    from gatekeeper_core import LongTermMemory as LongTermMemory
    from gatekeeper_core import MemoryScope as MemoryScope
    from gatekeeper_core import Message as Message
    from gatekeeper_core import MessageFormatError as MessageFormatError
    from gatekeeper_core import ModelPrices as ModelPrices
    from gatekeeper_core import RunConfig as RunConfig
    from gatekeeper_core import SelectedTurn as SelectedTurn
    from gatekeeper_core import Selection as Selection
    from gatekeeper_core import SQLiteStore as SQLiteStore
    from gatekeeper_core import StorageError as StorageError
    from gatekeeper_core import Store as Store
    from gatekeeper_core import Summarizer as Summarizer
    from gatekeeper_core import SystemPrompt as SystemPrompt
    from gatekeeper_core import Thread as Thread
    from gatekeeper_core import ThreadMemories as ThreadMemories
    from gatekeeper_core import ThreadState as ThreadState
    from gatekeeper_core import TokenCounter as TokenCounter
    from gatekeeper_core import TokenEstimator as TokenEstimator
    from gatekeeper_core import ToolCall as ToolCall
    from gatekeeper_core import ToolResultCompressor as ToolResultCompressor
    from gatekeeper_core import Usage as Usage
    from gatekeeper_core import WorkingMemory as WorkingMemory
    from gatekeeper_core import compact_messages as compact_messages
    from gatekeeper_core import keep as keep
    from gatekeeper_core import prices_of_model as prices_of_model
    from gatekeeper_core import read_messages as read_messages
    from gatekeeper_core import select_history as select_history
    from gatekeeper_formats import read_conversation as read_conversation
    from gatekeeper_hooks import GatekeeperCallback as GatekeeperCallback
    from gatekeeper_hooks import GatekeeperChatCompletionContext as GatekeeperChatCompletionContext
    from gatekeeper_hooks import GatekeeperHistoryProcessor as GatekeeperHistoryProcessor
    from gatekeeper_hooks import GatekeeperHooks as GatekeeperHooks
    from gatekeeper_hooks import GatekeeperInputFilter as GatekeeperInputFilter
    from gatekeeper_hooks import GatekeeperPolicy as GatekeeperPolicy
    from gatekeeper_hooks import NativeSelector as NativeSelector
    from gatekeeper_meaning import MeaningEmbedder as MeaningEmbedder
    from gatekeeper_otel import instrument as instrument
    from gatekeeper_postgres import PostgresStore as PostgresStore
    from gatekeeper_tokenizers.huggingface import tokenizers_counter as tokenizers_counter
    from gatekeeper_tokenizers.openai import tiktoken_counter as tiktoken_counter
    from langchain_gatekeeper import GatekeeperChatMemory as GatekeeperChatMemory
    from langchain_gatekeeper import GatekeeperMiddleware as GatekeeperMiddleware
    from langchain_gatekeeper import GatekeeperSelector as GatekeeperSelector
    from langchain_gatekeeper import delay_edits as delay_edits
    from langchain_gatekeeper import select_messages as select_messages
    from llama_index.memory.gatekeeper import GatekeeperMemory as GatekeeperMemory
    from llama_index.memory.gatekeeper import GatekeeperMemoryBlock as GatekeeperMemoryBlock
    from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer as GatekeeperMemoryBuffer

_NAMES = {
    "gatekeeper_chat": "ChatClient ChatConfig",
    "gatekeeper_core": " ".join(gatekeeper_core.__all__),
    "gatekeeper_formats": "read_conversation",
    "gatekeeper_hooks": (
        "GatekeeperCallback GatekeeperChatCompletionContext GatekeeperHistoryProcessor GatekeeperHooks "
        "GatekeeperInputFilter GatekeeperPolicy NativeSelector"
    ),
    "gatekeeper_meaning": "MeaningEmbedder",
    "gatekeeper_otel": "instrument",
    "gatekeeper_postgres": "PostgresStore",
    "gatekeeper_tokenizers.huggingface": "tokenizers_counter",
    "gatekeeper_tokenizers.openai": "tiktoken_counter",
    "langchain_gatekeeper": "GatekeeperChatMemory GatekeeperMiddleware GatekeeperSelector delay_edits select_messages",
    "llama_index.memory.gatekeeper": "GatekeeperMemory GatekeeperMemoryBlock GatekeeperMemoryBuffer",
}
"""The public names by module; names that two adapters share, such as ``recall_tool``, are imported from the adapter."""

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__version__ = gatekeeper_core.__version__
__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - the names are listed once, above


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise missing_attribute(f"module {__name__!r}", name, __all__)
    value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
