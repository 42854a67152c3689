"""``gatekeeper convert``: a conversation from one format into another, with an account of what does not fit."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gatekeeper_cli.opening import (
    FromFormat,
    WhichConversation,
    list_conversations,
    open_conversation,
    say_left_out,
)
from gatekeeper_cli.output import File, show
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.texts import Language, spoken, texts_for
from gatekeeper_cli.views import plain_table, visible, write_json
from gatekeeper_cli.writing import STANDARD_INPUT, WriteError, write_report
from gatekeeper_formats import SUFFIXES, WRITABLE, write_messages

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from gatekeeper_formats import Conversation, Heading

__all__ = ["convert"]

_STANDARD_OUTPUT = STANDARD_INPUT
_HELP = texts_for(Language.auto)


def convert(
    file: File,
    out: Annotated[str | None, typer.Argument(help=_HELP("help.out"), metavar="OUT")] = None,
    to: Annotated[str | None, typer.Option("--to", help=_HELP("help.to", formats=", ".join(WRITABLE)))] = None,
    form: FromFormat = None,
    conversation: WhichConversation = None,
    listed: Annotated[bool, typer.Option("--list", help=_HELP("help.list"))] = False,
    strict: Annotated[bool, typer.Option("--strict", help=_HELP("help.strict"))] = False,
    force: Annotated[bool, typer.Option("--force", help=_HELP("help.replace"))] = False,
    as_json: Annotated[bool, typer.Option("--json", help=_HELP("help.account"))] = False,
) -> None:
    """Convert a conversation into another format, and say what of it that format cannot hold."""
    texts = spoken()
    if listed:
        if out is not None:
            refuse(texts("error.list_writes"))
        _show_list(list_conversations(file, form=form), as_json=as_json)
        return
    if out is None:
        refuse(texts("error.out_needed"))
    if as_json and out == _STANDARD_OUTPUT:
        refuse(texts("error.json_and_out"))
    target = _target_format(out, to)
    reading = open_conversation(file, form=form, conversation=conversation)
    text, unheld = write_messages(reading.messages, target)
    unheld -= reading.left_out  # a picture whose data was not read is not left out a second time
    lost = bool(reading.left_out or unheld)
    if not (strict and lost):
        try:
            write_report(out, text, force=force)
        except WriteError as error:
            refuse(str(error))
    if as_json:
        write_json(_account(reading, target, out, unheld, written=not (strict and lost)), sys.stdout)
    else:
        say_left_out(reading.left_out + unheld, repeated_speakers=reading.repeated_speakers)
        if reading.odd:
            kept = texts("kept_as_it_is", counts=texts.counted(reading.odd, "odd"))
            typer.echo(f"gatekeeper: {kept}", err=True)
    if strict and lost:
        raise typer.Exit(1)


def _target_format(out: str, to: str | None) -> str:
    if to is not None:
        if to not in WRITABLE:
            refuse(spoken()("error.to", formats=", ".join(WRITABLE), got=to))
        return to
    suffix = PurePath(out).suffix.lower()
    if suffix not in SUFFIXES:
        refuse(spoken()("error.to_needed", out=out, formats="|".join(WRITABLE)))
    return SUFFIXES[suffix]


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
        "repeated_speakers": reading.repeated_speakers,
    }


def _show_list(found: Sequence[Heading], *, as_json: bool) -> None:
    if as_json:
        write_json({"conversations": [heading._asdict() for heading in found]}, sys.stdout)
        return
    table = plain_table(expand=False)
    texts = spoken()
    table.add_column(texts("number"), justify="right", no_wrap=True)
    table.add_column(texts("began"), no_wrap=True)
    table.add_column(texts("title"), overflow="fold")
    table.add_column("id", overflow="fold")
    for heading in found:
        cells = (str(heading.number), heading.created or "-", heading.title or "-", heading.id or "-")
        table.add_row(*(Text(visible(cell)) for cell in cells))
    show([table])
