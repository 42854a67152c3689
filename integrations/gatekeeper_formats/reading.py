"""Conversation files read as messages: detection of the format, choice of the conversation, errors with their place.

::

    bytes ──TextSource──> values ──Format──> conversations ──choice──> messages ──> turns

The content of a file decides its format (see ``registry``). Files are streamed: one conversation is in memory at once.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.messages import Message, Turn, group_turns, validate_messages
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_formats.base import (
    AmbiguousConversationError,
    Entry,
    FormatError,
    Heading,
    Item,
    LeftOut,
    PlaceError,
    WritableFormat,
)
from gatekeeper_formats.json_values import TOO_DEEP, TextSource, read_values
from gatekeeper_formats.registry import FORMATS, SUFFIXES, TEXT_FORMATS, WRITABLE, format_of

_SHOWN_CONVERSATIONS = 10
_REPEATED_LEAST, _REPEATED_SHARE = 3, 1 / 3
"""Messages that follow one of the same speaker: few in a chat, half if lines are doubled, nearly all if misread."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file.

    Attributes:
        form: name of the file's format.
        heading: number, id, title and day in the file.
        messages: its messages, oldest first.
        turns: its turns, oldest first.
        left_out: counts by kind of what the messages do not contain.
        odd: counts of messages that no provider accepts unchanged, by the ``validate_messages`` rule they break.
        usage: reported usage of each model call, in order; empty if the format reports none.
        repeated_speakers: number of messages with the same speaker as the one before, if far more than in a chat (a
            sign of doubled lines or a wrong format); else 0.
    """

    form: str
    heading: Heading
    messages: tuple[Message, ...]
    turns: tuple[Turn, ...]
    left_out: LeftOut = field(default_factory=Counter)
    odd: LeftOut = field(default_factory=Counter)
    usage: tuple[Usage, ...] = ()
    repeated_speakers: int = 0


class Unread(NamedTuple):
    """A file or a conversation that could not be read, and the reason."""

    file: str
    reason: str


@with_suggestions()
def read_conversation(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    form: str | None = None,
    conversation: str | None = None,
    name: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Conversation:
    r"""Return one conversation of a file.

    Args:
        file: a path, or an open binary file; UTF-8 with or without a byte order mark, with any line ends.
        form: name of its format, one of ``READABLE``; detected by default.
        conversation: the conversation to read, by number (from 1), id, title or a unique part of a title.
        name: name of the file in errors; defaults to its path.
        progress: called with the number of bytes of each piece read.

    Raises:
        FormatError: the file cannot be opened, decoded or understood.
        AmbiguousConversationError: the file has several conversations, and the choice is ambiguous.

    >>> import io
    >>> chat = io.BytesIO(b'{"user": "hi", "assistant": "hello"}\n')
    >>> [(message.role, message.text) for message in read_conversation(chat).messages]
    [('user', 'hi'), ('assistant', 'hello')]
    """
    with _opened(file, name) as (stream, shown_name):
        form, entries = _entries(stream, form, progress)
        chosen = _only(entries, shown_name) if conversation is None else _matching(entries, conversation, shown_name)
        return _loaded(form, *chosen)


def read_conversations(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    form: str | None = None,
    name: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Conversation]:
    """Yield every conversation of a file in order; only one is held in memory at a time.

    Arguments as for :func:`read_conversation`. A broken conversation ends the iteration; :func:`list_conversations` and
    :func:`read_conversation` read the others.

    Raises:
        FormatError: the file cannot be opened, decoded or understood.
    """
    with _opened(file, name) as (stream, _):
        form, entries = _entries(stream, form, progress)
        for number, entry in enumerate(entries, 1):
            yield _loaded(form, entry.heading(number), entry)


def list_conversations(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    form: str | None = None,
    name: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Heading]:
    """Return the heading of each conversation in order; arguments and errors as for :func:`read_conversation`."""
    with _opened(file, name) as (stream, _):
        entries = _entries(stream, form, progress)[1]
        return [entry.heading(number) for number, entry in enumerate(entries, 1)]


def write_messages(messages: Sequence[Message], form: str) -> tuple[str, LeftOut]:
    r"""Return the text of a file in a format, and counts by kind of what the format cannot hold.

    Args:
        messages: the conversation, oldest first.
        form: name of the format, one of ``WRITABLE``.

    Raises:
        ValueError: the format cannot be written.

    >>> write_messages([Message("user", "hi"), Message("assistant", "hello", id="m1")], "pairs")
    ('{"user": "hi", "assistant": "hello"}\n', Counter({'message_field': 1}))
    """
    writer = FORMATS.get(form)
    if not isinstance(writer, WritableFormat):
        raise ValueError(f"form must be one of {', '.join(WRITABLE)}, got {form!r}")
    left_out: LeftOut = Counter()
    text = "".join(writer.write(messages, left_out))
    return text, +left_out


def conversation_files(folder: str, unread: list[Unread]) -> list[str]:
    """Return the files below a folder that may contain conversations, sorted; unreadable folders go to ``unread``.

    Hidden folders below it and symbolic links are skipped.
    """

    def closed(error: OSError) -> None:
        unread.append(Unread(os.path.relpath(error.filename, folder), error.strerror or str(error)))

    paths: list[str] = []
    for path, folders, names in os.walk(folder, onerror=closed):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files = [os.path.join(path, name) for name in names if os.path.splitext(name)[1].lower() in SUFFIXES]
        # A named pipe would keep the reader waiting.
        paths += (file for file in files if os.path.isfile(file) and not os.path.islink(file))
    return sorted(paths)


def readable_conversations(
    source: str | BinaryIO,
    name: str,
    *,
    unread: list[Unread],
    form: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Conversation]:
    """Yield each readable conversation of a file; the others go to ``unread``.

    Args:
        source: the path of the file, or a stream.
        name: name of the file in errors.
        unread: receives what could not be read.
        form: name of its format; detected by default.
        progress: called with the number of bytes of each piece read.
    """
    try:
        with _opened(source, name) as (stream, _):
            used_format, entries = _entries(stream, form, progress)
            for number, entry in enumerate(entries, 1):
                try:
                    conversation = _loaded(used_format, entry.heading(number), entry)
                except (PlaceError, RecursionError) as error:  # noqa: PERF203 - a broken one breaks no other
                    unread.append(Unread(name, TOO_DEEP if isinstance(error, RecursionError) else str(error)))
                else:
                    yield conversation
                    del conversation  # one is held in memory at a time
    except FormatError as error:
        unread.append(Unread(name, str(error).removeprefix(f"{name}: ")))


@contextmanager
def _opened(file: str | os.PathLike[str] | BinaryIO, name: str | None) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, and turn the errors of the block into ``FormatError`` with its name."""
    called = os.fspath(file) if isinstance(file, (str, os.PathLike)) else str(getattr(file, "name", "the file"))
    shown_name = name or called
    try:
        with ExitStack() as stack:
            try:
                stream = stack.enter_context(Path(file).open("rb")) if isinstance(file, (str, os.PathLike)) else file
            except ValueError as error:  # a NUL or a lone surrogate in the name
                raise FormatError(f"{shown_name!a}: {error}") from error
            yield stream, shown_name
    except PlaceError as problem:
        raise FormatError(f"{shown_name}: {problem}") from problem.__cause__
    except RecursionError as error:
        raise FormatError(f"{shown_name}: {TOO_DEEP}") from error
    except OSError as error:
        raise FormatError(f"{shown_name}: {error.strerror or error}") from error


