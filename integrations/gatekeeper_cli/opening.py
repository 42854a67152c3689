"""How every command opens its conversation file: the options, the progress bar, the refusal, what was left out."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from gatekeeper_cli.formats.registry import READABLE
from gatekeeper_cli.left_out import KINDS, counted_words
from gatekeeper_cli.reading import STANDARD_INPUT, InputError, headings, read_conversation
from gatekeeper_cli.refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gatekeeper_cli.reading import Heading, Reading

__all__ = ["FromFormat", "WhichConversation", "list_conversations", "open_conversation", "say_left_out"]

_LONG_BYTES = 16_000_000
"""From here on a file takes long enough, about a quarter of a second, for a progress bar."""

FromFormat = Annotated[
    str | None,
    typer.Option("--from", help=f"The format of FILE, if its content does not tell: {', '.join(READABLE)}."),
]
WhichConversation = Annotated[
    str | None,
    typer.Option(
        "--conversation",
        help="Which conversation of FILE, if it holds many: its number, its id, or its title.",
        metavar="N|TITLE|ID",
    ),
]


def open_conversation(file: str, *, form: str | None = None, conversation: str | None = None) -> Reading:
    """Return one conversation of a file, or end the command with the reason why not."""
    _check_form(form)
    try:
        with _progress(file) as progress:
            return read_conversation(file, form=form, conversation=conversation, progress=progress)
    except InputError as error:
        refuse(str(error), details=error.details)


def list_conversations(file: str, *, form: str | None = None) -> list[Heading]:
    """Return what a file says of its conversations, or end the command with the reason why not."""
    _check_form(form)
    try:
        with _progress(file) as progress:
            return headings(file, form=form, progress=progress)
    except InputError as error:
        refuse(str(error), details=error.details)


def say_left_out(counts: Mapping[str, int]) -> None:
    """Say on standard error what of a conversation was left out, if anything was."""
    if counts:
        typer.echo(f"gatekeeper: left out: {counted_words(counts, KINDS)}", err=True)


def _check_form(form: str | None) -> None:
    if form is not None and form not in READABLE:
        refuse(f"--from must be one of {', '.join(READABLE)}, got {form}")


@contextmanager
def _progress(file: str) -> Iterator[Callable[[int], None] | None]:
    """Give what shows the progress of a long reading to someone who looks at it."""
    size = _size(file)
    if size < _LONG_BYTES or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=size)
        yield lambda count: bar.advance(task, count)


def _size(file: str) -> int:
    """Return the size of a file in bytes; 0 for what has none, and for what cannot be read."""
    if file == STANDARD_INPUT:
        return 0
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
