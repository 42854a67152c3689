"""The content blocks of LangChain's messages, in whatever form a provider gave them, read as parts and calls.

What is unknown counts as media; nothing here raises on content that LangChain accepts.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gatekeeper_core.messages import MEDIA_TYPES, SIGNED_KEYS, MediaKind, MediaPart, Part, TextPart, ToolCall
from gatekeeper_core.native.items import is_compaction, opaque

__all__ = [
    "CALL_TYPES",
    "LEGACY_CALLS",
    "MEDIA_ALONE",
    "READ_EXTRAS",
    "compact_json",
    "compaction_in",
    "is_media",
    "read_blocks",
    "read_call",
]

CALL_TYPES = frozenset(
    {"tool_use", "tool_call", "function_call", "invalid_tool_call", "tool_call_chunk", "input_json_delta"}
)
"""The types of content blocks that are calls."""

LEGACY_CALLS = frozenset({"function_call", "tool_calls"})
"""Where ``additional_kwargs`` may hold calls."""

READ_EXTRAS = LEGACY_CALLS | SIGNED_KEYS
"""What is read of ``additional_kwargs``."""

_ARGUMENT_KEYS = ("args", "arguments", "input")
_TEXT_KEYS: dict[Any, tuple[str, ...]] = {
    "text": ("text",),
    "input_text": ("text",),
    "output_text": ("text",),
    "refusal": ("refusal",),
    "thinking": ("thinking",),
    "redacted_thinking": (),
    "reasoning": ("reasoning", "summary", "text"),
    "reasoning_content": ("reasoning_content",),
    "tool_result": ("content",),
}
_FILE_TYPES = frozenset({"file", "input_file", "document", "media", "text-plain"})
MEDIA_ALONE = frozenset(MEDIA_TYPES) - _FILE_TYPES
"""The types of content blocks that are media whatever else stands in them."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


def compact_json(value: object) -> str:
    """Return a value as JSON without spaces; what JSON cannot hold as ``str`` writes it, in the worst case shortened.

    >>> compact_json({"city": "苏黎世", "kinds": {1}})
    '{"city":"苏黎世","kinds":"{1}"}'
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        return reprlib.repr(value)


def read_call(data: Mapping[str, Any]) -> ToolCall:
    """Return a call in any of the forms that LangChain and the providers write; what is missing reads as empty."""
    function = data.get("function")
    inner = function if isinstance(function, Mapping) else data
    arguments = next((inner[key] for key in _ARGUMENT_KEYS if inner.get(key) is not None), "")
    return ToolCall(
        str(data.get("call_id") or data.get("id") or ""),
        str(inner.get("name") or ""),
        arguments if isinstance(arguments, str) else compact_json(arguments),
    )


def read_blocks(
    content: Iterable[object], calls: tuple[ToolCall, ...] = ()
) -> tuple[tuple[Part, ...], tuple[ToolCall, ...]]:
    """Return the parts of a content list, and the calls given with those that only the list holds.

    A block repeats a call that has its id; a block without an id one that has its name.

    >>> read_blocks(["hm", {"type": "tool_use", "id": "c1", "name": "now", "input": {}}], (ToolCall("c1", "now", ""),))
    ((TextPart(text='hm'),), (ToolCall(id='c1', name='now', arguments=''),))
    """
    parts: list[Part] = []
    found = list(calls)
    ids, names = {call.id for call in calls}, {call.name for call in calls} | {""}
    for block in content:
        if isinstance(block, Mapping) and _kind(block) in CALL_TYPES:
            call = read_call(block)
            if call.id not in ids if call.id else call.name not in names:
                found.append(call)
                ids.add(call.id)
        else:
            parts.extend(_parts(block))
    return tuple(parts), tuple(found)


def compaction_in(block: object) -> Mapping[str, Any] | None:
    """Return the provider's own compaction that a block is, or wraps in LangChain's own form; None where it is none.

    >>> compaction_in({"type": "non_standard", "value": {"type": "compaction", "content": "They set a port."}})
    {'type': 'compaction', 'content': 'They set a port.'}
    """
    inner = block.get("value") if isinstance(block, Mapping) and block.get("type") == "non_standard" else block
    return inner if isinstance(inner, Mapping) and is_compaction(inner) else None


def is_media(block: object) -> bool:
    """Return whether a block of a content list is more than text.

    >>> is_media({"type": "image_url", "image_url": {"url": "…"}}), is_media("text")
    (True, False)
    """
    return any(isinstance(part, MediaPart) for part in _parts(block))


def _kind(block: Mapping[str, Any]) -> str:
    kind = block.get("type", "text" if "text" in block else "")
    return kind if isinstance(kind, str) else ""


def _parts(block: object) -> Iterator[Part]:
    """Yield the parts of a block: one, but for a tool result, whose list of blocks is read one level deep."""
    if isinstance(block, Mapping) and _kind(block) == "tool_result" and isinstance(block.get("content"), list):
        yield from map(_part, block["content"])
    else:
        yield _part(block)


def _part(block: object) -> Part:
    if isinstance(block, str):
        return TextPart(block)
    if not isinstance(block, Mapping):
        return MediaPart("other")
    kind, compaction = _kind(block), compaction_in(block)
    if compaction:
        text = compaction.get("content")
        return TextPart(text) if isinstance(text, str) else opaque(compaction)
    if kind in _FILE_TYPES:
        text = block.get("text")
        return TextPart(text) if isinstance(text, str) else MediaPart(_file_kind(block))
    if kind in _TEXT_KEYS:
        return TextPart(next((_inner_text(block[key]) for key in _TEXT_KEYS[kind] if block.get(key)), ""))
    return MediaPart(MEDIA_TYPES.get(kind, "other"))


def _inner_text(value: object) -> str:
    """Return the text of a block's value: itself, or that of a summary's or a reasoning's own blocks."""
    if isinstance(value, Mapping):
        return str(value.get("text") or "")
    if isinstance(value, list):
        return "\n".join(map(_inner_text, filter(lambda item: isinstance(item, Mapping), value)))
    return str(value)


def _file_kind(block: Mapping[str, Any]) -> MediaKind:
    return MEDIA_TYPES.get(str(block.get("mime_type") or "").partition("/")[0], "document")
