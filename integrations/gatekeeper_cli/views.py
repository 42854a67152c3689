"""What the command shows: selections as tables for a terminal, or as JSON.

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

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from gatekeeper_cli.demo import Answer, Demo
    from gatekeeper_cli.session import Exchange
    from gatekeeper_core.selection.gatekeeper import Block
    from gatekeeper_core.selection.result import Decision, SelectedTurn, Selection
    from gatekeeper_core.selection.topics import Topic, Verdict

__all__ = [
    "GATE_REASONS",
    "WHY_WORDS",
    "as_json",
    "demo_view",
    "exchange_line",
    "facts_table",
    "selection_view",
    "topics_view",
    "visible",
    "visible_lines",
    "why_view",
    "write_json",
]

GATE_REASONS = {
    "first_turn": "there is no history yet",
    "no_anchors": "it holds nothing to look up",
    "about_conversation": "it asks about the conversation itself",
    "explicit_switch": "it says that the topic changes",
    "explicit_return": "it says that it goes back",
    "referring_word": "it points back",
    "overlap": "it is likely to stay in the active topic",
    "ambiguous": "in doubt it stays",
    "new_topic": "it fits no topic so far",
    "return": "it fits an earlier topic better",
}
"""What each reason of the gate means, by the reason's name."""

WHY_WORDS = {
    "evidence": "evidence",
    "active_topic": "active topic",
    "resumed_topic": "resumed topic",
    "referring_word": "pointed back to",
    "neighbour": "next to evidence",
    "overview": "overview",
    "off_topic": "off topic",
    "no_shared_anchor": "shares nothing",
    "not_a_candidate": "shares too little",
    "enough": "enough without it",
    "no_room": "no room",
    "repeat": "repeats another",
}
"""What each reason of a decision means, by the reason's name."""

_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_UNSHOWABLE_IN_LINES = re.compile(f"(?![\t\n]){_UNSHOWABLE.pattern}")
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\ud800-\udfff]")
_BEGINNING_CHARACTERS = 240
_MAX_SPANS = 12


def visible(text: str) -> str:
    r"""Return a text on one line, with a replacement character for what a terminal would obey or cannot show.

    >>> visible("one\n  two \x1b[31m")
    'one two \ufffd[31m'
    """
    return _UNSHOWABLE.sub("\ufffd", " ".join(text.split()))


def visible_lines(text: str) -> str:
    r"""Return a text with its lines and tabs, and the same replacement character; a carriage return is left out.

    >>> visible_lines("one\r\n\ttwo \x1b[31m")
    'one\n\ttwo \ufffd[31m'
    """
    return _UNSHOWABLE_IN_LINES.sub("\ufffd", text.replace("\r", ""))


# --- JSON -----------------------------------------------------------------------------------------------------------


