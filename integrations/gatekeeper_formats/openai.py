"""OpenAI's chat format: a list of messages, an object with such a list, or one message or conversation per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gatekeeper_core.messages import Message
from gatekeeper_formats import base

MIXED = 'mixes {"user", "assistant"} with {"role", "content"}: use only one of them per file'


def message_of_item(item: base.Item, left_out: base.LeftOut) -> Message:
    """Return the message of one value of a file."""
    place = item.place()
    value = base.checked_object(item.value, place)
    if "role" not in value:
        if "user" in value:
            raise base.PlaceError(f"{place}: {MIXED}")
        if "messages" in value:
            raise base.PlaceError(f'{place}: is a conversation ("messages") in a list of messages')
    return base.message_from(value, place, left_out)


def _written(messages: Sequence[Message], left_out: base.LeftOut) -> Iterator[dict[str, Any]]:
    for message in messages:
        base.count_media(message, left_out)
        yield message.to_dict()


class _List(base.WritableFormat):
    name = "openai"
    created_key = "created"
    day = staticmethod(base.date_of_seconds)

    def knows(self, value: Any) -> bool:
        return "role" in value or "messages" in value

    def entries(self, items: base.Items, whole_file: bool) -> base.Entries:
        first, values = base.peeked(items)
        if whole_file and not (isinstance(first, dict) and self.knows(first)):
            got = 'an object without "messages"' if isinstance(first, dict) else base.kind_of(first)
            raise base.PlaceError(f'must be a list of messages or an object with "messages", got {got}')
        return super().entries(values, whole_file)

    def messages(self, items: base.Items, left_out: base.LeftOut) -> Iterator[Message]:
        return (message_of_item(item, left_out) for item in items)

    def conversation(self, value: base.Fields, left_out: base.LeftOut) -> base.Reports:
        base.count_tools(value, left_out)
        return super().conversation(value, left_out)

    def write(self, messages: Sequence[Message], left_out: base.LeftOut) -> Iterator[str]:
        return base.json_list(_written(messages, left_out))


class _Lines(_List):
    name = "openai-lines"

    def write(self, messages: Sequence[Message], left_out: base.LeftOut) -> Iterator[str]:
        return (base.json_text(value) + "\n" for value in _written(messages, left_out))


LIST, LINES = _List(), _Lines()
