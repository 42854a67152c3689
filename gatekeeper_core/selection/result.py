"""The result of a selection: the turns, the figures, and the reason for every choice, computed on first use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gatekeeper_core.notebook import notebook_table
from gatekeeper_core.selection.anchors import MAX_TURN_ANCHORS, count_terms, extract_anchors, has_whole
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.selection.lexicon import background_frequencies
from gatekeeper_core.selection.need import log_odds, newest_signs
from gatekeeper_core.selection.planner import Planner, Reason, Stage, Why
from gatekeeper_core.selection.retrieval import Score
from gatekeeper_core.selection.topics import Verdict
from gatekeeper_core.token_estimate import budget_for
from gatekeeper_core.tokens import describe_counter

SCHEMA_VERSION = 4
"""Version of the JSON of :meth:`Selection.to_dict`; it grows when a field changes its meaning or is removed."""

DecisionOutcome = Literal["kept", "trimmed", "dropped"]

_NAMED = 3  # anchors that are named at most
_SHOWN_KINDS = frozenset({"word", "number", "identifier", "version", "pair", "date", "amount", "quote", "code"})


class SelectedTurn(NamedTuple):
    """A turn as sent.

    Attributes:
        turn_id: 0-based position in the conversation.
        user: the user's text, or its excerpt.
        assistant: the assistant's text, or its excerpt.
        tokens: cost in tokens, at least 1.
        trimmed: whether sentences were left out.
        cuts: for each message that was cut, its position in the turn and the remaining text.
    """

    turn_id: int
    user: str
    assistant: str
    tokens: int
    trimmed: bool
    cuts: tuple[tuple[int, str], ...] = ()


class Remedy(NamedTuple):
    """Changes that would have kept a turn.

    Attributes:
        tokens: if room was the reason, a token budget for it and all turns needed more, else None. An upper bound: if
            turns repeat each other, less may do.
        coverage: if low need was the reason, a coverage at which it is worth its tokens, given what is sent, else None.
        anchors: words of the turn that would have made it a candidate if the query had named them.
    """

    tokens: int | None = None
    coverage: float | None = None
    anchors: tuple[str, ...] = ()


class Decision(NamedTuple):
    """The reason why a turn was kept, trimmed or dropped.

    Attributes:
        turn_id: 0-based position in the conversation.
        outcome: ``kept``, ``trimmed`` or ``dropped``.
        reason: the stage that decided, and why.
        topic_id: the topic of the turn.
        tokens: cost of the whole turn, or of what is kept of it.
        shared: words it shares with the query, as written in the query.
        related: its words related to one of the query's (a synonym, a member of a kind, a translation).
        score: the parts of its score, or None if it was not scored.
        need: probability that the answer needs it, 0..1; None unless it was a candidate.
        signs: contribution of each sign to the log odds of its need, strongest first.
        remedy: changes that would have kept it.
        meaning: cosine similarity of the turn and the query, -1..1; None without a result of the embedder.
    """

    turn_id: int
    outcome: DecisionOutcome
    reason: Reason
    topic_id: int
    tokens: int
    shared: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    score: Score | None = None
    need: float | None = None
    signs: tuple[tuple[str, float], ...] = ()
    remedy: Remedy = Remedy()
    meaning: float | None = None

    @property
    def stage(self) -> Stage:
        """The stage that decided.

        ``recall`` (shares nothing, or too little to be a candidate), ``link`` (the query continues it), ``cover`` (its
        need is worth its tokens, or not, or there is no room), ``overview`` (the query asks what was said).
        """
        return self.reason.stage

    @property
    def why(self) -> Why:
        """The reason as a fixed word."""
        return self.reason.why

    @property
    def kept_from_tokens(self) -> int | None:
        """Token budget that would have kept it; see :class:`Remedy`."""
        return self.remedy.tokens

    @property
    def kept_from_coverage(self) -> float | None:
        """Coverage that would have kept it; see :class:`Remedy`."""
        return self.remedy.coverage

    @property
    def kept_with(self) -> tuple[str, ...]:
        """Words that would have made it a candidate; see :class:`Remedy`."""
        return self.remedy.anchors


@dataclass(frozen=True, slots=True)
class Selection:
    """The turns chosen for one query, and why.

    Attributes:
        query: the question.
        turns: the kept turns, oldest first.
        token_budget: the token limit.
        history_tokens: cost of the whole conversation.
        turn_count: turns in the conversation.
        gate: the topic decision.
        coverage: expected share of what the answer needs in the kept turns, 0..1.
        constraints: the constraints in force.
        smallest_needed_tokens: if nothing fitted, the budget that the smallest candidate needs; else None.
        counter: name of the token counter; for a ``TokenEstimator`` its profile.
        margin: share by which a prompt may exceed its estimate; that part of the budget was kept free.
    """

    query: str
    turns: tuple[SelectedTurn, ...]
    token_budget: int
    history_tokens: int
    turn_count: int
    gate: Verdict
    coverage: float
    constraints: Mapping[str, str]
    smallest_needed_tokens: int | None
    counter: str
    margin: float
    _plan: Planner = field(repr=False, compare=False)

    @property
    def tokens(self) -> int:
        """Total cost of the turns, as estimated by the counter; at most ``token_budget`` less the margin."""
        return sum(turn.tokens for turn in self.turns)

    @property
    def order(self) -> tuple[int, ...]:
        """Ids of the kept turns, the most needed first."""
        return tuple(self._plan.kept)

    @property
    def embedder(self) -> str:
        """Name of the embedder, "" without one."""
        meaning = self._plan.question.meaning
        return meaning.embedder if meaning else ""

    @property
    def embedder_missed(self) -> str:
        """Reason why the embedder was not used, "" if it was.

        ``no_vector`` (for the query), ``no_vectors`` (for any turn), ``not_calibrated``, or one of ``TextEncoder``.
        """
        meaning = self._plan.question.meaning
        return meaning.missed if meaning else ""

    @property
    def covered(self) -> tuple[str, ...]:
        """Words of the query found in the kept turns, as written in the query; computed on first use."""
        return self._covered_and_uncovered()[0]

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The other words of the query, as written in the query."""
        return self._covered_and_uncovered()[1]

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Decisions on the scored turns, the kept ones, and those without room, by turn; computed on first use."""
        return tuple(map(self.decision, sorted(self._plan.reasons)))

    def decision(self, turn_id: int) -> Decision:
        """Return the decision on any turn, candidate or not.

        Raises:
            TypeError: ``turn_id`` is not an int.
            IndexError: the conversation has no such turn.
        """
        if isinstance(turn_id, bool) or not isinstance(turn_id, int):
            raise TypeError(f"turn_id must be an int, got {type(turn_id).__name__}")
        if not 0 <= turn_id < self.turn_count:
            raise IndexError(f"turn {turn_id} does not exist: the conversation has {self.turn_count} turns")
        return _decision(self._plan, turn_id)

    def to_messages(self, query: str | None = None) -> list[dict[str, str]]:
        """Return a prompt as chat messages: the constraints (system), the kept turns, the query last.

        Args:
            query: question to use instead of the query of the selection.
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

    def _covered_and_uncovered(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        texts = [side for part in self._plan.kept.values() for side in (part.user, part.assistant)]
        terms, low = {term for text in texts for term in count_terms(text)}, [text.casefold() for text in texts]
        covered: dict[str, None] = {}
        uncovered: dict[str, None] = {}
        for anchor in self._plan.question.query.anchors:
            if anchor.kind in _SHOWN_KINDS:
                as_a_whole = anchor.kind in ("quote", "code")
                is_covered = any(has_whole(anchor.term, text) for text in low) if as_a_whole else anchor.term in terms
                (covered if is_covered else uncovered)[anchor.text] = None
        return tuple(covered), tuple(text for text in uncovered if text not in covered)

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
            decision, part = _decision(self._plan, turn.turn_id), "trimmed" if turn.trimmed else "whole"
            shared = ", ".join(decision.shared)
            rows.append((turn.turn_id, turn.tokens, part, decision.why, shared, turn.user, turn.assistant))
        return notebook_table(caption, ("turn", "tokens", "part", "why", "shared", "user", "assistant"), rows)


def _decision_dict(decision: Decision, *, with_meaning: bool) -> dict[str, Any]:
    names = ["turn_id", "outcome", "stage", "why", "topic_id", "tokens", "shared", "related", "score", "need", "signs"]
    names += ["kept_from_tokens", "kept_from_coverage", "kept_with", *(["meaning"] if with_meaning else [])]
    values = {name: getattr(decision, name) for name in names}
    for name in ("shared", "related", "kept_with"):
        values[name] = list(values[name])
    values["signs"] = dict(decision.signs)
    if decision.score is not None:
        score = decision.score._asdict()
        terms, exact, meaning = score.pop("terms"), score.pop("whole"), score.pop("meaning")
        lists = {"matched": sorted(terms.matched), "related": sorted(terms.related), "whole": sorted(exact)}
        values["score"] = {**score, "share": terms.share, **lists, **({"meaning": meaning} if with_meaning else {})}
    return values


def selection_of(plan: Planner, constraints: Mapping[str, str]) -> Selection:
    """Return the selection that a planner has chosen."""
    conversation, counter = plan.conversation, plan.conversation.sentences.count
    turns = tuple(
        SelectedTurn(turn_id, part.user, part.assistant, part.tokens, part.trimmed, part.cuts)
        for turn_id, part in sorted(plan.kept.items())
    )
    # If nothing fitted: the tokens of the smallest candidate that had no room.
    refused = [] if plan.kept else [turn_id for turn_id, reason in plan.reasons.items() if reason.why == "no_room"]
    needed = min(map(plan.smallest_tokens, refused), default=None)
    return Selection(
        query=plan.question.query.text,
        turns=turns,
        token_budget=plan.token_budget,
        history_tokens=conversation.tokens,
        turn_count=conversation.turn_count,
        gate=plan.question.verdict,
        coverage=plan.coverage,
        constraints=dict(constraints),
        smallest_needed_tokens=None if needed is None else budget_for(counter, needed),
        **describe_counter(counter),
        _plan=plan,
    )


def _decision(plan: Planner, turn_id: int) -> Decision:
    (query, *_, meaning), block = plan.question, plan.conversation.blocks[turn_id]
    score, part = plan.scores.get(turn_id), plan.kept.get(turn_id)
    if turn_id in plan.reasons:
        reason, matched = plan.reasons[turn_id], score.matched if score else frozenset()
        if reason.why in ("low_need", "no_room") and plan.is_repeat(turn_id):
            reason = Reason(reason.stage, "repeat")
        remedy = Remedy(
            tokens=plan.budget_to_keep(turn_id) if reason.why == "no_room" else None,
            coverage=plan.coverage_to_keep(turn_id) if reason.why == "low_need" else None,
        )
    else:
        score, matched = None, frozenset(query.idf) & plan.repeats.terms_of(turn_id)
        reason = Reason("recall", "not_a_candidate" if matched else "no_shared_anchor")
        remedy = Remedy(anchors=_telling_anchors(block.texts))
    shared = [anchor.text for anchor in query.anchors if anchor.kind in _SHOWN_KINDS and anchor.term in matched]
    related = score.related if score else frozenset[str]()
    texts = block.texts if related else ()
    words = [anchor for text in texts for anchor in extract_anchors(text, limit=MAX_TURN_ANCHORS)]
    return Decision(
        turn_id=turn_id,
        outcome="dropped" if part is None else "trimmed" if part.trimmed else "kept",
        reason=reason,
        topic_id=plan.conversation.topic_of(turn_id),
        tokens=part.tokens if part else block.tokens,
        shared=tuple(dict.fromkeys(shared)),
        related=tuple(dict.fromkeys(anchor.text for anchor in words if anchor.term in related)),
        score=score,
        need=plan.needs.get(turn_id),
        signs=_signs(plan, turn_id),
        remedy=remedy,
        meaning=meaning.cosine(turn_id) if meaning else None,
    )


def _signs(plan: Planner, turn_id: int) -> tuple[tuple[str, float], ...]:
    conversation, (_, _, reading, _, weights, _) = plan.conversation, plan.question
    if turn_id == plan.goes_on_from == conversation.turn_count - 1 and reading is not None:
        parts = log_odds(weights.newest, newest_signs(reading, conversation.blocks[turn_id].tokens))
    else:
        parts = log_odds(weights.older, plan.signs.get(turn_id, {}))
    signs = ((name, round(value, 4)) for name, value in parts.items() if value)
    return tuple(sorted(signs, key=lambda sign: (-abs(sign[1]), sign[0])))


def _telling_anchors(texts: tuple[str, str]) -> tuple[str, ...]:
    """Return up to three anchors that would make a turn a candidate: identifiers and numbers first, then rare words."""
    common = background_frequencies()
    anchors = [
        anchor
        for text in texts
        for anchor in extract_anchors(text)
        if anchor.kind in _SHOWN_KINDS and anchor.weight == 1.0
    ]
    anchors.sort(key=lambda anchor: (anchor.kind in ("word", "pair"), common.get(anchor.term, 0.0)))
    names: dict[str, None] = {}
    for anchor in anchors:
        crossing = anchor.kind == "pair" and any(not set(anchor.text).isdisjoint(name) for name in names)
        if not crossing and len(names) < _NAMED:
            names[anchor.text] = None
    return tuple(names)
