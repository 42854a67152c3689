"""All conversations of a file, or of the files below a folder: what cannot be read is noted and stops nothing else."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_formats.base import FormatError
from gatekeeper_formats.reading import list_conversations, read_conversation, read_conversations
from gatekeeper_formats.registry import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from gatekeeper_formats.base import Heading
    from gatekeeper_formats.reading import Conversation

__all__ = ["Unread", "conversation_files", "readable_conversations"]


class Unread(NamedTuple):
    """A file, or one conversation of it, that could not be read, and why."""

    file: str
    reason: str


def conversation_files(folder: str, unread: list[Unread]) -> list[str]:
    """Return the files below a folder that may hold conversations, sorted; folders that are closed go to ``unread``.

    Hidden folders below it are left out, and so is every symbolic link.
    """

    def closed(error: OSError) -> None:
        unread.append(Unread(os.path.relpath(error.filename, folder), error.strerror or str(error)))

    found: list[str] = []
    for path, folders, names in os.walk(folder, onerror=closed):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files = [os.path.join(path, name) for name in names if os.path.splitext(name)[1].lower() in SUFFIXES]
        # A named pipe would keep the reader waiting.
        found += (file for file in files if os.path.isfile(file) and not os.path.islink(file))
    return sorted(found)


def readable_conversations(
    source: str | BinaryIO,
    name: str,
    *,
    unread: list[Unread],
    form: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Conversation]:
    """Yield each conversation of a file that can be read; the others go to ``unread``.

    Args:
        source: the path of the file, or a stream, where the first broken conversation is the end.
        name: what the file is called.
        unread: takes what could not be read.
        form: its format; None tells it by the content.
        progress: is called with the number of bytes of each piece that is read.
    """
    number = 0
    with _noted(name, unread):
        for conversation in read_conversations(source, form=form, name=name, progress=progress):
            number = conversation.heading.number
            yield conversation
            del conversation  # one is held in memory at a time
        return
    behind: list[Heading] = []
    if isinstance(source, str):
        with suppress(FormatError):  # then the file itself is broken, as is noted
            behind = list_conversations(source, form=form, name=name)[number + 1 :]
    for heading in behind:
        with _noted(name, unread):
            yield read_conversation(source, form=form, conversation=str(heading.number), name=name)


@contextmanager
def _noted(name: str, unread: list[Unread]) -> Iterator[None]:
    try:
        yield
    except FormatError as error:
        unread.append(Unread(name, str(error).removeprefix(f"{name}: ")))
