"""The content blocks of LangChain's messages, in the form of any provider, read as parts and calls.

Blocks of an unknown type count as media; nothing here raises on content that LangChain accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gatekeeper_core.messages import MEDIA_TYPES, MediaPart, Part, TextPart, ToolCall
from gatekeeper_core.native.calls import read_call
from gatekeeper_core.native.items import is_compaction, opaque

__all__ = ["CALL_TYPES", "LEGACY_CALLS", "compaction_in", "is_media", "read_blocks"]

CALL_TYPES = frozenset(
    {"tool_use", "tool_call", "function_call", "invalid_tool_call", "tool_call_chunk", "input_json_delta"}
)
"""The types of content blocks that are calls."""

LEGACY_CALLS = frozenset({"function_call", "tool_calls"})
"""Where ``additional_kwargs`` may hold calls."""

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


def read_blocks(
    content: Iterable[object], calls: tuple[ToolCall, ...] = ()
) -> tuple[tuple[Part, ...], tuple[ToolCall, ...]]:
    """Return the parts of a content list, and the calls given with those that only the list has.

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
        mime = str(block.get("mime_type") or "").partition("/")[0]
        text = block.get("text")
        return TextPart(text) if isinstance(text, str) else MediaPart(MEDIA_TYPES.get(mime, "document"))
    if kind in _TEXT_KEYS:
        return TextPart(next((_inner_text(block[key]) for key in _TEXT_KEYS[kind] if block.get(key)), ""))
    return MediaPart(MEDIA_TYPES.get(kind, "other"))


def _inner_text(value: object) -> str:
    """Return the text of a block's value: itself, or that of a summary's or a reasoning's own blocks."""
    if isinstance(value, Mapping):
        return str(value.get("text") or "")
    if isinstance(value, list):
        return "\n".join(_inner_text(item) for item in value if isinstance(item, Mapping))
    return str(value)
