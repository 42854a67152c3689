"""The core's messages, written as LangChain's: made by a build, changed by it, or joined of several.

Content blocks, media and marks of the messages that a written one stands for stay with it, as far as they are sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from gatekeeper_core.messages import Message, TextPart, ToolCall
from langchain_gatekeeper.content import CALL_TYPES, LEGACY_CALLS, is_media
from langchain_gatekeeper.reading import read_message

if TYPE_CHECKING:
    from gatekeeper_core.context.prompt.adapter import Piece

__all__ = ["write_built"]

_MADE = {"lc_source": "gatekeeper"}
_REASONING = ("thinking", "redacted_thinking", "reasoning")


def write_built(message: Message, pieces: Sequence[Piece[BaseMessage]]) -> BaseMessage:
    """Return the message of LangChain for one that is sent.

    Args:
        message: what is sent.
        pieces: what it is made of; see ``ThreadRequests``.

    >>> write_built(Message("system", "[Related memories]"), [])
    SystemMessage(content='[Related memories]', additional_kwargs={'lc_source': 'gatekeeper'}, response_metadata={})
    """
    originals = [original for _, original in pieces if original is not None]
    if not originals:
        return _made(message)
    content = _content(message, pieces)
    own = originals[-1] if message.role == "assistant" else originals[0]
    read = read_message(own)
    if message.role != read.role:
        return _made(message, content)
    update: dict[str, Any] = {"content": content}
    if message.role == "tool" and message.tool_call_id != read.tool_call_id:
        update["tool_call_id"] = message.tool_call_id
    if message.tool_calls != read.tool_calls:
        update |= _calls(message.tool_calls)
        update["additional_kwargs"] = {
            key: own.additional_kwargs[key] for key in own.additional_kwargs.keys() - LEGACY_CALLS
        }
    return own.model_copy(update=update)


def _made(message: Message, content: Any = None) -> BaseMessage:
    said = message.text if content is None else content
    if message.role == "tool":
        called = message.tool_call_id or ""
        return ToolMessage(said, tool_call_id=called, name=message.name, additional_kwargs=dict(_MADE))
    if message.role == "assistant":
        return AIMessage(said, additional_kwargs=dict(_MADE), **_calls(message.tool_calls))
    kind = SystemMessage if message.role == "system" else HumanMessage
    return kind(said, additional_kwargs=dict(_MADE))


def _content(message: Message, pieces: Sequence[Piece[BaseMessage]]) -> Any:
    """Return the content: the originals' own blocks where they are only joined, else the new text with its media.

    Blocks with reasoning go as they are, for providers refuse what they have signed in any other form. Of the texts'
    cache marks the last one stays.
    """
    if all(original is None or isinstance(original.content, str) for _, original in pieces):
        return message.text
    unchanged = [
        original is None or _is_signed(original) or read_message(original).text == piece.text
        for piece, original in pieces
    ]
    if all(unchanged):
        return [block for piece in pieces for block in _blocks(*piece)]
    given = [block for _, original in pieces for block in _listed(original)]
    media = filter(is_media, given)
    said = [block for block in given if isinstance(block, Mapping) and not is_media(block)]
    marks = [block["cache_control"] for block in said if "cache_control" in block]
    if isinstance(message.content, str):
        return [_text(message.text) | {"cache_control": marks[-1]}] if marks else message.text
    blocks = [_text(part.text) if isinstance(part, TextPart) else next(media) for part in message.content]
    texts = [at for at, part in enumerate(message.content) if isinstance(part, TextPart)]
    if marks and texts:
        blocks[texts[-1]] = {**blocks[texts[-1]], "cache_control": marks[-1]}
    return blocks


def _blocks(piece: Message, original: BaseMessage | None) -> Iterator[Any]:
    """Yield what a message says as content blocks, its calls aside: these stand in ``tool_calls``."""
    if original is None or isinstance(original.content, str):
        if piece.text:
            yield _text(piece.text)
        return
    for block in original.content:
        if not (isinstance(block, Mapping) and block.get("type") in CALL_TYPES):
            yield block


def _is_signed(message: BaseMessage) -> bool:
    return any(isinstance(block, Mapping) and block.get("type") in _REASONING for block in _listed(message))


def _listed(message: BaseMessage | None) -> list[Any]:
    return message.content if message is not None and isinstance(message.content, list) else []


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _calls(calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Return calls as an ``AIMessage`` holds them: those whose arguments are no object are invalid ones."""
    found: dict[str, list[dict[str, Any]]] = {"tool_calls": [], "invalid_tool_calls": []}
    for call in calls:
        args = _arguments(call.arguments)
        kind = "tool_calls" if isinstance(args, dict) else "invalid_tool_calls"
        entry: dict[str, Any] = {"name": call.name, "args": args, "id": call.id, "type": kind.removesuffix("s")}
        if kind == "invalid_tool_calls":
            entry |= {"args": call.arguments, "error": None}
        found[kind].append(entry)
    return found


def _arguments(text: str) -> object:
    try:
        return json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return None
