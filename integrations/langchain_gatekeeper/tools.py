"""Tools for agents: recall earlier turns that the prompt leaves out, and read the working memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.context.history.recall import RECALL_BUDGET_TOKENS, RECALL_TOOL_DESCRIPTION, RECALL_TOOL_NAME
from gatekeeper_core.context.tool_results.context import memory_of
from gatekeeper_core.context.tool_results.working_memory import (
    READ_BUDGET_TOKENS,
    READ_TOOL_DESCRIPTION,
    READ_TOOL_NAME,
    UNKNOWN_POINTER,
)
from gatekeeper_core.messages import thread_name

if TYPE_CHECKING:
    from gatekeeper_core.context.tool_results.working_memory import ThreadMemories, WorkingMemory
    from langchain_gatekeeper.middleware import GatekeeperMiddleware
    from langchain_gatekeeper.runnable import GatekeeperSelector


@with_suggestions()
def recall_tool(
    gatekeeper: GatekeeperMiddleware | GatekeeperSelector, *, max_tokens: int = RECALL_BUDGET_TOKENS
) -> BaseTool:
    """Return a tool that lets the model read earlier turns that its prompt leaves out or cuts.

    It reads only the thread in the run's config; without a thread it reads nothing.

    Args:
        gatekeeper: middleware or selector of the agent. One with a builder has nothing to recall.
        max_tokens: limit of one answer, >= 1.

    >>> from langchain_gatekeeper import GatekeeperSelector
    >>> tool = recall_tool(GatekeeperSelector())
    >>> tool.invoke({"query": "the Redis port"}, {"configurable": {"thread_id": "t1"}})
    '[earlier turns: nothing else is found for this]'
    """

    # LangChain fills in the config by its type and hides it from the model. Agents, tool nodes and direct calls all
    # pass it on, even if the run has no context (before Python 3.11).
    def recall(query: str, config: RunnableConfig) -> str:
        named = config.get("configurable", {})
        thread = named.get("thread_id") or named.get("session_id")
        tenant = gatekeeper.tenant_of_run(config)
        return gatekeeper.recall_earlier(query, thread, tenant=tenant, max_tokens=max_tokens)

    return StructuredTool.from_function(recall, name=RECALL_TOOL_NAME, description=RECALL_TOOL_DESCRIPTION)


@with_suggestions()
def working_memory_tool(memory: WorkingMemory | ThreadMemories, *, budget_tokens: int = READ_BUDGET_TOKENS) -> BaseTool:
    r"""Return a tool that lets the model read offloaded results in working memory, a part at a time.

    Its own results, named ``read_working_memory``, are never compressed or offloaded.

    Args:
        memory: the thread's working memory, or those of all threads: then it reads only that of the ``thread_id`` in
            the run's config, and nothing without one.
        budget_tokens: limit of one answer, >= 1.

    >>> from gatekeeper_core import WorkingMemory
    >>> from gatekeeper_core.storage.in_memory import InMemoryBlobStore
    >>> memory = WorkingMemory(InMemoryBlobStore(), b"0123456789abcdef")
    >>> pointer = memory.offload("one\ntwo\nthree")
    >>> print(working_memory_tool(memory).invoke({"pointer": pointer.text, "first_line": 2}))
    [working memory: lines 2-3 of 3]
    two
    three
    """

    def read(
        pointer: str,
        config: RunnableConfig,
        query: str | None = None,
        first_line: int | None = None,
        last_line: int | None = None,
    ) -> str:
        own = memory_of(memory, thread_name(config.get("configurable", {}).get("thread_id")))
        if own is None:
            return UNKNOWN_POINTER
        lines = {"first_line": first_line, "last_line": last_line}
        return own.answer(pointer, query=query, budget_tokens=budget_tokens, **lines)

    return StructuredTool.from_function(read, name=READ_TOOL_NAME, description=READ_TOOL_DESCRIPTION)
