"""Gemini's contents: ``parts`` under the roles user and model; calls and responses often have no ids.

A response answers the first waiting call of its name; missing ids are made from positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatekeeper_core.messages import MediaKind, MediaPart, Message, Part, TextPart, ToolCall
from gatekeeper_core.native.images import gemini_tokens
from gatekeeper_core.native.items import (
    Format,
    Item,
    Read,
    Sent,
    arguments_json,
    content_of,
    image,
    opaque,
    refuse,
    signed,
    text_of,
    user_beside_results,
)

_TEXT_KEYS = ("result", "output", "error")
"""Keys of a response's text. Source: Gemini's guide to function calling: "output", "error"; its examples: "result"."""


def _get(block: Item, name: str) -> Any:
    """Return a field by its JSON name or its Python spelling (``function_call`` for ``functionCall``)."""
    if name in block:
        return block[name]
    return block.get("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name))


class _Gemini(Format):
    name = "Gemini contents"

    def signs(self, item: Item) -> str | None:
        return '"parts"' if "parts" in item and "content" not in item else None

    def read(self, items: Sequence[Item]) -> list[Read]:
        read: list[Read] = []
        waiting: list[ToolCall] = []
        for at, item in enumerate(items):
            role, parts = item.get("role", "user"), item.get("parts")
            if role not in ("user", "model", "function", "system"):
                raise refuse('"role" must be user or model', at)
            if not isinstance(parts, (str, Mapping, list, tuple)):
                raise refuse('"parts" must be a list', at)
            blocks = _blocks(parts)
            if not all(isinstance(block, Mapping) for block in blocks):
                raise refuse("each part must be an object", at)
            if role == "model":
                message = _model(blocks, at)
                waiting += message.tool_calls
                read.append(Read(message, at, at + 1))
            else:
                read += (Read(message, at, at + 1) for message in _user(blocks, at, waiting, role))
        return read

    def rewrite(self, item: Item, sent: Sequence[Sent]) -> dict[str, Any]:
        results = iter([one for one in sent if one.read.role == "tool"])
        user = next((one for one in sent if one.read.role != "tool"), None)
        parts: list[Any] = []
        for block in _blocks(item["parts"]):
            response = _get(block, "functionResponse")
            if isinstance(response, Mapping):
                read, kept = next(results)
                if kept is not None and kept is not read:
                    name = "functionResponse" if "functionResponse" in block else "function_response"
                    value = {_text_key(response.get("response")) or "result": kept.text}
                    block = {**block, name: {**response, "response": value}}
                parts += [] if kept is None else [block]
            elif user is not None and user.sent is user.read:
                parts.append(block)
            elif user is not None and user.sent is not None:
                parts.append({**block, "text": user.sent.text})
                user = None  # a cut message has one text
        return {**item, "parts": parts}

    def plain(self, message: Message) -> dict[str, Any]:
        return {"role": "model" if message.role == "assistant" else "user", "parts": [{"text": message.text}]}


def _blocks(parts: Any) -> list[Any]:
    """Return parts as a list of objects; Google's library also accepts a single part, and a str for a part."""
    several = [parts] if isinstance(parts, (str, Mapping)) else parts
    return [{"text": part} if isinstance(part, str) else part for part in several]


def _model(blocks: Sequence[Item], at: int) -> Message:
    parts: list[Part] = []
    calls: list[ToolCall] = []
    is_signed = False
    for block in blocks:
        call = _get(block, "functionCall")
        is_signed = is_signed or bool(_get(block, "thought") or _get(block, "thoughtSignature"))
        if isinstance(call, Mapping):
            call_id = call.get("id") or f"{at}.{len(calls)}"
            calls.append(ToolCall(str(call_id), text_of(call, "name", at), arguments_json(call.get("args"), at)))
        else:
            parts.append(_part(block))
    message = Message("assistant", content_of(parts), tool_calls=tuple(calls))
    return signed(message) if is_signed else message


def _user(blocks: Sequence[Item], at: int, waiting: list[ToolCall], role: str) -> list[Message]:
    results: list[Message] = []
    parts: list[Part] = []
    for block in blocks:
        response = _get(block, "functionResponse")
        if isinstance(response, Mapping):
            name, call_id = text_of(response, "name", at), response.get("id")
            call = next((one for one in waiting if (one.id == call_id if call_id else one.name == name)), None)
            if call is not None:
                waiting.remove(call)
                call_id = call.id
            value: Any = response.get("response")
            text = arguments_json(value[key] if (key := _text_key(value)) else value, at)
            results.append(Message("tool", text, tool_call_id=call_id, name=name))
        else:
            parts.append(_part(block))
    if results:
        return [*results, user_beside_results(content_of(parts))] if parts else results
    return [Message("system" if role == "system" else "user", content_of(parts))]


def _text_key(value: Any) -> str | None:
    """Return the key of the text if a response holds nothing else."""
    if isinstance(value, Mapping) and len(value) == 1:
        return next((key for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
    return None


def _part(block: Item) -> Part:
    if isinstance(block.get("text"), str) and not block.get("thought"):
        return TextPart(block["text"])
    data = _get(block, "inlineData") or _get(block, "fileData")
    if isinstance(data, Mapping):
        kind = str(_get(data, "mimeType")).partition("/")[0]
        if kind == "image":
            return image(data.get("data"), gemini_tokens)
        kinds: dict[str, MediaKind] = {"audio": "audio", "video": "video"}
        return MediaPart(kinds.get(kind, "document"))
    return opaque(block)


GEMINI = _Gemini()
