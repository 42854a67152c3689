"""Options that several commands have, and how they put out what they found."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from gatekeeper_cli.bill import CacheState, PriceList
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.showable import visible
from gatekeeper_cli.texts import Language, spoken, texts_for
from gatekeeper_cli.views import write_json
from gatekeeper_cli.writing import STANDARD_INPUT, WriteError, write_report
from gatekeeper_core.context.history.strategies import budget_for_window
from gatekeeper_core.errors import GatekeeperError
from gatekeeper_core.pricing.model_names import window_of_model
from gatekeeper_core.pricing.prices import PRICES, prices_of_model, read_prices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from rich.console import RenderableType

    from gatekeeper_cli.texts import Texts

__all__ = [
    "AsJson",
    "Budget",
    "CacheOption",
    "File",
    "Force",
    "Html",
    "Lang",
    "Meaning",
    "Strategy",
    "StrategyOption",
    "ModelOption",
    "PricesOption",
    "Query",
    "RequestBudget",
    "checked_budget",
    "conversation_name",
    "price_list",
    "print_json",
    "put_out",
    "request_budget",
    "show",
]

_MAX_TITLE = 200


class Strategy(str, Enum):
    """The ways to select: what the question needs, or as much as the budget holds."""

    gate = "gate"
    fill = "fill"


_HELP = texts_for(Language.auto)

AsJson = Annotated[bool, typer.Option("--json", help=_HELP("help.json"))]
Budget = Annotated[int, typer.Option("--budget", help=_HELP("help.budget"))]
CacheOption = Annotated[CacheState, typer.Option("--cache", help=_HELP("help.cache"))]
File = Annotated[str, typer.Argument(help=_HELP("help.file"), metavar="FILE")]
Force = Annotated[bool, typer.Option("--force", help=_HELP("help.force"))]
Html = Annotated[str | None, typer.Option("--html", help=_HELP("help.html"), metavar="OUT")]
Lang = Annotated[Language, typer.Option("--lang", help=_HELP("help.lang"))]
Meaning = Annotated[bool, typer.Option("--meaning", help=_HELP("help.meaning"))]
ModelOption = Annotated[str | None, typer.Option("--model", help=_HELP("help.model"), metavar="NAME")]
StrategyOption = Annotated[Strategy, typer.Option("--strategy", help=_HELP("help.strategy"))]
PricesOption = Annotated[str | None, typer.Option("--prices", help=_HELP("help.prices"), metavar="FILE")]
Query = Annotated[str, typer.Argument(help=_HELP("help.query"), metavar="QUERY")]
RequestBudget = Annotated[int | None, typer.Option("--budget", help=_HELP("help.request_budget"))]


def checked_budget(budget: int) -> int:
    """Return a budget of one token or more; refuse another."""
    if budget < 1:
        refuse(spoken()("error.budget", budget=budget))
    return budget


def request_budget(budget: int | None, model: str | None) -> int:
    """Return the budget of a request: the one given, else what the adapters take for a model of this name."""
    if budget is not None:
        return checked_budget(budget)
    return budget_for_window(window_of_model(model) if model else None)


def price_list(model: str | None, prices: str | None, cache: CacheState) -> PriceList:
    """Return what the options say; refuse a file that holds no prices, and a model without a row."""
    try:
        rows = PRICES if prices is None else read_prices(prices)
    except GatekeeperError as error:
        refuse(str(error))
    if model is not None and prices_of_model(model, rows) is None:
        refuse(spoken()("error.model", model=model))
    return PriceList(rows, model, cache)


def print_json(value: dict[str, Any]) -> None:
    """Write a value as JSON to standard output."""
    if sys.stdout is not None:  # None: the command was started with its output closed
        write_json(value, sys.stdout)


def conversation_name(file: str, title: str | None = None) -> str:
    """Return what a conversation is called in a report: its title, or where it has none its file's last part."""
    if title:
        return title[:_MAX_TITLE]
    return spoken()("error.standard_input") if file == STANDARD_INPUT else PurePath(file).name


def put_out(
    *,
    value: Callable[[], dict[str, Any]] | None,
    page: Callable[[], str],
    view: Callable[[], Iterable[RenderableType]],
    html: str | None,
    force: bool,
    texts: Texts,
) -> None:
    """Write a page where one is asked for, JSON where that is, and else what the terminal shows.

    Args:
        value: makes the JSON; None where it is not asked for.
        page: makes the page.
        view: makes what the terminal shows.
        html: the file of the page, or None.
        force: whether any file may be replaced.
        texts: in which language.
    """
    line = "" if html is None else _write_page(html, page, force=force, texts=texts)
    if value is not None:
        print_json(value())
    elif html is None:
        show(view())
    elif html != STANDARD_INPUT:
        show([Text(line)])


def _write_page(html: str, page: Callable[[], str], *, force: bool, texts: Texts) -> str:
    try:
        from gatekeeper_cli.html.page import GENERATOR

        size = write_report(html, page(), mark=GENERATOR, force=force)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("jinja2", "markupsafe"):
            raise
        refuse(texts("error.html_extra"))
    except WriteError as error:
        refuse(str(error))
    return texts("written", file=visible(html), kilobytes=-(-size // 1024))


def show(view: Iterable[RenderableType]) -> None:
    """Write a view to standard output; nothing in it is read as markup."""
    console = Console(highlight=False, markup=False, emoji=False)
    for part in view:
        console.print(part)
