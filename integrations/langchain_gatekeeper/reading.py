"""LangChain's messages, read as the core's: roles, text, calls and media, whatever form a provider gave them.

Reading never changes a message and never fails on content that LangChain accepts: what is unknown counts as media.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompt_values import PromptValue

from gatekeeper_core.messages import MediaKind, MediaPart, Message, Part, Role, TextPart, ToolCall

__all__ = ["compact_json", "read_message", "text_of"]

_ROLE_OF_CLASS: dict[type[BaseMessage], Role] = {
    HumanMessage: "user",
    AIMessage: "assistant",
    SystemMessage: "system",
    ToolMessage: "tool",
    FunctionMessage: "tool",
}
_ROLE_OF_NAME: dict[str, Role] = {
    "ai": "assistant",
    "assistant": "assistant",
    "developer": "system",
    "function": "tool",
    "system": "system",
    "tool": "tool",
}
_CALL_TYPES = frozenset(
    {"tool_use", "tool_call", "function_call", "invalid_tool_call", "tool_call_chunk", "input_json_delta"}
)
_ARGUMENT_KEYS = ("args", "arguments", "input")
_TEXT_KEYS: dict[Any, tuple[str, ...]] = {
    None: ("text",),
    "text": ("text",),
    "input_text": ("text",),
    "output_text": ("text",),
    "text-plain": ("text",),
    "refusal": ("refusal",),
    "thinking": ("thinking",),
    "redacted_thinking": (),
    "reasoning": ("reasoning", "summary", "text"),
    "reasoning_content": ("reasoning_content",),
    "tool_result": ("content",),
}
_MEDIA_KINDS: dict[Any, MediaKind] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "video_url": "video",
    "input_video": "video",
}
_FILE_TYPES = ("file", "input_file", "document", "media", "text-plain")


def read_message(message: BaseMessage) -> Message:
    """Return a message of LangChain as the core's; its id is left out, for nothing depends on it.

    * A ``ChatMessage`` reads by its role; an unknown role is the user's.
    * Calls come from ``tool_calls`` and ``invalid_tool_calls``, from the legacy ``additional_kwargs`` where both are
      empty, and from content blocks that repeat none of them. A legacy function call is known by its name.
    * Thinking counts as text; images, audio, video, files and unknown blocks become media.

    >>> read_message(AIMessage("", tool_calls=[{"name": "now", "args": {"zone": "CET"}, "id": "c1"}])).tool_calls
    (ToolCall(id='c1', name='now', arguments='{"zone":"CET"}'),)
    """
    role = _ROLE_OF_CLASS.get(type(message)) or _role(message)
    content: Any = message.content
    calls = _calls(message) if role == "assistant" else ()
    if not isinstance(content, str):
        content, calls = _read_blocks(content, calls)
    answered = _answered_call(message) if role == "tool" else None
    return Message(role, content, tool_calls=calls, tool_call_id=answered, name=message.name or None)


def text_of(value: object) -> str:
    """Return the text of what a chain was asked.

    Args:
        value: a text, a message, a prompt, content blocks, or messages, of which the last one by the user counts, else
            the last. None has no text; anything else reads as ``str`` writes it.

    >>> text_of([HumanMessage("first"), HumanMessage([{"type": "text", "text": "second"}]), AIMessage("answer")])
    'second'
    """
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, BaseMessage):
        return read_message(value).text
    if isinstance(value, PromptValue):
        return text_of(value.to_messages())
    if not isinstance(value, (list, tuple, Mapping)):
        return str(value)
    messages = [read_message(item) for item in value if isinstance(item, BaseMessage)]
    asked = [message for message in messages if message.role == "user"] or messages
    if asked:
        return asked[-1].text
    blocks, _ = _read_blocks([value] if isinstance(value, Mapping) else value, ())
    return Message("user", blocks).text


def compact_json(value: object) -> str:
    """Return a value as JSON without spaces; what JSON cannot hold as ``str`` writes it, in the worst case shortened."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (TypeError, ValueError, RecursionError):
        return reprlib.repr(value)


