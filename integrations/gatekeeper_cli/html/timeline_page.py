"""The page of a conversation: its topics over its turns, its use of tokens, and its turns to read and filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper_cli.html.page import render, with_texts
from gatekeeper_cli.phrases import meaning_line, percent, shown_dollars
from gatekeeper_cli.showable import visible
from gatekeeper_cli.timeline import subject_name
from gatekeeper_cli.token_use import evenly
from gatekeeper_cli.views import bill_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_cli.texts import Texts
    from gatekeeper_cli.timeline import Timeline
    from gatekeeper_cli.token_use import Reported, TokenUse, UsePoint
    from gatekeeper_core.messages import Turn

__all__ = ["timeline_page"]

_MAX_POINTS = 240
"""How many calls the chart shows at most. Source: ours; a line of a page's width has no more points to show."""


def timeline_page(
    timeline: Timeline,
    turns: Sequence[Turn],
    use: TokenUse,
    reported: Reported | None = None,
    *,
    token_budget: int,
    name: str,
    texts: Texts,
) -> str:
    """Return the page.

    Args:
        timeline: the conversation by topics.
        turns: its turns, oldest first.
        use: what its model calls would have sent.
        reported: what the provider reported for them.
        token_budget: for how many tokens.
        name: what the conversation is called.
        texts: in which language.
    """
    points = [use.points[at] for at in evenly(len(use.points), _MAX_POINTS)]
    rows = [
        {
            "subject": at,
            "name": subject_name(subject, texts),
            "turns": len(subject.turn_ids),
            "tokens": subject.tokens,
            "turn_ids": subject.turn_ids,
        }
        for at, subject in enumerate(timeline.subjects)
    ]
    return render(
        "timeline",
        texts=texts,
        title=texts("html.timeline_title", name=visible(name)),
        name=visible(name),
        figures=_figures(timeline, use, reported, texts),
        rows=rows,
        chart=_chart(points, texts),
        use=points,
        dollars=shown_dollars,
        meaning=meaning_line(use, texts),
        bill=[line.plain for line in bill_lines([use.tariff], use.dollars, texts)] if use.dollars else [],
        use_heading=texts("use_heading", calls=use.calls, budget=token_budget),
        use_whole=texts("use_whole", whole=use.calls_sent_whole, asked=len(use.points)) if use.calls_sent_whole else "",
        turns=_turn_list(timeline, turns, rows, texts),
    )


def _turn_list(
    timeline: Timeline, turns: Sequence[Turn], rows: Sequence[dict[str, Any]], texts: Texts
) -> list[dict[str, Any]]:
    at_turn = {turn_id: at for at, subject in enumerate(timeline.subjects) for turn_id in subject.turn_ids}
    listed = []
    for turn_id, tokens in enumerate(timeline.turn_tokens):
        subject = at_turn[turn_id]
        facts = texts("html.turn_facts", topic=rows[subject]["name"], tokens=tokens)
        listed.append({"turn_id": turn_id, "subject": subject, "outcome": "", "facts": facts})
    return with_texts(listed, turns)


def _figures(timeline: Timeline, use: TokenUse, reported: Reported | None, texts: Texts) -> list[tuple[str, str, str]]:
    costs = timeline.turn_tokens
    figures = [
        (texts("html.figure_turns"), f"{len(costs):,}", ""),
        (texts("html.figure_topics"), f"{len(timeline.subjects):,}", ""),
        (texts("html.figure_history"), f"{sum(costs):,}", texts("html.tokens")),
    ]
    if use.full:
        note = texts("html.figure_calls_note", tokens=use.full)
        figures.append((texts("html.figure_calls"), f"{use.calls:,}", note))
        sent, note = f"{round(use.selected / use.calls):,}", texts("html.figure_sent_note")
        figures.append((texts("html.figure_sent"), sent, note))
        figures.append((texts("saved"), percent(use.full - use.selected, use.full), texts("html.figure_saved_note")))
    if use.dollars:
        note = texts("html.figure_bill_note", full=shown_dollars(use.dollars.full))
        figures.append((texts("html.figure_bill"), shown_dollars(use.dollars.selected), note))
    if reported:
        note = texts("html.figure_reported_note", calls=reported.calls)
        figures.append((texts("html.figure_reported"), f"{reported.input_tokens:,}", note))
    if reported and reported.dollars is not None:
        note = texts("html.figure_paid_note", calls=reported.calls)
        figures.append((texts("html.figure_paid"), shown_dollars(reported.dollars), note))
    return figures


def _chart(use: Sequence[UsePoint], texts: Texts) -> dict[str, Any] | None:
    """Return the lines of the tokens over the model calls, in their own units: the page scales them."""
    if len(use) < 2:  # no line has one point
        return None
    last, lines = use[-1], {"full": "full_history", "window": "window", "selected": "selected"}
    values = {kind: getattr(last, kind) for kind in lines}
    return {
        "width": last.call,
        "height": max(1, *(getattr(point, kind) for point in use for kind in lines)),
        "summary": texts("html.chart_summary", call=last.call, **values),
        "lines": [
            (kind, texts(label), values[kind], " ".join(f"{point.call},{getattr(point, kind)}" for point in use))
            for kind, label in lines.items()
        ],
    }
