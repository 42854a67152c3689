"""Options shared by several commands, in groups that give a conversation, a gatekeeper, prices or a page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import wraps
from inspect import Parameter, Signature, get_annotations, signature
from typing import Annotated, Any, BinaryIO

import typer
from rich.console import RenderableType
from rich.text import Text

import gatekeeper_formats as formats
from gatekeeper_cli.costs import CacheState, PriceList
from gatekeeper_cli.files import STANDARD_STREAM, file_size, write_report
from gatekeeper_cli.meaning import meaning_encoder
from gatekeeper_cli.output import print_json, progress_bar, refuse, refused_without, show
from gatekeeper_cli.texts import Language, spoken, texts_for, visible
from gatekeeper_core.context.history.strategies import budget_for_window
from gatekeeper_core.errors import GatekeeperError
from gatekeeper_core.pricing.model_names import window_of_model
from gatekeeper_core.pricing.prices import PRICES, prices_of_model, read_prices
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig

HELP = texts_for(Language.auto)  # help texts are built before any option is read

_LONG_BYTES = 16_000_000  # takes about a quarter of a second: long enough for a progress bar


class SelectionStrategy(str, Enum):
    """The strategies of selection: what the question needs, or as much as fits the budget."""

    gate = "gate"
    fill = "fill"


AsJson = Annotated[bool, typer.Option("--json", help=HELP("help.json"))]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help=HELP("help.base_url"), metavar="URL")]
Budget = Annotated[int, typer.Option("--budget", help=HELP("help.budget"))]
File = Annotated[str, typer.Argument(help=HELP("help.file"), metavar="FILE")]
Form = Annotated[str | None, typer.Option("--from", help=HELP("help.from", formats=", ".join(formats.READABLE)))]
KeyEnv = Annotated[str | None, typer.Option("--key-env", help=HELP("help.key_env"), metavar="NAME")]
Lang = Annotated[Language, typer.Option("--lang", help=HELP("help.lang"))]
Meaning = Annotated[bool, typer.Option("--meaning", help=HELP("help.meaning"))]
Prices = Annotated[str | None, typer.Option("--prices", help=HELP("help.prices"), metavar="FILE")]
Query = Annotated[str, typer.Argument(help=HELP("help.query"), metavar="QUERY")]
RequestBudget = Annotated[int | None, typer.Option("--budget", help=HELP("help.request_budget"))]
StrategyOption = Annotated[SelectionStrategy, typer.Option("--strategy", help=HELP("help.strategy"))]


@dataclass(frozen=True)
class SelectionOptions:
    """The options of one selection."""

    budget: Budget = 4000
    strategy: StrategyOption = SelectionStrategy.gate
    meaning: Meaning = False

    def gatekeeper(self) -> ContextGatekeeper:
        """Return the gatekeeper; refuse a budget below one token."""
        config = GatekeeperConfig(strategy=self.strategy.value)
        return ContextGatekeeper(
            checked_budget(self.budget), config=config, embedder=meaning_encoder(wanted=self.meaning)
        )


@dataclass(frozen=True)
class PricingOptions:
    """The options of requests and their prices."""

    budget: RequestBudget = None
    model: Annotated[str | None, typer.Option("--model", help=HELP("help.model"), metavar="NAME")] = None
    prices: Prices = None
    cache: Annotated[CacheState, typer.Option("--cache", help=HELP("help.cache"))] = CacheState.warm
    meaning: Meaning = False

    def price_list(self) -> PriceList:
        """Return the prices; refuse a file without prices, and a model without a row."""
        rows = PRICES if self.prices is None else read_prices(self.prices)
        if self.model is not None and prices_of_model(self.model, rows) is None:
            refuse(spoken()("error.model", model=self.model))
        return PriceList(rows, self.model, self.cache)


@dataclass(frozen=True)
class ReadingOptions:
    """The options of reading a file."""

    form: Form = None
    conversation: Annotated[
        str | None, typer.Option("--conversation", help=HELP("help.conversation"), metavar="N|TITLE|ID")
    ] = None

    def read(self, file: str) -> formats.Conversation:
        """Return one conversation of a file, or end the command with the reason."""
        with _opened(file, self.form) as (source, name, progress):
            return formats.read_conversation(
                source, form=self.form, conversation=self.conversation, name=name, progress=progress
            )

    def headings(self, file: str) -> list[formats.Heading]:
        """Return the list of a file's conversations, or end the command with the reason."""
        with _opened(file, self.form) as (source, name, progress):
            return formats.list_conversations(source, form=self.form, name=name, progress=progress)


