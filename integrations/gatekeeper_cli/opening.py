"""How every command opens its conversation file: the options, the progress bar, the refusal, what was left out."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, TimeRemainingColumn

import gatekeeper_formats as formats
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.texts import Language, spoken, texts_for
from gatekeeper_cli.writing import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO


__all__ = [
    "FromFormat",
    "WhichConversation",
    "check_form",
    "file_size",
    "list_conversations",
    "open_conversation",
    "progress_bar",
    "say_left_out",
]

_LONG_BYTES = 16_000_000
"""From here on a file takes long enough, about a quarter of a second, for a progress bar."""

_HELP = texts_for(Language.auto)

FromFormat = Annotated[str | None, typer.Option("--from", help=_HELP("help.from", formats=", ".join(formats.READABLE)))]
WhichConversation = Annotated[
    str | None, typer.Option("--conversation", help=_HELP("help.conversation"), metavar="N|TITLE|ID")
]


def open_conversation(file: str, *, form: str | None = None, conversation: str | None = None) -> formats.Conversation:
    """Return one conversation of a file, or end the command with the reason why not."""
    with _opened(file, form) as (source, name, progress):
        return formats.read_conversation(source, form=form, conversation=conversation, name=name, progress=progress)


def list_conversations(file: str, *, form: str | None = None) -> list[formats.Heading]:
    """Return what a file says of its conversations, or end the command with the reason why not."""
    with _opened(file, form) as (source, name, progress):
        return formats.list_conversations(source, form=form, name=name, progress=progress)


def say_left_out(counts: Mapping[str, int], *, repeated_speakers: int = 0) -> None:
    """Say on standard error what of a conversation was left out, if anything was, and that its speakers look wrong."""
    texts = spoken()
    if repeated_speakers:
        typer.echo(f"gatekeeper: {texts('repeated_speakers', count=repeated_speakers)}", err=True)
    if counts:
        typer.echo(f"gatekeeper: {texts('left_out', counts=texts.counted(counts, 'left_out'))}", err=True)


def check_form(form: str | None) -> None:
    """Refuse the name of a format that is not read."""
    if form is not None and form not in formats.READABLE:
        refuse(spoken()("error.from", formats=", ".join(formats.READABLE), got=form))


@contextmanager
def progress_bar(
    size: int, *, least: int = 0, count: type[ProgressColumn] = DownloadColumn
) -> Iterator[Callable[[int], None] | None]:
    """Give what shows how much of a size, such as bytes, is done: at a terminal, and from a least size on."""
    if size < least or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    columns = (BarColumn(), count(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=size or None)
        yield lambda done: bar.advance(task, done)


@contextmanager
def _opened(file: str, form: str | None) -> Iterator[tuple[str | BinaryIO, str, Callable[[int], None] | None]]:
    """Give a file, its name, and what shows the progress of long reading; refuse what cannot be read."""
    check_form(form)
    try:
        with progress_bar(file_size(file), least=_LONG_BYTES) as progress:
            if file == STANDARD_INPUT:
                yield sys.stdin.buffer, spoken()("error.standard_input"), progress
            else:
                yield file, file, progress
    except formats.AmbiguousConversationError as error:
        listed = [str(heading) for heading in error.headings]
        if error.wanted is None:
            shown = "FILE" if file == STANDARD_INPUT else file
            more = ["..."] if error.count > len(listed) else []
            reason = spoken()("error.many", file=error.name, count=error.count, shown=shown)
            refuse(reason, details=listed + more)
        wanted = f"{error.wanted!a:.80}"
        refuse(spoken()("error.alike", file=error.name, count=error.count, wanted=wanted), details=listed)
    except formats.FormatError as error:
        refuse(str(error))


def file_size(file: str) -> int:
    """Return the bytes of a regular file; 0 of everything else, standard input among it."""
    try:
        found = None if file == STANDARD_INPUT else os.stat(file)
    except (OSError, ValueError):
        return 0
    return found.st_size if found is not None and stat.S_ISREG(found.st_mode) else 0
