"""Reading of a list in any native format: its format, its messages, and their way back to your own objects.

::

    items ──signs──> format ──read──> messages, each with the items that it came from
                                         │ select_history
    items sent <──rewrite, plain──── messages kept, cut, compressed, folded
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.native.anthropic import ANTHROPIC
from gatekeeper_core.native.gemini import GEMINI
from gatekeeper_core.native.items import Format, Item, Sent, kind_of, refuse
from gatekeeper_core.native.openai_chat import CHAT
from gatekeeper_core.native.openai_responses import RESPONSES, SETTINGS

_FORMATS: tuple[Format, ...] = (CHAT, RESPONSES, ANTHROPIC, GEMINI)

_ELSEWHERE = {
    "pydantic-ai": {"kind", "parts"},
    "llama-index": {"role", "blocks"},
    "claude-code": {"type", "message"},
    "codex": {"type", "payload"},
    "langchain": {"type"},
    "sharegpt": {"from", "value"},
    "openhands": {"source"},
    "pairs": {"user"},
}
"""Keys of messages in other formats, by their names in ``gatekeeper_formats.read_conversation``."""

_OWN_KIND = {"type", "kind", "part_kind"}
"""Keys that name the type of a part; in Gemini's parts, the name of the value does."""


@with_suggestions()
def read_messages(items: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Return the messages of a list in a provider's format, which is detected.

    * OpenAI chat: see ``Message.from_dict``; our own marks in ``metadata`` are ignored.
    * OpenAI Responses: messages, reasoning, calls, outputs, compaction. What the model wrote in a row is one message.
    * Anthropic: text, thinking, calls, files, server tools, compaction; each ``tool_result`` is a ``tool`` message.
    * Gemini: ``contents`` with text, calls, responses, thoughts and files, named as in JSON or as in Python.

    Other blocks stay with their message and are counted. Images whose data is given are counted by size.

    Raises:
        TypeError: ``items`` is not an iterable of mappings.
        MessageFormatError: an item cannot be read, is in no known format (the error lists them, and the reader for
            those of other frameworks), or in another than the rest; ``position`` is its index.

    >>> call = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "now", "input": {}}]}
    >>> result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "12:00"}]}
    >>> [(message.role, message.text) for message in read_messages([call, result])]
    [('assistant', ''), ('tool', '12:00')]
    """
    return read_native(items).messages


@dataclass(frozen=True, slots=True)
class NativeMessages:
    """A parsed list in a provider's format.

    Attributes:
        format: format of the list.
        items: your own objects.
        messages: the messages that were read.
        spans: positions of the items of each message: the first, and the one after the last.
    """

    format: Format
    items: tuple[Item, ...]
    messages: tuple[Message, ...]
    spans: tuple[tuple[int, int], ...]

    def of_item(self, position: int) -> list[int]:
        """Return the indices of the messages that an item is part of, ascending."""
        first = last = bisect_right(self.spans, position, key=lambda span: span[0])
        while first and self.spans[first - 1][1] > position:
            first -= 1
        return list(range(first, last))

    @property
    def settings(self) -> list[int]:
        """Positions of the items that are request settings, not messages: they are always sent."""
        return [at for at, (start, _) in enumerate(self.spans) if kind_of(self.items[start]) in SETTINGS]

    def sent(self, kept: Collection[int], replaced: Mapping[int, Message]) -> dict[int, Item]:
        """Return what to send, by position in your list, ascending; an item sent unchanged is your own object.

        Args:
            kept: indices of the messages to send.
            replaced: messages to send in another form, by index.
        """
        items: dict[int, Item] = {}
        ours = self.messages
        for (start, stop), group in groupby(range(len(ours)), key=self.spans.__getitem__):
            places = list(group)
            sent = {at: replaced.get(at, ours[at]) for at in places if at in kept}
            if len(sent) == len(places) and all(one is ours[at] for at, one in sent.items()):
                items.update((at, self.items[at]) for at in range(start, stop))
            elif summary := next((one for at, one in sent.items() if one is not ours[at] and is_summary(one)), None):
                items[start] = self.format.plain(summary)
            elif sent:
                items[start] = self.format.rewrite(self.items[start], [Sent(ours[at], sent.get(at)) for at in places])
        return items


def read_native(items: Iterable[Mapping[str, Any]], default: Format = CHAT) -> NativeMessages:
    """Return a parsed list; ``default`` is its format if no item shows one. Errors as in ``read_messages``."""
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        raise TypeError(f"items must be an iterable of mappings, got {type(items).__name__}")
    listed = tuple(items)
    for at, item in enumerate(listed):
        if not isinstance(item, Mapping):
            raise MessageFormatError(f"must be an object, got {type(item).__name__}", position=at)
        if not _is_known(item):
            reason = f"is in no known format ({', '.join(form.name for form in _FORMATS)}"
            name = next((name for name, keys in _ELSEWHERE.items() if keys <= item.keys()), None)
            reader = "gatekeeper_formats.read_conversation"
            if name is None:
                raise refuse(f"{reason}; {reader}(file).messages reads {', '.join(_ELSEWHERE)} and more", at)
            file = "io.BytesIO(json.dumps(messages, default=str).encode())"
            raise refuse(f'{reason}; it looks like {name}: {reader}({file}, form="{name}").messages reads that', at)
    format_, first = default, -1  # the only format that items show, else the default
    for at, item in enumerate(listed):
        form, sign = next(((one, sign) for one in _FORMATS if (sign := one.signs(item))), (format_, ""))
        if first < 0 and sign:
            format_, first = form, at
        elif form is not format_:
            reason = f"{sign} belongs to {form.name}, but item {first} to {format_.name}: a list has one format"
            raise refuse(reason, at)
    read = format_.read(listed)
    spans = tuple((start, stop) for _, start, stop in read)
    return NativeMessages(format_, listed, tuple(message for message, *_ in read), spans)


def _is_known(item: Item) -> bool:
    """Return whether an item may be in one of the formats, so that no other framework's message is read as media."""
    if "parts" in item and "content" not in item:
        parts = item["parts"] if isinstance(item["parts"], (list, tuple)) else ()
        return not parts or any(not isinstance(part, Mapping) or _OWN_KIND.isdisjoint(part) for part in parts)
    if "role" in item or ("content" in item and "type" not in item):
        return "content" in item or "blocks" not in item
    kind = kind_of(item)  # of a Responses item: new kinds are recognised by their form
    return kind in ("message", "reasoning", "compaction") or (
        "_" in kind and item.keys().isdisjoint({"payload", "message"})
    )
