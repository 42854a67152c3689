"""ShareGPT's format, which data sets for training use: ``{"conversations": [{"from": "human", "value": ...}, ...]}``.

A file is one such object, a list of them, or one a line; a bare list of ``{"from", "value"}`` is one conversation. Tool
use is written as LLaMA-Factory does: ``function_call`` with a JSON object of name and arguments, then ``observation``.
"""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

from gatekeeper_core.messages import MediaPart, TextPart
from gatekeeper_formats.base import (
    Entry,
    Format,
    Item,
    LeftOut,
    PlaceError,
    all_together,
    checked_object,
    count_fields,
    count_media,
    date_of,
    field_of,
    json_list,
    json_or_none,
    json_text,
    object_or_empty,
    one_per_item,
    peeked,
)
from gatekeeper_formats.openai import message_of_item
from gatekeeper_formats.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gatekeeper_core.messages import Message, Role

__all__ = ["FORMAT"]

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "bing": "assistant",
    "bard": "assistant",
}
_CALLS = frozenset({"function_call", "tool_call"})
_RESULTS = frozenset({"observation", "tool", "function", "function_response", "tool_response"})
_WRITTEN: Mapping[Role, str] = {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}


def _is_saying(value: object) -> bool:
    return isinstance(value, dict) and "from" in value and "value" in value


def _knows(value: Any) -> bool:
    return isinstance(value, dict) and ("conversations" in value or _is_saying(value))


def _entries(items: Iterator[Item], whole_file: bool) -> Iterator[Entry]:
    first, values = peeked(items)
    if first is None or _is_saying(first):
        return all_together(values, _conversation)
    return one_per_item(
        values, _messages, whole_file=whole_file, created=lambda value: date_of(value.get("created_at"))
    )


def _messages(value: Mapping[str, Any], left_out: LeftOut) -> Iterable[Message]:
    sayings = field_of(value, "conversations", list)
    left_out["tool_definition"] += bool(value.get("tools"))
    system = value.get("system")
    items = [Item(saying, at) for at, saying in enumerate(sayings)]
    if isinstance(system, str) and system:
        items.insert(0, Item({"from": "system", "value": system}, 0))
    if items and isinstance(items[0].value, dict) and "role" in items[0].value:
        return [message_of_item(item, left_out) for item in items]
    return _conversation(iter(items), left_out)


def _conversation(items: Iterator[Item], left_out: LeftOut) -> tuple[Message, ...]:
    transcript = Transcript(left_out)
    for item in items:
        place = item.place()
        saying = checked_object(item.value, place)
        speaker, text = (field_of(saying, key, str, f"{place}: ") for key in ("from", "value"))
        if speaker in _CALLS:
            transcript.call(*_call(text))
        elif speaker in _RESULTS:
            transcript.answer((TextPart(text),))
        elif speaker in _ROLES:
            transcript.pause()
            transcript.say(_ROLES[speaker], (TextPart(text),))
        else:
            raise PlaceError(
                f'{place}: "from" must be one of {", ".join((*_ROLES, *sorted(_CALLS | _RESULTS)))}, '
                f"got {reprlib.repr(speaker)}"
            )
    return transcript.messages


def _call(text: str) -> tuple[str, str]:
    """Return the name and the arguments of a call; what is no such object is an argument without a name."""
    call = object_or_empty(json_or_none(text))
    if not isinstance(call.get("name"), str):
        return "", text
    arguments = call.get("arguments", {})
    return call["name"], arguments if isinstance(arguments, str) else json_text(arguments)


def _write(messages: Sequence[Message], left_out: LeftOut) -> Iterable[str]:
    sayings = (saying for message in messages for saying in _sayings(message, left_out))
    return json_list(sayings, start='[{"conversations": [', end="\n]}]\n")


def _sayings(message: Message, left_out: LeftOut) -> Iterator[dict[str, str]]:
    count_media(message, left_out)
    count_fields(message, left_out)
    left_out["call_id"] += len(message.tool_calls)
    if not isinstance(message.content, str):
        texts = sum(not isinstance(part, MediaPart) for part in message.content)
        left_out["joined_part"] += max(0, texts - 1)
    if message.text or not message.tool_calls:
        yield {"from": _WRITTEN[message.role], "value": message.text}
    for call in message.tool_calls:
        yield {"from": "function_call", "value": json_text({"name": call.name, "arguments": call.arguments})}


FORMAT = Format(name="sharegpt", knows=_knows, entries=_entries, write=_write)
