"""The working memory as a tool that an agent can call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_index.core.tools import FunctionTool

from gatekeeper_core.context.tool_results.working_memory import (
    READ_BUDGET_TOKENS,
    READ_TOOL_DESCRIPTION,
    READ_TOOL_NAME,
)

if TYPE_CHECKING:
    from gatekeeper_core.context.tool_results.working_memory import WorkingMemory

__all__ = ["working_memory_tool"]


def working_memory_tool(memory: WorkingMemory, *, budget_tokens: int = READ_BUDGET_TOKENS) -> FunctionTool:
    r"""Return the tool with which a model reads what was put aside in this memory, a part at a time.

    Its results carry its name, ``read_working_memory``: nothing compresses or puts aside a result of that name.

    Args:
        memory: the working memory of the thread.
        budget_tokens: what one reading may cost, >= 1.

    >>> from gatekeeper_core import WorkingMemory
    >>> from gatekeeper_core.storage.in_memory import InMemoryBlobStore
    >>> memory = WorkingMemory(InMemoryBlobStore(), b"0123456789abcdef")
    >>> pointer = memory.offload("one\ntwo\nthree")
    >>> print(working_memory_tool(memory).call(pointer=pointer.text, first_line=2))
    [working memory: lines 2-3 of 3]
    two
    three
    """

    def read(
        pointer: str, query: str | None = None, first_line: int | None = None, last_line: int | None = None
    ) -> str:
        return memory.answer(
            pointer, query=query, first_line=first_line, last_line=last_line, budget_tokens=budget_tokens
        )

    return FunctionTool.from_defaults(read, name=READ_TOOL_NAME, description=READ_TOOL_DESCRIPTION)
