"""``gatekeeper select`` and ``gatekeeper explain``: what a question keeps of a conversation, why, and what it costs.

Texts of files are untrusted: control and bidirectional characters are replaced, and nothing is read as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gatekeeper_cli import explanation
from gatekeeper_cli.options import HELP, AsJson, File, Lang, OutputOptions, Query, ReadingOptions, SelectionOptions
from gatekeeper_cli.output import conversation_name, note_left_out, plain_table, print_json, refuse, show
from gatekeeper_cli.texts import Language, Texts, speak, visible
from gatekeeper_cli.topics import Topic, spans, subject_numbers, topics_of
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.result import Decision, Selection
from gatekeeper_core.selection.topics import Verdict

_BEGINNING_CHARACTERS = 240
_WORDS_COLUMNS = 20
_MAX_ANCHORS, _ANCHOR_COLUMNS, _MAX_TURNS = 30, 24, 14
_SCORE_COLUMNS = 4


@dataclass(frozen=True)
class DetailOptions:
    """The options of an explanation: the turn to explain first, and whether to show the scores."""

    turn: Annotated[int | None, typer.Option("--why-not", help=HELP("help.why_not"), metavar="TURN", min=0)] = None
    scores: Annotated[bool, typer.Option("--scores", help=HELP("help.scores"))] = False


def select(
    file: Annotated[str, typer.Argument(help=HELP("help.any_file"), metavar="FILE")],
    query: Query,
    options: SelectionOptions,
    as_json: AsJson = False,
    why: Annotated[bool, typer.Option("--why", help=HELP("help.why"))] = False,
    reading: ReadingOptions = ReadingOptions(),  # noqa: B008 - typer fills it
    lang: Lang = Language.auto,
) -> None:
    """Select the turns of a conversation that a question needs."""
    texts, gatekeeper = speak(lang), options.gatekeeper()
    conversation = reading.read(file)
    gatekeeper.sync(explanation.without_current(conversation.turns, query=query))
    selection = gatekeeper.explain(query)
    if as_json:
        left_out = conversation.left_out
        print_json(selection.to_dict() | ({"left_out": dict(sorted(left_out.items()))} if left_out else {}))
        return
    note_left_out(conversation.left_out, repeated_speakers=conversation.repeated_speakers)
    show(selection_view(selection, topics_of(gatekeeper), texts))
    if why:
        show(why_view(selection, texts))


def explain(
    file: File,
    query: Query,
    details: DetailOptions = DetailOptions(),
    options: SelectionOptions = SelectionOptions(),  # noqa: B008
    output: OutputOptions = OutputOptions(),  # noqa: B008
    reading: ReadingOptions = ReadingOptions(),  # noqa: B008
    lang: Lang = Language.auto,
) -> None:
    """Explain what a question keeps of a conversation, and why."""
    texts, gatekeeper = speak(lang), options.gatekeeper()
    conversation = reading.read(file)
    note_left_out(conversation.left_out, repeated_speakers=conversation.repeated_speakers)
    turns = explanation.without_current(conversation.turns, query=query)
    gatekeeper.sync(turns)
    if (turn := details.turn) is not None and turn >= len(turns):
        refuse(texts("error.why_not", turn=turn, count=len(turns)))
    selection = gatekeeper.explain(query)
    decision = None if turn is None else selection.decision(turn)

    def value() -> dict[str, Any]:
        names = ["turn_id", "stage", "why", "kept_from_tokens", "kept_from_coverage"]
        names += ["meaning"] if selection.embedder else []
        values: dict[str, Any] = {
            "selection": selection.to_dict(),
            "budget": explanation.budget_use(selection),
            "anchors_by_turn": explanation.grid_of(selection)._asdict(),
            "near_misses": [
                {name: getattr(near, name) for name in names} | {"kept_with": list(near.kept_with)}
                for near in explanation.near_misses(selection)
            ],
        }
        if decision is not None:
            facts = {name: getattr(decision, name) for name in ("turn_id", "outcome", "stage", "why")}
            values["why_not"] = {**facts, "sentence": explanation.why_not(decision, texts, query=query)}
        return values

    def page() -> str:
        from gatekeeper_cli.html.pages import explanation_page

        name = conversation_name(file, conversation.heading.title)
        return explanation_page(selection, turns, decision=decision, name=name, texts=texts)

    view = _explanation_view(selection, topics_of(gatekeeper), decision, texts, with_scores=details.scores)
    output.put(value=value, page=page, view=lambda: view)


def selection_view(selection: Selection, topics: Sequence[Topic], texts: Texts) -> Iterator[RenderableType]:
    """Yield the topic decision, the table of the kept turns, and their cost; ``topics`` are oldest first."""
    gate, subjects = selection.gate, subject_numbers(topics)

    def topic_name(topic_id: int) -> str:
        topic = topics[topic_id]
        span = spans(range(topic.start, topic.stop), texts)
        turns = texts("one_turn" if topic.stop == topic.start + 1 else "many_turns", span=span)
        return texts("topic_name", topic=subjects[topic_id], turns=turns)

    facts = []
    if gate.active_topic is not None:
        facts.append(texts("gate_active", topic=topic_name(gate.active_topic)))
    if gate.resumed_topic is not None:
        facts.append(texts("gate_resumed", topic=topic_name(gate.resumed_topic)))
    yield verdict_line(gate, texts)
    if facts:
        yield Text(texts("semicolon").join(facts))
    if selection.turns:
        table = plain_table()
        for heading in ("turn", "topic", "tokens", "need"):
            table.add_column(texts(heading), justify="right", no_wrap=True)
        table.add_column(texts("part"), no_wrap=True)
        table.add_column(texts("why"), ratio=1, overflow="fold")
        table.add_column(texts("begins_with"), ratio=1, no_wrap=True, overflow="ellipsis")
        for turn in selection.turns:
            decision = selection.decision(turn.turn_id)
            part, why = texts("outcome.trimmed" if turn.trimmed else "whole"), texts.reason(decision)
            if shared := explanation.shared_words(decision, selection.query):
                why = texts("why_words", why=why, words=explanation.listed(shared, texts))
            beginning = visible((turn.user if turn.user.strip() else turn.assistant)[:_BEGINNING_CHARACTERS])
            numbers = (turn.turn_id, subjects[decision.topic_id], turn.tokens)
            table.add_row(*map(Text, (*map(str, numbers), explanation.shown_need(decision), part, why, beginning)))
        yield table
    yield from map(Text, explanation.kept_none(selection, texts))
    counts = {"kept": len(selection.turns), "count": selection.turn_count, "tokens": selection.tokens}
    line = texts("token_line", **counts, history=selection.history_tokens)
    if selection.turns:  # if nothing is sent, something may be missing: not a saving
        saved = texts.percent(selection.history_tokens - selection.tokens, selection.history_tokens)
        line += texts("saved_share", saved=saved)
    yield Text(line, style="bold")
    if meaning := explanation.meaning_line(selection.embedder, selection.embedder_missed, texts):
        yield Text(meaning)


def verdict_line(verdict: Verdict, texts: Texts) -> Text:
    """Return the topic decision and its reason."""
    decision, reason = explanation.verdict_words(verdict, texts)
    return Text().append(decision, style="bold").append(reason)


def why_view(selection: Selection, texts: Texts) -> Iterator[RenderableType]:
    """Yield the scores of the gate, the decision on every candidate, and the anchors covered and not covered."""
    gate = selection.gate
    yield Text("\n" + texts("gate_measures", overlap=gate.overlap, new=gate.new_ratio, link=gate.link))
    if selection.decisions:
        yield _decision_table(selection, texts)
    yield Text(texts("coverage_line", coverage=selection.coverage))
    covered, anchors = (
        explanation.readable(selection.covered, selection.query),
        (*selection.covered, *selection.uncovered),
    )
    uncovered = [text for text in explanation.readable(anchors, selection.query) if text not in covered]
    yield Text(texts("anchors_covered", anchors=explanation.listed(list(covered), texts)))
    yield Text(texts("anchors_uncovered", anchors=explanation.listed(uncovered, texts)))


def topics_view(gatekeeper: ContextGatekeeper, texts: Texts) -> Iterator[RenderableType]:
    """Yield a table of the topics of a conversation, each with its turns and its beginning."""
    if not gatekeeper.topics:
        yield Text(texts("chat.no_topic"))
        return
    table = plain_table()
    table.add_column(texts("topic"), justify="right", no_wrap=True)
    table.add_column(texts("turns"), no_wrap=True)
    table.add_column(texts("begins_with"), ratio=1, no_wrap=True, overflow="ellipsis")
    for topic_id, start, stop in gatekeeper.topics:
        beginning = visible(gatekeeper.turns[start].user_text[:_BEGINNING_CHARACTERS])
        table.add_row(*map(Text, (str(topic_id), spans(range(start, stop), texts), beginning)))
    yield table


def _decision_table(selection: Selection, texts: Texts) -> Table:
    table = plain_table()
    table.add_column(texts("turn"), justify="right", no_wrap=True)
    table.add_column(texts("outcome"), no_wrap=True)
    table.add_column(texts("need"), justify="right", no_wrap=True)
    table.add_column(texts("stage_why"), ratio=1, overflow="fold")
    table.add_column(texts("shared"), max_width=_WORDS_COLUMNS, overflow="fold")
    table.add_column(texts("kept_with"), max_width=_WORDS_COLUMNS, overflow="fold")
    for each in selection.decisions:
        why = texts("stage_reason", stage=texts(f"stage.{each.stage}"), why=texts.why(each, with_need=False))
        shared = explanation.listed(words, texts) if (words := explanation.shared_words(each, selection.query)) else "-"
        outcome = texts(f"outcome.{each.outcome}")
        cells = (
            str(each.turn_id),
            outcome,
            explanation.shown_need(each),
            why,
            shared,
            explanation.kept_with(each, texts) or "-",
        )
        table.add_row(*map(Text, cells))
    return table


def _explanation_view(
    selection: Selection, topics: Sequence[Topic], decision: Decision | None, texts: Texts, *, with_scores: bool
) -> Iterator[RenderableType]:
    """Yield the requested decision, the selection, the scores if requested, and the near misses."""
    if decision is not None:
        yield Text(visible(explanation.why_not(decision, texts, query=selection.query)), style="bold")
        yield Text()
    yield from selection_view(selection, topics, texts)
    if with_scores:
        yield from _score_view(selection, texts)
    yield Text("\n" + texts("near_heading"), style="bold")
    near = explanation.near_groups(selection, texts)
    for reason, turns in near:
        yield Padding(Text(reason), (0, 0, 0, 2))
        table = plain_table(expand=False, show_header=False)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="fold")
        for turn_id, text in turns:
            table.add_row(Text(str(turn_id)), Text(visible(text)))
        yield Padding(table, (0, 0, 0, 4))
    if not near:
        yield Padding(Text(texts("near_none")), (0, 0, 0, 2))


def _score_view(selection: Selection, texts: Texts) -> Iterator[RenderableType]:
    """Yield the budget, the anchors by turn, and each candidate's decision and score."""
    yield Text()
    yield Text(texts("budget_line", budget=selection.token_budget, **explanation.budget_use(selection)))
    yield from _heat_map(selection, texts)
    yield from why_view(selection, texts)
    scored = [each for each in selection.decisions if each.score is not None]
    if scored:
        yield Text("\n" + texts("scores_heading"), style="bold")
        names = explanation.score_parts(selection)
        table = plain_table(expand=False)
        for heading in ("turn", *(f"score.{name}" for name in names), "need"):
            table.add_column(texts(heading), justify="right", min_width=_SCORE_COLUMNS, overflow="fold")
        for each in scored:  # kept turns in bold, so that eighty columns hold all of them
            parts = [f"{getattr(each.score, name):.2f}" for name in names]
            style = "" if each.outcome == "dropped" else "bold"
            table.add_row(*map(Text, [str(each.turn_id), *parts, explanation.shown_need(each)]), style=style)
        yield table


