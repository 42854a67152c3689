"""``gatekeeper store``: inspection, migration and permanent deletion, for a store in SQLite or PostgreSQL.

No command creates a store, prints the credentials of a server, or shows the text of a message or memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gatekeeper_cli.options import HELP, AsJson, with_groups
from gatekeeper_cli.output import plain_table, print_json, refuse, show
from gatekeeper_cli.texts import spoken, visible
from gatekeeper_core.errors import ConfigError, CorruptionError
from gatekeeper_core.storage.sqlite import SQLiteStore
from gatekeeper_mcp import delete_indexes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper_postgres import PostgresStore

store = typer.Typer(help=HELP("help.store"), no_args_is_help=True, rich_markup_mode=None)

Place = Annotated[str, typer.Argument(help=HELP("help.store_file"), metavar="STORE")]
Schema = Annotated[str, typer.Option(help=HELP("help.schema"))]
_SCHEMA = "gatekeeper"


@store.command(help=HELP("help.store_info"))
@with_groups
def info(file: Place, schema: Schema = _SCHEMA, as_json: AsJson = False) -> None:
    """Show how much a store holds."""
    with open_store(file, schema) as opened:
        facts = opened.info()._asdict()
    _show(facts, as_json=as_json)


@store.command(help=HELP("help.store_check"))
@with_groups
def check(file: Place, as_json: AsJson = False) -> None:
    """Check every page of a SQLite file; exit status 1 where something is wrong."""
    texts, path = spoken(), file
    if _is_server(file):
        refuse(texts("store.server"))
    try:
        with SQLiteStore(file, create=False, migrate=False) as opened:
            path = opened.path
            problems = list(opened.check())
    except CorruptionError as error:
        problems = [str(error)]
    if as_json:
        print_json({"path": path, "is_whole": not problems, "problems": problems})
    else:
        for problem in problems:
            typer.echo(visible(problem))
        typer.echo(texts("store.problems", count=len(problems)) if problems else texts("store.whole"))
    if problems:
        raise typer.Exit(1)


@store.command(help=HELP("help.store_migrate"))
@with_groups
def migrate(file: Place, schema: Schema = _SCHEMA, as_json: AsJson = False) -> None:
    """Bring the tables of a store up to date."""
    with open_store(file, schema, migrate=True) as opened:
        facts = {
            "place" if _is_server(file) else "path": opened.place,
            "from_version": opened.found_schema_version,
            "to_version": opened.info().schema_version,
        }
    _show(facts, as_json=as_json)


@dataclass(frozen=True)
class _Target:
    """The target of a deletion: at most one option; without one, all of the tenant."""

    thread: Annotated[str | None, typer.Option(help=HELP("help.thread"))] = None
    user: Annotated[str | None, typer.Option(help=HELP("help.user"))] = None
    source: Annotated[str | None, typer.Option(help=HELP("help.source"))] = None


@store.command(help=HELP("help.store_forget"))
@with_groups
def forget(
    file: Place,
    tenant: Annotated[str, typer.Argument(help=HELP("help.tenant"), metavar="TENANT")],
    target: _Target,
    schema: Schema = _SCHEMA,
    yes: Annotated[bool, typer.Option("--yes", help=HELP("help.yes"))] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a thread, a user, a source or all of a tenant for good, and clear the bytes from file or tables.

    Exit status 1: the rows are gone, but another reader kept them from being cleared; run it again.
    """
    with open_store(file, schema) as opened:
        if not yes:
            question = "store.all" if target == _Target() else "store.it"
            typer.confirm(spoken()(question), abort=True, err=True)
        forgotten = opened.forget(tenant, thread=target.thread, user=target.user, source=target.source)
    if not _is_server(file):
        delete_indexes(file)  # they hold words of the deleted texts until the next search
    _show(forgotten._asdict(), as_json=as_json)
    if not forgotten.is_purged:
        raise typer.Exit(1)


def _is_server(file: str) -> bool:
    return file.startswith(("postgresql://", "postgres://"))


def open_store(file: str, schema: str, *, migrate: bool = False) -> SQLiteStore | PostgresStore:
    """Return the store in a file or at an address; a missing store or a missing extra is an error."""
    if not _is_server(file):
        return SQLiteStore(file, create=False, migrate=migrate)
    try:
        from gatekeeper_postgres import PostgresStore  # the extra that only these commands need
    except ImportError as error:
        raise ConfigError(str(error)) from error
    return PostgresStore(file, schema=schema, create=False, migrate=migrate, min_connections=0)


def _show(facts: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(dict(facts))
        return
    table = plain_table(expand=False, show_header=False)
    for name, value in facts.items():
        if isinstance(value, bool):
            cell = spoken()("yes" if value else "no")
        else:
            cell = f"{value:,}" if isinstance(value, int) else visible(str(value))
        table.add_row(Text(name.replace("_", " ")), Text(cell))
    show([table])
