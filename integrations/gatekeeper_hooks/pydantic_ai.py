"""A capability for Pydantic AI: the run stores the whole history, the model gets what it needs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import ModelRequest

from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_hooks.native import Hook, tool_text
from gatekeeper_hooks.pydantic_ai_messages import read_items, write_message

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import ModelRequestContext


class GatekeeperHistoryProcessor(Hook, AbstractCapability[Any]):
    """A history processor for ``Agent(capabilities=[...])`` that changes the request, not the stored history.

    It runs after all other capabilities, before each request to the model. The thread is the conversation of the run;
    the instructions and tools of the request are counted beside the messages. For the arguments see ``Hook``.

    >>> gate = GatekeeperHistoryProcessor(token_budget=4000)
    >>> agent = Agent("openai:gpt-4o", capabilities=[gate])  # doctest: +SKIP
    """

    def get_ordering(self) -> CapabilityOrdering:
        """Return the position after all other capabilities, so that none stores the selection as history."""
        return CapabilityOrdering(position="innermost")

    def select_messages(
        self,
        messages: Sequence[ModelMessage],
        *,
        fixed: Sequence[str] = (),
        output_tools: Collection[str] = (),
        model: str = "",
        thread: Hashable = None,
    ) -> list[ModelMessage]:
        """Return the messages to send; ``output_tools`` as for ``read_items``, the rest as for ``NativeSelector``."""
        read = [read_items(message, output_tools) for message in messages]
        items = [item for each in read for item in each]
        sent, view = self.selector.select(items, fixed=fixed, model=model, thread=thread)
        if self.selector.threads.config.shadow:
            return list(messages)
        sent_at, start = dict(zip(view.kept, sent, strict=True)), 0
        written = []
        for message, its_items in zip(messages, read, strict=True):
            places = range(start, start + len(its_items))
            written.append(write_message(message, its_items, [sent_at[at] for at in places if at in sent_at]))
            start += len(its_items)
        return [message for message in written if message is not None]

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Return the request with the messages to send."""
        messages, parameters = request_context.messages, request_context.model_request_parameters
        if isinstance(messages[-1], ModelRequest):  # otherwise the provider goes on with its own answer
            tools = (*parameters.function_tools, *parameters.output_tools)
            fixed = [part.content for part in parameters.instruction_parts or ()]
            fixed += [tool_text(tool.name, tool.description, tool.parameters_json_schema) for tool in tools]
            request_context.messages = await asyncio.to_thread(
                self.select_messages,
                messages,
                fixed=fixed,
                output_tools=frozenset(tool.name for tool in parameters.output_tools),
                model=request_context.model.model_name,
                thread=ctx.conversation_id,
            )
        return request_context

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,  # noqa: ARG002 - part of the hook
        response: ModelResponse,
    ) -> ModelResponse:
        """Correct the costs of the thread with the usage that the provider reports."""
        usage = read_usage(response.usage, model=response.model_name)
        if usage and ctx.conversation_id is not None:
            self.selector.threads.report(usage, thread=ctx.conversation_id)
        return response
