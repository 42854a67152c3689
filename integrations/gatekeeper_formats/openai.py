"""OpenAI's chat format: a list of messages, an object with such a list, or one message or conversation a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper_formats.base import (
    Entry,
    Format,
    Item,
    LeftOut,
    PlaceError,
    all_together,
    checked_object,
    count_media,
    date_of_seconds,
    field_of,
    json_list,
    json_text,
    kind_of,
    message_from,
    one_per_item,
    peeked,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gatekeeper_core.messages import Message

__all__ = ["LINES", "LIST", "MIXED", "message_of_item"]

MIXED = 'mixes {"user", "assistant"} with {"role", "content"}: use one of them in a file'


def _knows(value: Any) -> bool:
    return isinstance(value, dict) and ("role" in value or "messages" in value)


def _entries(items: Iterator[Item], whole_file: bool) -> Iterator[Entry]:
    first, values = peeked(items)
    if isinstance(first, dict) and "messages" in first and "role" not in first:
        return one_per_item(
            values, _messages_of, whole_file=whole_file, created=lambda value: date_of_seconds(value.get("created"))
        )
    if whole_file and not _knows(first):
        got = 'an object without "messages"' if isinstance(first, dict) else kind_of(first)
        raise PlaceError(f'must be a list of messages or an object with "messages", got {got}')
    return all_together(values, lambda rest, left_out: (message_of_item(item, left_out) for item in rest))


def _messages_of(value: Mapping[str, Any], left_out: LeftOut) -> Iterator[Message]:
    if isinstance(value.get("tools"), list):
        left_out["tool_definition"] += len(value["tools"])
    for at, message in enumerate(field_of(value, "messages", list)):
        yield message_of_item(Item(message, at), left_out)


def message_of_item(item: Item, left_out: LeftOut) -> Message:
    """Return the message of one value of a file.

    Raises:
        PlaceError: it is none.
    """
    place = item.place()
    value = checked_object(item.value, place)
    if "role" not in value:
        if "user" in value:
            raise PlaceError(f"{place}: {MIXED}")
        if "messages" in value:
            raise PlaceError(f'{place}: holds a conversation of its own ("messages"), among messages')
    return message_from(value, place, left_out)


def _written(messages: Sequence[Message], left_out: LeftOut) -> Iterator[dict[str, Any]]:
    for message in messages:
        count_media(message, left_out)
        yield message.to_dict()


LIST = Format(
    name="openai",
    knows=_knows,
    entries=_entries,
    write=lambda messages, left_out: json_list(_written(messages, left_out)),
)
LINES = Format(
    name="openai-lines",
    knows=_knows,
    entries=_entries,
    write=lambda messages, left_out: (json_text(value) + "\n" for value in _written(messages, left_out)),
)
