"""Pydantic AI's messages as items in Anthropic's format, and back.

::

    request [system, prompt]   ──> system item, user item
    response [thinking, call]  ──> assistant item
    request [result, prompt]   ──> user item: a text beside results begins no turn

Each block carries the position of its part, so that only the parts that the selection cuts are replaced. A text has an
empty source, which no other format knows: so a list without tools is read in the same format.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)

Item = dict[str, Any]

_PROMPTS = ("user-prompt", "speech")


def read_items(message: ModelMessage, output_tools: Collection[str]) -> list[Item]:
    """Return the items of a message.

    Args:
        message: a request or a response.
        output_tools: names of the tools that end a run. Pydantic AI merges the next question into the request with
            their results; there it begins a turn.
    """
    if isinstance(message, ModelResponse):
        blocks = [{**_response_block(part), "part": at} for at, part in enumerate(message.parts)]
        return [{"role": "assistant", "content": blocks}]
    given: Sequence[Any] = message.parts
    tools = [part.tool_name for part in given if _is_result(part)]
    prompts = "results" if tools and not any(name in output_tools for name in tools) else "prompts"

    def kind_of(numbered: tuple[int, Any]) -> str:
        part = numbered[1]
        return prompts if part.part_kind in _PROMPTS else "results" if _is_result(part) else "system"

    items = []
    for kind, group in groupby(enumerate(given), kind_of):
        blocks = [{**block, "part": at} for at, part in group for block in _request_blocks(part)]
        items.append({"role": "system" if kind == "system" else "user", "content": blocks})
    return items


def write_message(message: ModelMessage, read: Sequence[Item], sent: Sequence[Item]) -> ModelMessage | None:
    """Return what is sent of a message: the message where nothing changed, None where nothing remains.

    Args:
        message: the message.
        read: its items.
        sent: those of them that are sent, some in another form, or the summary of folded rounds in their place.
    """
    if [*map(id, sent)] == [*map(id, read)]:
        return message
    if summary := next((item for item in sent if isinstance(item["content"], str)), None):
        text = summary["content"]
        is_user = summary["role"] == "user"
        return ModelRequest([UserPromptPart(text)]) if is_user else ModelResponse([TextPart(text)])
    unchanged = {id(block) for item in read for block in item["content"]}
    given, parts = message.parts, dict[int, Any]()
    for block in (block for item in sent for block in item["content"]):
        at = block["part"]
        if id(block) not in unchanged:
            parts[at] = _with_text(given[at], block.get("text", block.get("content")))
        else:
            parts.setdefault(at, given[at])
    kept: Any = [parts[at] for at in sorted(parts)]
    return replace(message, parts=kept) if kept else None


def _is_result(part: Any) -> bool:
    return part.part_kind == "tool-return" or (part.part_kind == "retry-prompt" and part.tool_name is not None)


def _response_block(part: Any) -> Item:
    match part.part_kind:
        case "text" | "speech":
            return _text(part.content)
        case "tool-call":
            return {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": part.args}
        case "thinking" if part.signature or part.id:  # what the provider checks
            return {"type": "thinking", "thinking": part.content, "signature": part.signature or part.id}
        case "compaction":
            return {"type": "compaction", "content": part.content or ""}
        case "file":
            return _media(part.content)
    return {"type": part.part_kind, "content": str(getattr(part, "content", None) or getattr(part, "args", ""))}


def _request_blocks(part: Any) -> list[Item]:
    if part.part_kind == "tool-return":
        text, kind = part.model_response_str(wrap_if_error=False), part.tool_kind
        # The framework reads what its own tools returned: it is counted, never cut.
        block = {"type": kind, "content": text} if kind else _text(text)
        return [{"type": "tool_result", "tool_use_id": part.tool_call_id, "content": [block, *_files(part)]}]
    if part.part_kind == "retry-prompt" and part.tool_name is not None:
        return [{"type": "tool_result", "tool_use_id": part.tool_call_id, "content": part.model_response()}]
    content: Any = getattr(part, "content", "")
    if part.part_kind == "user-prompt" and not isinstance(content, str):
        texts = (item if isinstance(item, str) else item.content for item in content if _is_text(item))
        return [_text("\n".join(texts)), *_files(part)]
    if isinstance(content, str):
        return [_text(content)]
    return [{"type": part.part_kind, "content": str(content)}]


def _text(text: str) -> Item:
    return {"type": "text", "text": text, "source": {}}


def _is_text(item: object) -> bool:
    return isinstance(item, (str, TextContent))


def _beside_text(part: Any) -> list[Any]:
    """Return the files of a part, and the marks between them."""
    if isinstance(part, ToolReturnPart):
        return list(part.files)
    if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
        return [item for item in part.content if not _is_text(item)]
    return []


def _files(part: Any) -> list[Item]:
    return [_media(item) for item in _beside_text(part) if item.kind != "cache-point"]


def _media(file: Any) -> Item:
    is_binary = isinstance(file, BinaryContent)
    is_image = file.is_image if is_binary else isinstance(file, ImageUrl)
    return {"type": "image" if is_image else "document", "source": {"data": file.data if is_binary else None}}


def _with_text(part: Any, new: Any) -> Any:
    """Return a part with another text and its own files."""
    text = new if isinstance(new, str) else next(block["text"] for block in new if block["type"] == "text")
    if part.part_kind in ("text", "speech"):  # a new part: by the old one's id a provider takes its own copy
        return UserPromptPart(text) if getattr(part, "speaker", "") == "user" else TextPart(text)
    rest = _beside_text(part)
    return replace(part, content=[text, *rest] if rest else text)