def _entries(stream: BinaryIO, form: str | None, progress: Callable[[int], None] | None) -> tuple[str, Iterator[Entry]]:
    source = TextSource(stream, progress=progress)
    first = source.skip_white()
    if not first:
        raise PlaceError("the file is empty")
    texts = [each for each in TEXT_FORMATS if form == each.name or (form is None and first not in "[{")]
    if texts:
        text = source.rest()
        text_format = next((each for each in texts if form is not None or each.knows(text)), None)
        if text_format is not None:
            return text_format.name, text_format.entries(iter((Item(text, 0),)), whole_file=True)
    items, whole_file = read_values(source)
    used_format = FORMATS[form] if form else None
    if used_format is None:
        used_format, items = format_of(items, whole_file=whole_file)
    return used_format.name, used_format.entries(items, whole_file=whole_file)


def _loaded(form: str, heading: Heading, entry: Entry) -> Conversation:
    loaded = entry.load()
    odd = Counter(broken.rule for broken in validate_messages(loaded.messages, provider="openai", open_run=True))
    speakers = ("user", "assistant")
    count = sum(message.role in speakers for message in loaded.messages)
    repeated = sum(
        before.role == after.role and before.role in speakers and not before.tool_calls
        for before, after in pairwise(loaded.messages)
    )
    shown = repeated if repeated >= _REPEATED_LEAST and repeated > _REPEATED_SHARE * count else 0
    turns = group_turns(loaded.messages)
    return Conversation(form, heading, loaded.messages, turns, +loaded.left_out, odd, loaded.usage, shown)


def _only(entries: Iterator[Entry], name: str) -> tuple[Heading, Entry]:
    """Return the only conversation of a file; raise if it has none or several."""
    first = next(entries, None)
    if first is None:
        raise PlaceError("has no conversation")
    shown = [first.heading(1)]
    count = 1
    for count, entry in enumerate(entries, 2):
        if count <= _SHOWN_CONVERSATIONS:
            shown.append(entry.heading(count))
    if count == 1:
        return shown[0], first
    raise AmbiguousConversationError(shown, count=count, name=name)


def _matching(entries: Iterator[Entry], wanted: str, name: str) -> tuple[Heading, Entry]:
    """Return a conversation by its number, else by id, else by title, else by a part of the title."""
    first: dict[int, tuple[Heading, Entry]] = {}
    alike: dict[int, list[Heading]] = {}
    count = 0
    for count, entry in enumerate(entries, 1):
        heading = entry.heading(count)
        plain, title = (" ".join(text.split()).casefold() for text in (wanted, heading.title or ""))
        ways = (plain == str(heading.number), wanted == heading.id, plain and plain == title, plain and plain in title)
        rank = next((rank for rank, means in enumerate(ways) if means), None)
        if rank is None:
            continue
        first.setdefault(rank, (heading, entry))
        alike.setdefault(rank, []).append(heading)
        if rank == 0:
            break
    if not first:
        raise FormatError(f"{name}: no conversation among its {count:,} has the number, id or title {wanted!a:.80}")
    best = min(first)
    if len(alike[best]) > 1:
        shown = alike[best][:_SHOWN_CONVERSATIONS]
        raise AmbiguousConversationError(shown, count=len(alike[best]), name=name, wanted=wanted)
    return first[best]
