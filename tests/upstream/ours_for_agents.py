"""A pytest plugin: every agent that langchain's tests create has the gatekeeper as its innermost middleware."""

from __future__ import annotations

from typing import Any

import langchain.agents
import langchain.agents.factory

from gatekeeper_core.context.history.strategies import HistoryConfig
from langchain_gatekeeper import GatekeeperMiddleware

stock = langchain.agents.factory.create_agent


def create_agent(*arguments: Any, middleware: Any = (), **options: Any) -> Any:
    """Create the agent that the test asked for, and ours beside its own middleware."""
    config = HistoryConfig(token_budget=None, on_error="raise", passthrough_below=0)
    ours = GatekeeperMiddleware(config, embedder=None)
    return stock(*arguments, middleware=[*middleware, ours], **options)


langchain.agents.create_agent = create_agent
langchain.agents.factory.create_agent = create_agent
