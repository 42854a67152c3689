"""LangChain's messages as ``messages_to_dict`` writes them: ``{"type": "human", "data": {"content": ...}}``.

A file is a list, as in LangChain's file history, or one message per line. Messages as ``model_dump`` or ``dumpd`` write
them, and an object with a list under ``"messages"``, are read too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gatekeeper_core.messages import Message, TextPart
from gatekeeper_core.native.items import kind_of
from gatekeeper_formats import base
from gatekeeper_formats.agent_log import without

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
_CHUNKS = (f"{name}MessageChunk" for name in ("Human", "AI", "System", "Tool", "Function", "Chat"))
_TYPES = frozenset({*_ROLES, "chat", "remove", *_CHUNKS})
_WRITTEN = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}
_THINKING = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_CALLS = frozenset({"tool_use", "tool_call", "function_call", "input_json_delta"})  # parts that repeat ``tool_calls``


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or "role" in value:
        return False
    kind = kind_of(value)
    return (kind == "constructor" and "lc" in value) or (kind in _TYPES and ("data" in value or "content" in value))


def langchain_message(value: object, place: str, left_out: base.LeftOut) -> Message | None:
    """Return the message of a value; None for a removal marker, which is counted."""
    data = message = base.checked_object(value, place)
    if message.get("type") == "constructor":
        data = base.checked_object(message.get("kwargs"), f'{place}, "kwargs"')
    elif "data" in message:
        data = base.checked_object(message["data"], f'{place}, "data"')
    kind = data.get("type") if message.get("type") == "constructor" else message.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        got = f"got {kind!a:.40}" if isinstance(kind, str) else f"got {base.kind_of(kind)}"
        raise base.PlaceError(f'{place}: "type" must be one of {", ".join(sorted(_TYPES))}, {got}')
    kind = kind.removesuffix("MessageChunk").lower()
    if kind == "remove":
        left_out["removal"] += 1
        return None
    extra = base.object_at(data, "additional_kwargs")
    left_out["thinking"] += bool(extra.get("reasoning_content"))
    left_out["artifact"] += data.get("artifact") is not None
    calls = _calls(data, place)
    content = data.get("content")
    if isinstance(content, list):  # thinking is counted; calls are already in ``calls``
        parts = without(content, _THINKING, left_out)
        content = [part for part in parts if not (calls and kind_of(part) in _CALLS)]
    fields = {
        "role": data.get("role") if kind == "chat" else _ROLES[kind],
        "content": content,
        "tool_calls": calls or (extra.get("tool_calls") if kind == "ai" else None),
        "function_call": None if calls or kind != "ai" else extra.get("function_call"),
        **{key: data.get(key) for key in ("tool_call_id", "name", "id")},
    }
    if kind == "chat" and isinstance(fields["role"], str):
        fields["role"] = _ROLES.get(fields["role"].lower(), fields["role"].lower())
    return base.message_from(fields, place, left_out)


def _calls(data: base.Fields, place: str) -> list[dict[str, Any]]:
    """Return the calls of a message in OpenAI's form, including those that LangChain could not parse."""
    calls = []
    for key in ("tool_calls", "invalid_tool_calls"):
        listed = data.get(key) or ()
        if not isinstance(listed, (list, tuple)):
            raise base.PlaceError(f'{place}: "{key}" must be a list, got {base.kind_of(listed)}')
        for at, item in enumerate(listed):
            call = base.checked_object(item, f"{place}, {key}[{at}]")
            function = {"name": call.get("name"), "arguments": call.get("args")}
            calls.append({"id": call.get("id"), "function": function})
    return calls


class _LangChain(base.WritableFormat):
    name = "langchain"

    def knows(self, value: Any) -> bool:
        messages = value.get("messages")
        return _is_message(value) or (isinstance(messages, list) and bool(messages) and _is_message(messages[0]))

    def holds(self, value: Any) -> bool:
        return isinstance(value, dict) and "messages" in value

    def messages(self, items: base.Items, left_out: base.LeftOut) -> base.Reports:
        for item in items:
            yield langchain_message(item.value, item.place(), left_out)

    def write(self, messages: Sequence[Message], left_out: base.LeftOut) -> Iterator[str]:
        def written(message: Message) -> dict[str, Any]:
            base.count_media(message, left_out)
            left_out["metadata"] += bool(message.metadata)
            left_out["message_field"] += message.created_at is not None
            kind = _WRITTEN[message.role]
            content: Any = message.content
            if not isinstance(content, str):
                content = [{"type": "text", "text": part.text} for part in content if isinstance(part, TextPart)]
            data: dict[str, Any] = {"content": content, "additional_kwargs": {}, "response_metadata": {}}
            data |= {"type": kind, "name": message.name, "id": message.id}
            if kind == "ai":
                data["tool_calls"], data["invalid_tool_calls"] = [], []
                for call in message.tool_calls:
                    common = {"name": call.name, "id": call.id}
                    arguments = base.json_or_none(call.arguments)
                    if not isinstance(arguments, dict):
                        invalid = {"type": "invalid_tool_call", **common, "args": call.arguments, "error": None}
                        data["invalid_tool_calls"].append(invalid)
                    else:
                        data["tool_calls"].append({**common, "args": arguments, "type": "tool_call"})
            else:
                left_out["tool_call"] += len(message.tool_calls)
            if kind == "tool":
                data |= {"tool_call_id": message.tool_call_id or "", "status": "success"}
            else:
                left_out["call_id"] += message.tool_call_id is not None
            return {"type": kind, "data": data}

        return base.json_list(map(written, messages))


FORMAT = _LangChain()
