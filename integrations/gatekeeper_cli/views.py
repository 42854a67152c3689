"""The views of the command: selections as tables for a terminal, or as JSON.

Texts come from files and may hold anything: control and bidirectional characters are shown as a replacement character
and never reach the terminal, and nothing in them is read as markup.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TextIO

from rich import box
from rich.table import Table
from rich.text import Text

from gatekeeper_cli.explanation import kept_none, shared_words
from gatekeeper_cli.phrases import kept_with, listed, meaning_line, percent, shown_dollars, shown_need, verdict_words
from gatekeeper_cli.question import readable
from gatekeeper_cli.showable import visible, visible_lines
from gatekeeper_cli.texts import ENGLISH
from gatekeeper_cli.timeline import subject_numbers
from gatekeeper_core.notebook import UNSHOWABLE
from gatekeeper_core.pricing.cache import WORTH_A_LINE
from gatekeeper_core.pricing.prices import prices_of_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from gatekeeper_cli.bill import Dollars, Tariff
    from gatekeeper_cli.demo import Demo
    from gatekeeper_cli.session import Exchange
    from gatekeeper_cli.texts import Texts
    from gatekeeper_cli.topics import Topic
    from gatekeeper_core.selection.blocks import Block
    from gatekeeper_core.selection.result import Decision, Selection
    from gatekeeper_core.selection.topics import Verdict

__all__ = [
    "as_json",
    "bill_lines",
    "decision_table",
    "demo_view",
    "exchange_line",
    "facts_table",
    "plain_table",
    "selection_view",
    "spans",
    "topics_view",
    "verdict_line",
    "visible",
    "visible_lines",
    "why_view",
    "write_json",
]

_UNSAFE_IN_JSON = re.compile(f"(?!\n){UNSHOWABLE}")
_BEGINNING_CHARACTERS = 240
_MAX_SPANS = 12
_WORDS_COLUMNS = 20


# --- JSON -----------------------------------------------------------------------------------------------------------


def as_json(value: object) -> str:
    r"""Return a value as JSON that people can read; what a terminal would obey or cannot show is escaped.

    >>> as_json(["缓存", "\ud800"])
    '[\n  "缓存",\n  "\\ud800"\n]'
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNSAFE_IN_JSON.sub(lambda match: _escaped(match[0]), text)


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def write_json(value: dict[str, Any], stream: TextIO) -> None:
    """Write a value as JSON that parses to the same value, whatever the stream can encode."""
    text = as_json(value)
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=True, indent=2)
    stream.write(text + "\n")


# --- one selection --------------------------------------------------------------------------------------------------


def selection_view(selection: Selection, topics: Sequence[Topic], texts: Texts = ENGLISH) -> Iterator[RenderableType]:
    """Yield the verdict, the table of the kept turns, and what they cost.

    Args:
        selection: what to show.
        topics: the topics of the conversation, oldest first.
        texts: in which language.
    """
    yield verdict_line(selection.gate, texts)
    gate = selection.gate
    facts = [texts("gate_measures", overlap=gate.overlap, new=gate.new_ratio, link=gate.link)]
    if gate.active_topic is not None:
        facts.append(texts("gate_active", topic=_topic_name(topics, gate.active_topic, texts)))
    if gate.resumed_topic is not None:
        facts.append(texts("gate_resumed", topic=_topic_name(topics, gate.resumed_topic, texts)))
    yield Text(texts("semicolon").join(facts))
    if selection.turns:
        yield _kept_table(selection, subject_numbers(topics), texts)
    yield from map(Text, kept_none(selection, texts))
    counts = {"kept": len(selection.turns), "count": selection.turn_count, "tokens": selection.tokens}
    line = texts("token_line", **counts, history=selection.history_tokens, saved=_saved(selection))
    yield Text(line, style="bold")
    if meaning := meaning_line(selection, texts):
        yield Text(meaning)


def why_view(selection: Selection, texts: Texts = ENGLISH) -> Iterator[RenderableType]:
    """Yield the decision on every candidate, and which anchors of the query the kept turns hold."""
    yield Text()
    if selection.decisions:
        yield decision_table(selection.decisions, texts, query=selection.query)
    yield Text(texts("coverage_line", coverage=selection.coverage))
    covered, anchors = readable(selection.covered, selection.query), (*selection.covered, *selection.uncovered)
    uncovered = [text for text in readable(anchors, selection.query) if text not in covered]
    yield Text(texts("anchors_covered", anchors=listed(list(covered), texts)))
    yield Text(texts("anchors_uncovered", anchors=listed(uncovered, texts)))


