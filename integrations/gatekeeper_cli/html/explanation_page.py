"""The page of a selection: where the budget went, what each kept turn holds, every decision, the near misses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper_cli.explanation import (
    budget_use,
    kept_none,
    near_groups,
    near_misses,
    readable_grid,
    score_parts,
    shared_words,
    why_not,
)
from gatekeeper_cli.html.page import render, with_texts
from gatekeeper_cli.phrases import kept_with, listed, meaning_line, percent, shown_need, verdict_words
from gatekeeper_cli.question import readable
from gatekeeper_cli.showable import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_cli.texts import Texts
    from gatekeeper_core.messages import Turn
    from gatekeeper_core.selection.result import Decision, Selection

__all__ = ["explanation_page"]

_MAX_QUESTION = 2_000
_MAX_HEAT_TURNS = 60
# Every listed turn has a row in a table or two beside its text: with these a page stays under 1 MB.
_MAX_TEXT_BYTES = 250_000
_MAX_LISTED, _MAX_SCORES = 400, 200


def explanation_page(
    selection: Selection, turns: Sequence[Turn], *, asked: Decision | None, name: str, texts: Texts
) -> str:
    """Return the page.

    Args:
        selection: what to explain.
        turns: the conversation, oldest first.
        asked: the decision on the turn that was asked for, or None.
        name: what the conversation is called.
        texts: in which language.
    """
    near, budget, grid = near_misses(selection), budget_use(selection), readable_grid(selection)
    decisions = {one.turn_id: one for one in (*near, *filter(None, [asked]), *selection.decisions)}
    shown = _shown(decisions, selection, near, asked)
    listed_decisions = [decisions[turn_id] for turn_id in sorted(shown)]
    scored = [one for one in listed_decisions if one.score is not None]
    best = sorted(scored, key=_total)[-_MAX_SCORES:]
    parts = score_parts(selection)
    heat = zip(grid.anchors, grid.counts, strict=True)
    return render(
        "explanation",
        texts=texts,
        title=texts("html.explanation_title", query=visible(selection.query)[:80]),
        name=visible(name),
        query=visible_lines(selection.query[:_MAX_QUESTION]) + ("…" if len(selection.query) > _MAX_QUESTION else ""),
        verdict=visible("".join(verdict_words(selection.gate, texts))),
        meaning=meaning_line(selection, texts),
        asked=why_not(asked, texts, query=selection.query) if asked else "",
        kept_none=kept_none(selection, texts),
        figures=_figures(selection, texts),
        budget=budget,
        budget_line=texts("budget_line", budget=selection.token_budget, **budget._asdict()),
        token_budget=selection.token_budget,
        shown=shown,
        strip=[(at, decisions[at].outcome if at in decisions else "other") for at in range(len(turns))],
        grid=grid,
        heat_turns=grid.turn_ids[:_MAX_HEAT_TURNS],
        heat_rows=[(visible(anchor), row[:_MAX_HEAT_TURNS]) for anchor, row in heat],
        near=near_groups(selection, texts),
        decisions=[_decision_row(decision, texts, query=selection.query) for decision in listed_decisions],
        scores=[_score_row(decision, parts) for decision in sorted(best, key=lambda one: one.turn_id)],
        not_listed=len(decisions) - len(shown),
        not_scored=len(scored) - len(best),
        score_parts=parts,
        turns=with_texts([_turn_row(one, texts) for one in listed_decisions], turns, max_bytes=_MAX_TEXT_BYTES),
    )


def _shown(
    decisions: dict[int, Decision], selection: Selection, near: Sequence[Decision], asked: Decision | None
) -> frozenset[int]:
    """Return the turns that are listed: the one asked for, near misses, kept ones, then the best scores."""
    first = [*filter(None, [asked]), *near, *(decisions[turn_id] for turn_id in selection.order)]
    rest = sorted(decisions.values(), key=lambda one: -_total(one))
    return frozenset(list(dict.fromkeys(one.turn_id for one in (*first, *rest)))[:_MAX_LISTED])


def _total(decision: Decision) -> float:
    return decision.score.total if decision.score else 0.0


def _figures(selection: Selection, texts: Texts) -> list[tuple[str, str, str]]:
    saved = percent(selection.history_tokens - selection.tokens, selection.history_tokens)
    covered = readable(selection.covered, selection.query)
    anchors = readable((*selection.covered, *selection.uncovered), selection.query)
    of_turns = texts("html.figure_kept_note", count=selection.turn_count)
    of_history = texts("html.figure_tokens_note", history=selection.history_tokens)
    return [
        (texts("html.figure_kept"), f"{len(selection.turns):,}", of_turns),
        (texts("html.figure_tokens"), f"{selection.tokens:,}", of_history),
        (texts("saved"), saved, texts("html.figure_saved_full")),
        (texts("html.figure_coverage"), f"{selection.coverage:.2f}", texts("html.figure_coverage_note")),
        (texts("html.figure_anchors"), f"{len(covered)}/{len(anchors)}", texts("html.figure_anchors_note")),
    ]


def _decision_row(decision: Decision, texts: Texts, *, query: str) -> dict[str, Any]:
    why = texts("stage_reason", stage=texts(f"stage.{decision.stage}"), why=texts.why(decision))
    return {
        "turn_id": decision.turn_id,
        "outcome": decision.outcome,
        "why": why,
        "tokens": decision.tokens,
        "shared": listed(shared, texts) if (shared := shared_words(decision, query)) else "–",
        "kept_with": kept_with(decision, texts) or "–",
    }


def _score_row(decision: Decision, names: Sequence[str]) -> dict[str, Any]:
    parts = [f"{getattr(decision.score, name):.2f}" for name in names]
    return {"turn_id": decision.turn_id, "outcome": decision.outcome, "parts": [*parts, shown_need(decision)]}


def _turn_row(decision: Decision, texts: Texts) -> dict[str, Any]:
    outcome, why = texts(f"outcome.{decision.outcome}"), texts.why(decision)
    facts = texts("html.decision_facts", outcome=outcome, why=why, tokens=decision.tokens)
    return {"turn_id": decision.turn_id, "subject": decision.topic_id, "outcome": decision.outcome, "facts": facts}
