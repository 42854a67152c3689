"""The base of all formats: a ``Format`` detects, reads and writes files, and counts what it cannot hold.

::

    values of a file ──Format.entries──> Entry … ──Entry.load──> Loaded(messages, left out)
    messages ──Format.write──> pieces of text
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timezone
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, TypeVar

from gatekeeper_core.errors import GatekeeperError, MessageFormatError
from gatekeeper_core.messages import MediaKind, MediaPart, Message, Part, TextPart
from gatekeeper_core.pricing.usage import Usage

Kind = TypeVar("Kind", list[Any], dict[str, Any], str)
Fields: TypeAlias = Mapping[str, Any]
LeftOut: TypeAlias = Counter[str]
"""The number of dropped things by kind; README.md lists the kinds."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN_TITLE = 60


class Heading(NamedTuple):
    """A conversation's entry in the listing of a file.

    Attributes:
        number: position in the file, from 1.
        id: id in the file.
        title: title of the conversation.
        created: start day, such as ``2024-05-31``.
    """

    number: int
    id: str | None
    title: str | None
    created: str | None

    def __str__(self) -> str:
        title = self.title or "without a title"
        shown = title if len(title) <= _SHOWN_TITLE else title[: _SHOWN_TITLE - 1] + "…"
        return f"{self.number}  {self.created or '-':10}  {shown}"


class FormatError(GatekeeperError):
    """A file that cannot be read as a conversation; the message is one line with file and place."""


class AmbiguousConversationError(FormatError):
    """An ambiguous choice among several conversations in a file.

    Attributes:
        headings: the first ten to choose from.
        count: number of matching conversations.
        name: name of the file.
        wanted: the requested number, id or title, if any.
    """

    def __init__(self, headings: Sequence[Heading], *, count: int, name: str, wanted: str | None = None) -> None:
        self.headings, self.count, self.name, self.wanted = tuple(headings), count, name, wanted
        if wanted is None:
            super().__init__(f"{name}: holds {count:,} conversations: choose one by its number, id or title")
        else:
            super().__init__(f"{name}: {count:,} conversations match {wanted!a:.80}: choose one by its number")


class PlaceError(Exception):
    """An error with a place, but not yet a file name."""


class CutLineError(PlaceError):
    """A truncated last line."""


class Item(NamedTuple):
    """A value in a file, with its place."""

    value: object
    at: int  # index among the values of the file, from 0
    line: int | None = None  # from 1; None for an element of a list

    def place(self, noun: str = "message") -> str:
        """Return the place, for an error message.

        >>> Item({}, 2).place(), Item({}, 2, 4).place(), Item({}, 2).place("conversation")
        ('message 2 (counting from 0)', 'line 4', 'conversation 3')
        """
        if self.line is not None:
            return f"line {self.line}"
        return f"conversation {self.at + 1}" if noun == "conversation" else f"{noun} {self.at} (counting from 0)"


Items: TypeAlias = Iterator[Item]
Reports: TypeAlias = Iterable[Message | Usage | None]
"""The messages of a conversation and the usage of its model calls; a None (nothing reported) is skipped."""


class Loaded(NamedTuple):
    """A loaded conversation; messages oldest first."""

    messages: tuple[Message, ...]
    left_out: LeftOut
    usage: tuple[Usage, ...] = ()  # of each model call; empty if the format reports none


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation of a file: ``load`` reads its messages or raises ``PlaceError``; the rest is its heading."""

    load: Callable[[], Loaded]
    _: KW_ONLY
    id: str | None = None
    title: str | None = None
    created: str | None = None

    def heading(self, number: int) -> Heading:
        """Return the entry for the listing of the file."""
        return Heading(number, self.id, self.title, self.created)


Entries: TypeAlias = Iterator[Entry]


def date_of_seconds(value: object) -> str | None:
    """Return the UTC day of a Unix time in seconds; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    try:
        return datetime.fromtimestamp(value, timezone.utc).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return None


def date_of(value: object) -> str | None:
    """Return the day of an ISO 8601 time; None for anything else."""
    return value[:10] if isinstance(value, str) and re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])", value) else None


class Format:
    """A file format; a subclass detects its files and reads them with ``conversation``, ``messages`` or both."""

    name: str  # for ``--from`` and ``--to``
    signs: frozenset[str] = frozenset()  # keys that identify a conversation stored as one value
    id_keys: tuple[str, ...] = ("id",)  # keys of its id and, below, of its title and time
    title_key = "title"
    created_key = ""
    day: Callable[[object], str | None] = staticmethod(date_of)  # reads that time

    def knows(self, value: Any) -> bool:
        """Return whether a file has this format, by its first value (an object) or, if it is not JSON, its text."""
        return self.signs.issubset(value)

    def holds(self, value: Any) -> bool:
        """Return whether the first value of a file is a conversation rather than a message."""
        return bool(self.signs) or (isinstance(value, dict) and "messages" in value and "role" not in value)

    def messages(self, items: Items, left_out: LeftOut) -> Reports:
        """Yield the messages of a file that has one message per value."""
        raise NotImplementedError

    def conversation(self, value: Fields, left_out: LeftOut) -> Reports:
        """Yield the messages of a conversation stored as one value."""
        return self.messages(items_of(value, "messages"), left_out)

    def opening(self, first: Fields) -> dict[str, str | None]:  # noqa: ARG002
        """Return id and day of a file with one message per value, from the first one."""
        return {}

    def entries(self, items: Items, whole_file: bool) -> Entries:
        """Yield the conversations of a file from its values or, if it is not JSON, from its text.

        A broken one does not affect the others. ``whole_file``: the only value is the whole file.
        """
        first, values = peeked(items)
        if not self.holds(first):
            yield Entry(loader(partial(self.messages, values)), **self.opening(object_at(first)))
            return

        def read(item: Item, left_out: LeftOut) -> Reports:
            if not isinstance(item.value, dict):
                raise PlaceError(f"must be an object, got {kind_of(item.value)}")
            return self.conversation(item.value, left_out)

        for item in values:
            value = object_at(item.value)
            yield Entry(
                loader(partial(read, item), prefix="" if whole_file else f"{item.place('conversation')}: "),
                id=next((value[key] for key in self.id_keys if isinstance(value.get(key), str)), None),
                title=text_or_none(value.get(self.title_key)),
                created=self.day(value.get(self.created_key)),
            )


