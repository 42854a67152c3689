"""Conversation files to turns: which format a file has, which conversation is meant, and where a file is broken.

::

    bytes ──TextSource──> values ──Format──> conversations ──choice──> messages ──> turns

Formats are told apart by their content; ``gatekeeper_cli.formats`` has one module for each. A file is read as a stream:
of many conversations one is held at a time.
"""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gatekeeper_cli.formats.base import Entry, InputError, LeftOut, PlaceError
from gatekeeper_cli.formats.json_values import TOO_DEEP, TextSource, read_values
from gatekeeper_cli.formats.openai import message_of_item
from gatekeeper_cli.formats.registry import FORMATS, MARKDOWN, format_of_value
from gatekeeper_core.messages import Message, Turn, group_turns, validate_messages

__all__ = [
    "STANDARD_INPUT",
    "Heading",
    "InputError",
    "Reading",
    "headings",
    "parse_message_lines",
    "parse_turns",
    "read_conversation",
    "read_turns",
    "without_current",
]

STANDARD_INPUT = "-"
"""The file name that stands for standard input."""

_SHOWN_CONVERSATIONS = 10
_SHOWN_TITLE = 60

Progress = Callable[[int], None]
"""Is told how many bytes were read."""


class Heading(NamedTuple):
    """What a file says of one of its conversations.

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


@dataclass(frozen=True, slots=True)
class Reading:
    """One conversation of a file.

    Attributes:
        form: the name of the file's format.
        heading: what the file says of it.
        messages: its messages, oldest first.
        turns: its turns, oldest first.
        left_out: what the messages do not hold, by kind.
        odd: what they hold although no provider accepts it, by the rule that it breaks.
    """

    form: str
    heading: Heading
    messages: tuple[Message, ...]
    turns: tuple[Turn, ...]
    left_out: LeftOut = field(default_factory=Counter)
    odd: LeftOut = field(default_factory=Counter)


# --- the door -------------------------------------------------------------------------------------------------------


def read_turns(file: str, *, form: str | None = None, conversation: str | None = None) -> tuple[Turn, ...]:
    """Return the turns of a conversation file, oldest first.

    Args:
        file: its path, or ``-`` for standard input.
        form: the name of its format; None tells it by the content.
        conversation: which conversation, by number, id or title, if it holds many.

    Raises:
        InputError: the file cannot be opened, decoded or understood, or it is not clear which conversation is meant.
    """
    return read_conversation(file, form=form, conversation=conversation).turns


def read_conversation(
    file: str,
    *,
    form: str | None = None,
    conversation: str | None = None,
    progress: Progress | None = None,
) -> Reading:
    """Return one conversation of a file.

    Args:
        file: its path, or ``-`` for standard input.
        form: the name of its format; None tells it by the content.
        conversation: which conversation, by number (from 1), id, title, or a part of a title that no other has.
        progress: is told how many bytes were read.

    Raises:
        InputError: the file cannot be opened, decoded or understood, or it is not clear which conversation is meant.
    """
    with _opened(file) as (stream, name):
        return _read(stream, name, form, conversation, progress)


def headings(file: str, *, form: str | None = None, progress: Progress | None = None) -> list[Heading]:
    """Return what a file says of each of its conversations, in their order.

    Args:
        file: its path, or ``-`` for standard input.
        form: the name of its format; None tells it by the content.
        progress: is told how many bytes were read.

    Raises:
        InputError: the file cannot be opened, decoded or understood.
    """
    with _opened(file) as (stream, name), _named(name):
        entries = _entries(stream, form, progress)[1]
        return [_heading(number, entry) for number, entry in enumerate(entries, 1)]


def parse_turns(content: bytes, *, name: str) -> tuple[Turn, ...]:
    r"""Return the turns that the content of a file holds, oldest first; an empty JSON list holds none.

    Args:
        content: UTF-8, with or without a byte order mark, with any line ends.
        name: what the file is called in an error.

    Raises:
        InputError: the content is no conversation.

    >>> [turn.user_text for turn in parse_turns(b'{"user": "hi", "assistant": "hello"}\n', name="chat.jsonl")]
    ['hi']
    """
    return _read(io.BytesIO(content), name, None, None, None).turns


def parse_message_lines(content: bytes, *, name: str) -> tuple[Message, ...]:
    r"""Return the messages of JSON lines, one message each, which can be appended to; no line, no message.

    Args:
        content: UTF-8, with or without a byte order mark, with any line ends.
        name: what the file is called in an error.

    Raises:
        InputError: the content is no such file; of another format that is read here, with the command that converts it.

    >>> parse_message_lines(b'{"role": "user", "content": "hi"}\n', name="chat.jsonl")[0].text
    'hi'
    """
    with _named(name):
        source = TextSource(io.BytesIO(content))
        first = source.skip_white()
        if not first:
            return ()
        other = "a JSON list"
        if first != "[":
            values = read_values(source)
            start = next(values.items)
            other = _other_form(start.value, spread=values.whole_file and b"\n" in content.strip())
        if other:
            raise PlaceError(
                f"is {other}; a chat appends to JSON lines of messages, so convert it first: "
                f"gatekeeper convert {name} NEW.jsonl"
            )
        left_out: LeftOut = Counter()
        return tuple(message_of_item(item, left_out) for item in chain((start,), values.items))


def without_current(turns: tuple[Turn, ...], *, query: str) -> tuple[Turn, ...]:
    """Return the turns without the last one where that is the query itself, still waiting for its answer.

    White space at the ends is no difference. A turn waits if its last message is the user's, a tool call, a tool
    result, or empty.

    >>> turns = (Turn.of("hi", "hello"), Turn.of("and now?", ""))
    >>> [turn.user_text for turn in without_current(turns, query="and now? ")]
    ['hi']
    """
    if not turns or turns[-1].user_text.strip() != query.strip():
        return turns
    last = turns[-1].messages[-1]
    answered = last.role == "assistant" and last.content and not last.tool_calls
    return turns if answered else turns[:-1]


# --- a file ---------------------------------------------------------------------------------------------------------


@contextmanager
def _opened(file: str) -> Iterator[tuple[BinaryIO, str]]:
    """Give the bytes of a file, and the file's name in errors."""
    if file == STANDARD_INPUT:
        yield sys.stdin.buffer, "standard input"
        return
    try:
        Path(file).stat()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL or a lone surrogate in the name
        raise InputError(f"{file!a}: {error}") from error
    try:
        with Path(file).open("rb") as stream:
            yield stream, file
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Give an error the name of the file."""
    try:
        yield
    except PlaceError as problem:
        raise InputError(f"{name}: {problem}") from problem.__cause__
    except RecursionError as error:
        raise InputError(f"{name}: {TOO_DEEP}") from error


def _read(
    stream: BinaryIO, name: str, form: str | None, conversation: str | None, progress: Progress | None
) -> Reading:
    with _named(name):
        form, entries = _entries(stream, form, progress)
        if conversation is None:
            heading, entry = _only(entries, name)
        else:
            heading, entry = _wanted(entries, conversation, name)
        loaded = entry.load()
        turns = group_turns(loaded.messages) if loaded.turns is None else loaded.turns
        violations = validate_messages(loaded.messages, provider="openai", open_run=True)
        odd = Counter(violation.rule for violation in violations)
        return Reading(form, heading, loaded.messages, turns, +loaded.left_out, odd)


def _entries(stream: BinaryIO, form: str | None, progress: Progress | None) -> tuple[str, Iterator[Entry]]:
    """Return the name of the format and the conversations."""
    source = TextSource(stream, progress=progress)
    first = source.skip_white()
    if not first:
        raise PlaceError("holds no messages: it is empty")
    if form == MARKDOWN.name or (form is None and first not in "[{"):
        text = source.rest()
        if form is not None or MARKDOWN.knows(text):
            return MARKDOWN.name, iter((MARKDOWN.read_text(text),)) if MARKDOWN.read_text else iter(())
    values = read_values(source)
    start = next(values.items, None)
    known = FORMATS[form] if form else format_of_value(start.value if start else None, whole_file=values.whole_file)
    items = chain(() if start is None else (start,), values.items)
    return known.name, known.entries(items, values.whole_file) if known.entries else iter(())


def _other_form(value: object, *, spread: bool) -> str:
    """Return which of the other formats a file has by its first value; nothing for JSON lines of messages."""
    if not isinstance(value, dict) or "role" in value:
        return "one object over several lines" if spread else ""
    if "messages" in value:
        return 'an object with "messages"'
    return '{"user", "assistant"} lines' if "user" in value or "assistant" in value else "of another format"


# --- one of many conversations --------------------------------------------------------------------------------------


def _heading(number: int, entry: Entry) -> Heading:
    return Heading(number, entry.id, entry.title, entry.created)


def _only(entries: Iterator[Entry], name: str) -> tuple[Heading, Entry]:
    """Return the conversation of a file that holds one; of an empty store, one without messages."""
    first = next(entries, None)
    if first is None:
        raise PlaceError("holds no conversation")
    shown = [_heading(1, first)]
    count = 1
    for count, entry in enumerate(entries, 2):
        if count <= _SHOWN_CONVERSATIONS:
            shown.append(_heading(count, entry))
    if count == 1:
        return shown[0], first
    hint = f"gatekeeper convert --list {name}" if name != "standard input" else "gatekeeper convert --list FILE"
    raise InputError(
        f"{name}: holds {count:,} conversations: say which with --conversation NUMBER (or its title, or its id); "
        f"{hint} shows them all",
        details=[*map(str, shown), *(["..."] if count > len(shown) else [])],
    )


def _wanted(entries: Iterator[Entry], wanted: str, name: str) -> tuple[Heading, Entry]:
    """Return the conversation that is called so: by number, else by id, else by title, else by a part of the title."""
    found: dict[int, tuple[Heading, Entry]] = {}
    alike: dict[int, list[Heading]] = {}
    count = 0
    for count, entry in enumerate(entries, 1):
        heading = _heading(count, entry)
        rank = _rank(heading, wanted)
        if rank is None:
            continue
        found.setdefault(rank, (heading, entry))
        alike.setdefault(rank, []).append(heading)
        if rank == 0:
            break
    if not found:
        raise InputError(f"{name}: none of its {count:,} conversations has the number, id or title {wanted!a:.80}")
    best = min(found)
    if len(alike[best]) > 1:
        raise InputError(
            f"{name}: {len(alike[best]):,} conversations are called like {wanted!a:.80}: give the number of one",
            details=[str(heading) for heading in alike[best][:_SHOWN_CONVERSATIONS]],
        )
    return found[best]


def _rank(heading: Heading, wanted: str) -> int | None:
    """Return how surely a name means a conversation, 0 surest, or None."""
    plain, title = _plain(wanted), _plain(heading.title or "")
    if plain == str(heading.number):
        return 0
    if wanted == heading.id:
        return 1
    if plain and plain == title:
        return 2
    return 3 if plain and plain in title else None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
