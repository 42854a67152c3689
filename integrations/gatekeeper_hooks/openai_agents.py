"""The call-model input filter of the OpenAI Agents SDK: the session keeps everything, the model gets what it needs."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agents import FunctionTool

from gatekeeper_hooks.native import NativeSelector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents import Agent
    from agents.run import CallModelData, ModelInputData

    from gatekeeper_core import HistoryConfig, HistoryView


class GatekeeperInputFilter:
    """A filter for ``RunConfig(call_model_input_filter=...)`` that selects from the items of each model call.

    It sees no name of a session, so a list of items belongs to the conversation whose latest list is its beginning.
    Counted beside the items are the agent's instructions and function tools. Handoffs and the tools of MCP servers are
    not: leave room for them with ``HistoryConfig(reserve_tokens=...)``.

    Args:
        config: the settings; None: ``HistoryConfig()``.
        options: as in ``NativeSelector``: ``token_budget``, ``strategy``, ``coverage``, ``keep_newest`` and more.

    Attributes:
        selector: the selector of all conversations.

    >>> gate = GatekeeperInputFilter(token_budget=4000)
    >>> run_config = RunConfig(call_model_input_filter=gate)  # doctest: +SKIP
    """

    def __init__(self, config: HistoryConfig | None = None, **options: Any) -> None:
        self.selector = NativeSelector(config, **options)

    @property
    def last_view(self) -> HistoryView | None:
        """The latest view: which turns were sent, and why."""
        return self.selector.last_view

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the items to send; the rest of the input is unchanged."""
        agent, given = data.agent, data.model_data
        fixed = [given.instructions or "", *_tool_texts(agent)]
        model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", "")
        sent, _ = await asyncio.to_thread(self.selector.select, given.input, fixed=fixed, model=str(model))
        return replace(given, input=sent)


def _tool_texts(agent: Agent[Any]) -> Iterator[str]:
    for tool in agent.tools:
        if isinstance(tool, FunctionTool):
            yield f"{tool.name} {tool.description} {json.dumps(tool.params_json_schema, ensure_ascii=False)}"
