"""The result of a selection: the turns, the figures, and the reason for every choice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from gatekeeper_core.notebook import notebook_table
from gatekeeper_core.selection.constraints import render_constraints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper_core.selection.retrieval import Score
    from gatekeeper_core.selection.verdicts import Verdict

__all__ = ["SCHEMA_VERSION", "Account", "Decision", "DecisionOutcome", "SelectedTurn", "Selection", "Stage", "Why"]

SCHEMA_VERSION = 4
"""Version of the JSON that :meth:`Selection.to_dict` gives; it grows when a field changes its meaning or goes."""

DecisionOutcome = Literal["kept", "trimmed", "dropped"]
Stage = Literal["recall", "link", "cover", "overview"]
Why = Literal[
    "evidence",
    "meaning",
    "newest_turn",
    "earlier_turn",
    "overview",
    "neighbour",
    "no_shared_anchor",
    "not_a_candidate",
    "low_need",
    "no_room",
    "repeat",
]


class SelectedTurn(NamedTuple):
    """A turn as it would be sent.

    Attributes:
        turn_id: 0-based position in the conversation.
        user: the user's text, or its excerpt.
        assistant: the assistant's text, or its excerpt.
        tokens: what it costs, at least 1.
        trimmed: whether sentences were left out.
        cuts: of a turn made of messages, for each that was cut its place in the turn and the text that is left of it.
    """

    turn_id: int
    user: str
    assistant: str
    tokens: int
    trimmed: bool
    cuts: tuple[tuple[int, str], ...] = ()


class Decision(NamedTuple):
    """The reason one turn was kept, trimmed or dropped.

    Attributes:
        turn_id: 0-based position in the conversation.
        outcome: ``kept``, ``trimmed`` or ``dropped``.
        stage: the stage that decided: ``recall`` (shares nothing, or too little to be a candidate), ``link`` (the query
            goes on from it), ``cover`` (its need is worth its tokens, or not, or there is no room), ``overview`` (the
            query asks what was said).
        why: the reason as a fixed word.
        topic_id: the topic that the turn stands in.
        tokens: what the turn costs as a whole, or what is kept of it.
        shared: the anchors that it shares with the query, as they stand in the query.
        related: its words that stand for one of the query's (a synonym, a member of a kind, a translation).
        score: the parts of its score, or None where nothing was scored.
        need: probability that the answer needs it, 0..1; None where it was no candidate.
        signs: what each sign adds to the log odds of its need, the strongest first.
        kept_from_tokens: a token budget that has room for it and for all that is needed more, where room was the
            reason; else None. A bound: where turns repeat each other, less can do.
        kept_from_coverage: a coverage at which it is worth its tokens beside what is sent now; None for other reasons.
        kept_with: anchors of the turn that, named in the query, would have made it a candidate.
        meaning: the cosine of the turn and the query, -1..1, where an embedder told it; else None.
    """

    turn_id: int
    outcome: DecisionOutcome
    stage: Stage
    why: Why
    topic_id: int
    tokens: int
    shared: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    score: Score | None = None
    need: float | None = None
    signs: tuple[tuple[str, float], ...] = ()
    kept_from_tokens: int | None = None
    kept_from_coverage: float | None = None
    kept_with: tuple[str, ...] = ()
    meaning: float | None = None


class Account(Protocol):
    """The planner behind a selection, as far as it explains itself."""

    def decisions(self) -> tuple[Decision, ...]:
        """Return a decision for each candidate and each kept turn, by turn."""
        ...

    def decision(self, turn_id: int) -> Decision:
        """Return the decision on any turn of the conversation."""
        ...

    def anchors(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the anchors of the query that the kept turns hold, and the others, as written in the query."""
        ...


