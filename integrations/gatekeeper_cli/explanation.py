"""What stands behind a selection, put together for a reader: anchors by turns, near misses, why a turn is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_cli.phrases import listed, ways_to_keep
from gatekeeper_cli.question import QuestionAnchors, readable, without_parts
from gatekeeper_cli.showable import visible
from gatekeeper_cli.texts import TABLE

if TYPE_CHECKING:
    from gatekeeper_cli.texts import Texts
    from gatekeeper_core.selection.result import Decision, Selection

__all__ = [
    "BudgetUse",
    "Grid",
    "NearMisses",
    "budget_use",
    "grid_of",
    "kept_none",
    "near_groups",
    "near_misses",
    "readable_grid",
    "score_parts",
    "shared_words",
    "why_not",
]

MAX_NEAR = 12

_NEAR_IN_MEANING = 3
_NEAREST = 3
_SCORE_PARTS = ("lex_user", "lex_assistant", "exact", "recency", "neighbour", "fit")


class BudgetUse(NamedTuple):
    """How a budget was spent, in tokens; the three sum to the budget.

    Attributes:
        kept: what the kept turns cost.
        free: what was left.
        margin: what was kept free because counts are estimates.
    """

    kept: int
    free: int
    margin: int


class Grid(NamedTuple):
    """How often each anchor of the question stands in each kept turn, as far as the turn is sent.

    Attributes:
        anchors: as the question writes them, in its order.
        turn_ids: the kept turns, oldest first.
        counts: a row for each anchor, a number for each turn.
    """

    anchors: tuple[str, ...]
    turn_ids: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]


class NearMisses(NamedTuple):
    """Turns that the same would have kept.

    Attributes:
        what: what that is, as a sentence.
        turns: each turn with how much of it, or which words.
    """

    what: str
    turns: tuple[tuple[int, str], ...]


def budget_use(selection: Selection) -> BudgetUse:
    """Return how the budget of a selection was spent."""
    usable = int(selection.token_budget / (1 + selection.margin))
    free = max(0, usable - selection.tokens)
    return BudgetUse(selection.tokens, free, selection.token_budget - selection.tokens - free)


def score_parts(selection: Selection) -> tuple[str, ...]:
    """Return the parts of a score that are shown, as the score names them; meaning only where there is an embedder."""
    return (*_SCORE_PARTS, *(["meaning"] if selection.embedder else []), "total")


def grid_of(selection: Selection) -> Grid:
    """Return how often each anchor of the question stands in each kept turn."""
    anchors = QuestionAnchors(selection)
    columns = [anchors.counts(turn.user, turn.assistant) for turn in selection.turns]
    rows = tuple(tuple(column[text] for column in columns) for text in anchors.written)
    return Grid(anchors.written, tuple(turn.turn_id for turn in selection.turns), rows)


def readable_grid(selection: Selection) -> Grid:
    """Return the grid as a reader takes it: a row for each word of the question."""
    grid = grid_of(selection)
    rows = dict(zip(grid.anchors, grid.counts, strict=True))
    shown = readable(grid.anchors, selection.query)
    counts = tuple(tuple(map(min, zip(*(rows[part] for part in parts), strict=True))) for parts in shown.values())
    return Grid(tuple(shown), grid.turn_ids, counts)


def near_misses(selection: Selection, *, limit: int = MAX_NEAR) -> tuple[Decision, ...]:
    """Return the turns that little would have kept, the nearest first.

    First those that a larger budget keeps, the smallest first; then those that a larger coverage keeps; then the three
    that are nearest in meaning, though not near enough; then turns beside kept ones that were no candidates, with the
    anchors that would have made them one.
    """
    dropped = [decision for decision in selection.decisions if decision.outcome == "dropped"]
    by_budget = [decision for decision in dropped if decision.kept_from_tokens is not None]
    by_coverage = [decision for decision in dropped if decision.kept_from_coverage is not None]
    by_budget.sort(key=lambda decision: (decision.kept_from_tokens or 0, decision.turn_id))
    by_coverage.sort(key=lambda decision: (decision.kept_from_coverage or 0.0, decision.turn_id))
    kept = {turn.turn_id for turn in selection.turns}
    decided = {decision.turn_id for decision in selection.decisions}
    beside = sorted({near for turn_id in kept for near in (turn_id - 1, turn_id + 1)} - kept - decided)
    found = [*by_budget, *by_coverage]
    by_meaning = [
        decision for decision in dropped if decision.score and decision.score.meaning and decision not in found
    ]
    found += sorted(by_meaning, key=lambda decision: (-(decision.meaning or 0.0), decision.turn_id))[:_NEAR_IN_MEANING]
    for turn_id in beside:
        if len(found) >= limit:
            break
        if 0 <= turn_id < selection.turn_count and (decision := selection.decision(turn_id)).kept_with:
            found.append(decision)
    return tuple(found[:limit])


def near_groups(selection: Selection, texts: Texts) -> list[NearMisses]:
    """Return the near misses by the first thing that would have kept each, in their order."""
    found: dict[str, list[tuple[int, str]]] = {}
    for decision in near_misses(selection):
        ways = ways_to_keep(decision, texts) or {"meaning": texts("reason.meaning", meaning=decision.meaning or 0.0)}
        kind = next(iter(ways))
        said = listed(decision.kept_with, texts) if kind == "naming" else ways[kind]
        found.setdefault(kind, []).append((decision.turn_id, said))
    return [NearMisses(texts(f"near.{kind}"), tuple(turns)) for kind, turns in found.items()]


def shared_words(decision: Decision, query: str) -> tuple[str, ...]:
    """Return the words that a turn shares with the question, and its words that stand for one of them."""
    return tuple(without_parts([*readable(decision.shared, query), *decision.related]))


def why_not(decision: Decision, texts: Texts, *, query: str) -> str:
    """Return why a turn is left out (or that it is not), and what would have kept it, in plain words."""
    name = f"why.{decision.why if decision.outcome == 'dropped' else decision.outcome}"
    name = name if name in TABLE else "why.other"
    anchors = ", ".join(map(visible, shared_words(decision, query)))
    sentence = texts(
        name,
        turn=decision.turn_id,
        why=texts.why(decision),
        tokens=decision.tokens,
        need=decision.need or 0.0,
        reason=texts.reason(decision),
        shared=texts("shares", anchors=anchors) if anchors else texts("shares_nothing"),
    )
    joint = "" if texts.language.value == "zh" else " "
    told = decision.outcome == "dropped" and decision.meaning is not None
    near = [texts("near_in_meaning", meaning=decision.meaning)] if told else []
    ways = ways_to_keep(decision, texts, wording="would", joint="or").values()
    return joint.join((sentence, *near, *ways))


def kept_none(selection: Selection, texts: Texts) -> tuple[str, ...]:
    """Return what was found where no turn is kept, and why the three nearest turns are left out; () where one is kept.

    The nearest are the candidates with the best scores, or the newest turns where there was no candidate.
    """
    if selection.turns:
        return ()
    if not selection.turn_count:
        return (texts("empty_conversation"),)
    nearest = sorted(
        selection.decisions, key=lambda each: (-(each.score.total if each.score else 0.0), -each.turn_id)
    ) or [selection.decision(turn_id) for turn_id in reversed(range(selection.turn_count)[-_NEAREST:])]
    needed, budget = selection.smallest_needed_tokens, selection.token_budget
    if needed is not None:
        found = texts("nothing_fits", needed=needed, budget=budget)
    else:
        matched = any(shared_words(each, selection.query) for each in nearest)
        found = texts("kept_none.little" if matched else "kept_none.no_match")
    return found, *(visible(why_not(each, texts, query=selection.query)) for each in nearest[:_NEAREST])
