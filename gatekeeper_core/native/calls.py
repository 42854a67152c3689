"""Tool calls as frameworks store them: dicts or objects, in the form of whatever package wrote them."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from typing import Any

from gatekeeper_core.messages import ToolCall

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True)
_IDS = ("call_id", "id", "tool_id", "tool_call_id", "toolUseId")
_ARGUMENTS = ("args", "arguments", "tool_kwargs", "input")


def compact_json(value: object) -> str:
    """Return a value as JSON without spaces; values that JSON cannot hold become text, endless ones shortened.

    >>> compact_json({"city": "苏黎世", "kinds": {1}})
    '{"city":"苏黎世","kinds":"{1}"}'
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        return reprlib.repr(value)


def read_call(item: object) -> ToolCall:
    """Return a call, with "" for missing fields.

    >>> read_call({"id": "c1", "function": {"name": "now", "arguments": "{}"}})
    ToolCall(id='c1', name='now', arguments='{}')
    """
    function = _first(item, "function")
    inner = function if isinstance(function, Mapping) or hasattr(function, "name") else item
    arguments = _first(inner, *_ARGUMENTS)
    return ToolCall(
        str(_first(item, *_IDS)),
        str(_first(inner, "name", "tool_name")),
        arguments if isinstance(arguments, str) else compact_json(arguments),
    )


def _first(item: Any, *names: str) -> Any:
    """Return the first of these keys or attributes with a value, else ""."""
    values = (item.get(name) if isinstance(item, Mapping) else getattr(item, name, None) for name in names)
    return next((value for value in values if value is not None and value != ""), "")
