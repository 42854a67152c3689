"""Tools for agents: recall earlier turns that the prompt leaves out, and read the working memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.recall import RECALL_BUDGET_TOKENS, RECALL_TOOL_DESCRIPTION, RECALL_TOOL_NAME
from gatekeeper_core.context.tool_results.working_memory import (
    READ_BUDGET_TOKENS,
    READ_TOOL_DESCRIPTION,
    READ_TOOL_NAME,
)

if TYPE_CHECKING:
    from gatekeeper_core.context.tool_results.working_memory import WorkingMemory
    from llama_index.memory.gatekeeper.buffer import GatekeeperMemoryBuffer
    from llama_index.memory.gatekeeper.memory import GatekeeperMemory


@with_suggestions()
def recall_tool(
    memory: GatekeeperMemoryBuffer | GatekeeperMemory, *, max_tokens: int = RECALL_BUDGET_TOKENS
) -> FunctionTool:
    """Return a tool that lets the model read earlier turns that its prompt leaves out or cuts.

    Args:
        memory: memory of the agent. One with a builder has nothing to recall.
        max_tokens: limit of one answer, >= 1.

    >>> from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer
    >>> recall_tool(GatekeeperMemoryBuffer.from_defaults(token_limit=3000)).call(query="the Redis port").content
    '[earlier turns: nothing else is found for this]'
    """

    def recall(query: str) -> str:
        thread = memory.chat_store_key if isinstance(memory, ChatMemoryBuffer) else memory.session_id
        return memory.recall_earlier(query, thread, max_tokens=max_tokens)

    return FunctionTool.from_defaults(recall, name=RECALL_TOOL_NAME, description=RECALL_TOOL_DESCRIPTION)


@with_suggestions()
def working_memory_tool(memory: WorkingMemory, *, budget_tokens: int = READ_BUDGET_TOKENS) -> FunctionTool:
    """Return a tool that lets the model read offloaded results in this memory, a part at a time.

    Its own results, named ``read_working_memory``, are never compressed or offloaded.

    Args:
        memory: the working memory of the thread.
        budget_tokens: limit of one answer, >= 1.
    """

    def read(
        pointer: str, query: str | None = None, first_line: int | None = None, last_line: int | None = None
    ) -> str:
        return memory.answer(
            pointer, query=query, first_line=first_line, last_line=last_line, budget_tokens=budget_tokens
        )

    return FunctionTool.from_defaults(read, name=READ_TOOL_NAME, description=READ_TOOL_DESCRIPTION)
