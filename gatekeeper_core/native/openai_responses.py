"""OpenAI's Responses items: messages, reasoning, calls and outputs, each an item of its own.

Consecutive items by the model form one message, such as reasoning and the text after it, or parallel calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from gatekeeper_core.messages import Message, Part, Role, ToolCall
from gatekeeper_core.native.images import openai_tokens
from gatekeeper_core.native.items import (
    Format,
    Item,
    Read,
    Sent,
    arguments_json,
    blocks_in,
    content_of,
    image,
    is_compaction,
    kind_of,
    opaque,
    refuse,
    rewritten,
    signed,
    text_of,
)
from gatekeeper_core.native.openai_chat import parts_in

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
SETTINGS = frozenset({"additional_tools", "compaction_trigger", "configuration_update"})
_PARTS_ONLY_HERE = frozenset({"input_text", "output_text", "input_image", "input_file"})
_ARGUMENTS = ("arguments", "input", "action", "operation", "code")


class _Responses(Format):
    name = "OpenAI Responses items"

    def signs(self, item: Item) -> str | None:
        kind = kind_of(item)
        if kind and (kind == "message" or "role" not in item or kind in SETTINGS):
            return 'an item with a "type"'
        parts = (kind_of(block) for block in blocks_in(item.get("content")))
        return next((f"a part of type {part!r}" for part in parts if part in _PARTS_ONLY_HERE), None)

    def read(self, items: Sequence[Item]) -> list[Read]:
        def by_the_model(numbered: tuple[int, Item]) -> bool:
            item, kind = numbered[1], kind_of(numbered[1])
            if kind in ("", "message") and "role" in item:
                return bool(item["role"] == "assistant")
            return kind not in SETTINGS and not _is_output(kind)

        read: list[Read] = []
        for is_model, group in groupby(enumerate(items), key=by_the_model):
            if is_model:
                row = [*group]
                read.append(Read(_model_message(row), row[0][0], row[-1][0] + 1))
            else:
                read += (Read(message, at, at + 1) for at, item in group for message in self.messages(item, at))
        return read

    def messages(self, item: Item, at: int) -> list[Message]:
        """Return the message of an item not written by the model."""
        kind = kind_of(item)
        if kind in SETTINGS:
            return [Message("system", (opaque(item),))]
        if not _is_output(kind):
            role = item["role"]
            if not isinstance(role, str) or role not in _ROLES:
                raise refuse(f'"role" must be one of {", ".join(_ROLES)}', at)
            return [Message(_ROLES[role], content_of(parts_in(item.get("content"), at)))]
        call_id = item.get("call_id") or item.get("approval_request_id") or item.get("id")
        if not isinstance(call_id, str):
            raise refuse('an item with an output must have a "call_id"', at)
        output = item.get("output")
        content: str | tuple[Part, ...]
        if isinstance(output, (str, list)) and kind in ("function_call_output", "custom_tool_call_output"):
            content = content_of(parts_in(output, at))
        elif isinstance(output, str):
            content = output
        elif kind == "computer_call_output" and isinstance(output, Mapping):
            content = (image(output.get("image_url"), openai_tokens),)
        else:
            values = {key: item[key] for key in ("output", "result", "tools", "approve", "reason") if key in item}
            content = arguments_json(values, at)
        return [Message("tool", content, tool_call_id=call_id)]

    def rewrite(self, item: Item, sent: Sequence[Sent]) -> dict[str, Any]:
        return rewritten(item, "output" if _is_output(kind_of(item)) else "content", sent[0].sent)


def _is_output(kind: str) -> bool:
    return kind.endswith("_output") or kind == "mcp_approval_response"


def _model_message(items: Sequence[tuple[int, Item]]) -> Message:
    parts: list[Part] = []
    calls: list[ToolCall] = []
    is_signed = len(items) > 1
    for at, item in items:
        kind = kind_of(item)
        call_id = item.get("id") if kind == "mcp_approval_request" else item.get("call_id")
        if kind in ("", "message"):
            if "role" not in item:
                raise refuse('an item must have a "role" or a "type"', at)
            parts += parts_in(item.get("content"), at)
            is_signed = is_signed or "id" in item  # the provider stores the whole text under this id
        elif isinstance(call_id, str):
            name = item.get("name")
            arguments = next((item[key] for key in _ARGUMENTS if item.get(key) is not None), None)
            calls.append(ToolCall(call_id, name if isinstance(name, str) else kind, arguments_json(arguments, at)))
        elif kind == "function_call":
            text_of(item, "call_id", at)
        else:
            parts.append(opaque(item))
            is_signed = True
    message = Message("assistant", content_of(parts), tool_calls=tuple(calls))
    compacted = any(is_compaction(item) and "role" not in item for _, item in items)
    return signed(message, compacted=compacted) if is_signed else message


RESPONSES = _Responses()
