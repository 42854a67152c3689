"""OpenAI's chat messages, also used by MiniMax, DeepSeek, Mistral, vLLM, Ollama and many more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import MediaPart, Message, Part, TextPart, read_content
from gatekeeper_core.native.images import openai_tokens
from gatekeeper_core.native.items import Format, Item, blocks_in, image, kind_of, opaque, refuse

_ROLES_ONLY_HERE = ("tool", "function")
_PARTS_ONLY_HERE = ("image_url", "input_audio", "video_url")


class _Chat(Format):
    name = "OpenAI chat messages"

    def signs(self, item: Item) -> str | None:
        if item.get("role") in _ROLES_ONLY_HERE and item.get("type") is None:
            return f"a message of the role {item['role']!r}"
        for key in ("tool_calls", "function_call"):
            if item.get(key):
                return f'"{key}" in a message'
        parts = (kind_of(block) for block in blocks_in(item.get("content")))
        return next((f"a part of type {part!r}" for part in parts if part in _PARTS_ONLY_HERE), None)

    def messages(self, item: Item, at: int) -> list[Message]:
        message = Message.from_dict(item, position=at)
        if isinstance(message.content, str):
            return [message]
        return [replace(message, content=tuple(map(_counted, message.content, item["content"])))]

    def plain(self, message: Message) -> dict[str, Any]:
        return message.to_dict(for_provider=True)


def parts_in(content: object, at: int) -> list[Part]:
    """Return content as parts."""
    try:
        parts = read_content(content)
    except MessageFormatError as error:
        raise refuse(error.reason, at) from None
    return [TextPart(parts)] if isinstance(parts, str) else [*map(_counted, parts, cast("Sequence[Any]", content))]


def _counted(part: Part, block: Any) -> Part:
    """Return a part with its cost, as far as its block shows it."""
    if not isinstance(part, MediaPart) or part.kind not in ("image", "other"):
        return part
    if part.kind == "other":
        return opaque(block)
    value, detail = block.get("image_url"), block.get("detail")
    url, detail = (value.get("url"), value.get("detail")) if isinstance(value, Mapping) else (value, detail)
    return image(url, (lambda *_: 85) if detail == "low" else openai_tokens)


CHAT = _Chat()
