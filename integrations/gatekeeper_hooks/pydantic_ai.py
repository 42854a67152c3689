"""A capability for Pydantic AI: the run stores the whole history, the model gets what it needs.

Messages are read as items in Anthropic's format, and written back::

    request [system, prompt]   ──> system item, user item
    response [thinking, call]  ──> assistant item
    request [result, prompt]   ──> user item: a text beside results begins no turn

Each block has the position of its part, so that only parts that the selection cuts are replaced. A text has an empty
source, unknown to other formats, so that a list without tools is read in the same format.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext

from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_hooks.native import Hook, tool_text

Item = dict[str, Any]

_TEXTS = frozenset({"text", "speech", "system-prompt", "retry-prompt", "retry-feedback"})
"""Parts whose content is what the model reads; others are counted, and sent unchanged."""


class GatekeeperHistoryProcessor(Hook, AbstractCapability[Any]):
    """A history processor for ``Agent(capabilities=[...])`` that changes the request, not the stored history.

    It runs after all other capabilities, before each request to the model. The thread is the conversation of the run;
    instructions and tools of the request are counted as well. For the arguments see ``Hook``.

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
        if isinstance(messages[-1], ModelRequest):  # otherwise the provider continues its own answer
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


def read_items(message: ModelMessage, output_tools: Collection[str]) -> list[Item]:
    """Return the items of a message.

    Pydantic AI adds the next question to the results of ``output_tools``, which end a run; there it begins a turn.
    """
    parts: Sequence[Any] = message.parts
    tools = [part.tool_name for part in parts if _is_result(part)]
    prompts = "results" if tools and not any(name in output_tools for name in tools) else "prompts"

    def kind_of(numbered: tuple[int, Any]) -> str:
        part = numbered[1]
        if isinstance(message, ModelResponse):
            return "assistant"
        return prompts if part.part_kind in ("user-prompt", "speech") else "results" if _is_result(part) else "system"

    items = []
    for kind, group in groupby(enumerate(parts), kind_of):
        blocks = [{**block, "part": at} for at, part in group for block in read_part(part)]
        items.append({"role": kind if kind in ("assistant", "system") else "user", "content": blocks})
    return items


def write_message(message: ModelMessage, read: Sequence[Item], sent: Sequence[Item]) -> ModelMessage | None:
    """Return what is sent of a message: itself if unchanged, None if nothing remains.

    ``sent`` has those of its items that are sent, some in another form, or the summary of folded rounds.
    """
    if [*map(id, sent)] == [*map(id, read)]:
        return message
    if summary := next((item for item in sent if isinstance(item["content"], str)), None):
        text = summary["content"]
        return ModelRequest([UserPromptPart(text)]) if summary["role"] == "user" else ModelResponse([TextPart(text)])
    unchanged = {id(block) for item in read for block in item["content"]}
    old_parts: Sequence[Any] = message.parts
    parts: dict[int, Any] = {}
    for block in (block for item in sent for block in item["content"]):
        at, inner = block["part"], block["content"] if block["type"] == "tool_result" else [block]
        part, text = old_parts[at], next((each["text"] for each in inner if each["type"] == "text"), None)
        if id(block) in unchanged or text is None:
            parts.setdefault(at, part)
        elif part.part_kind in ("text", "speech"):  # a new part: given the old id, a provider uses its own copy
            parts[at] = UserPromptPart(text) if message.kind == "request" else TextPart(text)
        else:
            beside: Any = _beside_text(part)
            parts[at] = replace(part, content=[text, *beside] if beside else text)
    kept: Any = [parts[at] for at in sorted(parts)]
    return replace(message, parts=kept) if kept else None


def read_part(part: Any) -> list[Item]:
    """Return the blocks of a part: its text, and one block per file."""
    match part.part_kind:
        case "tool-call":
            return [{"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": part.args}]
        case "tool-return":
            text = part.model_response_str(wrap_if_error=False)
            # The framework parses the results of its own tools: they are counted, never cut.
            block = {"type": part.tool_kind, "content": text} if part.tool_kind else _text(text)
            files = [*map(_file, _beside_text(part))]
            return [{"type": "tool_result", "tool_use_id": part.tool_call_id, "content": [block, *files]}]
        case "retry-prompt" if part.tool_name:
            block = _text(part.model_response())
            return [{"type": "tool_result", "tool_use_id": part.tool_call_id, "content": [block]}]
        case "thinking" if part.signature or part.id:  # which the provider checks
            return [{"type": "thinking", "thinking": part.content, "signature": part.signature or part.id}]
        case "compaction":
            return [{"type": "compaction", "content": part.content or ""}]
        case "file":
            return [_file(part.content)]
        case "user-prompt":
            content = [part.content] if isinstance(part.content, str) else part.content
            texts = (one if isinstance(one, str) else one.content for one in content if _is_text(one))
            return [_text("\n".join(texts)), *map(_file, _beside_text(part))]
    content = getattr(part, "content", "")
    if isinstance(content, str) and part.part_kind in _TEXTS:
        return [_text(content)]
    return [{"type": part.part_kind, "content": str(content)}]


def _text(text: str) -> Item:
    return {"type": "text", "text": text, "source": {}}


def _is_result(part: Any) -> bool:
    return part.part_kind == "tool-return" or (part.part_kind == "retry-prompt" and part.tool_name is not None)


def _is_text(content: object) -> bool:
    return isinstance(content, (str, TextContent))


def _beside_text(part: Any) -> list[Any]:
    """Return the files of a part, and the cache marks between them."""
    if isinstance(part, ToolReturnPart):
        return list(part.files)
    if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
        return [content for content in part.content if not _is_text(content)]
    return []


def _file(content: Any) -> Item:
    if isinstance(content, CachePoint):
        return {"type": "cache_point"}
    is_binary = isinstance(content, BinaryContent)
    is_image = content.is_image if is_binary else isinstance(content, ImageUrl)
    return {"type": "image" if is_image else "document", "source": {"data": content.data if is_binary else None}}
