"""The decisions of a planner, explained: what became of each turn, why, and what would have kept it.

Nothing here changes a choice; most of it is worked out only when somebody asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper_core.selection.anchors import MAX_TURN_ANCHORS, count_terms, extract_anchors, has_whole
from gatekeeper_core.selection.lexicon import background_frequencies
from gatekeeper_core.selection.need import log_odds, newest_signs
from gatekeeper_core.selection.result import Decision, SelectedTurn, Selection
from gatekeeper_core.token_estimate import budget_for
from gatekeeper_core.tokens import describe_counter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper_core.selection.planner import Planner

__all__ = ["Decisions", "explained"]

_NAMED = 3  # anchors that are named at most
_SHOWN_KINDS = frozenset({"word", "number", "identifier", "version", "pair", "date", "amount", "quote", "code"})


def explained(plan: Planner, constraints: Mapping[str, str]) -> Selection:
    """Return the selection that a planner has chosen, with its account.

    Args:
        plan: a planner that has chosen.
        constraints: the constraints in force.
    """
    turns = tuple(
        SelectedTurn(turn_id, part.user, part.assistant, part.tokens, part.trimmed, part.cuts)
        for turn_id, part in sorted(plan.kept.items())
    )
    # Where candidates were refused and nothing fitted: what the smallest of them needs.
    refused = [] if plan.kept else [turn_id for turn_id, reason in plan.reasons.items() if reason.why == "no_room"]
    needed = min(map(plan.smallest_tokens, refused), default=None)
    return Selection(
        query=plan.query.text,
        turns=turns,
        tokens=sum(turn.tokens for turn in turns),
        token_budget=plan.token_budget,
        history_tokens=plan.history_tokens,
        turn_count=len(plan.records),
        gate=plan.verdict,
        coverage=plan.coverage,
        constraints=dict(constraints),
        smallest_needed_tokens=None if needed is None else budget_for(plan.sentences.count, needed),
        order=tuple(plan.kept),
        **describe_counter(plan.sentences.count),
        embedder=plan.meaning.embedder if plan.meaning else "",
        embedder_missed=plan.meaning.missed if plan.meaning else "",
        _account=Decisions(plan),
    )


class Decisions:
    """The account of one selection; see :class:`~gatekeeper_core.selection.result.Account`.

    Args:
        plan: a planner that has chosen.
    """

    def __init__(self, plan: Planner) -> None:
        self._plan = plan

    def decisions(self) -> tuple[Decision, ...]:
        """Return a decision for each candidate and each kept turn, by turn."""
        return tuple(map(self.decision, sorted(self._plan.reasons)))

    def decision(self, turn_id: int) -> Decision:
        """Return the decision on any turn, also on one that was no candidate."""
        plan = self._plan
        if turn_id not in plan.reasons:
            return self._no_candidate(turn_id)
        where, why = plan.reasons[turn_id]
        score, part, whole = plan.scores.get(turn_id), plan.kept.get(turn_id), plan.records.tokens_of(turn_id)
        if why in ("low_need", "no_room") and plan.is_repeat(turn_id):
            why = "repeat"
        need = plan.needs.get(turn_id)
        return Decision(
            turn_id=turn_id,
            outcome="dropped" if part is None else "trimmed" if part.trimmed else "kept",
            stage=where,
            why=why,
            topic_id=plan.topic_of(turn_id),
            tokens=part.tokens if part else whole,
            shared=self._shared(score.matched if score else frozenset()),
            related=self._written(turn_id, score.related) if score else (),
            score=score,
            need=need,
            signs=self._signs(turn_id),
            kept_from_tokens=self._budget_to_keep(turn_id) if why == "no_room" else None,
            kept_from_coverage=plan.coverage_to_keep(turn_id) if why == "low_need" else None,
            meaning=plan.meaning.cosine(turn_id) if plan.meaning else None,
        )

    def _budget_to_keep(self, turn_id: int) -> int:
        """Return a budget that holds a turn and all that is needed more; one for all, where it only fills the room."""
        plan = self._plan
        if turn_id in plan.needs:
            tokens = max(plan.tokens_at(plan.highest_price(turn_id)), plan.smallest_tokens(turn_id))
        else:
            tokens = plan.history_tokens
        return budget_for(plan.sentences.count, max(tokens, plan.room + 1))

    def _signs(self, turn_id: int) -> tuple[tuple[str, float], ...]:
        """Return what each sign adds to the log odds that a turn is needed, the strongest first."""
        plan = self._plan
        if turn_id == plan.goes_on_from == len(plan.records) - 1 and plan.reading is not None:
            parts = log_odds(plan.weights.newest, newest_signs(plan.reading, plan.records.tokens_of(turn_id)))
        else:
            parts = log_odds(plan.weights.older, plan.signs.get(turn_id, {}))
        signs = ((name, round(value, 4)) for name, value in parts.items() if value)
        return tuple(sorted(signs, key=lambda sign: (-abs(sign[1]), sign[0])))

    def anchors(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the anchors of the query that the kept text holds, and those that it does not."""
        parts = self._plan.kept.values()
        held = {term for part in parts for side in (part.user, part.assistant) for term in count_terms(side)}
        folded = [f"{part.user}\n{part.assistant}".casefold() for part in parts]
        covered: dict[str, None] = {}
        uncovered: dict[str, None] = {}
        for anchor in self._plan.query.anchors:
            if anchor.kind in _SHOWN_KINDS:
                as_a_whole = anchor.kind in ("quote", "code")
                found = any(has_whole(anchor.term, text) for text in folded) if as_a_whole else anchor.term in held
                (covered if found else uncovered)[anchor.text] = None
        return tuple(covered), tuple(text for text in uncovered if text not in covered)

    def _no_candidate(self, turn_id: int) -> Decision:
        """Return the decision on a turn without a score, with up to three anchors that would give it one."""
        plan = self._plan
        matched = frozenset(plan.query.idf) & plan.terms_of(turn_id)
        anchors = [
            anchor
            for text in plan.records.text_of(turn_id)
            for anchor in extract_anchors(text)
            if anchor.kind in _SHOWN_KINDS and anchor.weight == 1.0
        ]
        common = background_frequencies()
        anchors.sort(key=lambda anchor: (anchor.kind in ("word", "pair"), common.get(anchor.term, 0.0)))
        names: dict[str, None] = {}
        for anchor in anchors:
            crossing = anchor.kind == "pair" and any(not set(anchor.text).isdisjoint(name) for name in names)
            if not crossing and len(names) < _NAMED:
                names[anchor.text] = None
        return Decision(
            turn_id=turn_id,
            outcome="dropped",
            stage="recall",
            why="not_a_candidate" if matched else "no_shared_anchor",
            topic_id=plan.topic_of(turn_id),
            tokens=plan.records.tokens_of(turn_id),
            shared=self._shared(matched),
            need=plan.needs.get(turn_id),
            signs=self._signs(turn_id),
            kept_with=tuple(names),
            meaning=plan.meaning.cosine(turn_id) if plan.meaning else None,
        )

    def _shared(self, terms: frozenset[str]) -> tuple[str, ...]:
        """Return the anchors of the query that a set of its terms stands for, as the query writes them."""
        texts = [a.text for a in self._plan.query.anchors if a.kind in _SHOWN_KINDS and a.term in terms]
        return tuple(dict.fromkeys(texts))

    def _written(self, turn_id: int, terms: frozenset[str]) -> tuple[str, ...]:
        """Return the words of a turn that a set of terms stands for, as the turn writes them."""
        texts = self._plan.records.text_of(turn_id) if terms else ()
        words = (anchor for text in texts for anchor in extract_anchors(text, limit=MAX_TURN_ANCHORS))
        return tuple(dict.fromkeys(anchor.text for anchor in words if anchor.term in terms))