def _role(message: BaseMessage) -> Role:
    if isinstance(message, ChatMessage):
        return _ROLE_OF_NAME.get(message.role.lower(), "user")
    known = (role for kind, role in _ROLE_OF_CLASS.items() if isinstance(message, kind))
    return next(known, _ROLE_OF_NAME.get(message.type, "user"))


def _answered_call(message: BaseMessage) -> str | None:
    """Return the id of the call that a result answers; a legacy result names its function instead."""
    answered = getattr(message, "tool_call_id", None)
    if answered is None:
        answered = message.additional_kwargs.get("tool_call_id", message.name)
    return None if answered is None else str(answered)


def _calls(message: BaseMessage) -> tuple[ToolCall, ...]:
    found = [*_mappings(message, "tool_calls"), *_mappings(message, "invalid_tool_calls")]
    if not found and message.additional_kwargs:
        found = [item for item in _listed(message.additional_kwargs.get("tool_calls")) if isinstance(item, Mapping)]
        legacy = message.additional_kwargs.get("function_call")
        if not found and isinstance(legacy, Mapping):
            found = [{**legacy, "id": legacy.get("name")}]
    return tuple(map(_read_call, found))


def _mappings(message: BaseMessage, field: str) -> list[Mapping[str, Any]]:
    return [item for item in _listed(getattr(message, field, None)) if isinstance(item, Mapping)]


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _read_call(data: Mapping[str, Any]) -> ToolCall:
    function = data.get("function")
    inner = function if isinstance(function, Mapping) else data
    arguments = next((inner[key] for key in _ARGUMENT_KEYS if inner.get(key) is not None), "")
    return ToolCall(
        str(data.get("call_id") or data.get("id") or ""),
        str(inner.get("name") or ""),
        arguments if isinstance(arguments, str) else compact_json(arguments),
    )


def _read_blocks(
    content: Iterable[Any] | None, calls: tuple[ToolCall, ...]
) -> tuple[tuple[Part, ...], tuple[ToolCall, ...]]:
    """Return the parts of a content list, and the calls with those that only the list holds."""
    parts: list[Part] = []
    found = list(calls)
    for block in content or ():
        if isinstance(block, Mapping) and block.get("type") in _CALL_TYPES:
            call = _read_call(block)
            if not any(call.id == known.id if call.id else call.name in ("", known.name) for known in found):
                found.append(call)
        else:
            parts.extend(_parts(block))
    return tuple(parts), tuple(found)


def _parts(block: object) -> Iterator[Part]:
    if isinstance(block, str):
        yield TextPart(block)
    elif not isinstance(block, Mapping):
        yield MediaPart("other")
    elif block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        yield from (_part(item) for item in block["content"])
    else:
        yield _part(block)


def _part(block: object) -> Part:
    if not isinstance(block, Mapping):
        return TextPart(block) if isinstance(block, str) else MediaPart("other")
    kind = block.get("type")
    keys = ("text",) if kind in _FILE_TYPES else _TEXT_KEYS.get(kind)
    texts = [_inner_text(block[key]) for key in keys or () if block.get(key)]
    if texts or (keys is not None and kind not in _FILE_TYPES and kind is not None):
        return TextPart(texts[0] if texts else "")
    return MediaPart(_media_kind(kind, block))


def _inner_text(value: object) -> str:
    if isinstance(value, Mapping):
        return str(value.get("text") or "")
    if isinstance(value, list):
        return "\n".join(str(item.get("text") or "") for item in value if isinstance(item, Mapping))
    return str(value)


def _media_kind(kind: object, block: Mapping[str, Any]) -> MediaKind:
    if kind not in _FILE_TYPES:
        return _MEDIA_KINDS.get(kind, "other")
    family = str(block.get("mime_type") or "").partition("/")[0]
    return _MEDIA_KINDS.get(family, "document")
