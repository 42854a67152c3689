"""Self-contained pages: a conversation by topics and tokens, the explanation of a selection, the threads of a proxy.

Style and script are inline, and a Content-Security-Policy blocks all else. Texts of the conversation are escaped by
jinja, and ``visible_lines`` replaces characters that would reorder a line.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from gatekeeper_cli import explanation
from gatekeeper_cli.costs import CallUse, Reported, TokenUse, bill_lines, evenly
from gatekeeper_cli.texts import Texts, visible, visible_lines
from gatekeeper_cli.topics import Timeline
from gatekeeper_core.messages import Turn
from gatekeeper_core.selection.result import Decision, Selection

GENERATOR = "Context Gatekeeper report"  # named in a page; a file with it may be replaced by a newer report
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
# Limits for all escaped texts of a page: with markup, 1,000 turns stay under 1 MB. An explanation also has a table row
# for every listed turn.
_TIMELINE_BYTES, _EXPLANATION_BYTES = 450_000, 250_000
_MAX_POINTS = 240  # of the chart; more would not show at a page's width
_NEARLY_EQUAL = 0.04  # of the chart's height: ten pixels, at which two lines begin to overlap
_MAX_QUESTION = 2_000
_MAX_HEAT_TURNS = 60
_MAX_LISTED = 400


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
    """Return the page of a conversation: its topics, its token use, and its turns to read and filter."""
    subjects = [(subject, subject.name(texts)) for subject in timeline.subjects]
    of_turn = {turn_id: at for at, subject in enumerate(timeline.subjects) for turn_id in subject.turn_ids}
    rows = []
    for turn_id, (turn, tokens) in enumerate(zip(turns, timeline.turn_tokens, strict=True)):
        facts = texts("html.turn_facts", topic=subjects[of_turn[turn_id]][1], tokens=tokens)
        row = {"turn_id": turn_id, "subject": of_turn[turn_id], "outcome": "", "facts": facts}
        rows.append({**row, "texts": (turn.user_text, turn.assistant_text)})
    points = [use.points[at] for at in evenly(len(use.points), _MAX_POINTS)]
    return _render(
        "timeline",
        texts,
        title=texts("html.timeline_title", name=visible(name)),
        name=visible(name),
        timeline=timeline,
        use=use,
        reported=reported,
        subjects=subjects,
        chart=_chart(points, texts) if len(points) > 1 else None,  # a line needs two points
        points=points,
        percent=texts.percent,
        dollars=explanation.shown_dollars,
        meaning=explanation.meaning_line(use.embedder, use.embedder_missed, texts),
        bill=[line for line, _ in bill_lines([use.tariff], use.dollars, texts)] if use.dollars else [],
        use_heading=texts("use_heading", calls=use.calls, budget=token_budget),
        use_whole=texts("use_whole", whole=use.calls_sent_whole, asked=len(use.points)) if use.calls_sent_whole else "",
        turns=_fitted(rows, max_bytes=_TIMELINE_BYTES),
    )


def _chart(points: Sequence[CallUse], texts: Texts) -> dict[str, Any]:
    """Return the lines of the chart in tokens and calls; nearly equal ones as one line, with a band around them."""
    columns = {kind: [getattr(point, kind) for point in points] for kind in ("full", "window", "selected")}
    names = dict(zip(columns, map(texts, ("full_history", "window", "selected")), strict=True))
    calls, height = [point.call for point in points], max(1, *map(max, columns.values()))
    groups: list[list[str]] = []
    for kind, column in columns.items():
        for group in groups:
            pairs = (pair for other in group for pair in zip(columns[other], column, strict=True))
            if all(abs(one - other) <= height * _NEARLY_EQUAL for one, other in pairs):
                group.append(kind)
                break
        else:
            groups.append([kind])
    lines = []
    for group in groups:
        kind = "selected" if "selected" in group else group[0]
        is_wide = any(columns[each] != columns[kind] for each in group)
        spread = [sorted(tokens) for tokens in zip(*(columns[each] for each in group), strict=True)]
        around = [*zip(calls, (tokens[0] for tokens in spread), strict=True)]
        around += reversed([*zip(calls, (tokens[-1] for tokens in spread), strict=True)])
        line, band = (
            " ".join(f"{call},{tokens}" for call, tokens in places)
            for places in (zip(calls, columns[kind], strict=True), around if is_wide else ())
        )
        ends = dict.fromkeys(f"{tokens:,}" for tokens in (spread[-1][0], spread[-1][-1]))
        lines.append((kind, texts("comma").join(names[each] for each in group), "–".join(ends), line, band))
    last = {kind: column[-1] for kind, column in columns.items()}
    summary = texts("html.chart_summary", call=calls[-1], **last)
    return {"width": calls[-1], "height": height, "summary": summary, "lines": lines}


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
    sent: Collection[int] = (),
) -> str:
    """Return the page of a selection: what is sent, what is left out and why, and the scores in a collapsed section.

    ``notes`` are extra sentences for the top of the page; ``sent`` are turns sent in addition to the selection.
    """

    def rank(turn_id: int) -> float:
        score = decisions[turn_id].score
        return -score.total if score else 0.0

    query, grid = selection.query, explanation.readable_grid(selection)
    groups = explanation.near_groups(selection, texts)
    near = [(reason, rest) for reason, found in groups if (rest := [one for one in found if one[0] not in sent])]
    kept, nearest = [turn.turn_id for turn in selection.turns], [at for _, found in near for at, _ in found]
    decisions = {each.turn_id: each for each in (*selection.decisions, *map(selection.decision, (*nearest, *sent)))}
    decisions |= {decision.turn_id: decision} if decision else {}
    # The requested turn, near misses, sent turns, then the best scores.
    first = [*([decision.turn_id] if decision else []), *nearest, *selection.order, *sent]
    shown = frozenset(islice(dict.fromkeys((*first, *sorted(decisions, key=rank))), _MAX_LISTED))
    listed_decisions = [decisions[turn_id] for turn_id in sorted(shown)]
    rows = _turn_rows(listed_decisions, selection, turns, sent=sent, texts=texts)
    listed = {row["turn_id"]: row for row in _fitted(rows, max_bytes=_EXPLANATION_BYTES)}
    strip = {turn_id: each.outcome for turn_id, each in decisions.items()}
    strip |= {turn_id: "kept" for turn_id in sent if turn_id not in kept}
    all_sent = sorted({*kept, *sent})
    tokens = sum(decisions[turn_id].tokens for turn_id in all_sent)
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
        kept_none=() if sent else explanation.kept_none(selection, texts),
        selection=selection,
        tokens=tokens,
        covered=explanation.readable(selection.covered, query),
        anchors=explanation.readable((*selection.covered, *selection.uncovered), query),
        budget=explanation.budget_use(selection),
        shown=shown,
        strip=[(at, strip.get(at, "other")) for at in range(len(turns))],
        sent_count=len(all_sent),
        sent=[listed[turn_id] for turn_id in all_sent if turn_id in listed],
        left_count=selection.turn_count - len(all_sent),
        left_tokens=max(0, selection.history_tokens - tokens),
        near=[(reason, [listed[at] | {"note": how} for at, how in found]) for reason, found in near],
        others=[row for turn_id, row in listed.items() if turn_id not in (*all_sent, *nearest)],
        not_listed=len(decisions) - len(shown),
        grid=grid,
        heat_turns=grid.turn_ids[:_MAX_HEAT_TURNS],
        heat_rows=[
            (visible(anchor), counts[:_MAX_HEAT_TURNS])
            for anchor, counts in zip(grid.anchors, grid.counts, strict=True)
        ],
        score_parts=explanation.score_parts(selection),
        scored=[each for each in listed_decisions if each.need is not None],
    )


def _turn_rows(
    decisions: Sequence[Decision], selection: Selection, turns: Sequence[Turn], *, sent: Collection[int], texts: Texts
) -> list[dict[str, Any]]:
    """Return a row for each decision: outcome, reason and texts; for a trimmed turn the excerpt first."""
    kept, rows = {turn.turn_id: turn for turn in selection.turns}, []
    for each in decisions:
        turn, excerpt = turns[each.turn_id], kept.get(each.turn_id)
        outcome, why, shown = each.outcome, texts.reason(each), [turn.user_text, turn.assistant_text]
        if words := explanation.shared_words(each, selection.query):
            why = texts("semicolon").join((why, texts("shares", anchors=explanation.listed(words, texts))))
        if each.turn_id in sent and not excerpt:
            outcome, why = "kept", texts("html.sent_beside")
        if excerpt and excerpt.trimmed:
            shown = [excerpt.user, excerpt.assistant, *shown]
        facts = texts("html.decision_facts", outcome=texts(f"outcome.{outcome}"), why=why, tokens=each.tokens)
        row = {"turn_id": each.turn_id, "subject": each.topic_id, "outcome": outcome}
        rows.append({**row, "facts": facts, "texts": shown})
    return rows


# --- all pages -----------------------------------------------------------------------------------------------------


def _fitted(rows: Sequence[dict[str, Any]], *, max_bytes: int) -> list[dict[str, Any]]:
    """Return rows with their ``texts`` cut to fit: all at one common length, at least 48 characters."""
    originals = [text for row in rows for text in row["texts"]]
    for limit in _LENGTHS:
        fitted = [{"text": visible_lines(text[:limit]), "hidden": max(0, len(text) - limit)} for text in originals]
        if sum(len(str(escape(part["text"])).encode()) for part in fitted) <= max_bytes:
            break
    parts = iter(fitted)
    return [{**row, "texts": [*islice(parts, len(row["texts"]))]} for row in rows]


def _render(template: str, texts: Texts, **values: Any) -> str:
    """Return a page; a missing value is an error."""
    style, script = source("report.css"), source("report.js")
    # Both are our own files, the only ones that the policy allows, and need no escaping.
    inline = {"style": Markup(style), "script": Markup(script)}  # noqa: S704
    page = _ENVIRONMENT.get_template(f"{template}.html.j2")
    return page.render(say=texts, policy=page_policy(), generator=GENERATOR, **inline, **values)


@cache
def page_policy() -> str:
    """Return the Content-Security-Policy of every page: only its own style and script."""
    style, script = policy_hash(source("report.css")), policy_hash(source("report.js"))
    return f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"


@cache
def source(name: str) -> str:
    """Return the inline style or script of every page: ``report.css`` or ``report.js``."""
    # Browsers turn every line end into a line feed before hashing.
    return (_FOLDER / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def policy_hash(inline: str) -> str:
    """Return the source expression by which a Content-Security-Policy allows an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"
