"""LlamaIndex's chat messages as the core reads them: roles, texts, calls and ids.

::

    ChatMessage(blocks, additional_kwargs) ──read_message──> Message(role, content, tool_calls, tool_call_id)

Whatever LlamaIndex accepts can be read, and nothing of it is changed: calls stand in blocks or, as the object, the dict
or the ``ToolSelection`` of some provider's package, in ``additional_kwargs``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from gatekeeper_core.messages import MediaKind, MediaPart, Message, Part, Role, TextPart, ToolCall

__all__ = ["read_message", "text_of"]

# A role that is no member of the enumeration passes LlamaIndex only unchecked; then it is a piece of text.
_ROLES: dict[str, Role] = {}
for _role in MessageRole:
    _ROLES[_role] = _ROLES[_role.value] = {
        "developer": "system",
        "system": "system",
        "user": "user",
        "function": "tool",
        "tool": "tool",
    }.get(_role.value, "assistant")  # type: ignore[assignment]
