"""Context Gatekeeper: the smallest set of earlier turns that a model needs, within a token budget.

Each name is imported when it is first used, so that nobody waits for what is not needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatekeeper_core.calibration import UsageCalibrator
    from gatekeeper_core.context.compaction.conversation import ContextCompressor
    from gatekeeper_core.context.compaction.rounds import FoldingConfig, fold_rounds
    from gatekeeper_core.context.compaction.run import RunConfig
    from gatekeeper_core.context.compaction.shrink import Compaction
    from gatekeeper_core.context.compaction.summarizer import Summarizer
    from gatekeeper_core.context.compaction.tool_loop import compact_in_place, compact_messages
    from gatekeeper_core.context.history.modes import HistoryConfig
    from gatekeeper_core.context.history.recall import recall_earlier
    from gatekeeper_core.context.history.select import HistoryView, select_history
    from gatekeeper_core.context.memory.embedding import MemoryEmbedder
    from gatekeeper_core.context.memory.memory import LongTermMemory
    from gatekeeper_core.context.prompt.budget import BudgetShares, ContextBuilderConfig
    from gatekeeper_core.context.prompt.builder import ContextBuilder
    from gatekeeper_core.context.prompt.parts import SystemPrompt
    from gatekeeper_core.context.prompt.result import BuiltContext, TokenStats
    from gatekeeper_core.context.summary.record import Summary
    from gatekeeper_core.context.summary.summary import SummaryConfig, ThreadSummary
    from gatekeeper_core.context.task.task import ActiveTask
    from gatekeeper_core.context.task.tracker import TaskTracker
    from gatekeeper_core.context.thread.constraints import ThreadConstraints
    from gatekeeper_core.context.thread.stored import StoredThreads
    from gatekeeper_core.context.thread.thread import Thread
    from gatekeeper_core.context.tool_results.compressor import (
        ToolResult,
        ToolResultCompressor,
        ToolResultConfig,
        compress_tool_result,
    )
    from gatekeeper_core.context.tool_results.context import ResultContext
    from gatekeeper_core.context.tool_results.thread_compressor import ThreadResultCompressor
    from gatekeeper_core.context.tool_results.thread_memories import ThreadMemories
    from gatekeeper_core.context.tool_results.working_memory import Reading, WorkingMemory
    from gatekeeper_core.errors import (
        BudgetError,
        ConfigError,
        ConflictError,
        ConstraintLimitError,
        CorruptionError,
        ForgottenError,
        GatekeeperError,
        MessageFormatError,
        SnapshotError,
        StaleReadError,
        StorageError,
    )
    from gatekeeper_core.messages import Message, ToolCall, Turn, group_turns, split_current_turn, validate_messages
    from gatekeeper_core.selection.constraints import ConstraintConfig
    from gatekeeper_core.selection.coverage import CoverageConfig
    from gatekeeper_core.selection.gatekeeper import Block, ContextGatekeeper
    from gatekeeper_core.selection.planner import GatekeeperConfig
    from gatekeeper_core.selection.result import Decision, SelectedTurn, Selection
    from gatekeeper_core.selection.retrieval import RetrievalConfig, Score
    from gatekeeper_core.selection.topic_map import Topic
    from gatekeeper_core.selection.topics import GateConfig
    from gatekeeper_core.selection.trimming import TrimmingConfig
    from gatekeeper_core.selection.verdicts import Verdict
    from gatekeeper_core.storage.base import (
        BlobRecord,
        BlobStore,
        DerivedRecord,
        Forgotten,
        Memory,
        MemoryRecord,
        MemoryScope,
        MemoryStore,
        MessageStore,
        RecordStore,
        Store,
    )
    from gatekeeper_core.storage.in_memory import InMemoryBlobStore, InMemoryMemoryStore, InMemoryRecordStore
    from gatekeeper_core.storage.in_memory_store import InMemoryStore
    from gatekeeper_core.storage.sqlite import SQLiteStore
    from gatekeeper_core.token_budget import TokenBudgetTracker
    from gatekeeper_core.token_estimate import TokenEstimator, count_bytes
    from gatekeeper_core.tokens import TokenCounter, count_messages, estimate_text_tokens
    from gatekeeper_core.truncation import truncate_to_tokens

__all__ = [
    "ActiveTask",
    "BlobRecord",
    "BlobStore",
    "Block",
    "BudgetError",
    "BudgetShares",
    "BuiltContext",
    "Compaction",
    "ConfigError",
    "ConflictError",
    "ConstraintConfig",
    "ConstraintLimitError",
    "ContextBuilder",
    "ContextBuilderConfig",
    "ContextCompressor",
    "ContextGatekeeper",
    "CorruptionError",
    "CoverageConfig",
    "Decision",
    "DerivedRecord",
    "FoldingConfig",
    "Forgotten",
    "ForgottenError",
    "GateConfig",
    "GatekeeperConfig",
    "GatekeeperError",
    "HistoryConfig",
    "HistoryView",
    "InMemoryBlobStore",
    "InMemoryMemoryStore",
    "InMemoryRecordStore",
    "InMemoryStore",
    "LongTermMemory",
    "Memory",
    "MemoryEmbedder",
    "MemoryRecord",
    "MemoryScope",
    "MemoryStore",
    "Message",
    "MessageFormatError",
    "MessageStore",
    "Reading",
    "RecordStore",
    "ResultContext",
    "RetrievalConfig",
    "RunConfig",
    "SQLiteStore",
    "Score",
    "SelectedTurn",
    "Selection",
    "SnapshotError",
    "StaleReadError",
    "StorageError",
    "Store",
    "StoredThreads",
    "Summarizer",
    "Summary",
    "SummaryConfig",
    "SystemPrompt",
    "TaskTracker",
    "Thread",
    "ThreadConstraints",
    "ThreadMemories",
    "ThreadResultCompressor",
    "ThreadSummary",
    "TokenBudgetTracker",
    "TokenCounter",
    "TokenEstimator",
    "TokenStats",
    "ToolCall",
    "ToolResult",
    "ToolResultCompressor",
    "ToolResultConfig",
    "Topic",
    "TrimmingConfig",
    "Turn",
    "UsageCalibrator",
    "Verdict",
    "WorkingMemory",
    "compact_in_place",
    "compact_messages",
    "compress_tool_result",
    "count_bytes",
    "count_messages",
    "estimate_text_tokens",
    "fold_rounds",
    "group_turns",
    "recall_earlier",
    "select_history",
    "split_current_turn",
    "truncate_to_tokens",
    "validate_messages",
]

_MODULES = {
    "ActiveTask": "context.task.task",
    "BlobRecord": "storage.base",
    "BlobStore": "storage.base",
    "Block": "selection.gatekeeper",
    "BudgetError": "errors",
    "BudgetShares": "context.prompt.budget",
    "BuiltContext": "context.prompt.result",
    "Compaction": "context.compaction.shrink",
    "ConfigError": "errors",
    "ConflictError": "errors",
    "ConstraintConfig": "selection.constraints",
    "ConstraintLimitError": "errors",
    "ContextBuilder": "context.prompt.builder",
    "ContextBuilderConfig": "context.prompt.budget",
    "ContextCompressor": "context.compaction.conversation",
    "ContextGatekeeper": "selection.gatekeeper",
    "CorruptionError": "errors",
    "CoverageConfig": "selection.coverage",
    "Decision": "selection.result",
    "DerivedRecord": "storage.base",
    "FoldingConfig": "context.compaction.rounds",
    "Forgotten": "storage.base",
    "ForgottenError": "errors",
    "GateConfig": "selection.topics",
    "GatekeeperConfig": "selection.planner",
    "GatekeeperError": "errors",
    "HistoryConfig": "context.history.modes",
    "HistoryView": "context.history.select",
    "InMemoryBlobStore": "storage.in_memory",
    "InMemoryMemoryStore": "storage.in_memory",
    "InMemoryRecordStore": "storage.in_memory",
    "InMemoryStore": "storage.in_memory_store",
    "LongTermMemory": "context.memory.memory",
    "Memory": "storage.base",
    "MemoryEmbedder": "context.memory.embedding",
    "MemoryRecord": "storage.base",
    "MemoryScope": "storage.base",
    "MemoryStore": "storage.base",
    "Message": "messages",
    "MessageFormatError": "errors",
    "MessageStore": "storage.base",
    "Reading": "context.tool_results.working_memory",
    "RecordStore": "storage.base",
    "ResultContext": "context.tool_results.context",
    "RetrievalConfig": "selection.retrieval",
    "RunConfig": "context.compaction.run",
    "SQLiteStore": "storage.sqlite",
    "Score": "selection.retrieval",
    "SelectedTurn": "selection.result",
    "Selection": "selection.result",
    "SnapshotError": "errors",
    "StaleReadError": "errors",
    "StorageError": "errors",
    "Store": "storage.base",
    "StoredThreads": "context.thread.stored",
    "Summarizer": "context.compaction.summarizer",
    "Summary": "context.summary.record",
    "SummaryConfig": "context.summary.summary",
    "SystemPrompt": "context.prompt.parts",
    "TaskTracker": "context.task.tracker",
    "Thread": "context.thread.thread",
    "ThreadConstraints": "context.thread.constraints",
    "ThreadMemories": "context.tool_results.thread_memories",
    "ThreadResultCompressor": "context.tool_results.thread_compressor",
    "ThreadSummary": "context.summary.summary",
    "TokenBudgetTracker": "token_budget",
    "TokenCounter": "tokens",
    "TokenEstimator": "token_estimate",
    "TokenStats": "context.prompt.result",
    "ToolCall": "messages",
    "ToolResult": "context.tool_results.compressor",
    "ToolResultCompressor": "context.tool_results.compressor",
    "ToolResultConfig": "context.tool_results.compressor",
    "Topic": "selection.topic_map",
    "TrimmingConfig": "selection.trimming",
    "Turn": "messages",
    "UsageCalibrator": "calibration",
    "Verdict": "selection.verdicts",
    "WorkingMemory": "context.tool_results.working_memory",
    "compact_in_place": "context.compaction.tool_loop",
    "compact_messages": "context.compaction.tool_loop",
    "compress_tool_result": "context.tool_results.compressor",
    "count_bytes": "token_estimate",
    "count_messages": "tokens",
    "estimate_text_tokens": "tokens",
    "fold_rounds": "context.compaction.rounds",
    "group_turns": "messages",
    "recall_earlier": "context.history.recall",
    "select_history": "context.history.select",
    "split_current_turn": "messages",
    "truncate_to_tokens": "truncation",
    "validate_messages": "messages",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
