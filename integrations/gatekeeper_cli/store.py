"""``gatekeeper store``: looks at the file of a SQLite store, brings it up to date, and forgets for good.

No command makes a file, and none shows what a message or a memory says.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.views import facts_table, visible, write_json
from gatekeeper_core.errors import CorruptionError, GatekeeperError
from gatekeeper_core.storage.sqlite import SQLiteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["store"]

store = typer.Typer(
    help="Look at the file of a SQLite store, bring it up to date, and forget for good.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[str, typer.Argument(help="The file of the store.", metavar="FILE")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@store.command()
def info(file: File, as_json: AsJson = False) -> None:
    """Show how much lies in a store."""
    with _opened(file) as opened:
        facts = opened.info()._asdict()
    _show(facts, as_json=as_json)


@store.command()
def check(file: File, as_json: AsJson = False) -> None:
    """Check every page and every row of a store; exit status 1 where something is wrong."""
    try:
        with _opened(file, refuse_damage=False) as opened:
            problems = list(opened.check())
    except CorruptionError as error:
        problems = [str(error)]
    if as_json:
        _print_json({"path": file, "is_whole": not problems, "problems": problems})
    else:
        for problem in problems:
            typer.echo(visible(problem))
        typer.echo(f"{len(problems)} problems" if problems else "every page and every row is whole")
    if problems:
        raise typer.Exit(1)


@store.command()
def migrate(file: File, as_json: AsJson = False) -> None:
    """Bring the tables of a store up to date."""
    with _opened(file, migrate=True) as opened:
        facts = {
            "path": opened.path,
            "from_version": opened.found_schema_version,
            "to_version": opened.info().schema_version,
        }
    _show(facts, as_json=as_json)


@store.command()
def forget(
    file: File,
    tenant: Annotated[str, typer.Argument(help="Whose data.", metavar="TENANT")],
    thread: Annotated[str | None, typer.Option(help="Forget this thread and what came from it.")] = None,
    user: Annotated[str | None, typer.Option(help="Forget the memories of this user.")] = None,
    source: Annotated[str | None, typer.Option(help="Forget the memories that came from this thread.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a thread, a user, a source or all of a tenant for good, and clear the bytes from the file.

    Exit status 1: the rows are gone, but another reader kept the file from being cleared; run it again.
    """
    with _opened(file) as opened:
        if not yes:
            what = "all of the tenant" if thread is user is source is None else "it"
            typer.confirm(f"Nothing brings {what} back. Forget {what}?", abort=True, err=True)
        try:
            forgotten = opened.forget(tenant, thread=thread, user=user, source=source)
        except GatekeeperError as error:
            refuse(str(error))
    _show(forgotten._asdict(), as_json=as_json)
    if not forgotten.is_purged:
        raise typer.Exit(1)


@contextmanager
def _opened(file: str, *, migrate: bool = False, refuse_damage: bool = True) -> Iterator[SQLiteStore]:
    try:
        with SQLiteStore(file, create=False, migrate=migrate) as opened:
            yield opened
    except CorruptionError as error:
        if not refuse_damage:
            raise
        refuse(str(error))
    except GatekeeperError as error:
        refuse(str(error))


def _show(facts: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        _print_json(dict(facts))
        return
    rows = {name: Text(visible(_worded(value))) for name, value in facts.items()}
    Console(highlight=False, markup=False, emoji=False).print(facts_table(rows))


def _worded(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _print_json(value: dict[str, Any]) -> None:
    if sys.stdout is not None:  # None: the command was started with its output closed
        write_json(value, sys.stdout)
