"""``gatekeeper store``: looks at a store in a SQLite file or in PostgreSQL, brings it up to date, and forgets for good.

No command makes a store, none prints how to log in to a server, and none shows what a message or a memory says.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from gatekeeper_cli.output import AsJson, print_json, show
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.texts import Language, spoken, texts_for
from gatekeeper_cli.views import facts_table, visible
from gatekeeper_core.errors import ConfigError, CorruptionError, GatekeeperError
from gatekeeper_core.storage.sqlite import SQLiteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gatekeeper_postgres import PostgresStore

__all__ = ["store"]

_HELP = texts_for(Language.auto)

store = typer.Typer(help=_HELP("help.store"), no_args_is_help=True, rich_markup_mode=None)

_SERVER = ("postgresql://", "postgres://")

File = Annotated[str, typer.Argument(help=_HELP("help.store_file"), metavar="STORE")]
Schema = Annotated[str, typer.Option(help=_HELP("help.schema"))]
_SCHEMA = "gatekeeper"


@store.command(help=_HELP("help.store_info"))
def info(file: File, schema: Schema = _SCHEMA, as_json: AsJson = False) -> None:
    """Show how much a store holds."""
    with _opened(file, schema) as opened:
        facts = opened.info()._asdict()
    _show(facts, as_json=as_json)


@store.command(help=_HELP("help.store_check"))
def check(file: File, as_json: AsJson = False) -> None:
    """Check every page of a SQLite file; exit status 1 where something is wrong."""
    if _is_server(file):
        refuse(spoken()("store.server"))
    place = file
    try:
        with SQLiteStore(file, create=False, migrate=False) as opened:
            place = opened.path
            problems = list(opened.check())
    except CorruptionError as error:
        problems = [str(error)]
    except GatekeeperError as error:
        refuse(str(error))
    if as_json:
        print_json({"path": place, "is_whole": not problems, "problems": problems})
    else:
        for problem in problems:
            typer.echo(visible(problem))
        typer.echo(spoken()("store.problems", count=len(problems)) if problems else spoken()("store.whole"))
    if problems:
        raise typer.Exit(1)


@store.command(help=_HELP("help.store_migrate"))
def migrate(file: File, schema: Schema = _SCHEMA, as_json: AsJson = False) -> None:
    """Bring the tables of a store up to date."""
    with _opened(file, schema, migrate=True) as opened:
        facts = {
            "place" if _is_server(file) else "path": opened.place,
            "from_version": opened.found_schema_version,
            "to_version": opened.info().schema_version,
        }
    _show(facts, as_json=as_json)


@store.command(help=_HELP("help.store_forget"))
def forget(
    file: File,
    tenant: Annotated[str, typer.Argument(help=_HELP("help.tenant"), metavar="TENANT")],
    thread: Annotated[str | None, typer.Option(help=_HELP("help.thread"))] = None,
    user: Annotated[str | None, typer.Option(help=_HELP("help.user"))] = None,
    source: Annotated[str | None, typer.Option(help=_HELP("help.source"))] = None,
    schema: Schema = _SCHEMA,
    yes: Annotated[bool, typer.Option("--yes", help=_HELP("help.yes"))] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a thread, a user, a source or all of a tenant for good, and clear the bytes from file or tables.

    Exit status 1: the rows are gone, but another reader kept them from being cleared; run it again.
    """
    with _opened(file, schema) as opened:
        if not yes:
            question = "store.all" if thread is user is source is None else "store.it"
            typer.confirm(spoken()(question), abort=True, err=True)
        try:
            forgotten = opened.forget(tenant, thread=thread, user=user, source=source)
        except GatekeeperError as error:
            refuse(str(error))
    _show(forgotten._asdict(), as_json=as_json)
    if not forgotten.is_purged:
        raise typer.Exit(1)


@contextmanager
def _opened(file: str, schema: str, *, migrate: bool = False) -> Iterator[SQLiteStore | PostgresStore]:
    try:
        with (
            _on_server(file, schema, migrate=migrate)
            if _is_server(file)
            else SQLiteStore(file, create=False, migrate=migrate) as opened
        ):
            yield opened
    except GatekeeperError as error:
        refuse(str(error))


def _on_server(url: str, schema: str, *, migrate: bool) -> PostgresStore:
    try:
        from gatekeeper_postgres import PostgresStore  # the extra that only these commands need
    except ImportError as error:
        raise ConfigError(str(error)) from error
    return PostgresStore(url, schema=schema, create=False, migrate=migrate, min_connections=0)


def _is_server(file: str) -> bool:
    return file.startswith(_SERVER)


def _show(facts: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(dict(facts))
        return
    rows = {}
    for name, value in facts.items():
        if isinstance(value, bool):
            said = spoken()("yes" if value else "no")
        else:
            said = f"{value:,}" if isinstance(value, int) else str(value)
        rows[name] = Text(visible(said))
    show([facts_table(rows)])