def verdict_line(verdict: Verdict, texts: Texts = ENGLISH) -> Text:
    """Return what the gate decided, and why."""
    decision, reason = verdict_words(verdict, texts)
    return Text().append(decision, style="bold").append(reason)


def _topic_name(topics: Sequence[Topic], topic_id: int, texts: Texts) -> str:
    topic = topics[topic_id]
    last = topic.stop - 1
    span = texts("one_turn" if topic.start == last else "many_turns", span=_span(topic.start, last, texts))
    return texts("topic_name", topic=subject_numbers(topics)[topic_id], turns=span)


def _span(first: int, last: int, texts: Texts = ENGLISH) -> str:
    return str(first) if first == last else texts("span", first=first, last=last)


def _kept_table(selection: Selection, subjects: Sequence[int], texts: Texts) -> Table:
    table = plain_table()
    for heading in ("turn", "topic", "tokens", "need"):
        table.add_column(texts(heading), justify="right", no_wrap=True)
    table.add_column(texts("part"), no_wrap=True)
    table.add_column(texts("why"), ratio=1, overflow="fold")
    table.add_column(texts("begins_with"), ratio=1, no_wrap=True, overflow="ellipsis")
    for turn in selection.turns:
        decision = selection.decision(turn.turn_id)
        part, why = texts("outcome.trimmed" if turn.trimmed else "whole"), texts.reason(decision)
        if shared := shared_words(decision, selection.query):
            why = texts("why_words", why=why, words=listed(shared, texts))
        beginning = visible((turn.user if turn.user.strip() else turn.assistant)[:_BEGINNING_CHARACTERS])
        need = shown_need(decision)
        cells = (turn.turn_id, subjects[decision.topic_id], turn.tokens, need, part, why, beginning)
        table.add_row(*(Text(str(cell)) for cell in cells))
    return table


def _saved(selection: Selection) -> str:
    return percent(selection.history_tokens - selection.tokens, selection.history_tokens)


def decision_table(decisions: Sequence[Decision], texts: Texts = ENGLISH, *, query: str) -> Table:
    """Return a table of decisions: outcome, need, reason, and what would have kept a turn."""
    table = plain_table()
    table.add_column(texts("turn"), justify="right", no_wrap=True)
    table.add_column(texts("outcome"), no_wrap=True)
    table.add_column(texts("need"), justify="right", no_wrap=True)
    table.add_column(texts("stage_why"), ratio=1, overflow="fold")
    table.add_column(texts("shared"), max_width=_WORDS_COLUMNS, overflow="fold")
    table.add_column(texts("kept_with"), max_width=_WORDS_COLUMNS, overflow="fold")
    for decision in decisions:
        why = texts.why(decision, with_need=False)
        why = texts("stage_reason", stage=texts(f"stage.{decision.stage}"), why=why)
        shared = listed(words, texts) if (words := shared_words(decision, query)) else "-"
        outcome, need = texts(f"outcome.{decision.outcome}"), shown_need(decision)
        cells = (decision.turn_id, outcome, need, why, shared, kept_with(decision, texts) or "-")
        table.add_row(*(Text(str(cell)) for cell in cells))
    return table


# --- the chat -------------------------------------------------------------------------------------------------------


def exchange_line(exchange: Exchange, texts: Texts = ENGLISH) -> str:
    """Return what one answered question cost, what that saved, and how its turns were chosen, on one line."""
    selection, saved = exchange.selection, exchange.full_tokens - exchange.sent_tokens
    resumed, decision = selection.gate.resumed_topic, texts(f"chat.{selection.gate.decision}")
    kept = texts("chat.kept", kept=len(selection.turns), count=selection.turn_count)
    # The line stays a line, so not the numbers of all of very many turns.
    shown = spans([turn.turn_id for turn in selection.turns], texts, limit=_MAX_SPANS)
    parts = [
        texts("chat.sent", sent=exchange.sent_tokens, saved=saved, share=percent(saved, exchange.full_tokens)),
        texts("chat.topic", topic=exchange.topic_id, decision=decision)
        if resumed is None
        else texts("chat.topic_back", topic=exchange.topic_id, decision=decision, back=resumed),
        f"{kept}: {shown}" if shown else kept,
    ]
    usage = exchange.usage
    if usage is not None:
        parts.append(texts("chat.counted", tokens=usage.input_tokens, cached=usage.cached_tokens))
        prices = prices_of_model(usage.model)
        if prices is not None:
            parts.append(shown_dollars(prices.dollars(usage)))
    return f"[{' | '.join(parts)}]"