def _heat_map(selection: Selection, texts: Texts) -> Iterator[RenderableType]:
    """Yield the count of each anchor in each kept turn; of very many only the first."""
    grid = explanation.readable_grid(selection)
    if not grid.anchors or not grid.turn_ids:
        return
    yield Text("\n" + texts("heat_heading"), style="bold")
    table = plain_table(expand=False)
    table.add_column(texts("anchor"), no_wrap=True, overflow="ellipsis", max_width=_ANCHOR_COLUMNS)
    for turn_id in grid.turn_ids[:_MAX_TURNS]:
        table.add_column(str(turn_id), justify="right", no_wrap=True)
    for anchor, counts in list(zip(grid.anchors, grid.counts, strict=True))[:_MAX_ANCHORS]:
        styles = ("dim", "reverse", "bold reverse")
        cells = [Text(str(min(count, 99) or "·"), style=styles[min(count, 2)]) for count in counts[:_MAX_TURNS]]
        table.add_row(Text(visible(anchor)), *cells)
    yield table
    if len(grid.anchors) > _MAX_ANCHORS:
        yield Text(texts("more_anchors", count=len(grid.anchors) - _MAX_ANCHORS), style="dim")
    if len(grid.turn_ids) > _MAX_TURNS:
        yield Text(texts("more_turns", count=len(grid.turn_ids) - _MAX_TURNS), style="dim")
