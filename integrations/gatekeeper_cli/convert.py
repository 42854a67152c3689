"""``gatekeeper convert``: a conversation from one format into another, with an account of what does not fit."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gatekeeper_cli.left_out import ODD_KINDS, counted_words
from gatekeeper_cli.opening import (
    STANDARD_INPUT,
    FromFormat,
    WhichConversation,
    list_conversations,
    open_conversation,
    say_left_out,
)
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.views import visible, write_json
from gatekeeper_cli.whole_file import write_whole
from gatekeeper_formats import SUFFIXES, WRITABLE, write_messages

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from gatekeeper_formats import Conversation, Heading

__all__ = ["convert"]

_STANDARD_OUTPUT = STANDARD_INPUT


def convert(
    file: Annotated[str, typer.Argument(help="A conversation in any format; - reads standard input.", metavar="FILE")],
    out: Annotated[
        str | None, typer.Argument(help="The file to write; - writes to standard output.", metavar="OUT")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help=f"The format of OUT, if its name does not tell: {', '.join(WRITABLE)}."),
    ] = None,
    form: FromFormat = None,
    conversation: WhichConversation = None,
    listed: Annotated[bool, typer.Option("--list", help="List the conversations of FILE, and write nothing.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Write nothing, and end with status 1, if anything would be left out.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the account as JSON on standard output.")] = False,
) -> None:
    """Convert a conversation into another format, and say what of it that format cannot hold."""
    if listed:
        if out is not None:
            refuse("--list writes no file: leave OUT out")
        _show_list(list_conversations(file, form=form), as_json=as_json)
        return
    if out is None:
        refuse("name the file to write, or - for standard output; --list lists the conversations of FILE")
    if as_json and out == _STANDARD_OUTPUT:
        refuse("--json prints an account on standard output, where OUT is to go: name a file as OUT")
    target = _target_format(out, to)
    reading = open_conversation(file, form=form, conversation=conversation)
    text, unheld = write_messages(reading.messages, target)
    unheld -= reading.left_out  # a picture whose data was not read is not left out a second time
    lost = bool(reading.left_out or unheld)
    if not (strict and lost):
        _put(out, text.encode(), force=force)
    if as_json:
        write_json(_account(reading, target, out, unheld, written=not (strict and lost)), sys.stdout)
    else:
        _say(reading, unheld)
    if strict and lost:
        raise typer.Exit(1)


def _target_format(out: str, to: str | None) -> str:
    if to is not None:
        if to not in WRITABLE:
            refuse(f"--to must be one of {', '.join(WRITABLE)}, got {to}")
        return to
    suffix = PurePath(out).suffix.lower()
    if suffix not in SUFFIXES:
        refuse(f"{out}: the format is not clear from the name: say --to {'|'.join(WRITABLE)}")
    return SUFFIXES[suffix]


def _put(out: str, content: bytes, *, force: bool) -> None:
    if out == _STANDARD_OUTPUT:
        if sys.stdout is not None:  # None: the command was started with its output closed
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
        return
    try:
        write_whole(out, (content,), replace=force)
    except OSError as error:
        refuse(f"{out}: {error.strerror or error}")
    except ValueError as error:  # a NUL or a lone surrogate in the name
        refuse(f"{out!a}: {error}")


def _say(reading: Conversation, unheld: Counter[str]) -> None:
    say_left_out(reading.left_out + unheld)
    if reading.odd:
        typer.echo(f"gatekeeper: kept as it is: {counted_words(reading.odd, ODD_KINDS)}", err=True)


def _account(reading: Conversation, target: str, out: str, unheld: Counter[str], *, written: bool) -> dict[str, Any]:
    return {
        "from": reading.form,
        "to": target,
        "out": out,
        "written": written,
        "conversation": reading.heading._asdict(),
        "messages": len(reading.messages),
        "turns": len(reading.turns),
        "left_out": {"reading": dict(sorted(reading.left_out.items())), "writing": dict(sorted(unheld.items()))},
        "kept_as_it_is": dict(sorted(reading.odd.items())),
    }


def _show_list(found: Sequence[Heading], *, as_json: bool) -> None:
    if as_json:
        write_json({"conversations": [heading._asdict() for heading in found]}, sys.stdout)
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("number", justify="right", no_wrap=True)
    table.add_column("began", no_wrap=True)
    table.add_column("title", overflow="fold")
    table.add_column("id", overflow="fold")
    for heading in found:
        cells = (str(heading.number), heading.created or "-", heading.title or "-", heading.id or "-")
        table.add_row(*(Text(visible(cell)) for cell in cells))
    Console(highlight=False, markup=False, emoji=False).print(table)
