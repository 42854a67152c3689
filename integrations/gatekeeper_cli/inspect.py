"""``gatekeeper inspect``: the topics of a conversation over its turns, and what each model call would have sent.

With ``--all`` a table of many conversations takes their place; see ``gatekeeper_cli.sessions``.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.text import Text

from gatekeeper_cli.bill import CacheState
from gatekeeper_cli.meaning import meaning_encoder
from gatekeeper_cli.opening import FromFormat, WhichConversation, open_conversation, say_left_out
from gatekeeper_cli.output import (
    AsJson,
    CacheOption,
    Force,
    Html,
    Lang,
    Meaning,
    ModelOption,
    PricesOption,
    RequestBudget,
    conversation_name,
    price_list,
    put_out,
    request_budget,
)
from gatekeeper_cli.phrases import meaning_line, shown_dollars
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.sessions import inspect_all
from gatekeeper_cli.texts import Language, speak, texts_for
from gatekeeper_cli.timeline import subject_name, timeline_of
from gatekeeper_cli.token_use import Reported, token_use
from gatekeeper_cli.views import bill_lines, plain_table, spans
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from gatekeeper_cli.texts import Texts
    from gatekeeper_cli.timeline import Subject, Timeline
    from gatekeeper_cli.token_use import TokenUse
    from gatekeeper_core.pricing.usage import Usage

__all__ = ["inspect", "inspect_view"]

_MAX_ROWS = 30
_TITLE_COLUMNS = 30
_MAX_SPANS = 12
_SLOW_CALLS = 100
_HELP = texts_for(Language.auto)


def inspect(
    file: Annotated[str, typer.Argument(help=_HELP("help.file_or_folder"), metavar="FILE|DIR")],
    everything: Annotated[bool, typer.Option("--all", help=_HELP("help.all"))] = False,
    budget: RequestBudget = None,
    model: ModelOption = None,
    prices: PricesOption = None,
    cache: CacheOption = CacheState.warm,
    meaning: Meaning = False,
    html: Html = None,
    force: Force = False,
    as_json: AsJson = False,
    form: FromFormat = None,
    conversation: WhichConversation = None,
    lang: Lang = Language.auto,
) -> None:
    """Show the topics of a conversation over its turns, and what each model call would have sent."""
    texts, tokens = speak(lang), request_budget(budget, model)
    rows, embedder = price_list(model, prices, cache), meaning_encoder(wanted=meaning)
    if everything:
        if html is not None or conversation is not None:
            refuse(texts("error.all_alone"))
        inspect_all(file, token_budget=tokens, prices=rows, embedder=embedder, form=form, as_json=as_json, texts=texts)
        return
    if os.path.isdir(file):
        refuse(texts("error.folder", folder=file))
    reading = open_conversation(file, form=form, conversation=conversation)
    say_left_out(reading.left_out)
    gatekeeper = ContextGatekeeper(tokens, embedder=embedder)
    gatekeeper.sync(reading.turns)
    timeline = timeline_of(gatekeeper)
    tariff = rows.tariff(reading.usage)
    use = token_use(reading.messages, token_budget=tokens, tariff=tariff, embedder=embedder, watched=_watched(texts))
    reported = Reported.of(reading.usage, tariff)

    def value() -> dict[str, Any]:
        told = {"reported": reported and reported.to_dict(), "usage": [call._asdict() for call in reading.usage]}
        dollars = use.dollars and tariff and {**tariff.to_dict(), **use.dollars._asdict()}
        points = [point.to_dict() for point in use.points]
        figures = {**use.to_dict(), "dollars": dollars, **told, "token_use": points}
        asked = {"embedder": use.embedder, "embedder_missed": use.embedder_missed} if use.embedder else {}
        return {**timeline.to_dict(), "token_budget": tokens, **figures, **asked}

    def page() -> str:
        from gatekeeper_cli.html.timeline_page import timeline_page

        name = conversation_name(file, reading.heading.title)
        return timeline_page(timeline, reading.turns, use, reported, token_budget=tokens, name=name, texts=texts)

    put_out(
        value=value if as_json else None,
        page=page,
        view=lambda: inspect_view(timeline, use, reading.usage, token_budget=tokens, texts=texts),
        html=html,
        force=force,
        texts=texts,
    )


def _watched(texts: Texts) -> Callable[[Sequence[int]], Iterable[int]]:
    """Return what shows how far the calls are, at a terminal and where there are many."""

    def watch(calls: Sequence[int]) -> Iterable[int]:
        if len(calls) < _SLOW_CALLS or sys.stderr is None or not sys.stderr.isatty():
            return calls
        return track(calls, texts("working"), console=Console(stderr=True), transient=True)

    return watch


def inspect_view(
    timeline: Timeline, use: TokenUse, usage: Sequence[Usage], *, token_budget: int, texts: Texts
) -> Iterator[RenderableType]:
    """Yield how much there is, a row for each topic, and the tokens of the model calls.

    Args:
        timeline: the conversation by topics.
        use: what its model calls would have sent.
        usage: what was reported for each call, or nothing.
        token_budget: for how many tokens.
        texts: in which language.
    """
    costs = timeline.turn_tokens
    subjects = len(timeline.subjects)
    heading = texts("inspect_heading", turns=len(costs), tokens=sum(costs), topics=subjects)
    yield Text(heading, style="bold")
    if not costs:
        return
    mean = round(sum(costs) / len(costs))
    name = "inspect_turns" if min(costs) < max(costs) else "inspect_like_turns"
    yield Text(texts(name, least=min(costs), most=max(costs), mean=mean))
    yield Text()
    shown = sorted(timeline.subjects, key=lambda subject: -len(subject.turn_ids))[:_MAX_ROWS]
    yield _timeline_table(timeline, sorted(shown, key=lambda subject: subject.topic_ids), texts)
    if subjects > len(shown):
        hidden = len(costs) - sum(len(subject.turn_ids) for subject in shown)
        yield Text(texts("more_topics", topics=subjects - len(shown), turns=hidden), style="dim")
    yield Text()
    yield Text(texts("use_heading", calls=use.calls, budget=token_budget))
    reported = Reported.of(usage, use.tariff)
    yield _use_table(use, usage, reported, texts)
    if use.calls_sent_whole:
        yield Text(texts("use_whole", whole=use.calls_sent_whole, asked=len(use.points)), style="dim")
    if len(use.points) < use.calls:
        yield Text(texts("use_asked", asked=len(use.points)), style="dim")
    if said := meaning_line(use, texts):
        yield Text(said)
    if reported:
        yield Text(texts("reported_line", **reported.to_dict()))
    yield from bill_lines([use.tariff], use.dollars, texts)


def _timeline_table(timeline: Timeline, subjects: Sequence[Subject], texts: Texts) -> Table:
    table = plain_table()
    table.add_column(texts("topic"), no_wrap=True, overflow="ellipsis", max_width=_TITLE_COLUMNS)
    for heading in ("turns", "tokens"):
        table.add_column(texts(heading), justify="right", no_wrap=True)
    table.add_column(texts("which_turns"), ratio=1, overflow="fold")
    for subject in subjects:
        name = f"{timeline.subjects.index(subject)} {subject_name(subject, texts)}"
        numbers = (f"{number:,}" for number in (len(subject.turn_ids), subject.tokens))
        table.add_row(*map(Text, (name, *numbers, spans(subject.turn_ids, texts, limit=_MAX_SPANS))))
    return table


def _use_table(use: TokenUse, usage: Sequence[Usage], reported: Reported | None, texts: Texts) -> Table:
    dollars = use.dollars
    table = plain_table(expand=False)
    table.add_column(texts("method"))
    for heading in ("on_average", "at_most", "at_the_end", "in_all", *(["dollars"] if dollars else [])):
        table.add_column(texts(heading), justify="right", no_wrap=True)
    inputs = [call.input_tokens for call in usage]
    rows = (
        ("full_history", [point.full for point in use.points], use.full),
        ("window", [point.window for point in use.points], use.window),
        ("selected", [point.selected for point in use.points], use.selected),
        ("reported", inputs, sum(inputs)),
    )
    costs = (*(dollars[:3] if dollars else [None] * 3), reported and reported.dollars)
    for (name, values, total), cost in zip(rows, costs, strict=True):
        if values:
            figures = (round(sum(values) / len(values)), max(values), values[-1], total)
            cells = [texts(name), *(f"{figure:,}" for figure in figures), *([shown_dollars(cost)] if dollars else [])]
            table.add_row(*map(Text, cells))
    return table
