"""OpenAI's chat format: a list of messages, an object with such a list, or one message or conversation a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gatekeeper_core.messages import Message
from gatekeeper_formats import base

MIXED = 'mixes {"user", "assistant"} with {"role", "content"}: use one of them in a file'


def _knows(value: Any) -> bool:
    return isinstance(value, dict) and ("role" in value or "messages" in value)


def _entries(items: base.Items, whole_file: bool) -> base.Entries:
    first, values = base.peeked(items)
    if whole_file and not _knows(first):
        got = 'an object without "messages"' if isinstance(first, dict) else base.kind_of(first)
        raise base.PlaceError(f'must be a list of messages or an object with "messages", got {got}')
    return _READER.conversations(values, whole_file=whole_file)


def _messages(items: base.Items, left_out: base.LeftOut) -> Iterator[Message]:
    return (message_of_item(item, left_out) for item in items)


def _conversation(value: base.Fields, left_out: base.LeftOut) -> Iterator[Message]:
    base.count_tools(value, left_out)
    return _messages(base.items_of(value, "messages"), left_out)


def message_of_item(item: base.Item, left_out: base.LeftOut) -> Message:
    """Return the message of one value of a file.

    Raises:
        PlaceError: it is none.
    """
    place = item.place()
    value = base.checked_object(item.value, place)
    if "role" not in value:
        if "user" in value:
            raise base.PlaceError(f"{place}: {MIXED}")
        if "messages" in value:
            raise base.PlaceError(f'{place}: holds a conversation of its own ("messages"), among messages')
    return base.message_from(value, place, left_out)


def _written(messages: Sequence[Message], left_out: base.LeftOut) -> Iterator[dict[str, Any]]:
    for message in messages:
        base.count_media(message, left_out)
        yield message.to_dict()


_READER = base.Format(
    name="openai",
    knows=_knows,
    messages=_messages,
    conversation=_conversation,
    created=lambda value: base.date_of_seconds(value.get("created")),
)
LIST = base.Format(
    name="openai",
    knows=_knows,
    entries=_entries,
    write=lambda messages, left_out: base.json_list(_written(messages, left_out)),
)
LINES = base.Format(
    name="openai-lines",
    knows=_knows,
    entries=_entries,
    write=lambda messages, left_out: (base.json_text(value) + "\n" for value in _written(messages, left_out)),
)
