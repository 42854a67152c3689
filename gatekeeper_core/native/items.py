"""Shared parts of all format readers: messages with their source items, parts, arguments, errors."""

from __future__ import annotations

import base64
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from gatekeeper_core.errors import MessageFormatError
from gatekeeper_core.messages import (
    BESIDE_RESULTS,
    COMPACTED,
    SIGNED,
    MediaPart,
    Message,
    Metadata,
    Part,
    TextPart,
)
from gatekeeper_core.native.images import image_size

Item = Mapping[str, Any]
"""One element of your list."""

_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,")
_TEXT_KINDS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})


class Read(NamedTuple):
    """A message and the items it was read from.

    Attributes:
        message: the message.
        start: position of its first item.
        stop: position after its last item. One item can give several messages, and several items one.
    """

    message: Message
    start: int
    stop: int


class Sent(NamedTuple):
    """A message of an item as read, and as it will be sent (None: not sent)."""

    read: Message
    sent: Message | None


class Format(ABC):
    """A format of message lists: items with ``role`` and ``content`` unless a subclass overrides that."""

    name: str
    """The name of the format in errors."""

    @abstractmethod
    def signs(self, item: Item) -> str | None:
        """Return the sign that an item is in this format and no other, or None."""

    def read(self, items: Sequence[Item]) -> list[Read]:
        """Return the messages of items, in order."""
        return [Read(message, at, at + 1) for at, item in enumerate(items) for message in self.messages(item, at)]

    def messages(self, item: Item, at: int) -> list[Message]:
        """Return the messages of the item at a position."""
        raise NotImplementedError

    def rewrite(self, item: Item, sent: Sequence[Sent]) -> dict[str, Any]:
        """Return an item rewritten with what is sent of its messages; not called for an item sent unchanged."""
        return rewritten(item, "content", sent[0].sent)

    def plain(self, message: Message) -> dict[str, Any]:
        """Return a new item for a summary message."""
        return {"role": message.role, "content": message.text}


def kind_of(block: object) -> str:
    """Return the type of a block or item, "" if it has none."""
    kind = block.get("type") if isinstance(block, Mapping) else None
    return kind if isinstance(kind, str) else ""


def is_compaction(block: object) -> bool:
    """Return whether a block or item is a provider's successful compaction, which replaces everything before it."""
    if not isinstance(block, Mapping) or kind_of(block) not in ("compaction", "compaction_summary"):
        return False
    return block.get("content", block.get("encrypted_content", "")) is not None


def blocks_in(content: object) -> list[Any]:
    """Return content as blocks, each text as one; [] if it is neither a text nor a list."""
    listed = [content] if isinstance(content, str) else content if isinstance(content, (list, tuple)) else ()
    return [{"type": "text", "text": block} if isinstance(block, str) else block for block in listed]


def refuse(reason: str, position: int) -> MessageFormatError:
    """Return the error about an item."""
    return MessageFormatError(reason, position=position)


def text_of(block: Item, key: str, position: int) -> str:
    """Return a required text of a block.

    Raises:
        MessageFormatError: it is missing or not a str.
    """
    value = block.get(key)
    if isinstance(value, str):
        return value
    got = "it is missing" if value is None else f"got {type(value).__name__}"
    raise refuse(f'"{key}" of a block must be text, {got}', position)


def arguments_json(value: object, position: int) -> str:
    """Return the arguments of a call as compact JSON; a str comes back unchanged.

    Raises:
        MessageFormatError: JSON cannot hold them.
    """
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise refuse("the arguments of a call must be a JSON-serializable object", position) from error


def opaque(block: Item) -> MediaPart:
    """Return the part for a block in a provider's private form: it is counted, never searched or cut.

    Source: ours, one token for four bytes of its values in UTF-8.
    """
    size, rest = 0, [block]
    while rest:
        value: Any = rest.pop()
        if isinstance(value, (bytes, bytearray)):
            size += len(value)
        elif isinstance(value, (Mapping, list, tuple)):
            rest.extend(value.values() if isinstance(value, Mapping) else value)
        elif value is not None:
            size += len(str(value).encode("utf-8", "surrogatepass"))
    return MediaPart("other", tokens=size // 4 + 1)


def image(data: object, tokens_of: Callable[[int, int], int]) -> MediaPart:
    """Return the part for an image, with the tokens for its size if its data is at hand.

    Args:
        data: base64, a data URL, bytes, or anything else if there is no data.
        tokens_of: returns the tokens of an image by width and height in pixels.
    """
    head = b""
    if isinstance(data, (bytes, bytearray)):
        head = bytes(data[:65_536])
    elif isinstance(data, str):
        match = _DATA_URL.match(data)
        start = match.end() if match else 0
        with suppress(ValueError):  # an address, or base64 that is cut
            head = base64.b64decode(data[start : start + 87_380], validate=True)
    size = image_size(head)
    return MediaPart("image", tokens=tokens_of(*size) if size else None)


def content_of(parts: Sequence[Part]) -> str | tuple[Part, ...]:
    """Return the content of a message: a single text as a str, no parts as ""."""
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return tuple(parts) or ""


def signed(message: Message, *, compacted: bool = False) -> Message:
    """Return a model's message marked against cuts; ``compacted``: it holds the provider's own compaction."""
    return replace(message, metadata=Metadata({SIGNED: True, COMPACTED: True} if compacted else {SIGNED: True}))


def user_beside_results(content: str | tuple[Part, ...]) -> Message:
    """Return user text from an item that also holds tool results: it begins no turn."""
    return Message("user", content, metadata=Metadata({BESIDE_RESULTS: True}))


def is_text(block: object) -> bool:
    """Return whether a block is text, in any of the formats."""
    untyped = isinstance(block, Mapping) and "type" not in block and "text" in block
    return isinstance(block, str) or untyped or kind_of(block) in _TEXT_KINDS


def rewritten_texts(blocks: Sequence[Any], text: str, is_text: Callable[[Any], bool] = is_text) -> list[Any]:
    """Return blocks with one text: it replaces the last with a cache mark, else the first; other texts are dropped.

    >>> rewritten_texts([{"text": "a"}, {"image": 1}, {"text": "b"}], "c")
    [{'text': 'c'}, {'image': 1}]
    """
    texts = [at for at, block in enumerate(blocks) if is_text(block)]
    marked = (at for at in reversed(texts) if isinstance(blocks[at], Mapping) and "cache_control" in blocks[at])
    place = next(marked, texts[0] if texts else -1)
    put = {**blocks[place], "text": text} if texts and isinstance(blocks[place], Mapping) else text
    return [put if at == place else block for at, block in enumerate(blocks) if at == place or at not in texts]


def rewritten(item: Item, key: str, message: Message | None) -> dict[str, Any]:
    """Return an item with the text sent of its message under ``key``, in blocks if it had blocks."""
    text = message.text if message else ""
    value = item.get(key)
    return {**item, key: rewritten_texts(value, text) if isinstance(value, list) else text}
