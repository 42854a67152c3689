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
    count_media,
    date_of_seconds,
    json_text,
    kind_of,
    message_from,
    one_per_item,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gatekeeper_core.messages import Message

__all__ = ["LINES", "LIST", "MIXED", "message_of_item"]

MIXED = 'mixes {"user", "assistant"} with {"role", "content"}: use one of them in a file'


def _knows(value: Any) -> bool:
    return isinstance(value, dict) and ("role" in value or "messages" in value)


def _entries(items: Iterator[Item], whole_file: bool) -> Iterator[Entry]:
    first = next(items, None)
    if first is None:
        return all_together(items, lambda _items, _left_out: ())
    values = _chained(first, items)
    if isinstance(first.value, dict) and "messages" in first.value and "role" not in first.value:
        return one_per_item(
            values, _messages_of, whole_file=whole_file, created=lambda value: date_of_seconds(value.get("created"))
        )
    if whole_file and not _knows(first.value):
        got = 'an object without "messages"' if isinstance(first.value, dict) else kind_of(first.value)
        raise PlaceError(f'must be a list of messages or an object with "messages", got {got}')
    return all_together(values, lambda rest, left_out: (message_of_item(item, left_out) for item in rest))


def _chained(first: Item, rest: Iterator[Item]) -> Iterator[Item]:
    yield first
    yield from rest


def _messages_of(value: Mapping[str, Any], left_out: LeftOut) -> Iterator[Message]:
    messages = value.get("messages")
    if not isinstance(messages, list):
        got = f"got {kind_of(messages)}" if "messages" in value else "it is missing"
        raise PlaceError(f'"messages" must be a list, {got}')
    if isinstance(value.get("tools"), list):
        left_out["tool_definition"] += len(value["tools"])
    for at, message in enumerate(messages):
        yield message_of_item(Item(message, at), left_out)


def message_of_item(item: Item, left_out: LeftOut) -> Message:
    """Return the message of one value of a file.

    Raises:
        PlaceError: it is none.
    """
    place = item.place()
    if not isinstance(item.value, dict):
        raise PlaceError(f"{place}: must be an object, got {kind_of(item.value)}")
    if "role" not in item.value:
        if "user" in item.value:
            raise PlaceError(f"{place}: {MIXED}")
        if "messages" in item.value:
            raise PlaceError(f'{place}: holds a conversation of its own ("messages"), among messages')
    return message_from(item.value, place, left_out)


def _write_list(messages: Sequence[Message], left_out: LeftOut) -> Iterable[str]:
    yield "["
    for at, message in enumerate(messages):
        yield (",\n " if at else "\n ") + _written(message, left_out)
    yield "\n]\n"


def _write_lines(messages: Sequence[Message], left_out: LeftOut) -> Iterable[str]:
    for message in messages:
        yield _written(message, left_out) + "\n"


def _written(message: Message, left_out: LeftOut) -> str:
    count_media(message, left_out)
    return json_text(message.to_dict())


LIST = Format(name="openai", knows=_knows, entries=_entries, write=_write_list)
LINES = Format(name="openai-lines", knows=_knows, entries=_entries, write=_write_lines)
