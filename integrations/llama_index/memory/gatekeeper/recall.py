"""Recall as a tool that an agent can call: earlier turns that were left out of its prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool

from gatekeeper_core.context.history.recall import RECALL_BUDGET_TOKENS, RECALL_TOOL_DESCRIPTION, RECALL_TOOL_NAME

if TYPE_CHECKING:
    from llama_index.memory.gatekeeper.buffer import GatekeeperMemoryBuffer
    from llama_index.memory.gatekeeper.memory import GatekeeperMemory

__all__ = ["recall_tool"]


def recall_tool(
    memory: GatekeeperMemoryBuffer | GatekeeperMemory, *, max_tokens: int = RECALL_BUDGET_TOKENS
) -> FunctionTool:
    """Return the tool with which a model reads earlier turns that it was not shown, or was shown in part.

    Its description tells the model that there are such turns.

    Args:
        memory: the memory of the agent; the tool reads this conversation and no other. One with a builder has nothing
            to recall.
        max_tokens: what one answer may cost, >= 1.

    >>> from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer
    >>> recall_tool(GatekeeperMemoryBuffer.from_defaults(token_limit=3000)).call(query="the Redis port").content
    '[earlier turns: nothing else is found for this]'
    """

    def recall(query: str) -> str:
        thread = memory.chat_store_key if isinstance(memory, ChatMemoryBuffer) else memory.session_id
        return memory.recall_earlier(query, thread, max_tokens=max_tokens)

    return FunctionTool.from_defaults(recall, name=RECALL_TOOL_NAME, description=RECALL_TOOL_DESCRIPTION)
