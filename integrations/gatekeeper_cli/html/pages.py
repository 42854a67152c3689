"""Self-contained pages: a conversation by topics and tokens, the explanation of a selection, the threads of a proxy.

Style and script are inline, and a policy lets nothing else be loaded or run. Texts of the conversation pass through
jinja's escaping and through ``visible_lines``: markup in them is text, and what would reorder a line is shown as a
replacement character.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from gatekeeper_cli import explanation
from gatekeeper_cli.costs import bill_lines, evenly
from gatekeeper_cli.texts import Texts, visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatekeeper_cli.costs import Reported, TokenUse
    from gatekeeper_cli.topics import Timeline
    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.result import Decision, Selection

GENERATOR = "Context Gatekeeper report"
"""How a page says what made it; a file that says so may be replaced by a newer report."""

_FOLDER = Path(__file__).parent
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_LENGTHS = tuple(200_000 >> halvings for halvings in range(13))
# What the texts of a page may take together, escaped: with the marks, 1,000 turns stay under 1 MB. On an explanation
# every listed turn has a row in a table or two beside its text.
_TIMELINE_BYTES, _EXPLANATION_BYTES = 450_000, 250_000
_MAX_POINTS = 240  # of the chart; a line of a page's width has no more to show
_MAX_QUESTION = 2_000
_MAX_HEAT_TURNS = 60
_MAX_LISTED, _MAX_SCORES = 400, 200


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
    """Return the page of a conversation: its topics, its use of tokens, and its turns to read and filter."""
    subjects = [(subject, subject.name(texts)) for subject in timeline.subjects]
    of_turn = {turn_id: at for at, subject in enumerate(timeline.subjects) for turn_id in subject.turn_ids}
    rows = []
    for turn_id, tokens in enumerate(timeline.turn_tokens):
        facts = texts("html.turn_facts", topic=subjects[of_turn[turn_id]][1], tokens=tokens)
        rows.append({"turn_id": turn_id, "subject": of_turn[turn_id], "outcome": "", "facts": facts})
    points = [use.points[at] for at in evenly(len(use.points), _MAX_POINTS)]
    chart: dict[str, Any] | None = None
    if len(points) > 1:  # no line has one point; the page scales their own units
        lines = {"full": "full_history", "window": "window", "selected": "selected"}
        values = {kind: getattr(points[-1], kind) for kind in lines}
        chart = {
            "width": points[-1].call,
            "height": max(1, *(getattr(point, kind) for point in points for kind in lines)),
            "summary": texts("html.chart_summary", call=points[-1].call, **values),
            "lines": [
                (kind, texts(label), values[kind], " ".join(f"{point.call},{getattr(point, kind)}" for point in points))
                for kind, label in lines.items()
            ],
        }
    return _render(
        "timeline",
        texts,
        title=texts("html.timeline_title", name=visible(name)),
        name=visible(name),
        figures=_timeline_figures(timeline, use, reported, texts),
        subjects=subjects,
        chart=chart,
        use=points,
        dollars=explanation.shown_dollars,
        meaning=explanation.meaning_line(use.embedder, use.embedder_missed, texts),
        bill=[line for line, _ in bill_lines([use.tariff], use.dollars, texts)] if use.dollars else [],
        use_heading=texts("use_heading", calls=use.calls, budget=token_budget),
        use_whole=texts("use_whole", whole=use.calls_sent_whole, asked=len(use.points)) if use.calls_sent_whole else "",
        turns=_with_texts(rows, turns, max_bytes=_TIMELINE_BYTES),
    )


def _timeline_figures(
    timeline: Timeline, use: TokenUse, reported: Reported | None, texts: Texts
) -> list[tuple[str, str, str]]:
    costs = timeline.turn_tokens
    figures = [
        (texts("html.figure_turns"), f"{len(costs):,}", ""),
        (texts("html.figure_topics"), f"{len(timeline.subjects):,}", ""),
        (texts("html.figure_history"), f"{sum(costs):,}", texts("html.tokens")),
    ]
    if use.full:
        figures += [
            (texts("html.figure_calls"), f"{use.calls:,}", texts("html.figure_calls_note", tokens=use.full)),
            (texts("html.figure_sent"), f"{round(use.selected / use.calls):,}", texts("html.figure_sent_note")),
            (texts("saved"), explanation.percent(use.full - use.selected, use.full), texts("html.figure_saved_note")),
        ]
    if use.dollars:
        note = texts("html.figure_bill_note", full=explanation.shown_dollars(use.dollars.full))
        figures.append((texts("html.figure_bill"), explanation.shown_dollars(use.dollars.selected), note))
    if reported:
        note = texts("html.figure_reported_note", calls=reported.calls)
        figures.append((texts("html.figure_reported"), f"{reported.input_tokens:,}", note))
    if reported and reported.dollars is not None:
        note = texts("html.figure_paid_note", calls=reported.calls)
        figures.append((texts("html.figure_paid"), explanation.shown_dollars(reported.dollars), note))
    return figures


def threads_page(rows: Sequence[Mapping[str, str]], texts: Texts) -> str:
    """Return the page of the threads of a proxy: a row for each, with what its latest request sent and cost."""
    return _render("threads", texts, title=texts("serve.threads"), rows=rows)


def explanation_page(
    selection: Selection,
    turns: Sequence[Turn],
    *,
    decision: Decision | None,
    name: str,
    texts: Texts,
    notes: Sequence[str] = (),
) -> str:
    """Return the page of a selection: the budget, the words of each kept turn, every decision, the near misses.

    ``notes`` are further sentences about it, for the top of the page.
    """

    def total(each: Decision) -> float:
        return each.score.total if each.score else 0.0

    query, near, grid = selection.query, explanation.near_misses(selection), explanation.readable_grid(selection)
    chosen = [decision] if decision else []
    decisions = {each.turn_id: each for each in (*near, *chosen, *selection.decisions)}
    # The turn that was asked for, near misses, kept ones, then the best scores.
    first = [*chosen, *near, *(decisions[turn_id] for turn_id in selection.order)]
    ranked = dict.fromkeys(each.turn_id for each in (*first, *sorted(decisions.values(), key=lambda one: -total(one))))
    shown = frozenset([*ranked][:_MAX_LISTED])
    listed_decisions = [decisions[turn_id] for turn_id in sorted(shown)]
    scored = [each for each in listed_decisions if each.score is not None]
    best = sorted(scored, key=total)[-_MAX_SCORES:]
    parts, budget = explanation.score_parts(selection), explanation.budget_use(selection)
    rows, texts_of = [], []
    for each in listed_decisions:
        why, outcome = texts.why(each), texts(f"outcome.{each.outcome}")
        row = {"turn_id": each.turn_id, "outcome": each.outcome}
        shared = explanation.listed(words, texts) if (words := explanation.shared_words(each, query)) else "–"
        reason = texts("stage_reason", stage=texts(f"stage.{each.stage}"), why=why)
        rows.append(
            {
                **row,
                "why": reason,
                "tokens": each.tokens,
                "shared": shared,
                "kept_with": explanation.kept_with(each, texts) or "–",
            }
        )
        facts = texts("html.decision_facts", outcome=outcome, why=why, tokens=each.tokens)
        texts_of.append({**row, "subject": each.topic_id, "facts": facts})
    return _render(
        "explanation",
        texts,
        title=texts("html.explanation_title", query=visible(query)[:80]),
        name=visible(name),
        query=visible_lines(query[:_MAX_QUESTION]) + ("…" if len(query) > _MAX_QUESTION else ""),
        verdict=visible("".join(explanation.verdict_words(selection.gate, texts))),
        meaning=explanation.meaning_line(selection.embedder, selection.embedder_missed, texts),
        asked=explanation.why_not(decision, texts, query=query) if decision else "",
        notes=notes,
        kept_none=explanation.kept_none(selection, texts),
        figures=_explanation_figures(selection, texts),
        budget=budget,
        budget_line=texts("budget_line", budget=selection.token_budget, **budget._asdict()),
        token_budget=selection.token_budget,
        shown=shown,
        strip=[(at, decisions[at].outcome if at in decisions else "other") for at in range(len(turns))],
        grid=grid,
        heat_turns=grid.turn_ids[:_MAX_HEAT_TURNS],
        heat_rows=[
            (visible(anchor), counts[:_MAX_HEAT_TURNS])
            for anchor, counts in zip(grid.anchors, grid.counts, strict=True)
        ],
        near=explanation.near_groups(selection, texts),
        decisions=rows,
        scores=[
            {
                "turn_id": each.turn_id,
                "outcome": each.outcome,
                "parts": [*(f"{getattr(each.score, part):.2f}" for part in parts), explanation.shown_need(each)],
            }
            for each in sorted(best, key=lambda one: one.turn_id)
        ],
        not_listed=len(decisions) - len(shown),
        not_scored=len(scored) - len(best),
        score_parts=parts,
        turns=_with_texts(texts_of, turns, max_bytes=_EXPLANATION_BYTES),
    )


def _explanation_figures(selection: Selection, texts: Texts) -> list[tuple[str, str, str]]:
    covered = explanation.readable(selection.covered, selection.query)
    anchors = explanation.readable((*selection.covered, *selection.uncovered), selection.query)
    history, saved = selection.history_tokens, selection.history_tokens - selection.tokens
    return [
        (
            texts("html.figure_kept"),
            f"{len(selection.turns):,}",
            texts("html.figure_kept_note", count=selection.turn_count),
        ),
        (texts("html.figure_tokens"), f"{selection.tokens:,}", texts("html.figure_tokens_note", history=history)),
        (texts("saved"), explanation.percent(saved, history), texts("html.figure_saved_full")),
        (texts("html.figure_coverage"), f"{selection.coverage:.2f}", texts("html.figure_coverage_note")),
        (texts("html.figure_anchors"), f"{len(covered)}/{len(anchors)}", texts("html.figure_anchors_note")),
    ]


# --- all pages -----------------------------------------------------------------------------------------------------


def _with_texts(rows: Sequence[dict[str, Any]], turns: Sequence[Turn], *, max_bytes: int) -> list[dict[str, Any]]:
    """Return rows of turns, each of its ``turn_id``, with what ``user`` and ``assistant`` said, as far as it fits.

    Short texts stay whole, long ones are cut at one common length, at least 48 characters.
    """
    shown = [turns[row["turn_id"]] for row in rows]
    originals = [text for turn in shown for text in (turn.user_text, turn.assistant_text)]
    for limit in _LENGTHS:
        fitted = [{"text": visible_lines(text[:limit]), "hidden": max(0, len(text) - limit)} for text in originals]
        if sum(len(str(escape(part["text"])).encode()) for part in fitted) <= max_bytes:
            break
    parts = iter(fitted)
    return [{**row, "user": next(parts), "assistant": next(parts)} for row in rows]


def _render(template: str, texts: Texts, **values: Any) -> str:
    """Return a page; a value that its template asks for and that is missing is an error."""
    style, script = source("report.css"), source("report.js")
    # Both are files of ours, and the policy lets run and apply just these: nothing in them is to be escaped.
    inline = {"style": Markup(style), "script": Markup(script)}  # noqa: S704
    page = _ENVIRONMENT.get_template(f"{template}.html.j2")
    return page.render(say=texts, policy=page_policy(), generator=GENERATOR, **inline, **values)


@cache
def page_policy() -> str:
    """Return the Content-Security-Policy of every page: its own style and script, and nothing else."""
    style, script = policy_hash(source("report.css")), policy_hash(source("report.js"))
    return f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"


@cache
def source(name: str) -> str:
    """Return the style or the script that every page holds inline: ``report.css``, ``report.js``."""
    # A browser reads every line end as a line feed before it takes the hash.
    return (_FOLDER / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def policy_hash(inline: str) -> str:
    """Return how a Content-Security-Policy names an inline style or script that it allows."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"