class WritableFormat(Format):
    """A format that can also be written."""

    def write(self, messages: Sequence[Message], left_out: LeftOut) -> Iterable[str]:
        """Yield the text of a file in pieces, and count what the format cannot hold."""
        raise NotImplementedError


def loader(read: Callable[[LeftOut], Reports], *, prefix: str = "") -> Callable[[], Loaded]:
    """Return a function that loads a conversation; its errors begin with ``prefix``."""

    def load() -> Loaded:
        left_out: LeftOut = Counter()
        messages, usage = list[Message](), list[Usage]()
        try:
            for value in read(left_out):
                if isinstance(value, Usage):
                    usage.append(value)
                elif value is not None:
                    messages.append(value)
        except PlaceError as error:
            raise PlaceError(f"{prefix}{error}") from error.__cause__
        return Loaded(tuple(messages), left_out, usage=tuple(usage))

    return load


def peeked(items: Items) -> tuple[object, Items]:
    """Return the first value, or None, and an iterator over all items."""
    first = next(items, None)
    return (None, items) if first is None else (first.value, chain((first,), items))


def message_from(data: Mapping[str, Any], place: str, left_out: LeftOut) -> Message:
    """Return the message of a dict in OpenAI's chat format, and count its media."""
    try:
        message = Message.from_dict(data)
    except MessageFormatError as error:
        raise PlaceError(f"{place}: {error.reason}") from error
    count_media(message, left_out)
    return message


def count_tools(value: Fields, left_out: LeftOut) -> None:
    """Count the tool definitions of a request."""
    left_out["tool_definition"] += len(list_or_empty(value.get("tools")))


def items_of(value: Fields, key: str) -> Items:
    """Return the elements of a list field as items."""
    return (Item(element, at) for at, element in enumerate(field_of(value, key, list)))


def objects_of(items: Items, noun: str = "message") -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each value, which must be an object, with its place."""
    for item in items:
        place = item.place(noun)
        yield checked_object(item.value, place), place


def text_parts(text: object) -> list[Part]:
    """Return a text as message parts; none for an empty text or anything else."""
    return [TextPart(text)] if isinstance(text, str) and text else []


def media_part(kind: MediaKind, left_out: LeftOut) -> list[Part]:
    """Return a placeholder for media, and count it."""
    left_out[kind] += 1
    return [MediaPart(kind)]


def arguments_of(value: object) -> str:
    """Return the arguments of a call as text."""
    return value if isinstance(value, str) else json_text({} if value is None else value)


def count_media(message: Message, left_out: LeftOut) -> None:
    """Count the media parts of a message; their position is kept, their data is not."""
    if not isinstance(message.content, str):
        left_out.update(part.kind for part in message.content if isinstance(part, MediaPart))


def count_fields(message: Message, left_out: LeftOut) -> None:
    """Count the name, id, metadata and time of a message, if set."""
    fields = (message.name, message.id, message.metadata, message.created_at)
    left_out["message_field"] += sum(bool(field) for field in fields)


def checked_object(value: object, place: str) -> dict[str, Any]:
    """Return a value that must be an object."""
    if not isinstance(value, dict):
        raise PlaceError(f"{place}: must be an object, got {kind_of(value)}")
    return value


def field_of(value: Fields, key: str, kind: type[Kind], place: str = "") -> Kind:
    """Return a field of an object that must be a list, an object or text."""
    field = value.get(key)
    if not isinstance(field, kind):
        expected = {list: "a list", dict: "an object"}.get(kind, "text")
        got = f"got {kind_of(field)}" if key in value else "it is missing"
        raise PlaceError(f'{place}"{key}" must be {expected}, {got}')
    return field


def kind_of(value: object) -> str:
    """Return the JSON type of a value, for an error message."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def object_at(value: object, *keys: str) -> dict[str, Any]:
    """Return the object at a path of keys (without keys: the value itself), or an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def list_or_empty(value: object) -> list[Any]:
    """Return a list unchanged; an empty one for anything else."""
    return value if isinstance(value, list) else []


def json_or_none(text: str | bytes) -> Any:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def text_or_none(value: object) -> str | None:
    """Return a text that is not blank; None for anything else."""
    return value if isinstance(value, str) and value.strip() else None


def json_text(value: object) -> str:
    """Return a value as JSON on one line; lone surrogates are escaped, so that it fits UTF-8 and round-trips."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def json_list(values: Iterable[object], *, start: str = "[", end: str = "\n]\n") -> Iterator[str]:
    """Yield the text of a JSON list, one element per line."""
    yield start
    for at, value in enumerate(values):
        yield (",\n " if at else "\n ") + json_text(value)
    yield end


def without_surrogates(text: str, left_out: LeftOut) -> str:
    """Return a text with lone surrogates, which UTF-8 cannot hold, replaced by U+FFFD; count them."""
    text, count = _SURROGATE.subn("\ufffd", text)
    if count:
        left_out["surrogate"] += count
    return text
