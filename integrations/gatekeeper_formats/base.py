"""What a format is: how its files are told, read and written, and what is said of everything that it cannot hold.

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
from typing import Any, NamedTuple, TypeVar

from gatekeeper_core.errors import GatekeeperError, MessageFormatError
from gatekeeper_core.messages import MediaPart, Message, Turn
from gatekeeper_core.pricing.usage import Usage

__all__ = [
    "AmbiguousConversationError",
    "CutLineError",
    "Entry",
    "Format",
    "FormatError",
    "Heading",
    "Item",
    "LeftOut",
    "Loaded",
    "PlaceError",
    "all_together",
    "checked_object",
    "count_fields",
    "count_media",
    "date_of",
    "date_of_seconds",
    "field_of",
    "json_list",
    "json_or_none",
    "json_text",
    "kind_of",
    "list_or_empty",
    "loader",
    "message_from",
    "object_or_empty",
    "one_per_item",
    "peeked",
    "text_or_none",
    "without_surrogates",
]

Kind = TypeVar("Kind", list[Any], dict[str, Any], str)
LeftOut = Counter[str]
"""How many things of each kind were left out; docs/formats.md lists the kinds."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN_TITLE = 60


class Heading(NamedTuple):
    """The entry of one conversation in the list of a file.

    Attributes:
        number: its number in the file, from 1.
        id: what the file calls it.
        title: its title.
        created: when it began, as ``2024-05-31``.
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
    """A file cannot be read as a conversation; the text is one line that names the file and the place."""


class AmbiguousConversationError(FormatError):
    """A file holds several conversations, and it is not clear which one is meant.

    Attributes:
        headings: the first ten to choose from.
        count: how many there are.
        name: the name of the file.
        wanted: the number, id or title that was given; None where none was.
    """

    def __init__(self, headings: Sequence[Heading], *, count: int, name: str, wanted: str | None = None) -> None:
        self.headings, self.count, self.name, self.wanted = tuple(headings), count, name, wanted
        if wanted is None:
            super().__init__(f"{name}: holds {count:,} conversations: say which by its number, id or title")
        else:
            super().__init__(f"{name}: {count:,} conversations match {wanted!a:.80}: give the number of one")


class PlaceError(Exception):
    """What is wrong and where, before the file has its name."""


class CutLineError(PlaceError):
    """The last line of a file breaks off."""


class Item(NamedTuple):
    """One value of a file, and where it stands.

    Attributes:
        value: the value, of any type.
        at: its position among the values of the file, from 0.
        line: its line, from 1; None where it is an element of a list.
    """

    value: object
    at: int
    line: int | None = None

    def place(self, noun: str = "message") -> str:
        """Return where the value stands, for a reader.

        >>> Item({}, 2).place(), Item({}, 2, 4).place(), Item({}, 2).place("conversation")
        ('message 2 (counting from 0)', 'line 4', 'conversation 3')
        """
        if self.line is not None:
            return f"line {self.line}"
        return f"conversation {self.at + 1}" if noun == "conversation" else f"{noun} {self.at} (counting from 0)"


class Loaded(NamedTuple):
    """One conversation.

    Attributes:
        messages: its messages, oldest first.
        left_out: what was left out of it.
        turns: its turns, where the format says itself what a turn is.
        usage: what was reported for each call of a model, in order; empty where the format reports nothing.
    """

    messages: tuple[Message, ...]
    left_out: LeftOut
    turns: tuple[Turn, ...] | None = None
    usage: tuple[Usage, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One conversation of a file; its messages are read when they are asked for.

    Attributes:
        load: reads the messages; raises ``PlaceError`` where it cannot.
        id: what the file calls it.
        title: its title.
        created: when it began, as ``2024-05-31``.
    """

    load: Callable[[], Loaded]
    _: KW_ONLY
    id: str | None = None
    title: str | None = None
    created: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format.

    Attributes:
        name: what ``--from`` and ``--to`` call it.
        knows: whether the first value of a file (its text, for a format that is no JSON) is of this format.
        entries: makes the conversations of the values of a file (its one text, for a format that is no JSON); the truth
            value says whether the one value is the whole file.
        write: makes the text of a file, and counts what the format cannot hold; None for a format that is only read.
    """

    name: str
    knows: Callable[[Any], bool]
    entries: Callable[[Iterator[Item], bool], Iterator[Entry]]
    write: Callable[[Sequence[Message], LeftOut], Iterable[str]] | None = None


# --- making entries -------------------------------------------------------------------------------------------------


def loader(read: Callable[[LeftOut], Iterable[Message | Usage | None]], *, prefix: str = "") -> Callable[[], Loaded]:
    """Return what loads a conversation from its messages and what is reported among them.

    The prefix says in an error which conversation it is.
    """

    def load() -> Loaded:
        left_out: LeftOut = Counter()
        messages, usage = list[Message](), list[Usage]()
        try:
            for value in read(left_out):
                if isinstance(value, Usage):
                    usage.append(value)
                elif value is not None:  # what reported nothing
                    messages.append(value)
        except PlaceError as error:
            raise PlaceError(f"{prefix}{error}") from error.__cause__
        return Loaded(tuple(messages), left_out, usage=tuple(usage))

    return load


def all_together(
    items: Iterator[Item],
    read: Callable[[Iterator[Item], LeftOut], Iterable[Message | Usage | None]],
    *,
    id: str | None = None,  # noqa: A002 - the name that Entry gives it
    created: str | None = None,
) -> Iterator[Entry]:
    """Yield the one conversation of a file that holds a message in each value.

    The values pass by once: it must be loaded before the file is closed.
    """
    yield Entry(loader(partial(read, items)), id=id, created=created)


def one_per_item(
    items: Iterator[Item],
    read: Callable[[Mapping[str, Any], LeftOut], Iterable[Message | Usage | None]],
    *,
    whole_file: bool,
    id_keys: Sequence[str] = ("id",),
    title_key: str = "title",
    created: Callable[[Mapping[str, Any]], str | None] = lambda _: None,
) -> Iterator[Entry]:
    """Yield a conversation for each value of a file; one that is broken breaks no other."""

    def read_item(item: Item, left_out: LeftOut) -> Iterable[Message | Usage | None]:
        if not isinstance(item.value, dict):
            raise PlaceError(f"must be an object, got {kind_of(item.value)}")
        return read(item.value, left_out)

    for item in items:
        value = object_or_empty(item.value)
        yield Entry(
            loader(partial(read_item, item), prefix="" if whole_file else f"{item.place('conversation')}: "),
            id=next((value[key] for key in id_keys if isinstance(value.get(key), str)), None),
            title=text_or_none(value.get(title_key)),
            created=created(value),
        )


def peeked(items: Iterator[Item]) -> tuple[object, Iterator[Item]]:
    """Return the first value, None where there is none, and all items."""
    first = next(items, None)
    return (None, items) if first is None else (first.value, chain((first,), items))


# --- reading values -------------------------------------------------------------------------------------------------


def message_from(data: Mapping[str, Any], place: str, left_out: LeftOut) -> Message:
    """Return the message of a dict in OpenAI's chat format; what holds no text is counted."""
    try:
        message = Message.from_dict(data)
    except MessageFormatError as error:
        raise PlaceError(f"{place}: {error.reason}") from error
    count_media(message, left_out)
    return message


