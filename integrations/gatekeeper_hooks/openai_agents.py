"""An input filter for the OpenAI Agents SDK: the session keeps everything, the model gets what it needs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from agents import FunctionTool
from agents.run import CallModelData, ModelInputData

from gatekeeper_hooks.native import Hook, tool_text


class GatekeeperInputFilter(Hook):
    """A filter for ``RunConfig(call_model_input_filter=...)`` that selects from the items of each model call.

    A list of items belongs to the conversation that it continues. Instructions and function tools count, handoffs and
    MCP tools do not: leave room for them with ``HistoryConfig(reserve_tokens=...)``. For the arguments see ``Hook``.

    >>> gate = GatekeeperInputFilter(token_budget=4000)
    >>> run_config = RunConfig(call_model_input_filter=gate)  # doctest: +SKIP
    """

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the items to send; the rest of the input is unchanged."""
        agent, model_input = data.agent, data.model_data
        tools = (tool for tool in agent.tools if isinstance(tool, FunctionTool))
        fixed = [model_input.instructions or ""]
        fixed += [tool_text(tool.name, tool.description, tool.params_json_schema) for tool in tools]
        model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", "")
        sent, _ = await asyncio.to_thread(self.selector.select, model_input.input, fixed=fixed, model=str(model))
        return replace(model_input, input=sent)