def spans(turn_ids: Sequence[int], texts: Texts = ENGLISH, *, limit: int | None = None) -> str:
    """Return numbers of turns, oldest first, neighbours as a span.

    >>> spans([0, 1, 2, 5, 7, 8]), spans([0, 2, 4], limit=2)
    ('0 to 2, 5, 7 to 8', '0, 2 ...')
    """
    runs: list[list[int]] = []
    for turn_id in turn_ids:
        if runs and turn_id == runs[-1][1] + 1:
            runs[-1][1] = turn_id
        else:
            runs.append([turn_id, turn_id])
    shown = [_span(first, last, texts) for first, last in runs[:limit]]
    return texts("comma").join(shown) + (" ..." if len(shown) < len(runs) else "")


def topics_view(topics: Sequence[Topic], turns: Sequence[Block], texts: Texts = ENGLISH) -> Iterator[RenderableType]:
    """Yield a table of the topics of a conversation: which turns each holds, and how it begins.

    Args:
        topics: the topics, oldest first.
        turns: all turns of the conversation.
        texts: in which language.
    """
    if not topics:
        yield Text(texts("chat.no_topic"))
        return
    table = plain_table()
    table.add_column(texts("topic"), justify="right", no_wrap=True)
    table.add_column(texts("turns"), no_wrap=True)
    table.add_column(texts("begins_with"), ratio=1, no_wrap=True, overflow="ellipsis")
    for topic in topics:
        span = _span(topic.start, topic.stop - 1, texts)
        beginning = visible(turns[topic.start].user_text[:_BEGINNING_CHARACTERS])
        table.add_row(Text(str(topic.topic_id)), Text(span), Text(beginning))
    yield table


# --- the demo -------------------------------------------------------------------------------------------------------


def demo_view(demo: Demo, texts: Texts = ENGLISH) -> Iterator[RenderableType]:
    """Yield the seven questions one after the other, and a summary."""
    first = demo.answers[0].selection
    topics = sum(topic.returns_to is None for topic in demo.topics)
    counts = {"turns": first.turn_count, "tokens": first.history_tokens, "topics": topics}
    yield Text(texts("demo_heading", **counts, budget=first.token_budget))
    for number, answer in enumerate(demo.answers, 1):
        yield Text()
        heading = Text(f"{number}. {texts(f'kind.{answer.question.kind}')}: ", style="bold")
        yield heading.append(f'"{answer.question.text}"', style="cyan")
        yield from selection_view(answer.selection, demo.topics, texts)
    yield Text()
    table = plain_table(expand=False)
    table.add_column(texts("question"))
    table.add_column(texts("gate"))
    for name in ("turns", "tokens", "saved"):
        table.add_column(texts(name), justify="right", no_wrap=True)
    for question, selection in demo.answers:
        gate = verdict_line(selection.gate._replace(cue=None), texts)
        cells = (texts(f"kind.{question.kind}"), gate, len(selection.turns), f"{selection.tokens:,}", _saved(selection))
        table.add_row(*(Text(str(cell)) for cell in cells))
    yield table


# --- dollars --------------------------------------------------------------------------------------------------------


def bill_lines(tariffs: Iterable[Tariff | None], dollars: Dollars | None, texts: Texts) -> Iterator[Text]:
    """Yield at which prices dollars are counted and whether the gatekeeper pays; without dollars, how to get them."""
    priced = [tariff for tariff in tariffs if tariff]
    if dollars is None:
        yield from () if priced else (Text(texts("bill_how"), style="dim"),)
        return
    models = texts("comma").join(visible(model) for model in dict.fromkeys(tariff.model for tariff in priced))
    yield Text(texts("bill_basis", model=models, cache=texts(f"cache.{priced[0].cache}")))
    name = "bill_pays" if dollars.pays else "bill_pays_not" if dollars.share_saved < 0 else "bill_same"
    amounts = {"selected": shown_dollars(dollars.selected), "full": shown_dollars(dollars.full)}
    yield Text(texts(name, **amounts, share=percent(abs(dollars.share_saved), 1)), style="bold")
    if dollars.share_spared > WORTH_A_LINE:
        cached = shown_dollars(dollars.cached)
        yield Text(texts("bill_cache", cached=cached, share=percent(dollars.share_spared, 1)))


# --- facts ----------------------------------------------------------------------------------------------------------


def facts_table(facts: Mapping[str, Text]) -> Table:
    """Return a table of names and values, a line for each."""
    table = plain_table(expand=False)
    table.show_header = False
    for name, value in facts.items():
        table.add_row(Text(name.replace("_", " ")), value)
    return table


def plain_table(*, expand: bool = True) -> Table:
    """Return an empty table; where it expands, columns with a ratio share what the others leave of the width."""
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, expand=expand)
