"""The output of the commands: refusals and notes, tables and JSON, the progress of long work."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import NoReturn

import typer
from rich import box
from rich.console import Console, RenderableType
from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, TimeRemainingColumn
from rich.table import Table

from gatekeeper_cli.files import STANDARD_STREAM
from gatekeeper_cli.texts import spoken, visible
from gatekeeper_core.notebook import UNSHOWABLE

_MAX_TITLE = 200
_UNSAFE_IN_JSON = re.compile(f"(?!\n){UNSHOWABLE}")


def refuse(reason: str, *, details: Sequence[str] = ()) -> NoReturn:
    """End the command with the reason and each detail on standard error, and exit status 2."""
    note(reason)
    for detail in details:
        typer.echo(f"  {visible(detail)}", err=True)
    raise typer.Exit(2)


@contextmanager
def refused_without(*packages: str, reason: str) -> Iterator[None]:
    """Refuse, with a reason, if one of the packages of an extra is missing."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        refuse(reason)


def note(line: str) -> None:
    """Write a line to standard error."""
    typer.echo(f"gatekeeper: {visible(line)}", err=True)


def note_left_out(counts: Mapping[str, int], *, repeated_speakers: int = 0) -> None:
    """Note on standard error what was left out of a conversation, and that its speakers look wrong, if so."""
    texts = spoken()
    if repeated_speakers:
        note(texts("repeated_speakers", count=repeated_speakers))
    if counts:
        note(texts("left_out", counts=texts.counted(counts, "left_out")))


@contextmanager
def progress_bar(
    size: int, *, least: int = 0, count: type[ProgressColumn] = DownloadColumn
) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback that advances a progress bar; None off a terminal or below a size of ``least``."""
    if size < least or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    columns = (BarColumn(), count(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=size or None)
        yield lambda done: bar.advance(task, done)


def conversation_name(file: str, title: str | None = None) -> str:
    """Return the name of a conversation in a report: its title, else its file name."""
    if title:
        return title[:_MAX_TITLE]
    return spoken()("error.standard_input") if file == STANDARD_STREAM else PurePath(file).name


def show(view: Iterable[RenderableType]) -> None:
    """Write a view to standard output; nothing in it is read as markup."""
    console = Console(highlight=False, markup=False, emoji=False)
    for part in view:
        console.print(part)


def plain_table(*, expand: bool = True, show_header: bool = True) -> Table:
    """Return an empty table; if it expands, columns with a ratio share the width that the others leave."""
    return Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        expand=expand,
        show_header=show_header,
    )


def print_json(value: object) -> None:
    """Write readable JSON; what the stream cannot encode, or a terminal would obey or cannot show, is escaped."""
    if sys.stdout is None:  # the command was started with its output closed
        return

    def escaped(match: re.Match[str]) -> str:
        units = match[0].encode("utf-16-be", "surrogatepass").hex()
        return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

    text = _UNSAFE_IN_JSON.sub(escaped, json.dumps(value, ensure_ascii=False, indent=2))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=True, indent=2)
    sys.stdout.write(text + "\n")