def count_media(message: Message, left_out: LeftOut) -> None:
    """Count the parts of a message that are no text: their place is kept, their data is not."""
    if not isinstance(message.content, str):
        left_out.update(part.kind for part in message.content if isinstance(part, MediaPart))


def count_fields(message: Message, left_out: LeftOut) -> None:
    """Count what a message holds beside its role, its content and its calls."""
    fields = (message.name, message.id, message.metadata, message.created_at)
    left_out["message_field"] += sum(bool(field) for field in fields)


def checked_object(value: object, place: str) -> dict[str, Any]:
    """Return a value that must be an object."""
    if not isinstance(value, dict):
        raise PlaceError(f"{place}: must be an object, got {kind_of(value)}")
    return value


def field_of(value: Mapping[str, Any], key: str, kind: type[Kind], place: str = "") -> Kind:
    """Return a field of an object that must be a list, an object or text."""
    found = value.get(key)
    if not isinstance(found, kind):
        wanted = {list: "a list", dict: "an object"}.get(kind, "text")
        got = f"got {kind_of(found)}" if key in value else "it is missing"
        raise PlaceError(f'{place}"{key}" must be {wanted}, {got}')
    return found


def kind_of(value: object) -> str:
    """Return what JSON calls the kind of a value."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def object_or_empty(value: object) -> dict[str, Any]:
    """Return an object, and an empty one for everything else."""
    return value if isinstance(value, dict) else {}


def list_or_empty(value: object) -> list[Any]:
    """Return a list, and an empty one for everything else."""
    return value if isinstance(value, list) else []


def json_or_none(text: str | bytes) -> Any:
    """Return the value of a JSON text; None for what is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def text_or_none(value: object) -> str | None:
    """Return a text that is not blank, and None for everything else."""
    return value if isinstance(value, str) and value.strip() else None


def date_of_seconds(value: object) -> str | None:
    """Return the day of a number of seconds since 1970, in UTC; None for what is no time.

    >>> date_of_seconds(1717171717.5), date_of_seconds(1e300), date_of_seconds("x")
    ('2024-05-31', None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    try:
        return datetime.fromtimestamp(value, timezone.utc).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return None


def date_of(value: object) -> str | None:
    """Return the day of a time as ISO 8601 writes it; None for what is no time.

    >>> date_of("2024-05-31T16:08:37.000000Z"), date_of("soon")
    ('2024-05-31', None)
    """
    return value[:10] if isinstance(value, str) and re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])", value) else None


# --- writing values -------------------------------------------------------------------------------------------------


def json_text(value: object) -> str:
    r"""Return a value as JSON on one line; lone surrogates are escaped, so that it is UTF-8 and comes back the same.

    >>> json_text(["端口", "\ud800"])
    '["端口", "\\ud800"]'
    """
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def json_list(values: Iterable[object], *, start: str = "[", end: str = "\n]\n") -> Iterator[str]:
    """Yield the text of a list, an element a line."""
    yield start
    for at, value in enumerate(values):
        yield (",\n " if at else "\n ") + json_text(value)
    yield end


def without_surrogates(text: str, left_out: LeftOut) -> str:
    """Return a text that UTF-8 can hold: half characters become a replacement character, and are counted."""
    text, count = _SURROGATE.subn("\ufffd", text)
    if count:
        left_out["surrogate"] += count
    return text
