"""Anthropic's messages: lists of content blocks; tool results are in messages with the user role.

::

    user [text]  assistant [thinking, text, tool_use a, tool_use b]  user [tool_result a, tool_result b, text]
         │                           │                                           │              │          │
        user            assistant, two calls, signed                            tool           tool  user, opens no turn
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatekeeper_core.messages import MediaPart, Message, Part, TextPart, ToolCall
from gatekeeper_core.native.images import anthropic_tokens
from gatekeeper_core.native.items import (
    Format,
    Item,
    Sent,
    arguments_json,
    blocks_in,
    content_of,
    image,
    is_compaction,
    kind_of,
    opaque,
    refuse,
    rewritten,
    rewritten_texts,
    signed,
    text_of,
    user_beside_results,
)

_ROLES = ("user", "assistant", "system")
_ONLY_HERE = frozenset(
    {"tool_use", "tool_result", "redacted_thinking", "server_tool_use", "mcp_tool_use", "search_result"}
    | {"container_upload"}
)
_SIGNED = frozenset({"thinking", "redacted_thinking", "compaction"})


class _Anthropic(Format):
    name = "Anthropic messages"

    def signs(self, item: Item) -> str | None:
        by_the_model = item.get("role") == "assistant"
        for block in blocks_in(item.get("content")):
            kind = kind_of(block)
            if kind in _ONLY_HERE or kind.endswith("_tool_result") or (kind == "compaction" and by_the_model):
                return f"a block of type {kind if kind in _ONLY_HERE else '…_tool_result'!r}"
            if kind and ("source" in block or (kind == "thinking" and "signature" in block)):
                return f"a block with {'a source' if 'source' in block else 'a signature'}"
        return None

    def messages(self, item: Item, at: int) -> list[Message]:
        role, content = item.get("role"), item.get("content")
        if role not in _ROLES:
            raise refuse(f'"role" must be one of {", ".join(_ROLES)}', at)
        if isinstance(content, str):
            return [Message(role, content)]
        if not isinstance(content, (list, tuple)):
            raise refuse('"content" must be text or a list of blocks', at)
        results: list[Message] = []
        calls: list[ToolCall] = []
        parts: list[Part] = []
        for block in blocks_in(content):
            kind = kind_of(block)
            if not kind:
                raise refuse('a block of "content" must be an object with a "type"', at)
            if kind == "tool_result" and role == "user":
                results.append(_result(block, at))
            elif kind == "tool_use" and role == "assistant":
                call_id, name = text_of(block, "id", at), text_of(block, "name", at)
                calls.append(ToolCall(call_id, name, arguments_json(block.get("input"), at)))
            elif kind in ("tool_result", "tool_use"):
                raise refuse(f"a block of type {kind!r} cannot appear in a message with the role {role!r}", at)
            elif kind == "compaction" and role == "assistant":
                text = block.get("content")
                parts.append(TextPart(text) if isinstance(text, str) else opaque(block))
            else:
                parts.append(_part(block, at))
        message = Message(role, content_of(parts), tool_calls=tuple(calls))
        if results:
            return [*results, user_beside_results(message.content)] if parts else results
        if role != "assistant" or _SIGNED.isdisjoint(map(kind_of, content)):
            return [message]
        compacted = any(kind_of(each) == "compaction" and is_compaction(each) for each in content)
        return [signed(message, compacted=compacted)]

    def rewrite(self, item: Item, sent: Sequence[Sent]) -> dict[str, Any]:
        if isinstance(item["content"], str):
            return super().rewrite(item, sent)
        results = iter([one for one in sent if one.read.role == "tool"])
        blocks: list[Any] = []
        for block in item["content"]:
            if kind_of(block) == "tool_result":
                read, kept = next(results)
                if kept is not None:
                    blocks.append(block if kept is read else rewritten(block, "content", kept))
        rest = [block for block in item["content"] if kind_of(block) != "tool_result"]
        for read, kept in sent:
            if read.role != "tool" and kept is not None:
                blocks += rest if kept is read else rewritten_texts(rest, kept.text)
        return {**item, "content": blocks}


def _result(block: Item, at: int) -> Message:
    content = block.get("content") or ""
    if not isinstance(content, (str, list, tuple)):
        raise refuse('"content" of a tool_result must be text or a list of blocks', at)
    parts = [_part(block, at) for block in blocks_in(content)]
    return Message("tool", content_of(parts), tool_call_id=text_of(block, "tool_use_id", at))


def _part(block: object, at: int) -> Part:
    if not isinstance(block, Mapping):
        raise refuse("a block must be an object", at)
    kind, source = kind_of(block), block.get("source")
    source = source if isinstance(source, Mapping) else {}
    if kind == "text":
        return TextPart(text_of(block, "text", at))
    if kind == "image":
        return image(source.get("data"), anthropic_tokens)
    if kind == "document":
        text = source.get("data") if source.get("type") == "text" else None
        return TextPart(text) if isinstance(text, str) else MediaPart("document")
    return opaque(block)


ANTHROPIC = _Anthropic()