def as_json(value: object) -> str:
    r"""Return a value as JSON that people can read; lone surrogates and control characters are escaped.

    >>> as_json(["缓存", "\ud800"])
    '[\n  "缓存",\n  "\\ud800"\n]'
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write_json(value: dict[str, Any], stream: TextIO) -> None:
    """Write a value as JSON that parses to the same value, whatever the stream can encode."""
    text = as_json(value)
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=True, indent=2)
    stream.write(text + "\n")


# --- one selection --------------------------------------------------------------------------------------------------


def selection_view(selection: Selection, topics: Sequence[Topic]) -> Iterator[RenderableType]:
    """Yield the verdict, the table of the kept turns, and what they cost.

    Args:
        selection: what to show.
        topics: the topics of the conversation, oldest first.
    """
    yield _verdict_line(selection.gate)
    yield Text(_measures_line(selection.gate, topics))
    yield _kept_table(selection) if selection.turns else Text(_empty_reason(selection))
    yield Text(_token_line(selection), style="bold")


def why_view(selection: Selection) -> Iterator[RenderableType]:
    """Yield the decision on every candidate, and which anchors of the query the kept turns hold."""
    yield Text()
    if selection.decisions:
        yield _decision_table(selection.decisions)
    yield Text(f"coverage {selection.coverage:.2f}")
    yield Text(f"anchors covered: {_listed(selection.covered)}")
    yield Text(f"anchors not covered: {_listed(selection.uncovered)}")


def _verdict_line(verdict: Verdict) -> Text:
    line = Text("gate: ")
    line.append(verdict.decision, style="bold")
    line.append(f" ({verdict.reason}): {GATE_REASONS.get(verdict.reason, verdict.reason)}")
    return line if verdict.cue is None else line.append(f', in the words "{visible(verdict.cue)}"')


def _measures_line(verdict: Verdict, topics: Sequence[Topic]) -> str:
    facts = [f"overlap {verdict.overlap:.2f}, new ratio {verdict.new_ratio:.2f}"]
    if verdict.active_topic is not None:
        facts.append(f"active: {_topic_name(topics, verdict.active_topic)}")
    if verdict.resumed_topic is not None:
        facts.append(f"resumed: {_topic_name(topics, verdict.resumed_topic)}")
    return "; ".join(facts)


def _topic_name(topics: Sequence[Topic], topic_id: int) -> str:
    topic = topics[topic_id]
    last = topic.stop - 1
    return f"topic {topic_id} ({'turn' if topic.start == last else 'turns'} {_span(topic.start, last)})"


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


def _kept_table(selection: Selection) -> Table:
    table = _table()
    for heading in ("turn", "topic", "tokens"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("part", no_wrap=True)
    table.add_column("why", ratio=2, overflow="fold")
    table.add_column("begins with", ratio=3, no_wrap=True, overflow="ellipsis")
    for turn in selection.turns:
        decision = selection.decision(turn.turn_id)
        part = "trimmed" if turn.trimmed else "whole"
        cells = (turn.turn_id, decision.topic_id, turn.tokens, part, _why_kept(decision), _beginning(turn))
        table.add_row(*(Text(str(cell)) for cell in cells))
    return table


def _why_kept(decision: Decision) -> str:
    why = WHY_WORDS.get(decision.why, decision.why)
    return f"{why}: {_listed(decision.shared)}" if decision.shared else why


def _beginning(turn: SelectedTurn) -> str:
    text = turn.user if turn.user.strip() else turn.assistant
    return visible(text[:_BEGINNING_CHARACTERS])


def _empty_reason(selection: Selection) -> str:
    if not selection.turn_count:
        return "No turn is kept: the conversation is empty."
    if selection.smallest_needed_tokens is not None:
        needed, budget = selection.smallest_needed_tokens, selection.token_budget
        return f"No turn fits: the smallest candidate needs {needed:,} tokens, the budget is {budget:,}."
    return "No turn is kept: nothing in the conversation is needed for this question."


def _token_line(selection: Selection) -> str:
    return (
        f"{len(selection.turns):,} of {selection.turn_count:,} turns, "
        f"{selection.tokens:,} of {selection.history_tokens:,} tokens ({_saved(selection)} saved)"
    )


def _saved(selection: Selection) -> str:
    return _percent(selection.history_tokens - selection.tokens, selection.history_tokens)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def _decision_table(decisions: Sequence[Decision]) -> Table:
    table = _table()
    table.add_column("turn", justify="right", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    table.add_column("stage: why", ratio=4, overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("shared", ratio=4, overflow="fold")
    table.add_column("kept with", ratio=3, overflow="fold")
    for decision in decisions:
        why = f"{decision.stage}: {WHY_WORDS.get(decision.why, decision.why)}"
        score = "-" if decision.score is None else f"{decision.score.total:.2f}"
        shared = _listed(decision.shared) if decision.shared else "-"
        cells = (decision.turn_id, decision.outcome, why, score, shared, _kept_with(decision))
        table.add_row(*(Text(str(cell)) for cell in cells))
    return table


def _kept_with(decision: Decision) -> str:
    """Return what would have kept a turn, as far as the decision knows it."""
    ways = []
    if decision.kept_from_tokens is not None:
        ways.append(f"budget {decision.kept_from_tokens:,}")
    if decision.kept_from_eta is not None:
        ways.append(f"eta {decision.kept_from_eta:g}")
    if decision.kept_with:
        ways.append(f"naming {_listed(decision.kept_with)}")
    return " or ".join(ways) or "-"


def _listed(anchors: Sequence[str]) -> str:
    return ", ".join(map(visible, anchors)) or "none"


# --- the chat -------------------------------------------------------------------------------------------------------


def exchange_line(exchange: Exchange) -> str:
    """Return what one answered question cost, what that saved, and how its turns were chosen, on one line."""
    selection, saved = exchange.selection, exchange.full_tokens - exchange.sent_tokens
    resumed = selection.gate.resumed_topic
    back = "" if resumed is None else f", back to topic {resumed}"
    parts = [
        f"{exchange.sent_tokens:,} tokens sent, {saved:,} saved ({_percent(saved, exchange.full_tokens)})",
        f"topic {exchange.topic_id} (gate: {selection.gate.decision}{back})",
        f"{len(selection.turns):,} of {selection.turn_count:,} turns kept{_listed_ids(selection)}",
    ]
    if exchange.prompt_tokens is not None:
        parts.append(f"the model counted {exchange.prompt_tokens:,}")
    return f"[{' | '.join(parts)}]"


def _listed_ids(selection: Selection) -> str:
    """Return the numbers of the kept turns, neighbours as a span; the line stays a line, so not all of very many."""
    spans: list[list[int]] = []
    for turn in selection.turns:
        if spans and turn.turn_id == spans[-1][1] + 1:
            spans[-1][1] = turn.turn_id
        else:
            spans.append([turn.turn_id, turn.turn_id])
    shown = [_span(first, last) for first, last in spans[:_MAX_SPANS]]
    if not shown:
        return ""
    return ": " + ", ".join(shown) + (" ..." if len(spans) > _MAX_SPANS else "")


def topics_view(topics: Sequence[Topic], turns: Sequence[Block]) -> Iterator[RenderableType]:
    """Yield a table of the topics of a conversation: which turns each holds, and how it begins.

    Args:
        topics: the topics, oldest first.
        turns: all turns of the conversation.
    """
    if not topics:
        yield Text("There is no topic yet.")
        return
    table = _table()
    table.add_column("topic", justify="right", no_wrap=True)
    table.add_column("turns", no_wrap=True)
    table.add_column("begins with", ratio=1, no_wrap=True, overflow="ellipsis")
    for topic in topics:
        span = _span(topic.start, topic.stop - 1)
        beginning = visible(turns[topic.start].user_text[:_BEGINNING_CHARACTERS])
        table.add_row(Text(str(topic.topic_id)), Text(span), Text(beginning))
    yield table


# --- the demo -------------------------------------------------------------------------------------------------------


def demo_view(demo: Demo) -> Iterator[RenderableType]:
    """Yield the seven questions one after the other, and a summary."""
    first = demo.answers[0].selection
    yield Text(
        f"The conversation: {first.turn_count} turns, {first.history_tokens:,} tokens, {len(demo.topics)} topics. "
        f"The budget: {first.token_budget:,} tokens for each question."
    )
    for number, answer in enumerate(demo.answers, 1):
        yield Text()
        heading = Text(f"{number}. {answer.question.kind}: ", style="bold")
        yield heading.append(f'"{answer.question.text}"', style="cyan")
        yield from selection_view(answer.selection, demo.topics)
    yield Text()
    yield _summary_table(demo.answers)


def _summary_table(answers: Sequence[Answer]) -> Table:
    table = _table(expand=False)
    table.add_column("question")
    table.add_column("gate")
    for heading in ("turns", "tokens", "saved"):
        table.add_column(heading, justify="right", no_wrap=True)
    for question, selection in answers:
        gate = f"{selection.gate.decision} ({selection.gate.reason})"
        cells = (question.kind, gate, len(selection.turns), f"{selection.tokens:,}", _saved(selection))
        table.add_row(*(Text(str(cell)) for cell in cells))
    return table


# --- facts ----------------------------------------------------------------------------------------------------------


def facts_table(facts: Mapping[str, Text]) -> Table:
    """Return a table of names and values, a line for each."""
    table = _table(expand=False)
    table.show_header = False
    for name, value in facts.items():
        table.add_row(Text(name.replace("_", " ")), value)
    return table


def _table(*, expand: bool = True) -> Table:
    """Return an empty table; where it expands, columns with a ratio share what the others leave of the width."""
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, expand=expand)
