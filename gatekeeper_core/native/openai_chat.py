"""OpenAI's chat messages, and what follows them: MiniMax, DeepSeek, Mistral, vLLM, Ollama and many more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gatekeeper_core.messages import MediaKind, MediaPart, Message
from gatekeeper_core.native.images import openai_tokens
from gatekeeper_core.native.items import Format, Item, Read, Sent, blocks_of, image, kind_of, opaque, rewritten_texts

__all__ = ["CHAT"]

_ROLES_ONLY_HERE = ("tool", "function")
_PARTS_ONLY_HERE = ("image_url", "input_audio", "video_url")


def _signs(item: Item) -> str | None:
    if item.get("role") in _ROLES_ONLY_HERE and item.get("type") is None:
        return f"a message of the role {item['role']!r}"
    for key in ("tool_calls", "function_call"):
        if item.get(key):
            return f'"{key}" in a message'
    parts = (kind_of(block) for block in blocks_of(item))
    return next((f"a part of type {part!r}" for part in parts if part in _PARTS_ONLY_HERE), None)


def _read(items: Sequence[Item]) -> list[Read]:
    return [Read(_message(item, at), at, at + 1) for at, item in enumerate(items)]


def _message(item: Item, at: int) -> Message:
    message = Message.from_dict(item, position=at)
    if isinstance(message.content, tuple):
        parts = tuple(
            _sized(block, part.kind) if isinstance(part, MediaPart) else part
            for part, block in zip(message.content, item["content"], strict=True)
        )
        message = replace(message, content=parts)
    return message


def _sized(block: Item, kind: MediaKind) -> MediaPart:
    if kind != "image":
        return opaque(block) if kind == "other" else MediaPart(kind)
    given = block.get("image_url")
    url, detail = (given.get("url"), given.get("detail")) if isinstance(given, Mapping) else (given, None)
    return image(url, (lambda *_: 85) if detail == "low" else openai_tokens)


def _rewrite(item: Item, sent: Sequence[Sent]) -> dict[str, Any]:
    (one,) = sent
    text, content = one.sent.text if one.sent else "", item.get("content")
    return {**item, "content": rewritten_texts(content, text, _is_text) if isinstance(content, list) else text}


def _is_text(block: object) -> bool:
    return (
        isinstance(block, str)
        or kind_of(block) == "text"
        or (isinstance(block, Mapping) and "type" not in block and "text" in block)
    )


def _plain(message: Message) -> dict[str, Any]:
    return message.to_dict(for_provider=True)


CHAT = Format("OpenAI chat messages", _signs, _read, _rewrite, _plain)
