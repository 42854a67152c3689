"""The commands of ``gatekeeper``: arguments in, a view out.

Wrong input ends with one line on standard error and exit status 2.
"""

from __future__ import annotations

import io
import os
import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from gatekeeper_cli.demo import DEMO_BUDGET_TOKENS, demo_dict, run_demo
from gatekeeper_cli.reading import InputError, read_turns, without_current
from gatekeeper_cli.views import demo_view, selection_view, visible, why_view, write_json
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.plan import GatekeeperConfig

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

    from rich.console import RenderableType

__all__ = ["app", "run"]

app = typer.Typer(
    name="gatekeeper",
    help="Choose, from an earlier conversation, the smallest set of turns that a model needs for a question.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Mode(str, Enum):
    """How much is selected: the smallest set, or as much as the budget holds."""

    minimal = "minimal"
    fill = "fill"


Budget = Annotated[int, typer.Option("--budget", help="Tokens that the kept turns may cost together.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def run() -> None:
    """Run the command line; a reader that goes away (``| head``) ends it quietly."""
    try:
        app(prog_name="gatekeeper")
    finally:
        _flush()


@app.callback()
def prepare() -> None:
    """Choose, from an earlier conversation, the smallest set of turns that a model needs for a question."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows ASCII only shows "?" for the rest; the default would end the command with a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@app.command()
def demo(budget: Budget = DEMO_BUDGET_TOKENS, as_json: AsJson = False) -> None:
    """Ask a bundled conversation seven questions and show what is kept for each, and why."""
    result = run_demo(token_budget=_checked(budget))
    if as_json:
        _print_json(demo_dict(result))
    else:
        _show(demo_view(result))


@app.command()
def select(
    file: Annotated[
        str,
        typer.Argument(
            help="A conversation: a JSON list of messages, JSON lines of messages, or JSON lines of "
            '{"user", "assistant"}; - reads standard input.',
            metavar="FILE",
        ),
    ],
    query: Annotated[
        str, typer.Argument(help="The new question; it is not added to the conversation.", metavar="QUERY")
    ],
    budget: Budget = 4000,
    mode: Annotated[Mode, typer.Option(help="The smallest set, or as much as the budget holds.")] = Mode.minimal,
    as_json: AsJson = False,
    why: Annotated[bool, typer.Option("--why", help="Show the decision on every candidate.")] = False,
) -> None:
    """Select the turns of a conversation that a question needs."""
    gatekeeper = ContextGatekeeper(_checked(budget), config=GatekeeperConfig(mode=mode.value))
    try:
        gatekeeper.sync(without_current(read_turns(file), query=query))
    except InputError as error:
        _refuse(str(error))
    selection = gatekeeper.explain(query)
    if as_json:
        _print_json(selection.to_dict())
        return
    _show(selection_view(selection, gatekeeper.topics))
    if why:
        _show(why_view(selection))


def _checked(budget: int) -> int:
    if budget < 1:
        _refuse(f"--budget must be 1 or more tokens, got {budget}")
    return budget


def _refuse(reason: str) -> NoReturn:
    typer.echo(f"gatekeeper: {visible(reason)}", err=True)
    raise typer.Exit(2)


def _print_json(value: dict[str, Any]) -> None:
    if sys.stdout is not None:  # None: the command was started with its output closed
        write_json(value, sys.stdout)


def _show(view: Iterable[RenderableType]) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    for part in view:
        console.print(part)


def _flush() -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more when it ends: that must not find the broken pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