@dataclass(frozen=True)
class OutputOptions:
    """The options of a command's output: a page, JSON, or a view at the terminal."""

    html: Annotated[str | None, typer.Option("--html", help=HELP("help.html"), metavar="OUT")] = None
    force: Annotated[bool, typer.Option("--force", help=HELP("help.force"))] = False
    as_json: AsJson = False

    def put(
        self,
        *,
        value: Callable[[], dict[str, Any]],
        page: Callable[[], str],
        view: Callable[[], Iterable[RenderableType]],
    ) -> None:
        """Write the page and the JSON that are requested; without either, show the view."""
        size = 0
        if self.html is not None:
            with refused_without("jinja2", "markupsafe", reason=spoken()("error.html_extra")):
                from gatekeeper_cli.html.pages import GENERATOR

                size = write_report(self.html, page(), mark=GENERATOR, force=self.force)
        if self.as_json:
            print_json(value())
        elif self.html is None:
            show(view())
        elif self.html != STANDARD_STREAM:
            show([Text(spoken()("written", file=visible(self.html), kilobytes=-(-size // 1024)))])


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, with groups split into options and errors of the library as refusals."""
    hints = get_annotations(command, eval_str=True)  # get_type_hints of Python 3.10 hides an option with default None
    groups: dict[str, type] = {}
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        if isinstance(kind, type) and is_dataclass(kind):
            groups[parameter.name] = kind
            own = get_annotations(kind, eval_str=True)
            parameters += [
                Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=own[each.name])
                for each in fields(kind)
            ]
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=kind))

    @wraps(command)
    def ungrouped(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{each.name: values.pop(each.name) for each in fields(group)})
        try:
            command(**values)
        except GatekeeperError as error:
            refuse(str(error))

    ungrouped.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    ungrouped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return ungrouped


def checked_budget(budget: int) -> int:
    """Return the budget; refuse one below one token."""
    if budget < 1:
        refuse(spoken()("error.budget", budget=budget))
    return budget


def request_budget(budget: int | None, model: str | None) -> int:
    """Return the budget of a request: the given one, else the adapters' default for the model."""
    if budget is not None:
        return checked_budget(budget)
    return budget_for_window(window_of_model(model) if model else None)


def check_form(form: str | None) -> None:
    """Refuse the name of an unreadable format."""
    if form is not None and form not in formats.READABLE:
        refuse(spoken()("error.from", formats=", ".join(formats.READABLE), got=form))


@contextmanager
def _opened(file: str, form: str | None) -> Iterator[tuple[str | BinaryIO, str, Callable[[int], None] | None]]:
    """Yield the file, its name and a callback for progress; refuse an ambiguous choice of conversation."""
    check_form(form)
    try:
        with progress_bar(file_size(file), least=_LONG_BYTES) as progress:
            if file == STANDARD_STREAM:
                yield sys.stdin.buffer, spoken()("error.standard_input"), progress
            else:
                yield file, file, progress
    except formats.AmbiguousConversationError as error:
        headings = [str(heading) for heading in error.headings]
        if error.wanted is None:
            shown = "FILE" if file == STANDARD_STREAM else file
            more = ["..."] if error.count > len(headings) else []
            reason = spoken()("error.many", file=error.name, count=error.count, shown=shown)
            refuse(reason, details=headings + more)
        choice = f"{error.wanted!a:.80}"
        refuse(spoken()("error.alike", file=error.name, count=error.count, wanted=choice), details=headings)
