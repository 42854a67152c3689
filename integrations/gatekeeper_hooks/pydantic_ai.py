"""A capability of Pydantic AI: the run stores the whole history, the model gets what it needs."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import ModelRequest, ModelResponse

from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_hooks.native import NativeSelector
from gatekeeper_hooks.pydantic_ai_messages import read_items, write_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestContext, ModelRequestParameters

    from gatekeeper_core import HistoryConfig, HistoryView


class GatekeeperHistoryProcessor(AbstractCapability[Any]):
    """A history processor for ``Agent(capabilities=[...])`` that changes the request and not the stored history.

    It runs after all other capabilities, before each request to the model. The thread is the conversation of the run;
    the instructions and tools of the request are counted beside the messages.

    Args:
        config: the settings; None: ``HistoryConfig()``.
        options: as in ``NativeSelector``: ``token_budget``, ``strategy``, ``coverage``, ``keep_newest`` and more.

    Attributes:
        selector: the selector of all conversations.

    >>> gate = GatekeeperHistoryProcessor(token_budget=4000)
    >>> agent = Agent("openai:gpt-4o", capabilities=[gate])  # doctest: +SKIP
    """

    def __init__(self, config: HistoryConfig | None = None, **options: Any) -> None:
        self.selector = NativeSelector(config, **options)

    @property
    def last_view(self) -> HistoryView | None:
        """The latest view: which turns were sent, and why. Positions are in the list of items, see ``read_items``."""
        return self.selector.last_view

    def get_ordering(self) -> CapabilityOrdering:
        """Return the place behind all other capabilities, so that none stores the selection as the history."""
        return CapabilityOrdering(position="innermost")

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Return the request with the messages to send."""
        if isinstance(request_context.messages[-1], ModelRequest):  # else the provider goes on with its own answer
            request_context.messages = await asyncio.to_thread(self._selected, request_context, ctx.conversation_id)
        return request_context

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,  # noqa: ARG002 - part of the hook
        response: ModelResponse,
    ) -> ModelResponse:
        """Correct the account of the thread by the usage that the provider reports."""
        usage = read_usage(response.usage, model=response.model_name)
        if usage and ctx.conversation_id is not None:
            self.selector.threads.report(usage, thread=ctx.conversation_id)
        return response

    def _selected(self, request: ModelRequestContext, thread: str | None) -> list[ModelMessage]:
        parameters = request.model_request_parameters
        output_tools = frozenset(tool.name for tool in parameters.output_tools)
        read = [read_items(message, output_tools) for message in request.messages]
        items, model = [item for each in read for item in each], request.model.model_name
        sent, view = self.selector.select(items, fixed=[*_fixed_texts(parameters)], model=model, thread=thread)
        if self.selector.threads.config.shadow:
            return request.messages
        at, sent_at = 0, dict(zip(view.kept, sent, strict=True))
        messages = []
        for message, its_items in zip(request.messages, read, strict=True):
            stop = at + len(its_items)
            places = [sent_at[place] for place in range(at, stop) if place in sent_at]
            messages.append(write_message(message, its_items, places))
            at = stop
        return [message for message in messages if message is not None]


def _fixed_texts(parameters: ModelRequestParameters) -> Iterator[str]:
    for part in parameters.instruction_parts or ():
        yield part.content
    for tool in (*parameters.function_tools, *parameters.output_tools):
        yield f"{tool.name} {tool.description} {json.dumps(tool.parameters_json_schema, ensure_ascii=False)}"
