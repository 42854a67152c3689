"""The working memory as a tool that an agent can call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from gatekeeper_core.context.tool_results.thread_memories import memory_in, thread_name
from gatekeeper_core.context.tool_results.working_memory import (
    READ_BUDGET_TOKENS,
    READ_TOOL_DESCRIPTION,
    READ_TOOL_NAME,
    UNKNOWN_POINTER,
)

if TYPE_CHECKING:
    from gatekeeper_core.context.tool_results.thread_memories import ThreadMemories
    from gatekeeper_core.context.tool_results.working_memory import WorkingMemory

__all__ = ["working_memory_tool"]


def working_memory_tool(memory: WorkingMemory | ThreadMemories, *, budget_tokens: int = READ_BUDGET_TOKENS) -> BaseTool:
    r"""Return the tool with which a model reads what was put aside in working memory, a part at a time.

    Its results carry its name, ``read_working_memory``: nothing compresses or puts aside a result of that name.

    Args:
        memory: the working memory of the thread, or those of all threads: then the one is read whose thread the config
            of the run names (``thread_id``). Nothing in a call can name another one, and without a thread nothing is
            read.
        budget_tokens: what one reading may cost, >= 1.

    >>> from gatekeeper_core import WorkingMemory
    >>> from gatekeeper_core.storage.in_memory import InMemoryBlobStore
    >>> memory = WorkingMemory(InMemoryBlobStore(), b"0123456789abcdef")
    >>> pointer = memory.offload("one\ntwo\nthree")
    >>> print(working_memory_tool(memory).invoke({"pointer": pointer.text, "first_line": 2}))
    [working memory: lines 2-3 of 3]
    two
    three
    """

    # LangChain fills in the config by its type and keeps it out of what the model is told; an agent, a tool node and a
    # tool that is called by itself all hand it on, also where the run has no context (before Python 3.11).
    def read(
        pointer: str,
        config: RunnableConfig,
        query: str | None = None,
        first_line: int | None = None,
        last_line: int | None = None,
    ) -> str:
        at_hand = memory_in(memory, thread_name(config.get("configurable", {}).get("thread_id")))
        if at_hand is None:
            return UNKNOWN_POINTER
        return at_hand.answer(
            pointer, query=query, first_line=first_line, last_line=last_line, budget_tokens=budget_tokens
        )

    return StructuredTool.from_function(read, name=READ_TOOL_NAME, description=READ_TOOL_DESCRIPTION)
