"""What LangChain's messages are compared by, so that only those that changed are read again.

A sign holds everything that reading looks at, and nothing that somebody else could change: texts, and what is nested as
JSON. The data of images and files is neither looked at nor kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from gatekeeper_core.context.history.cache import flat_sign
from gatekeeper_core.messages import Message, is_signed
from langchain_gatekeeper.content import CALL_TYPES, LEGACY_CALLS, MEDIA_ALONE, READ_EXTRAS
from langchain_gatekeeper.reading import read_message

__all__ = ["signs_of"]

# It knows plain values alone, and writes 1, True and "1" in three ways, as reading does.
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_CALL_KEYS = {"name", "args", "id", "type"}
_KINDS = frozenset({HumanMessage, AIMessage, SystemMessage, ToolMessage})
_WITHOUT_DATA = CALL_TYPES | {"thinking", "redacted_thinking", "reasoning", "reasoning_content", "refusal"}


def signs_of(messages: Sequence[BaseMessage], *, read: Callable[[BaseMessage], Message] = read_message) -> list[object]:
    """Return a sign for each message, equal to an earlier one only where the message reads the same.

    Args:
        messages: a history.
        read: reads one of them. Where no cheaper sign is known, what it gives is the sign.

    >>> before, now = (signs_of([HumanMessage("hi"), AIMessage(text)]) for text in ("a", "b"))
    >>> [one == other for one, other in zip(before, now)]
    [True, False]
    """
    # Written out for the two kinds that most messages are of: this is what each call does for every message.
    return [
        (kind, content)
        if type(content := (fields := message.__dict__)["content"]) is str
        and fields["name"] is None
        and (
            (kind := type(message)) is HumanMessage
            or (
                kind is AIMessage
                and not fields["tool_calls"]
                and not fields["invalid_tool_calls"]
                and (not (extra := fields["additional_kwargs"]) or READ_EXTRAS.isdisjoint(extra))
            )
        )
        else _sign(message) or read(message)
        for message in messages
    ]


def _sign(message: BaseMessage) -> tuple[object, ...] | None:
    """Return the sign of a message, None where it can only be told by reading."""
    kind, fields = type(message), message.__dict__
    name, content = fields["name"], fields["content"]
    if kind not in _KINDS or not (name is None or type(name) is str):
        return None
    try:
        shown = content if type(content) is str else tuple(map(_block_sign, _exactly(list, content)))
        if kind is ToolMessage:
            answered = fields["tool_call_id"]
            return (kind, shown, name, answered) if type(answered) is str else None
        return kind, shown, name, _calls_sign(fields) if kind is AIMessage else None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None


def _calls_sign(fields: dict[str, Any]) -> object:
    """Return a sign of every place that may hold calls, and of whether something there is signed."""
    calls, invalid, extra = fields["tool_calls"], fields["invalid_tool_calls"], fields["additional_kwargs"]
    told = tuple(map(_call_sign, _exactly(list, calls)))
    if not invalid and (not extra or READ_EXTRAS.isdisjoint(extra)):
        return told
    return (
        told,
        is_signed(extra),
        _written([_exactly(list, invalid), [(key, extra.get(key)) for key in sorted(LEGACY_CALLS)]]),
    )


def _call_sign(call: Any) -> object:
    name, called = _exactly(str, call["name"]), call["id"]
    flat = flat_sign(call["args"]) if call.keys() == _CALL_KEYS and type(called) is str else None
    return _written(call) if flat is None else (called, name, flat)


def _block_sign(block: Any) -> object:
    if type(block) is str:
        return block
    kind = _exactly(str, _exactly(dict, block).get("type"))
    if kind == "text":
        return _exactly(str, block.get("text"))
    if kind in MEDIA_ALONE:
        return (kind,)
    if kind in _WITHOUT_DATA:
        return kind, _written(block)
    raise ValueError(kind)


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(kind)
    return value
