"""``gatekeeper convert``: conversion of a conversation between formats, with counts of what does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated

import typer
from rich.text import Text

from gatekeeper_cli.files import STANDARD_STREAM, write_report
from gatekeeper_cli.options import HELP, File, ReadingOptions
from gatekeeper_cli.output import note, note_left_out, plain_table, print_json, refuse, show
from gatekeeper_cli.texts import spoken, visible
from gatekeeper_formats import SUFFIXES, WRITABLE, write_messages


@dataclass(frozen=True)
class _Writing:
    strict: Annotated[bool, typer.Option("--strict", help=HELP("help.strict"))] = False
    force: Annotated[bool, typer.Option("--force", help=HELP("help.replace"))] = False
    as_json: Annotated[bool, typer.Option("--json", help=HELP("help.account"))] = False


def convert(
    file: File,
    out: Annotated[str | None, typer.Argument(help=HELP("help.out"), metavar="OUT")] = None,
    to: Annotated[str | None, typer.Option("--to", help=HELP("help.to", formats=", ".join(WRITABLE)))] = None,
    reading: ReadingOptions = ReadingOptions(),  # noqa: B008 - typer fills it
    in_list: Annotated[bool, typer.Option("--list", help=HELP("help.list"))] = False,
    writing: _Writing = _Writing(),
) -> None:
    """Convert a conversation into another format, and say what of it that format cannot hold."""
    texts = spoken()
    if in_list:
        if out is not None:
            refuse(texts("error.list_writes"))
        headings = reading.headings(file)
        if writing.as_json:
            print_json({"conversations": [heading._asdict() for heading in headings]})
            return
        table = plain_table(expand=False)
        table.add_column(texts("number"), justify="right", no_wrap=True)
        table.add_column(texts("began"), no_wrap=True)
        table.add_column(texts("title"), overflow="fold")
        table.add_column("id", overflow="fold")
        for heading in headings:
            cells = (str(heading.number), heading.created or "-", heading.title or "-", heading.id or "-")
            table.add_row(*(Text(visible(cell)) for cell in cells))
        show([table])
        return
    if out is None:
        refuse(texts("error.out_needed"))
    if writing.as_json and out == STANDARD_STREAM:
        refuse(texts("error.json_and_out"))
    target = to or SUFFIXES.get(PurePath(out).suffix.lower())
    if target not in WRITABLE:
        name, comma = ("error.to_needed", "|") if target is None else ("error.to", ", ")
        refuse(texts(name, out=out, formats=comma.join(WRITABLE), got=target))
    conversation = reading.read(file)
    text, not_written = write_messages(conversation.messages, target)
    not_written -= conversation.left_out  # an image that was not read is not left out again
    is_written = not (writing.strict and (conversation.left_out or not_written))
    if is_written:
        write_report(out, text, force=writing.force)
    if writing.as_json:
        left_out = {"reading": conversation.left_out, "writing": not_written}
        print_json(
            {
                "from": conversation.form,
                "to": target,
                "out": out,
                "written": is_written,
                "conversation": conversation.heading._asdict(),
                "messages": len(conversation.messages),
                "turns": len(conversation.turns),
                "left_out": {name: dict(sorted(counts.items())) for name, counts in left_out.items()},
                "kept_as_it_is": dict(sorted(conversation.odd.items())),
                "repeated_speakers": conversation.repeated_speakers,
            }
        )
    else:
        note_left_out(conversation.left_out + not_written, repeated_speakers=conversation.repeated_speakers)
        if conversation.odd:
            note(texts("kept_as_it_is", counts=texts.counted(conversation.odd, "odd")))
    if not is_written:
        raise typer.Exit(1)
