"""Claude's export, ``conversations.json``: a list of conversations with ``chat_messages``.

Reliable keys: ``uuid``, ``name``, ``created_at`` and ``chat_messages``; in a message ``sender``, ``text``, ``content``
(newer exports; ``text`` may then be empty), ``attachments`` with extracted text, ``files`` without it and, in newer
exports, ``parent_message_uuid``; the list then holds all branches. ``current_leaf_message_uuid`` names the one shown
last; without it, as in account exports, the branch of the newest message is read. A parent that is not in the list,
such as the zero id of the first message, means that a branch begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatekeeper_core.messages import MEDIA_TYPES, Message, Part, Role
from gatekeeper_core.native.items import kind_of
from gatekeeper_formats import base
from gatekeeper_formats.transcript import Transcript

_ROLES: Mapping[str, Role] = {"human": "user", "assistant": "assistant", "user": "user", "system": "system"}
_THINKING = frozenset({"thinking", "redacted_thinking"})


class _Claude(base.Format):
    name = "claude"
    signs = frozenset({"chat_messages"})
    id_keys = ("uuid",)
    title_key = "name"
    created_key = "created_at"

    def conversation(self, value: base.Fields, left_out: base.LeftOut) -> tuple[Message, ...]:
        listed = base.field_of(value, "chat_messages", list)
        messages = [base.checked_object(item, base.Item(item, at).place()) for at, item in enumerate(listed)]
        transcript = Transcript(left_out)
        for message in _shown(messages, value.get("current_leaf_message_uuid"), left_out):
            sender = message.get("sender")
            role = _ROLES.get(sender) if isinstance(sender, str) else None
            if role is None:
                left_out["unknown_role"] += 1
                continue
            transcript.pause()
            pieces = base.list_or_empty(message.get("content"))
            added = [_add_piece(transcript, role, piece, left_out) for piece in pieces]
            rest = [] if any(added) else base.text_parts(message.get("text"))
            for attachment in base.list_or_empty(message.get("attachments")):
                parts = base.text_parts(base.object_at(attachment).get("extracted_content"))
                left_out["attachment"] += not parts
                rest += parts
            left_out["attachment"] += len(base.list_or_empty(message.get("files") or message.get("files_v2")))
            if rest:
                transcript.say(role, rest)
            elif not any(added):
                left_out["empty_message"] += 1
        return transcript.messages


def _shown(messages: list[dict[str, Any]], leaf: object, left_out: base.LeftOut) -> list[dict[str, Any]]:
    """Return the branch of the leaf, else of the newest message, oldest first; without parents, all messages."""
    if not any(isinstance(message.get("parent_message_uuid"), str) for message in messages):
        return messages
    by_id = {message["uuid"]: message for message in messages if isinstance(message.get("uuid"), str)}
    if isinstance(leaf, str):
        if leaf not in by_id:
            raise base.PlaceError(f'the message {leaf!a:.60} of "current_leaf_message_uuid" is missing')
        current: dict[str, Any] | None = by_id[leaf]
    else:
        current = max(reversed(messages), key=lambda message: base.text_or_none(message.get("created_at")) or "")
    path: dict[int, dict[str, Any]] = {}
    while current is not None:
        if id(current) in path:
            raise base.PlaceError(f"the parents of message {current.get('uuid')!a:.60} form a cycle")
        path[id(current)] = current
        parent = current.get("parent_message_uuid")
        current = by_id.get(parent) if isinstance(parent, str) else None
    left_out["branch_message"] += len(messages) - len(path)
    return [*path.values()][::-1]


def _add_piece(transcript: Transcript, role: Role, piece: object, left_out: base.LeftOut) -> bool:
    """Add a part of a message; return whether it had content."""
    block, kind = base.object_at(piece), kind_of(piece)
    if kind == "tool_use":
        name, arguments = block.get("name"), base.arguments_of(block.get("input"))
        transcript.call(name if isinstance(name, str) else "", arguments, call_id=base.text_or_none(block.get("id")))
        return True
    if kind == "tool_result":
        result = block.get("content")
        inner = result if isinstance(result, list) else [] if result is None else [result]
        parts = [part for each in inner for part in _parts(each, left_out)]
        call_id, name = (base.text_or_none(block.get(key)) for key in ("tool_use_id", "name"))
        transcript.answer(parts, call_id=call_id, name=name)
        return True
    if kind in _THINKING:
        left_out["thinking"] += 1
        return False
    parts = _parts(piece, left_out)
    if parts:
        transcript.say(role, parts)
    return bool(parts)


def _parts(piece: object, left_out: base.LeftOut) -> list[Part]:
    kind = kind_of(piece)
    text = piece if isinstance(piece, str) else base.object_at(piece).get("text")
    if isinstance(text, str):
        return base.text_parts(text)
    if kind in MEDIA_TYPES:
        return base.media_part(MEDIA_TYPES[kind], left_out)
    left_out["unknown_part"] += 1
    return []


FORMAT = _Claude()
