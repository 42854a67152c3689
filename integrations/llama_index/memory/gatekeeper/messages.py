"""LlamaIndex's chat messages, read as the core's and written back.

::

    ChatMessage(blocks, additional_kwargs) ──read_message──> Message(role, content, tool_calls, tool_call_id)

Anything that LlamaIndex accepts can be read, and is not changed. Calls are in blocks, or in ``additional_kwargs`` as
some provider's package writes them: objects, dicts, ``ToolSelection``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock

from gatekeeper_core.fences import fence
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
from gatekeeper_core.native.items import content_of

if TYPE_CHECKING:
    from gatekeeper_core.context.prompt.adapter import Piece

Question: TypeAlias = str | ChatMessage | None
"""Types that engines and agents pass as ``input``."""

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "tool": "tool",
    "function": "tool",
}
_MEDIA_BLOCKS: Mapping[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video", "document": "document"}
_CALLS = frozenset({"tool_calls", "function_call"})
_SIGNED = Metadata({SIGNED: True})


def read_message(message: ChatMessage) -> Message:
    """Return a chat message in the core's form; the message is not changed.

    * Roles: ``developer`` reads as ``system``, ``function`` as ``tool``, ``model`` and ``chatbot`` as ``assistant``.
    * Blocks: text, thoughts, citable and citation blocks are text; cache points are ignored; all others are media.
    * Calls: in blocks, then in ``additional_kwargs`` if no block repeats them. Non-text arguments become compact JSON.
    * An assistant's text without plain text blocks (a thought, a citation), or with thinking or a signature in
      ``additional_kwargs``, gets the mark ``SIGNED``: nothing is left out of it.
    * A result's id is ``tool_call_id`` or a function's name in ``additional_kwargs``; other roles have none.

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
        content_of([part for part in map(_part, _inner_blocks(blocks)) if part is not None]),
        tool_calls=_calls(blocks, extra),
        tool_call_id=(_text(extra.get("tool_call_id")) or name) if role == "tool" else None,
        name=name,
    )
    signed = role == "assistant" and (is_signed(extra) or not any(isinstance(block, TextBlock) for block in blocks))
    return replace(read, metadata=_SIGNED) if signed and read.text else read


def write_message(original: ChatMessage, instead: Message) -> ChatMessage:
    """Return a copy of a message with another text in place of its texts, at the first one; the rest stays.

    >>> write_message(ChatMessage("Port 6380. It is fast."), Message("user", "Port 6380. …")).content
    'Port 6380. …'
    """
    first = next((block for block in original.blocks if isinstance(block, TextBlock)), None)
    blocks = [
        block.model_copy(update={"text": instead.text}) if block is first else block
        for block in original.blocks
        if block is first or not isinstance(block, TextBlock)
    ]
    return original.model_copy(update={"blocks": blocks})


def write_built(message: Message, pieces: Sequence[Piece[ChatMessage]]) -> ChatMessage:
    """Return the LlamaIndex message for one that is sent; for its ``pieces`` see ``ThreadRequests``.

    >>> write_built(Message("system", "[Related memories]"), []).role.value
    'system'
    """
    originals = [original for _, original in pieces if original is not None]
    inner = _inner_blocks(block for original in originals for block in original.blocks)
    media = (block for block in inner if isinstance(_part(block), MediaPart))
    content: tuple[Part, ...] = (TextPart(message.text),) if isinstance(message.content, str) else message.content
    blocks = [
        next(media) if isinstance(part, MediaPart) else TextBlock(text=part.text)
        for part in content
        if isinstance(part, MediaPart) or part.text
    ]
    own = originals[-1] if originals else None
    read = read_message(own) if own else None
    if own is None or read is None or read.role != message.role:
        marks = {"tool_call_id": message.tool_call_id, "name": message.name}
        kwargs = {name: mark for name, mark in marks.items() if mark is not None}
        calls = [_call_block(call) for call in message.tool_calls]
        return ChatMessage(role=MessageRole(message.role), blocks=[*blocks, *calls], additional_kwargs=kwargs)
    extra: dict[str, Any] = dict(own.additional_kwargs)
    if message.tool_calls == read.tool_calls:
        blocks += [block for block in own.blocks if isinstance(block, ToolCallBlock)]
    else:
        blocks += [_call_block(call) for call in message.tool_calls]
        extra = {name: value for name, value in extra.items() if name not in _CALLS}
    if message.tool_call_id != read.tool_call_id:
        extra["tool_call_id"] = message.tool_call_id
    return own.model_copy(update={"blocks": blocks, "additional_kwargs": extra})


def _call_block(call: ToolCall) -> ToolCallBlock:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=arguments)


class RecalledText(str):
    """The text of a block, with its turns (position and text); the last turn is the first to drop."""

    __slots__ = ("turns",)
    turns: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, turns: Sequence[tuple[int, str]], *, name: str) -> RecalledText:
        r"""Return the turns in order inside a fence with the block's name if that can be a tag; "" for no turns.

        >>> RecalledText.of([(7, "user: b"), (2, "user: a")], name="recalled")
        '<recalled-205450522988>\nuser: a\n\nuser: b\n</recalled-205450522988>'
        """
        tag = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]
        tag = tag if re.match("[A-Za-z]", tag) else "recalled_turns"
        text = fence("\n\n".join(text for _, text in sorted(turns)), tag=tag) if turns else ""
        recalled = cls(text)
        recalled.turns = tuple(turns)
        return recalled


def role_of(message: ChatMessage) -> Role:
    """Return the role of a chat message, without reading the rest of it."""
    role = getattr(message.role, "value", message.role)  # assignments are not checked
    return _ROLES.get(role, "assistant")


def text_of(question: Question) -> str | None:
    """Return the text of a question from an engine or agent, or None.

    >>> text_of(ChatMessage("hello")), text_of("  "), text_of(None)
    ('hello', None, None)
    """
    text = read_message(question).text if isinstance(question, ChatMessage) else _text(question)
    return text if text.strip() else None


def _inner_blocks(blocks: Iterable[Any]) -> Iterator[Any]:
    """Yield blocks, and the content of citable and citation blocks instead of these."""
    for block in blocks:
        kind = getattr(block, "block_type", "")
        if kind == "citable":
            yield from _inner_blocks(block.content)
        elif kind == "citation":
            yield from _inner_blocks([block.cited_content])
        else:
            yield block


def _part(block: Any) -> Part | None:
    kind = getattr(block, "block_type", "")
    if kind in ("cache", "tool_call"):
        return None
    if kind in ("text", "thinking"):
        return TextPart(_text(block.text if kind == "text" else block.content))
    return MediaPart(_MEDIA_BLOCKS.get(kind, "other"))


def _calls(blocks: Iterable[Any], extra: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the calls in blocks, then those of ``additional_kwargs`` that repeat none by id, or in full without id."""
    calls = tuple(read_call(block) for block in blocks if isinstance(block, ToolCallBlock))
    ids = {call.id or (call.name, call.arguments) for call in calls}
    listed, legacy = extra.get("tool_calls"), extra.get("function_call")
    if not isinstance(listed, Iterable) or isinstance(listed, (str, bytes, Mapping)):
        listed = ()
    others = [read_call(item) for item in listed if item is not None]
    if legacy is not None:
        # OpenAI's first form has no id: the function's name replaces it, in the call and in its result.
        call = read_call(legacy)
        others.append(replace(call, id=call.name))
    return calls + tuple(call for call in others if (call.id or (call.name, call.arguments)) not in ids)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else str(value)
