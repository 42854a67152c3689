"""LlamaIndex's chat messages as the core reads them: roles, texts, calls and ids.

::

    ChatMessage(blocks, additional_kwargs) ──read_message──> Message(role, content, tool_calls, tool_call_id)

Whatever LlamaIndex accepts can be read, and nothing of it is changed. Calls stand in blocks, or in
``additional_kwargs`` in the form of some provider's package: objects, dicts, ``ToolSelection``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock

from gatekeeper_core.messages import (
    SIGNED,
    MediaKind,
    MediaPart,
    Message,
    Metadata,
    Part,
    Role,
    TextPart,
    ToolCall,
    is_signed,
)
from gatekeeper_core.native.calls import read_call

__all__ = [
    "Question",
    "media_blocks",
    "read_message",
    "role_of",
    "text_of",
    "write_message",
]

Question: TypeAlias = str | ChatMessage | None
"""What engines and agents hand over as ``input``."""

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "tool": "tool",
    "function": "tool",
}
# A role that was assigned later is a plain text: LlamaIndex does not check assignments.
_ROLE_OF: Mapping[str, Role] = {
    name: _ROLES.get(role.value, "assistant") for role in MessageRole for name in (role, role.value)
}
_MEDIA_BLOCKS: Mapping[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video", "document": "document"}
_SIGNED = Metadata({SIGNED: True})


def read_message(message: ChatMessage) -> Message:
    """Return a chat message in the core's form; the message is not changed.

    * Roles: ``developer`` reads as ``system``, ``function`` as ``tool``, ``model`` and ``chatbot`` as ``assistant``.
    * Blocks: text, thoughts and the content of citable and citation blocks are text; images, audio, video, documents
      and blocks of an unknown type are media; a cache point is nothing.
    * Calls: the tool call blocks, then those in ``additional_kwargs`` that no block holds. Arguments that are no text
      become compact JSON.
    * A single block that is text and no plain text block (a thought, a citation) gives the mark ``SIGNED``, and so do
      thinking and signatures in ``additional_kwargs``: nothing is left out of such a message.
    * A result's id is ``tool_call_id``, or a function's name, in ``additional_kwargs``. An assistant message may have
      one as well (an agent's direct answer): that one answers no call.

    >>> read_message(ChatMessage("hello")) == Message("user", "hello")
    True
    """
    role = role_of(message)
    blocks, extra = message.blocks, message.additional_kwargs
    if len(blocks) == 1 and type(blocks[0]) is TextBlock and not extra:
        return Message(role, blocks[0].text)
    name = _text(extra.get("name")) or None
    read = Message(
        role,
        _content(blocks),
        tool_calls=_calls(blocks, extra),
        tool_call_id=(_text(extra.get("tool_call_id")) or name) if role == "tool" else None,
        name=name,
    )
    signed = role == "assistant" and (is_signed(extra) or not any(map(_is_plain, blocks)))
    return replace(read, metadata=_SIGNED) if signed and read.text else read


def write_message(original: ChatMessage, instead: Message) -> ChatMessage:
    """Return a copy of a message with another text in the place of its first; the rest of it, other texts aside, stays.

    >>> write_message(ChatMessage("Port 6380. It is fast."), Message("user", "Port 6380. …")).content
    'Port 6380. …'
    """
    first = next((block for block in original.blocks if _is_plain(block)), None)
    blocks = [
        block.model_copy(update={"text": instead.text}) if block is first else block
        for block in original.blocks
        if block is first or not _is_plain(block)
    ]
    return original.model_copy(update={"blocks": blocks})


def _is_plain(block: Any) -> bool:
    return isinstance(block, TextBlock)


def media_blocks(message: ChatMessage) -> Iterator[Any]:
    """Yield the blocks of a chat message that are read as media, in the order of its media parts."""
    for block in message.blocks:
        yield from _media(block)


def _media(block: Any) -> Iterator[Any]:
    kind = getattr(block, "block_type", "")
    if kind == "citable":
        for cited in block.content:
            yield from _media(cited)
    elif kind == "citation":
        yield from _media(block.cited_content)
    elif any(isinstance(part, MediaPart) for part in _parts(block)):
        yield block


def role_of(message: ChatMessage) -> Role:
    """Return the role that a chat message reads as, without reading the rest of it."""
    return _ROLE_OF.get(message.role, "assistant")


def text_of(question: Question) -> str | None:
    """Return the text of a question as an engine or agent hands it over, None where there is none.

    >>> text_of(ChatMessage("hello")), text_of("  "), text_of(None)
    ('hello', None, None)
    """
    text = read_message(question).text if isinstance(question, ChatMessage) else _text(question)
    return text if text.strip() else None


def _content(blocks: Iterable[Any]) -> str | tuple[Part, ...]:
    parts = tuple(part for block in blocks for part in _parts(block))
    if not parts:
        return ""
    only = parts[0]
    return only.text if len(parts) == 1 and isinstance(only, TextPart) else parts


def _parts(block: Any) -> Iterator[Part]:
    kind = getattr(block, "block_type", "")
    if kind == "text":
        yield TextPart(_text(block.text))
    elif kind == "thinking":
        yield TextPart(_text(block.content))
    elif kind == "citable":
        for cited in block.content:
            yield from _parts(cited)
    elif kind == "citation":
        yield from _parts(block.cited_content)
    elif kind not in ("cache", "tool_call"):
        yield MediaPart(_MEDIA_BLOCKS.get(kind, "other"))


def _calls(blocks: Iterable[Any], extra: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the calls in blocks, then those of ``additional_kwargs`` that no block repeats by its id, or as it is."""
    calls = tuple(read_call(block) for block in blocks if isinstance(block, ToolCallBlock))
    known = {call.id or (call.name, call.arguments) for call in calls}
    listed, legacy = extra.get("tool_calls"), extra.get("function_call")
    if not isinstance(listed, Iterable) or isinstance(listed, (str, bytes, Mapping)):
        listed = ()
    others = [read_call(item) for item in listed if item is not None]
    if legacy is not None:
        # OpenAI's first form has no id: the function's name stands in for it, in the call and in its result.
        call = read_call(legacy)
        others.append(replace(call, id=call.name))
    return calls + tuple(call for call in others if (call.id or (call.name, call.arguments)) not in known)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else str(value)
