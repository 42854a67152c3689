"""OpenAI's chat messages, and what follows them: MiniMax, DeepSeek, Mistral, vLLM, Ollama and many more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gatekeeper_core.messages import MediaPart, Message, Part
from gatekeeper_core.native.images import openai_tokens
from gatekeeper_core.native.items import Format, Item, Read, Sent, blocks_of, image, kind_of, opaque, rewritten

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
    if isinstance(message.content, str):
        return message
    return replace(message, content=tuple(map(_counted, message.content, item["content"])))


def _counted(part: Part, block: Any) -> Part:
    """Return a part with what it costs, as far as its block tells."""
    if not isinstance(part, MediaPart) or part.kind not in ("image", "other"):
        return part
    if part.kind == "other":
        return opaque(block)
    given = block.get("image_url")
    url, detail = (given.get("url"), given.get("detail")) if isinstance(given, Mapping) else (given, None)
    return image(url, (lambda *_: 85) if detail == "low" else openai_tokens)


def _rewrite(item: Item, sent: Sequence[Sent]) -> dict[str, Any]:
    return rewritten(item, "content", sent[0].sent)


CHAT = Format("OpenAI chat messages", _signs, _read, _rewrite, lambda message: message.to_dict(for_provider=True))
