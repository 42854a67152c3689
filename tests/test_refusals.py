"""Doors refuse at once what cannot be, and name it: settings out of their range, arguments of a wrong type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from gatekeeper_core import (
    ContextBuilder,
    ContextBuilderConfig,
    ContextGatekeeper,
    HistoryConfig,
    SQLiteStore,
    Thread,
    ToolResultCompressor,
    errors,
    read_messages,
)
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.prompt.budget import BudgetShares
from gatekeeper_core.context.prompt.rendering import render_parts
from gatekeeper_core.context.tool_results.working_memory import ThreadMemories, WorkingMemory
from gatekeeper_core.fences import fence
from gatekeeper_core.messages import (
    MediaPart,
    Message,
    TextPart,
    ToolCall,
    Turn,
    group_turns,
    split_current_turn,
    validate_messages,
)
from gatekeeper_core.pricing.prices import UNKNOWN
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.token_estimate import TokenEstimator
from gatekeeper_core.truncation import truncate_to_tokens
from tests.case_files import from_file
from tests.histories import view_with

KEY = b"sixteen bytes or more"
ANN = MemoryScope("default", "ann")


class Calibrated:
    """An embedder that says from which cosine on two texts are related."""

    def __init__(self, related_cosine: Any) -> None:
        self.related_cosine = related_cosine

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]


def long_term_memory(related_cosine: Any = 0.5, **settings: Any) -> LongTermMemory:
    return LongTermMemory(InMemoryStore(), embedder=Calibrated(related_cosine), **settings)


def working_memory() -> WorkingMemory:
    return WorkingMemory(InMemoryBlobStore(), KEY)


DOORS: dict[str, Callable[..., object]] = {
    "BudgetShares": BudgetShares,
    "ContextBuilder.build": partial(ContextBuilder().build, thread=None, prompt="q", system_prompt="s"),
    "ContextBuilderConfig": ContextBuilderConfig,
    "ContextGatekeeper": ContextGatekeeper,
    "ContextGatekeeper.set_constraint": partial(ContextGatekeeper().set_constraint, key="k", value="x"),
    "HistoryConfig": HistoryConfig,
    "LongTermMemory": long_term_memory,
    "LongTermMemory.add": partial(long_term_memory().add, scope=ANN, text="tea", category="fact"),
    "LongTermMemory.search": partial(long_term_memory().search, scope=ANN, query="tea"),
    "MediaPart": MediaPart,
    "Message": partial(Message, role="user", content="x"),
    "Message.from_dict": Message.from_dict,
    "ModelPrices": partial(replace, UNKNOWN),
    "SQLiteStore": SQLiteStore,
    "Selection.decision": ContextGatekeeper().explain("port?").decision,
    "TextPart": TextPart,
    "Thread": partial(Thread, id="t1"),
    "ThreadMemories": partial(ThreadMemories, InMemoryBlobStore(), secret=KEY),
    "ThreadMemories.of": partial(ThreadMemories(InMemoryBlobStore(), KEY).of, thread_id="t1"),
    "ThreadSelector": partial(ThreadSelector, Message.from_dict),
    "TokenEstimator": TokenEstimator,
    "ToolCall": partial(ToolCall, id="a", name="f", arguments=""),
    "ToolResultCompressor": ToolResultCompressor,
    "ToolResultCompressor.compress": partial(ToolResultCompressor().compress, text="x"),
    "Turn.of": partial(Turn.of, user_text="x", assistant_text="x"),
    "WorkingMemory": partial(WorkingMemory, InMemoryBlobStore(), session_key=KEY),
    "WorkingMemory.offload": working_memory().offload,
    "WorkingMemory.read": partial(working_memory().read, pointer="x"),
    "fence": partial(fence, "text"),
    "group_turns": group_turns,
    "read_messages": read_messages,
    "render_parts": partial(render_parts, [Message("user", "x"), Message("user", "y")], provider="openai"),
    "select_history": partial(view_with, messages=[Message("user", "x")]),
    "split_current_turn": partial(split_current_turn, messages=[]),
    "truncate_to_tokens": partial(truncate_to_tokens, text="x", budget_tokens=1),
    "validate_messages": partial(validate_messages, provider="openai"),
}
READ: dict[str, Callable[[Any], object]] = {
    "lines": tuple,
    "scope": MemoryScope._make,
    "secret": str.encode,
    "session_key": str.encode,
}


@from_file("door", "arguments", "error", "words")
def test_what_cannot_be_is_refused_by_its_name(door: str, arguments: dict[str, Any], error: str, words: str) -> None:
    """000-47, too: the error says which, before anything is changed."""
    for name in arguments.keys() & READ.keys():
        if isinstance(arguments[name], str | list):
            arguments = {**arguments, name: READ[name](arguments[name])}
    with pytest.raises(getattr(errors, error, TypeError), match=words):
        DOORS[door](**arguments)
