"""A selection in words, for the terminal and the pages: its anchors by turn, near misses, why a turn is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gatekeeper_cli.texts import TABLE, Texts, visible
from gatekeeper_cli.topics import words_by_pair
from gatekeeper_core.messages import Turn
from gatekeeper_core.selection.anchors import Anchor, count_terms, extract_anchors, has_whole
from gatekeeper_core.selection.result import Decision, Selection
from gatekeeper_core.selection.topics import Verdict
from gatekeeper_core.text import is_han

_MAX_NEAR = 12
_NEAR_IN_MEANING = 3
_NEAREST = 3


def shown_dollars(amount: float | None) -> str:
    """Return dollars for display, small amounts with more digits; ``-`` for None.

    >>> [shown_dollars(amount) for amount in (1234.5, 12.3, 0.01234, 0.00001234, 0, None)]
    ['$1,234.50', '$12.30', '$0.0123', '$0.000012', '$0.00', '-']
    """
    if amount is None:
        return "-"
    digits = 2 if amount >= 1 or not amount else 4 if amount >= 0.001 else 6
    return f"${amount:,.{digits}f}"


def shown_need(decision: Decision) -> str:
    """Return the need of a turn with two digits; ``-`` if it was not a candidate."""
    return "-" if decision.need is None else f"{decision.need:.2f}"


def listed(anchors: Sequence[str], texts: Texts) -> str:
    """Return anchors on one line."""
    return texts("comma").join(map(visible, anchors)) or texts("none")


def verdict_words(verdict: Verdict, texts: Texts) -> tuple[str, str]:
    """Return the topic decision, and the rest of the sentence: the reason."""
    name = "resumed" if verdict.resumed_topic is not None else verdict.decision
    words, decision = texts.gate_reason(verdict.reason), texts(f"gate.{name}")
    if verdict.cue is None:
        return decision, texts("gate_reason", words=words)
    return decision, texts("gate_reason_cue", words=words, cue=visible(verdict.cue))


def meaning_line(embedder: str, missed: str, texts: Texts) -> str:
    """Return which embedder was used, or why it was not; empty without one."""
    if not missed:
        return texts("meaning_heard", embedder=visible(embedder)) if embedder else ""
    reason = texts(f"missed.{missed}") if f"missed.{missed}" in TABLE else missed
    return texts("meaning_missed", embedder=visible(embedder), reason=reason)


# --- the question ---------------------------------------------------------------------------------------------------


def without_current(turns: tuple[Turn, ...], *, query: str) -> tuple[Turn, ...]:
    """Return the turns without the last one if it is the query itself, still unanswered.

    Outer white space is ignored. The last message of an unanswered turn is the user's, a tool call or result, or empty.

    >>> from gatekeeper_core.messages import Turn
    >>> turns = (Turn.of("hi", "hello"), Turn.of("and now?", ""))
    >>> [turn.user_text for turn in without_current(turns, query="and now? ")]
    ['hi']
    """
    if not turns or turns[-1].user_text.strip() != query.strip():
        return turns
    last = turns[-1].messages[-1]
    answered = last.role == "assistant" and last.content and not last.tool_calls
    return turns if answered else turns[:-1]


def readable(anchors: Sequence[str], query: str) -> dict[str, tuple[str, ...]]:
    """Return a question's anchors in readable form, in order, each with the anchors that it covers.

    A pair of Chinese characters becomes the word that contains it; one that crosses words or is grammar is left out.

    >>> list(readable(["三个", "个库", "库存", "怎么", "INV-4035", "inv"], "三个库存怎么对应 INV-4035？"))
    ['库存', 'INV-4035', 'inv']
    """
    words = words_by_pair(query)
    shown: dict[str, tuple[str, ...]] = {}
    for anchor in anchors:
        is_pair = len(anchor) == 2 and all(map(is_han, anchor))
        text = words.get(anchor) if is_pair else anchor
        if text is not None:
            shown[text] = (*shown.get(text, ()), anchor)
    return shown


def without_parts(anchors: Sequence[str]) -> list[str]:
    """Return the anchors that are not part of another one.

    >>> without_parts(["INV-4035", "inv", "160", "160 元", "error"])
    ['INV-4035', '160 元', 'error']
    """
    folded = {text: text.casefold().replace("-", " ") for text in anchors}
    return [
        text for text in folded if not any(other != text and has_whole(folded[text], folded[other]) for other in folded)
    ]


def shared_words(decision: Decision, query: str) -> list[str]:
    """Return the words that a turn shares with the question, and its related words."""
    return without_parts([*readable(decision.shared, query), *decision.related])


# --- one turn -------------------------------------------------------------------------------------------------------


def _ways_to_keep(decision: Decision, texts: Texts, *, wording: str = "way", joint: str = "comma") -> dict[str, str]:
    """Return what would have kept a turn, in words, by kind."""
    ways = (
        ("budget", "tokens", decision.kept_from_tokens),
        ("coverage", "coverage", decision.kept_from_coverage),
        ("naming", "anchors", texts(joint).join(map(visible, decision.kept_with)) or None),
    )
    return {kind: texts(f"{wording}.{kind}", **{name: value}) for kind, name, value in ways if value is not None}


def kept_with(decision: Decision, texts: Texts) -> str:
    """Return what would have kept a turn, on one line; empty if nothing is known."""
    return texts("or").join(_ways_to_keep(decision, texts).values())


def why_not(decision: Decision, texts: Texts, *, query: str) -> str:
    """Return why a turn is left out (or that it is not), and what would have kept it, in plain words."""
    dropped = decision.outcome == "dropped"
    name = f"why.{decision.why if dropped else decision.outcome}"
    anchors = ", ".join(map(visible, shared_words(decision, query)))
    sentences = [
        texts(
            name if name in TABLE else "why.other",
            turn=decision.turn_id,
            why=texts.why(decision),
            tokens=decision.tokens,
            need=decision.need or 0.0,
            reason=texts.reason(decision),
            shared=texts("shares", anchors=anchors) if anchors else texts("shares_nothing"),
        )
    ]
    if dropped and decision.meaning is not None:
        sentences.append(texts("near_in_meaning", meaning=decision.meaning))
    sentences += _ways_to_keep(decision, texts, wording="would", joint="or").values()
    return ("" if texts.language.value == "zh" else " ").join(sentences)


def kept_none(selection: Selection, texts: Texts) -> tuple[str, ...]:
    """Return why no turn is kept, and why the three nearest turns are left out; () if one is kept.

    The nearest are the candidates with the best scores, or without candidates the newest turns.
    """
    if selection.turns:
        return ()
    if not selection.turn_count:
        return (texts("empty_conversation"),)
    nearest = sorted(
        selection.decisions, key=lambda each: (-(each.score.total if each.score else 0.0), -each.turn_id)
    ) or [selection.decision(turn_id) for turn_id in reversed(range(selection.turn_count)[-_NEAREST:])]
    needed = selection.smallest_needed_tokens
    if needed is not None:
        reason = texts("nothing_fits", needed=needed, budget=selection.token_budget)
    else:
        matched = any(shared_words(each, selection.query) for each in nearest)
        reason = texts("kept_none.little" if matched else "kept_none.no_match")
    return reason, *(visible(why_not(each, texts, query=selection.query)) for each in nearest[:_NEAREST])


# --- the whole selection --------------------------------------------------------------------------------------------


def budget_use(selection: Selection) -> dict[str, int]:
    """Return a budget in tokens: the cost of the kept turns, the free rest, and the margin for estimates."""
    free = max(0, int(selection.token_budget / (1 + selection.margin)) - selection.tokens)
    return {"kept": selection.tokens, "free": free, "margin": selection.token_budget - selection.tokens - free}


def score_parts(selection: Selection) -> tuple[str, ...]:
    """Return the names of the score parts to show; ``meaning`` only with an embedder."""
    meaning = ["meaning"] if selection.embedder else []
    return ("lex_user", "lex_assistant", "exact", "recency", "neighbour", "fit", *meaning, "total")


class Grid(NamedTuple):
    """Counts of each anchor of the question in the part of each kept turn that is sent."""

    anchors: tuple[str, ...]  # as in the question, in its order
    turn_ids: tuple[int, ...]  # oldest first
    counts: tuple[tuple[int, ...], ...]  # a row per anchor, a column per turn


def grid_of(selection: Selection) -> Grid:
    """Return the counts of the anchors in the kept turns; a quoted phrase and code count at most once."""
    counted = {*selection.covered, *selection.uncovered}
    anchors: dict[str, list[Anchor]] = {}
    for anchor in extract_anchors(selection.query):
        if anchor.text in counted:
            anchors.setdefault(anchor.text, []).append(anchor)
    columns = []
    for turn in selection.turns:
        terms = Counter(count_terms(turn.user)) + Counter(count_terms(turn.assistant))
        text = f"{turn.user}\n{turn.assistant}".casefold()
        columns.append(
            [
                max(
                    int(has_whole(one.term, text)) if one.kind in ("quote", "code") else terms[one.term] for one in same
                )
                for same in anchors.values()
            ]
        )
    counts = tuple(zip(*columns, strict=True)) if columns else ((),) * len(anchors)
    return Grid(tuple(anchors), tuple(turn.turn_id for turn in selection.turns), counts)


def readable_grid(selection: Selection) -> Grid:
    """Return the grid in readable form: a row for each word of the question."""
    grid = grid_of(selection)
    rows = dict(zip(grid.anchors, grid.counts, strict=True))
    shown = readable(grid.anchors, selection.query)
    counts = tuple(tuple(map(min, zip(*(rows[part] for part in parts), strict=True))) for parts in shown.values())
    return Grid(tuple(shown), grid.turn_ids, counts)


def near_misses(selection: Selection) -> tuple[Decision, ...]:
    """Return the turns that nearly made it, the nearest first, twelve at most.

    First those that a larger budget would keep, the smallest first; those that a larger coverage would keep; the three
    nearest in meaning; then neighbours of kept turns that some anchors would have made candidates.
    """
    dropped = [decision for decision in selection.decisions if decision.outcome == "dropped"]
    by_budget = [decision for decision in dropped if decision.kept_from_tokens is not None]
    by_coverage = [decision for decision in dropped if decision.kept_from_coverage is not None]
    near = [
        *sorted(by_budget, key=lambda decision: (decision.kept_from_tokens or 0, decision.turn_id)),
        *sorted(by_coverage, key=lambda decision: (decision.kept_from_coverage or 0.0, decision.turn_id)),
    ]
    by_meaning = [each for each in dropped if each.score and each.score.meaning and each not in near]
    near += sorted(by_meaning, key=lambda decision: (-(decision.meaning or 0.0), decision.turn_id))[:_NEAR_IN_MEANING]
    kept = {turn.turn_id for turn in selection.turns}
    decided = kept | {decision.turn_id for decision in selection.decisions}
    for turn_id in sorted({beside for at in kept for beside in (at - 1, at + 1)} - decided):
        if len(near) < _MAX_NEAR and 0 <= turn_id < selection.turn_count:
            decision = selection.decision(turn_id)
            near += [decision] if decision.kept_with else []
    return tuple(near[:_MAX_NEAR])


def near_groups(selection: Selection, texts: Texts) -> list[tuple[str, list[tuple[int, str]]]]:
    """Return the near misses by what would have kept them: a sentence, and each turn with the amount."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for decision in near_misses(selection):
        ways = _ways_to_keep(decision, texts) or {"meaning": texts("reason.meaning", meaning=decision.meaning or 0.0)}
        kind = next(iter(ways))
        text = listed(decision.kept_with, texts) if kind == "naming" else ways[kind]
        groups.setdefault(kind, []).append((decision.turn_id, text))
    return [(texts(f"near.{kind}"), turns) for kind, turns in groups.items()]
