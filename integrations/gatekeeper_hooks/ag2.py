"""An assembly policy for AG2: the stream keeps every event, the model gets what it needs.

Events are read as items in Anthropic's format, and written back::

    request | response  calls  results-of-each  results | …      a span ends with a message
    item    | item                                      | …      in Anthropic's format one holds all results of a round
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, cast

from ag2 import Context
from ag2.compact import CompactionSummary
from ag2.events import (
    BaseEvent,
    BinaryType,
    DataInput,
    Input,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextInput,
    ToolResultEvent,
    ToolResultsEvent,
)

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_hooks.native import Hook

_MESSAGES = (CompactionSummary, ModelRequest, ModelResponse, ToolResultsEvent)
"""Events that a model client sends as messages; AG2 keeps others between them: calls, reasoning, usage."""

Span = list[BaseEvent]
"""A message, last, with the other events before it: they are sent with it or not at all."""


class GatekeeperPolicy(Hook):
    """An assembly policy that sends the events the question needs; the stream keeps them all.

    Put it after policies that add to the context. The thread is the stream, so agents and streams may share a policy.

    Args:
        config: the settings; default to ``HistoryConfig()``.
        model: name of the model, for its prices and, without a budget, its context window; may be changed later.
        options: as for ``NativeSelector``: ``token_budget``, ``strategy`` and more.
    """

    name = "gatekeeper"

    def __init__(self, config: HistoryConfig | None = None, *, model: str = "", **options: Any) -> None:
        super().__init__(config, **options)
        self.model = model

    async def apply(
        self, prompts: list[str], events: list[BaseEvent], context: Context
    ) -> tuple[list[str], list[BaseEvent]]:
        """Return the prompts unchanged, and the events to send."""
        *spans, rest = spans_of(events)
        sent = await asyncio.to_thread(
            self.selector.select_objects,
            spans,
            read=read_span,
            write=write_span,
            fixed=prompts,
            model=self.model,
            thread=str(context.stream.id),
        )
        return prompts, [event for span in [*sent, rest] for event in span]


def spans_of(events: Sequence[BaseEvent]) -> Iterator[Span]:
    """Yield the spans of events; the last has no message."""
    span: Span = []
    for event in events:
        span.append(event)
        if isinstance(event, _MESSAGES):
            yield span
            span = []
    yield span


def read_span(span: Span) -> dict[str, Any]:
    """Return the message of a span as an item."""
    event = span[-1]
    if isinstance(event, CompactionSummary):
        return {"role": "user", "content": event.summary}
    if isinstance(event, ModelRequest):
        return {"role": "user", "content": _content([*map(_block, event.parts)])}
    if isinstance(event, ToolResultsEvent):
        return {"role": "user", "content": [*map(_result_block, event.results)]}
    response = cast("ModelResponse", event)
    calls = response.tool_calls.calls
    called = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls]
    return {"role": "assistant", "content": _content([*map(_text, filter(None, [response.content])), *called])}


def _content(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Return blocks; a text alone as a str, which may be cut."""
    return blocks[0]["text"] if [block["type"] for block in blocks] == ["text"] else blocks


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _block(part: Input) -> dict[str, Any]:
    if isinstance(part, TextInput):
        return _text(part.content)
    if isinstance(part, DataInput):
        return _text(json.dumps(part.data, ensure_ascii=False, default=str))
    is_image = getattr(part, "kind", None) is BinaryType.IMAGE
    return {"type": "image" if is_image else "document", "source": {}, "part": part}


def _result_block(event: ToolResultEvent) -> dict[str, Any]:
    content = [*map(_block, event.result.parts)]
    return {"type": "tool_result", "tool_use_id": event.parent_id, "content": content, "event": event}


def write_span(span: Span, item: Mapping[str, Any]) -> Span:
    """Return the span to send in place of another: with a copy of its message, or with the summary of folded rounds."""
    *before, event = span
    content = item["content"]
    blocks = [_text(content)] if isinstance(content, str) else content
    sent: Any = copy(event)
    if isinstance(event, ModelRequest):
        sent.parts = _parts(blocks)
    elif item["role"] == "assistant":
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        sent.message = ModelMessage("".join(texts), metadata=sent.metadata)
    elif isinstance(content, str):
        return [ModelRequest(_parts(blocks))]
    else:
        sent.results = []
        for block in blocks:
            result = block["event"]
            if block != _result_block(result):
                result = copy(result)
                result.result = replace(result.result, parts=_parts(block["content"]))
            sent.results.append(result)
    return [*before, sent]


def _parts(content: Sequence[Mapping[str, Any]]) -> list[Input]:
    return [TextInput(block["text"]) if block["type"] == "text" else block["part"] for block in content]
