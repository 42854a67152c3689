"""Decisions and figures in words, as the terminal and the pages say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_cli.showable import visible
from gatekeeper_cli.texts import ENGLISH, TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_cli.texts import Texts
    from gatekeeper_cli.token_use import TokenUse
    from gatekeeper_core.selection.result import Decision, Selection
    from gatekeeper_core.selection.topics import Verdict

__all__ = [
    "kept_with",
    "listed",
    "meaning_line",
    "percent",
    "shown_dollars",
    "shown_need",
    "verdict_words",
    "ways_to_keep",
]


def verdict_words(verdict: Verdict, texts: Texts = ENGLISH) -> tuple[str, str]:
    """Return what the gate decided, and the rest of the sentence: why."""
    name = "resumed" if verdict.resumed_topic is not None else verdict.decision
    words, decision = texts.gate_reason(verdict.reason), texts(f"gate.{name}")
    if verdict.cue is None:
        return decision, texts("gate_reason", words=words)
    return decision, texts("gate_reason_cue", words=words, cue=visible(verdict.cue))


def meaning_line(asked: Selection | TokenUse, texts: Texts) -> str:
    """Return which embedder was heard, or why it was not; nothing where none was given."""
    embedder, missed = visible(asked.embedder), asked.embedder_missed
    if not missed:
        return texts("meaning_heard", embedder=embedder) if embedder else ""
    reason = texts(f"missed.{missed}") if f"missed.{missed}" in TABLE else missed
    return texts("meaning_missed", embedder=embedder, reason=reason)


def ways_to_keep(decision: Decision, texts: Texts, *, wording: str = "way", joint: str = "comma") -> dict[str, str]:
    """Return each thing that would have kept a turn, as far as the decision knows it: by its kind, in words."""
    known = (
        ("budget", "tokens", decision.kept_from_tokens),
        ("coverage", "coverage", decision.kept_from_coverage),
        ("naming", "anchors", texts(joint).join(map(visible, decision.kept_with)) or None),
    )
    return {kind: texts(f"{wording}.{kind}", **{name: value}) for kind, name, value in known if value is not None}


def kept_with(decision: Decision, texts: Texts) -> str:
    """Return what would have kept a turn on one line; an empty text where nothing is known."""
    return texts("or").join(ways_to_keep(decision, texts).values())


def listed(anchors: Sequence[str], texts: Texts = ENGLISH) -> str:
    """Return anchors on one line."""
    return texts("comma").join(map(visible, anchors)) or texts("none")


def percent(part: float, whole: float) -> str:
    """Return a share with one digit after the point.

    >>> percent(1, 8), percent(0, 0)
    ('12.5 %', '0 %')
    """
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def shown_need(decision: Decision) -> str:
    """Return the need of a turn with two digits; ``-`` where it was no candidate."""
    return "-" if decision.need is None else f"{decision.need:.2f}"


def shown_dollars(amount: float | None) -> str:
    """Return dollars for a reader, the smaller the finer; ``-`` where they are not known.

    >>> [shown_dollars(amount) for amount in (1234.5, 12.3, 0.01234, 0.00001234, 0, None)]
    ['$1,234.50', '$12.30', '$0.0123', '$0.000012', '$0.00', '-']
    """
    if amount is None:
        return "-"
    digits = 2 if amount >= 1 or not amount else 4 if amount >= 0.001 else 6
    return f"${amount:,.{digits}f}"
