"""Context Gatekeeper: the smallest set of earlier turns that a model needs, within a token budget."""

from gatekeeper_core.context.compaction import Compaction, compact_in_place, compact_messages
from gatekeeper_core.context.compressor import ContextCompressor
from gatekeeper_core.context.current_run import RunConfig
from gatekeeper_core.context.history import HistoryView, select_history
from gatekeeper_core.context.rounds import SummaryConfig, fold_rounds
from gatekeeper_core.context.tool_results import (
    ToolResult,
    ToolResultCompressor,
    ToolResultConfig,
    compress_tool_result,
)
from gatekeeper_core.context.working_memory import Reading, WorkingMemory
from gatekeeper_core.errors import (
    BudgetError,
    ConfigError,
    ConstraintLimitError,
    GatekeeperError,
    MessageFormatError,
    SnapshotError,
)
from gatekeeper_core.messages import Message, ToolCall, Turn, group_turns, split_current_turn, validate_messages
from gatekeeper_core.selection.constraints import ConstraintConfig
from gatekeeper_core.selection.coverage import CoverageConfig
from gatekeeper_core.selection.gatekeeper import Block, ContextGatekeeper
from gatekeeper_core.selection.plan import GatekeeperConfig, PlanConfig
from gatekeeper_core.selection.result import Decision, SelectedTurn, Selection
from gatekeeper_core.selection.retrieval import RetrievalConfig, Score
from gatekeeper_core.selection.topics import GateConfig, Topic, Verdict
from gatekeeper_core.selection.trimming import TrimmingConfig
from gatekeeper_core.storage.base import BlobRecord, BlobStore
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.tokens import (
    TokenBudgetTracker,
    TokenCounter,
    count_messages,
    estimate_text_tokens,
    truncate_to_tokens,
)

__all__ = [
    "BlobRecord",
    "BlobStore",
    "Block",
    "BudgetError",
    "Compaction",
    "ConfigError",
    "ConstraintConfig",
    "ConstraintLimitError",
    "ContextCompressor",
    "ContextGatekeeper",
    "CoverageConfig",
    "Decision",
    "GateConfig",
    "GatekeeperConfig",
    "GatekeeperError",
    "HistoryView",
    "InMemoryBlobStore",
    "Message",
    "MessageFormatError",
    "PlanConfig",
    "Reading",
    "RetrievalConfig",
    "RunConfig",
    "Score",
    "SelectedTurn",
    "Selection",
    "SnapshotError",
    "SummaryConfig",
    "TokenBudgetTracker",
    "TokenCounter",
    "ToolCall",
    "ToolResult",
    "ToolResultCompressor",
    "ToolResultConfig",
    "Topic",
    "TrimmingConfig",
    "Turn",
    "Verdict",
    "WorkingMemory",
    "compact_in_place",
    "compact_messages",
    "compress_tool_result",
    "count_messages",
    "estimate_text_tokens",
    "fold_rounds",
    "group_turns",
    "select_history",
    "split_current_turn",
    "truncate_to_tokens",
    "validate_messages",
]
