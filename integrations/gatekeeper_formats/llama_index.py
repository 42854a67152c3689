"""LlamaIndex's chat stores: ``SimpleChatStore``'s file ``{"store": {key: [ChatMessage, ...]}}``, or bare messages.

A message has ``blocks`` (older versions: ``content``) and ``additional_kwargs``, which may hold OpenAI's calls and the
call id of a result. Each key of a store is a conversation; a store is one value and is read whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from gatekeeper_core.messages import Message, TextPart
from gatekeeper_formats import base

_ROLES = {"chatbot": "assistant", "model": "assistant", "developer": "system"}


def _content(value: base.Fields, place: str, left_out: base.LeftOut) -> tuple[object, list[dict[str, Any]]]:
    if "blocks" not in value:
        return value.get("content"), []
    blocks = base.field_of(value, "blocks", list, f"{place}: ")
    kept: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for at, item in enumerate(blocks):
        block = base.checked_object(item, f"{place}, blocks[{at}]")
        kind = block.get("block_type", "text" if "text" in block else None)
        if kind == "tool_call":
            function = {"name": block.get("tool_name"), "arguments": block.get("tool_kwargs")}
            calls.append({"id": block.get("tool_call_id"), "function": function})
        elif kind == "thinking":
            left_out["thinking"] += 1
        elif kind in ("text", "image", "audio", "video", "document"):
            kept.append({"type": kind, "text": block.get("text")})
        else:
            left_out["unknown_part"] += 1
    return (kept[0]["text"] if len(kept) == 1 and kept[0]["type"] == "text" else kept), calls


class _LlamaIndex(base.WritableFormat):
    name = "llama-index"

    def knows(self, value: Any) -> bool:
        return "store" in value or ("role" in value and ("blocks" in value or "additional_kwargs" in value))

    def entries(self, items: base.Items, whole_file: bool) -> base.Entries:
        first, values = base.peeked(items)
        if not (isinstance(first, dict) and "store" in first):
            yield base.Entry(base.loader(partial(self.messages, values)))
            return

        def read(listed: object, left_out: base.LeftOut) -> base.Reports:
            if not isinstance(listed, list):
                raise base.PlaceError(f"must be a list, got {base.kind_of(listed)}")
            return self.messages((base.Item(message, at) for at, message in enumerate(listed)), left_out)

        for item in values:
            place = "" if whole_file else f"{item.place('store')}: "
            store = base.object_at(item.value).get("store")
            if not isinstance(store, dict):
                raise base.PlaceError(f'{place}"store" must be an object, got {base.kind_of(store)}')
            for key, listed in store.items():
                yield base.Entry(
                    base.loader(partial(read, listed), prefix=f"{place}key {key!a:.60}: "), id=key, title=key
                )

    def messages(self, items: base.Items, left_out: base.LeftOut) -> Iterator[Message]:
        for value, place in base.objects_of(items):
            extra = base.object_at(value, "additional_kwargs")
            content, calls = _content(value, place, left_out)
            role = value.get("role")
            fields = {
                "role": _ROLES.get(role, role) if isinstance(role, str) else role,
                "content": content,
                "tool_calls": calls or extra.get("tool_calls"),
                "function_call": None if calls else extra.get("function_call"),
                "tool_call_id": extra.get("tool_call_id"),
                "name": extra.get("name"),
            }
            left_out["thinking"] += bool(extra.get("thinking") or extra.get("reasoning_content"))
            yield base.message_from(fields, place, left_out)

    def write(self, messages: Sequence[Message], left_out: base.LeftOut) -> Iterator[str]:
        def written(message: Message) -> dict[str, Any]:
            base.count_media(message, left_out)
            left_out["message_id"] += message.id is not None
            left_out["metadata"] += bool(message.metadata)
            left_out["message_field"] += message.created_at is not None
            parts = (TextPart(message.content),) if isinstance(message.content, str) else message.content
            blocks: list[dict[str, Any]] = [
                {"block_type": "text", "text": part.text} for part in parts if isinstance(part, TextPart)
            ]
            blocks += [
                {
                    "block_type": "tool_call",
                    "tool_call_id": call.id,
                    "tool_name": call.name,
                    "tool_kwargs": call.arguments,
                }
                for call in message.tool_calls
            ]
            named = {"tool_call_id": message.tool_call_id, "name": message.name}
            extra = {key: value for key, value in named.items() if value is not None}
            return {"role": message.role, "additional_kwargs": extra, "blocks": blocks}

        return base.json_list(
            map(written, messages), start='{"store": {"chat": [', end='\n]}, "class_name": "SimpleChatStore"}\n'
        )


FORMAT = _LlamaIndex()
