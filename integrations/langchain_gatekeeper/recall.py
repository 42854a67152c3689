"""Recall as a tool that an agent can call: earlier turns that were left out of its prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from gatekeeper_core.context.history.recall import RECALL_BUDGET_TOKENS, RECALL_TOOL_DESCRIPTION, RECALL_TOOL_NAME

if TYPE_CHECKING:
    from langchain_gatekeeper.middleware import GatekeeperMiddleware
    from langchain_gatekeeper.runnable import GatekeeperSelector

__all__ = ["is_recall_tool", "recall_tool"]


def recall_tool(
    gatekeeper: GatekeeperMiddleware | GatekeeperSelector, *, max_tokens: int = RECALL_BUDGET_TOKENS
) -> BaseTool:
    """Return the tool with which a model reads earlier turns that it was not shown, or was shown in part.

    It reads the thread that the config of the run names, and nothing in a call can name another one; without a thread
    nothing is read.

    Args:
        gatekeeper: the middleware or the selector that chooses for the agent. One with a builder has nothing to recall.
        max_tokens: what one answer may cost, >= 1.

    >>> from langchain_gatekeeper import GatekeeperSelector
    >>> tool = recall_tool(GatekeeperSelector())
    >>> tool.invoke({"query": "the Redis port"}, {"configurable": {"thread_id": "t1"}})
    '[earlier turns: nothing else is found for this]'
    """

    # As for the working memory: LangChain fills in the config by its type and keeps it out of what the model is told.
    def recall(query: str, config: RunnableConfig) -> str:
        named = config.get("configurable", {})
        thread = named.get("thread_id") or named.get("session_id")
        return gatekeeper.recall_earlier(query, thread, max_tokens=max_tokens)

    return StructuredTool.from_function(recall, name=RECALL_TOOL_NAME, description=RECALL_TOOL_DESCRIPTION)


def is_recall_tool(tool: Any) -> bool:
    """Return whether a tool of a request, an object or a dict, is the one to recall with."""
    return getattr(tool, "name", None) == RECALL_TOOL_NAME