@dataclass(frozen=True, slots=True)
class Selection:
    """The turns chosen for one query, and why.

    Attributes:
        query: the question.
        turns: what was kept, oldest first.
        tokens: what the turns cost together, by the counter's estimate; at most ``token_budget`` less the margin.
        token_budget: what they might have cost.
        history_tokens: what the whole conversation would have cost.
        turn_count: turns in the conversation.
        gate: the verdict of the topic gate.
        coverage: the expected share of what the answer needs that the turns hold, 0..1.
        constraints: the constraints in force.
        smallest_needed_tokens: where nothing fitted, the budget that the smallest candidate would have needed; else
            None.
        order: ids of the kept turns the most needed first.
        counter: what counted the tokens: the profile of a ``TokenEstimator``, or the name of another counter.
        margin: how far a prompt may lie over its estimate, as a share of it: so much of the budget was kept free.
        embedder: the name of the embedder that was asked, "" where there is none.
        embedder_missed: why it has no opinion, "" where it has one: ``no_vectors`` (of any turn), ``not_calibrated``
            (none of its unrelated sentences), or a reason of ``TextEncoder``.
    """

    query: str
    turns: tuple[SelectedTurn, ...]
    tokens: int
    token_budget: int
    history_tokens: int
    turn_count: int
    gate: Verdict
    coverage: float
    constraints: Mapping[str, str]
    smallest_needed_tokens: int | None = None
    order: tuple[int, ...] = ()
    counter: str = ""
    margin: float = 0.0
    embedder: str = ""
    embedder_missed: str = ""
    _account: Account | None = field(default=None, repr=False, compare=False)

    @property
    def covered(self) -> tuple[str, ...]:
        """Anchors of the query that the kept turns hold, as written in the query; worked out when asked for."""
        return self._account.anchors()[0] if self._account else ()

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The other anchors of the query, as written in the query."""
        return self._account.anchors()[1] if self._account else ()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """One decision for each candidate and each kept turn, by turn; worked out when it is first asked for."""
        return self._account.decisions() if self._account else ()

    def decision(self, turn_id: int) -> Decision:
        """Return the decision on any turn, also on one that was no candidate.

        Raises:
            TypeError: ``turn_id`` is no whole number.
            IndexError: the conversation has no such turn.
        """
        if isinstance(turn_id, bool) or not isinstance(turn_id, int):
            raise TypeError(f"turn_id must be an int, got {type(turn_id).__name__}")
        if not 0 <= turn_id < self.turn_count:
            raise IndexError(f"turn {turn_id} is not in a conversation of {self.turn_count} turns")
        if self._account is None:
            raise IndexError("this selection was made without its account; only explain() gives one")
        return self._account.decision(turn_id)

    def to_messages(self, query: str | None = None) -> list[dict[str, str]]:
        """Return a prompt as chat messages: the constraints (system), the kept turns, the query last.

        Args:
            query: what to ask in place of the query of the selection.
        """
        texts = [("system", render_constraints(self.constraints))]
        for turn in self.turns:
            texts += ("user", turn.user), ("assistant", turn.assistant)
        messages = [{"role": role, "content": text} for role, text in texts if text]
        return [*messages, {"role": "user", "content": self.query if query is None else query}]

    def facts(self) -> dict[str, Any]:
        """Return the selection as flat JSON-ready facts for logs and events: counts and ids, never text."""
        return {
            "decision": self.gate.decision,
            "reason": self.gate.reason,
            "turn_count": self.turn_count,
            "turns_kept": len(self.turns),
            "turn_ids": [turn.turn_id for turn in self.turns],
            "tokens": self.tokens,
            "history_tokens": self.history_tokens,
            "budget_tokens": self.token_budget,
            "coverage": self.coverage,
            "counter": self.counter,
            "margin": self.margin,
            **self._embedder_facts(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values, with ``schema_version``; equal selections give equal dicts."""
        return {
            "schema_version": SCHEMA_VERSION,
            "query": self.query,
            "turns": [{**turn._asdict(), "cuts": [list(cut) for cut in turn.cuts]} for turn in self.turns],
            "tokens": self.tokens,
            "token_budget": self.token_budget,
            "history_tokens": self.history_tokens,
            "turn_count": self.turn_count,
            "gate": self.gate._asdict(),
            "coverage": self.coverage,
            "covered": list(self.covered),
            "uncovered": list(self.uncovered),
            "decisions": [_decision_dict(decision, with_meaning=bool(self.embedder)) for decision in self.decisions],
            "constraints": dict(self.constraints),
            "smallest_needed_tokens": self.smallest_needed_tokens,
            "order": list(self.order),
            "counter": self.counter,
            "margin": self.margin,
            **self._embedder_facts(),
        }

    def _embedder_facts(self) -> dict[str, str]:
        return {"embedder": self.embedder, "embedder_missed": self.embedder_missed} if self.embedder else {}

    def _repr_html_(self) -> str:
        """Return the kept turns as a table for a notebook: plain HTML, escaped, without script."""
        caption = (
            f"{len(self.turns):,} of {self.turn_count:,} turns, {self.tokens:,} of {self.history_tokens:,} tokens, "
            f"budget {self.token_budget:,}, coverage {self.coverage:.2f}, "
            f"gate: {self.gate.decision} ({self.gate.reason})"
        )
        rows = []
        for turn in self.turns:
            decision = self._account.decision(turn.turn_id) if self._account else None
            notes = (decision.why, ", ".join(decision.shared)) if decision else ("", "")
            part = "trimmed" if turn.trimmed else "whole"
            rows.append((turn.turn_id, turn.tokens, part, *notes, turn.user, turn.assistant))
        return notebook_table(caption, ("turn", "tokens", "part", "why", "shared", "user", "assistant"), rows)


def _decision_dict(decision: Decision, *, with_meaning: bool) -> dict[str, Any]:
    values = decision._asdict()
    for name in ("shared", "related", "kept_with"):
        values[name] = list(values[name])
    values["signs"] = dict(decision.signs)
    if not with_meaning:
        del values["meaning"]
    if decision.score is not None:
        score = decision.score._asdict()
        if not with_meaning:
            del score["meaning"]
        values["score"] = {**score, **{name: sorted(score[name]) for name in ("matched", "related", "whole")}}
    return values
