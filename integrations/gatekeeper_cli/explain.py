"""``gatekeeper explain``: why each turn is kept or left out, what the budget went to, and what was nearly kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from gatekeeper_cli.explanation import (
    budget_use,
    grid_of,
    near_groups,
    near_misses,
    readable_grid,
    score_parts,
    why_not,
)
from gatekeeper_cli.meaning import meaning_encoder
from gatekeeper_cli.opening import FromFormat, WhichConversation, open_conversation, say_left_out
from gatekeeper_cli.output import (
    AsJson,
    Budget,
    File,
    Force,
    Html,
    Lang,
    Meaning,
    Query,
    Strategy,
    StrategyOption,
    checked_budget,
    conversation_name,
    put_out,
)
from gatekeeper_cli.phrases import shown_need
from gatekeeper_cli.question import without_current
from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.texts import Language, speak, texts_for
from gatekeeper_cli.topics import topics_of
from gatekeeper_cli.views import decision_table, plain_table, selection_view, visible
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from rich.console import RenderableType
    from rich.table import Table

    from gatekeeper_cli.explanation import Grid
    from gatekeeper_cli.texts import Texts
    from gatekeeper_cli.topics import Topic
    from gatekeeper_core.selection.result import Decision, Selection

__all__ = ["explain", "explain_view", "explanation_dict"]

_MAX_ANCHORS = 30
_ANCHOR_COLUMNS = 24
_MAX_TURNS = 14
_SCORE_COLUMNS = 4

WhyNot = Annotated[
    int | None,
    typer.Option("--why-not", help=texts_for(Language.auto)("help.why_not"), metavar="TURN", min=0),
]


def explain(
    file: File,
    query: Query,
    why_not: WhyNot = None,
    budget: Budget = 4000,
    strategy: StrategyOption = Strategy.gate,
    meaning: Meaning = False,
    html: Html = None,
    force: Force = False,
    as_json: AsJson = False,
    form: FromFormat = None,
    conversation: WhichConversation = None,
    lang: Lang = Language.auto,
) -> None:
    """Explain what a question keeps of a conversation, and why."""
    texts, tokens = speak(lang), checked_budget(budget)
    embedder = meaning_encoder(wanted=meaning)
    reading = open_conversation(file, form=form, conversation=conversation)
    say_left_out(reading.left_out, repeated_speakers=reading.repeated_speakers)
    turns = without_current(reading.turns, query=query)
    gatekeeper = ContextGatekeeper(tokens, config=GatekeeperConfig(strategy=strategy.value), embedder=embedder)
    gatekeeper.sync(turns)
    if why_not is not None and why_not >= len(turns):
        refuse(texts("error.why_not", turn=why_not, count=len(turns)))
    selection = gatekeeper.explain(query)
    asked = None if why_not is None else selection.decision(why_not)

    def page() -> str:
        from gatekeeper_cli.html.explanation_page import explanation_page

        name = conversation_name(file, reading.heading.title)
        return explanation_page(selection, turns, asked=asked, name=name, texts=texts)

    put_out(
        value=(lambda: explanation_dict(selection, asked, texts)) if as_json else None,
        page=page,
        view=lambda: explain_view(selection, topics_of(gatekeeper), asked=asked, texts=texts),
        html=html,
        force=force,
        texts=texts,
    )


def explanation_dict(selection: Selection, asked: Decision | None, texts: Texts) -> dict[str, Any]:
    """Return JSON-ready values: the selection, anchors by turns, near misses, and the turn that was asked for."""
    named = ["turn_id", "stage", "why", "kept_from_tokens", "kept_from_coverage"]
    named += ["meaning"] if selection.embedder else []
    near = [
        {name: getattr(decision, name) for name in named} | {"kept_with": list(decision.kept_with)}
        for decision in near_misses(selection)
    ]
    value: dict[str, Any] = {
        "selection": selection.to_dict(),
        "budget": budget_use(selection)._asdict(),
        "anchors_by_turn": grid_of(selection)._asdict(),
        "near_misses": near,
    }
    if asked is not None:
        facts = {name: getattr(asked, name) for name in ("turn_id", "outcome", "stage", "why")}
        value["why_not"] = {**facts, "sentence": why_not(asked, texts, query=selection.query)}
    return value


def explain_view(
    selection: Selection, topics: Sequence[Topic], *, asked: Decision | None, texts: Texts
) -> Iterator[RenderableType]:
    """Yield what was asked for first, then the selection, the budget, the anchors, the scores and the near misses.

    Args:
        selection: what to explain.
        topics: the topics of the conversation, oldest first.
        asked: the decision on the turn that was asked for, or None.
        texts: in which language.
    """
    if asked is not None:
        yield Text(visible(why_not(asked, texts, query=selection.query)), style="bold")
        yield Text()
    yield from selection_view(selection, topics, texts)
    yield Text()
    use = budget_use(selection)
    yield Text(texts("budget_line", budget=selection.token_budget, **use._asdict()))
    yield from _heat_map(readable_grid(selection), texts)
    if selection.decisions:
        yield _heading(texts("decisions_heading"))
        yield decision_table(selection.decisions, texts, query=selection.query)
    scored = [decision for decision in selection.decisions if decision.score is not None]
    if scored:
        yield _heading(texts("scores_heading"))
        yield _score_table(scored, score_parts(selection), texts)
    yield _heading(texts("near_heading"))
    near = near_groups(selection, texts)
    for group in near:
        yield Padding(Text(group.what), (0, 0, 0, 2))
        table = plain_table(expand=False)
        table.show_header = False
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="fold")
        for turn_id, said in group.turns:
            table.add_row(Text(str(turn_id)), Text(visible(said)))
        yield Padding(table, (0, 0, 0, 4))
    if not near:
        yield Padding(Text(texts("near_none")), (0, 0, 0, 2))


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _heat_map(grid: Grid, texts: Texts) -> Iterator[RenderableType]:
    """Yield how often each anchor stands in each kept turn; the first of very many."""
    if not grid.anchors or not grid.turn_ids:
        return
    yield _heading(texts("heat_heading"))
    table = plain_table(expand=False)
    table.add_column(texts("anchor"), no_wrap=True, overflow="ellipsis", max_width=_ANCHOR_COLUMNS)
    for turn_id in grid.turn_ids[:_MAX_TURNS]:
        table.add_column(str(turn_id), justify="right", no_wrap=True)
    for anchor, counts in list(zip(grid.anchors, grid.counts, strict=True))[:_MAX_ANCHORS]:
        table.add_row(Text(visible(anchor)), *map(_heat, counts[:_MAX_TURNS]))
    yield table
    for count, limit, name in (
        (len(grid.anchors), _MAX_ANCHORS, "more_anchors"),
        (len(grid.turn_ids), _MAX_TURNS, "more_turns"),
    ):
        if count > limit:
            yield Text(texts(name, count=count - limit), style="dim")


def _heat(count: int) -> Text:
    if not count:
        return Text("·", style="dim")
    return Text(f"{min(count, 99)}", style="bold reverse" if count > 1 else "reverse")


def _score_table(decisions: Sequence[Decision], names: Sequence[str], texts: Texts) -> Table:
    """Return the parts of the scores; kept turns in bold, so that eighty columns hold all of them."""
    table = plain_table(expand=False)
    for heading in ("turn", *(f"score.{name}" for name in names), "need"):
        table.add_column(texts(heading), justify="right", min_width=_SCORE_COLUMNS, overflow="fold")
    for decision in decisions:
        parts = [f"{getattr(decision.score, name):.2f}" for name in names]
        style = "" if decision.outcome == "dropped" else "bold"
        table.add_row(*map(Text, [str(decision.turn_id), *parts, shown_need(decision)]), style=style)
    return table
