"""``gatekeeper compare``: what full history, a window, the literal specification and the gatekeeper would send."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from gatekeeper_cli.comparison import METHODS, compare_ways
from gatekeeper_cli.opening import FromFormat, WhichConversation
from gatekeeper_cli.output import AsJson, File, Lang, Query, checked_budget, print_json, show, turns_of
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.texts import Language, texts_for
from gatekeeper_cli.views import percent, plain_table, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from gatekeeper_cli.comparison import Comparison
    from gatekeeper_cli.texts import Texts

__all__ = ["compare", "compare_view"]

_MAX_SPANS = 40

Budgets = Annotated[
    str, typer.Option("--budget", help="Tokens that the turns may cost together; several: 2000,4000.", metavar="N,...")
]


def compare(
    file: File,
    query: Query,
    budget: Budgets = "2000,4000",
    as_json: AsJson = False,
    form: FromFormat = None,
    conversation: WhichConversation = None,
    lang: Lang = Language.auto,
) -> None:
    """Compare what full history, a window, the literal specification and the gatekeeper would send for a question."""
    texts, budgets = texts_for(lang), _budgets(budget)
    turns = turns_of(file, form=form, conversation=conversation, query=query)
    comparison = compare_ways(turns, query, budgets=budgets)
    if as_json:
        print_json(comparison.to_dict())
    else:
        show(compare_view(comparison, texts))


def _budgets(text: str) -> tuple[int, ...]:
    try:
        budgets = dict.fromkeys(int(part) for part in text.split(","))
    except ValueError:
        refuse(f"--budget must be whole numbers with commas between them, got {text}")
    return tuple(checked_budget(budget) for budget in budgets)


def compare_view(comparison: Comparison, texts: Texts) -> Iterator[RenderableType]:
    """Yield a table for each budget: what each way sends and costs, and how many of the question's anchors it holds."""
    heading = texts("compare_heading", turns=comparison.turn_count, tokens=comparison.history_tokens)
    yield Text(heading, style="bold")
    for token_budget in comparison.usable:
        yield Text(f"\n{texts('compare_budget', budget=token_budget)}", style="bold")
        yield _table(comparison, token_budget, texts)


def _table(comparison: Comparison, token_budget: int, texts: Texts) -> Table:
    table = plain_table()
    table.add_column(texts("method"), no_wrap=True)
    for name in ("turns", "tokens", "saved", "anchors_held"):
        table.add_column(texts(name), justify="right", no_wrap=True)
    table.add_column(texts("which_turns"), ratio=1, overflow="fold")
    rows = [row for row in comparison.sent if row.token_budget == token_budget]
    for row in sorted(rows, key=lambda row: METHODS.index(row.method)):
        saved = percent(comparison.history_tokens - row.tokens, comparison.history_tokens)
        held = f"{row.anchors_held}/{comparison.anchor_count}"
        which = spans(row.turn_ids, texts, limit=_MAX_SPANS) or texts("none")
        if not comparison.fits(row):
            which += f" ({texts('over_budget')})"
        cells = (texts(row.method), f"{len(row.turn_ids):,}", f"{row.tokens:,}", saved, held, which)
        table.add_row(*map(Text, cells))
    return table
