"""Options that several commands have, and how they put out what they found."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from gatekeeper_cli.reading import InputError, read_turns, without_current
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.texts import Language
from gatekeeper_cli.views import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from rich.console import RenderableType

    from gatekeeper_core.messages import Turn

__all__ = ["AsJson", "Budget", "File", "Lang", "Mode", "Query", "checked_budget", "print_json", "show", "turns_of"]


class Mode(str, Enum):
    """How much is selected: the smallest set, or as much as the budget holds."""

    minimal = "minimal"
    fill = "fill"


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Budget = Annotated[int, typer.Option("--budget", help="Tokens that the kept turns may cost together.")]
File = Annotated[str, typer.Argument(help="A conversation; - reads standard input.", metavar="FILE")]
Lang = Annotated[Language, typer.Option("--lang", help="The language of the output; auto is that of the locale.")]
Query = Annotated[str, typer.Argument(help="The new question; it is not added to the conversation.", metavar="QUERY")]


def turns_of(file: str, *, query: str | None = None) -> tuple[Turn, ...]:
    """Return the turns of a file, without the query itself where it waits at the end; refuse what cannot be read."""
    try:
        turns = read_turns(file)
    except InputError as error:
        refuse(str(error))
    return turns if query is None else without_current(turns, query=query)


def checked_budget(budget: int) -> int:
    """Return a budget of one token or more; refuse another."""
    if budget < 1:
        refuse(f"--budget must be 1 or more tokens, got {budget}")
    return budget


def print_json(value: dict[str, Any]) -> None:
    """Write a value as JSON to standard output."""
    if sys.stdout is not None:  # None: the command was started with its output closed
        write_json(value, sys.stdout)


def show(view: Iterable[RenderableType]) -> None:
    """Write a view to standard output; nothing in it is read as markup."""
    console = Console(highlight=False, markup=False, emoji=False)
    for part in view:
        console.print(part)
