"""The plan of one selection: who may compete, in which order turns are taken, and what becomes of the rest.

One :class:`Planner` serves one query. It asks each stage once (scores, excerpts, values) and keeps the account: what
was kept, what is left of the budget, and a decision for every candidate.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.events import CANDIDATES, COVER
from gatekeeper_core.observation import stage
from gatekeeper_core.selection.anchors import MAX_TURN_ANCHORS, count_terms, extract_anchors, has_whole
from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.constraints import ConstraintConfig
from gatekeeper_core.selection.coverage import (
    Candidate,
    CoverageConfig,
    Valued,
    choose,
    coverage_without,
    value_candidates,
)
from gatekeeper_core.selection.result import Decision, SelectedTurn, Selection
from gatekeeper_core.selection.retrieval import RetrievalConfig, Score, score_turns
from gatekeeper_core.selection.topics import GateConfig
from gatekeeper_core.selection.trimming import Excerpt, TrimmingConfig, excerpt, tight_excerpt
from gatekeeper_core.token_estimate import budget_for, budget_within
from gatekeeper_core.tokens import describe_counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gatekeeper_core.selection.index import TurnIndex
    from gatekeeper_core.selection.records import Record
    from gatekeeper_core.selection.result import Stage, Why
    from gatekeeper_core.selection.retrieval import Query
    from gatekeeper_core.selection.topics import Judgement
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["GatekeeperConfig", "PlanConfig", "Planner"]

_SMALLEST_CUT = 40
_DEFAULT_GAP = 0.15  # 1 - eta where the floors hold as they are written
_YOUNG = 6  # turns; up to so many a switch is taken at its word
_REPEAT_OVERLAP = 0.7
_SHOWN_KINDS = frozenset({"word", "number", "identifier", "version", "pair", "date", "amount", "quote", "code"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanConfig:
    """How the turns of a topic compete with the evidence.

    The floors hold at the default ``eta`` of 0.85 and scale with ``1 - eta``.

    Attributes:
        staying_enough: probability of the active topic from which on its turns compete freely, 0..1; below it the
            evidence goes first. Source: ours.
        newest_share: share of the budget that the newest turns get after the evidence, 0..1. Source: ours; without
            a cap they displace evidence at small budgets.
        resumed_share: share of the budget that the newest turns of a topic get that the query goes back to, 0..1.
            Source: ours.
        newest_decay: what a turn of the active topic keeps of its weight per turn of age, 0..1. Source: ours.
        active_floor: weight below which a turn of the active topic is not taken, 0..1. Source: ours.
        other_floor: weight below which a turn of another topic is not taken, 0..1. Source: ours.
        relative_floor: share of the largest weight below which nothing is taken, 0..1. Source: ours.
        switch_floor: how much higher the floor of the active topic is on ``switch`` in a conversation of up to six
            turns, 0..1; in proportion less in a longer one. Source: ours.
        resumed_enough: probability of the topic that a query returns to, from which on its newest turns are taken after
            the evidence, too, within ``resumed_share``, 0..1. Source: ours.
        evidence_elsewhere: how much more of the query the best turn of another topic must hold than any turn of the
            active one, 0..1, so that a query that continues takes the evidence first and gives the newest turns no
            more than ``newest_share``. Source: ours.
        told_enough: share of the query that one turn holds, 0..1, from which on a switch that the query's own words
            have found takes the evidence alone, not the newest turns of a likely topic, too; so does a whole hit.
            Source: ours.
        referring_turns: turns taken first where the query points back, >= 1. Source: specification 5.3 (1 to 2).
    """

    staying_enough: float = 0.5
    newest_share: float = 0.25
    resumed_share: float = 0.5
    newest_decay: float = 0.94
    active_floor: float = 0.40
    other_floor: float = 0.25
    relative_floor: float = 0.30
    switch_floor: float = 0.45
    resumed_enough: float = 0.25
    evidence_elsewhere: float = 0.2
    told_enough: float = 0.6
    referring_turns: int = 2

    def __post_init__(self) -> None:
        check_range(self, "staying_enough", "newest_share", "resumed_share", "newest_decay", low=0, high=1)
        check_range(self, "active_floor", "other_floor", "relative_floor", low=0, high=1)
        check_range(self, "switch_floor", "resumed_enough", "evidence_elsewhere", "told_enough", low=0, high=1)
        check_range(self, "referring_turns", low=1, whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatekeeperConfig:
    """All settings of a gatekeeper, each beside its stage.

    Attributes:
        mode: ``minimal`` gives the smallest set, ``fill`` uses the budget, best turns first.
        trim: whether long messages are cut to the sentences that matter.
        retrieval: weights of the score, candidates.
        gate: thresholds of the topic gate.
        coverage: where selection stops, what length costs.
        trimming: what counts as long.
        plan: how the newest turns compete.
        constraints: cap of the constraint zone.
    """

    mode: Literal["minimal", "fill"] = "minimal"
    trim: bool = True
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    coverage: CoverageConfig = field(default_factory=CoverageConfig)
    trimming: TrimmingConfig = field(default_factory=TrimmingConfig)
    plan: PlanConfig = field(default_factory=PlanConfig)
    constraints: ConstraintConfig = field(default_factory=ConstraintConfig)

    def __post_init__(self) -> None:
        if self.mode not in ("minimal", "fill"):
            raise ConfigError(f'GatekeeperConfig.mode must be "minimal" or "fill", got {self.mode!r}')


class Planner:
    """Chooses the turns for one query; see the module :mod:`gatekeeper_core.selection.gatekeeper` for the rules."""

    def __init__(
        self,
        *,
        query: Query,
        judgement: Judgement,
        index: TurnIndex,
        records: Sequence[Record],
        history_tokens: int,
        token_budget: int,
        trim: bool,
        fill: bool,
        config: GatekeeperConfig,
        count: TokenCounter,
    ) -> None:
        self._query = query
        self._judgement = judgement
        self._topic_map = judgement.topic_map
        self._starts = judgement.topic_map.starts
        self._index = index
        self._records = records
        self._history_tokens = history_tokens
        self._given_budget = token_budget
        self._budget = budget_within(count, token_budget)
        self._trim = trim
        self._fill = fill
        self._config = config
        self._count = count
        self._turn_count = len(records)
        self._left = self._budget
        self._offered = 0
        self._kept: dict[int, Excerpt] = {}
        self._excerpts: dict[int, Excerpt] = {}
        self._terms: dict[int, frozenset[str]] = {}
        self._scores: dict[int, Score] = {}
        self._values: dict[int, float] = {}
        self._outcomes: dict[int, _Outcome] = {}

    def selection(self, constraints: Mapping[str, str]) -> Selection:
        """Return the selection of this query; call it once."""
        verdict = self._judgement.verdict
        with stage(CANDIDATES) as seen:
            candidates = self._candidates()
            seen.tell(lambda: {"turn_count": self._turn_count, "candidates": len(candidates)})
        with stage(COVER) as seen:
            if verdict.reason == "about_conversation":
                self._overview()
            else:
                if verdict.reason == "referring_word":
                    self._inherit()
                self._compete(candidates)
            if self._fill and verdict.reason not in ("new_topic", "explicit_switch"):
                self._surroundings()
            seen.tell(lambda: {"turns_kept": len(self._kept), "tokens": self._budget - self._left})
        return self._result(constraints)

    # --- who may compete -----------------------------------------------------------------------------------------

    def _candidates(self) -> list[Score]:
        """Return the scored turns that the gate and the cap leave, best first; the others get their decision."""
        limit = self._config.retrieval.candidates
        if self._fill and self._turn_count:
            limit = max(limit, 2 * self._budget * self._turn_count // max(1, self._history_tokens))
        depth = max(limit, self._config.coverage.pool)
        scores = score_turns(self._query, self._index, config=self._config.retrieval, depth=depth, texts=self._texts)
        self._scores = {score.turn_id: score for score in scores}
        passing: list[Score] = []
        others: list[Score] = []
        for score in scores:
            (passing if self._evidenced(score) else others).append(score)
        if self._fill and self._judgement.verdict.reason != "explicit_switch":
            passing, others = passing + others, []  # a verdict that may be wrong orders them, no more
        for score in others:
            self._drop(score.turn_id, "gate", "off_topic")
        self._value(passing, limit)
        for score in passing[limit:]:
            self._drop(score.turn_id, "recall", "not_a_candidate")
        return passing[:limit]

    def _evidenced(self, score: Score) -> bool:
        """Return whether a turn has the evidence to compete: any on ``continue``, real evidence on ``switch``.

        A return is a switch that the query's own evidence has found, so half as much is asked of a turn, and the topic
        that it goes back to competes as a whole. Where the user says that the topic is new, twice as much is asked.
        """
        share = self._config.gate.evidence_share
        verdict, enough = self._judgement.verdict, min(share, self._floor(share))
        if verdict.decision == "continue" or score.whole:
            return True
        if verdict.resumed_topic is None:
            return score.share >= min(1.0, enough * (2 if verdict.reason == "explicit_switch" else 1))
        return self._topic_of(score.turn_id) == verdict.resumed_topic or score.share >= enough / 2

    def _value(self, passing: Sequence[Score], limit: int) -> None:
        """Work out what each turn is worth; what an excerpt costs counts for those that may be taken."""
        known = max((score.share for score in passing), default=0.0)
        candidates = [
            Candidate(score.turn_id, self._evidence(score), self._cost(score.turn_id, place < limit))
            for place, score in enumerate(passing)
        ]
        coverage = replace(self._config.coverage, alpha=0.0) if self._fill else self._config.coverage
        self._values = dict(value_candidates(candidates, known=known, config=coverage))

    def _cost(self, turn_id: int, may_be_taken: bool) -> int:
        return self._excerpt(turn_id).tokens if may_be_taken and not self._fill else self._records[turn_id].tokens

    def _evidence(self, score: Score) -> float:
        """Return the score of a turn, raised by as much as its topic is likely to be the query's."""
        probability = self._judgement.probabilities.get(self._topic_of(score.turn_id), 0.0)
        return score.total * (1.0 + 0.5 * probability)

    # --- the ways to choose ----------------------------------------------------------------------------------------

    def _compete(self, candidates: Sequence[Score]) -> None:
        """Take turns by topic and evidence together; the evidence first where it speaks against the active topic."""
        verdict = self._judgement.verdict
        doubtful = verdict.staying < self._config.plan.staying_enough
        if verdict.decision == "switch":
            doubtful = doubtful or verdict.reason == "explicit_switch" or self._fill or self._told(candidates)
        else:
            doubtful = doubtful and (self._fill or verdict.reason != "referring_word")
            doubtful = doubtful or (self._fill and verdict.reason == "ambiguous")
            doubtful = doubtful or self._evidence_elsewhere(candidates)
        if not doubtful:
            self._by_topic(candidates)
            return
        self._cover(candidates)
        if verdict.decision == "continue":
            self._newest(self._topic_map.topic_count - 1, verdict.staying, floor=self._config.plan.active_floor)
        elif verdict.reason == "explicit_return" and verdict.resumed_topic is not None:
            self._newest(verdict.resumed_topic, 1.0, floor=self._config.plan.resumed_enough)
        elif verdict.reason in ("new_topic", "return") and not self._fill and not self._told(candidates):
            self._likely_topics()

    def _told(self, candidates: Sequence[Score]) -> bool:
        """Return whether one turn holds most of what the query tells, or something of it word for word."""
        return any(score.whole or score.share >= self._config.plan.told_enough for score in candidates)

    def _likely_topics(self) -> None:
        """Take the newest turns of the topics that a query may belong to all the same: a wrong switch is cheap."""
        verdict, plan = self._judgement.verdict, self._config.plan
        self._newest(self._topic_map.topic_count - 1, verdict.staying, floor=self._active_floor())
        if verdict.resumed_topic is not None and self._turn_count > _YOUNG:
            probability = self._judgement.probabilities.get(verdict.resumed_topic, 0.0)
            self._newest(verdict.resumed_topic, probability, floor=plan.resumed_enough)

    def _cover(self, candidates: Sequence[Score]) -> None:
        """Take the evidence, by value, until it is covered."""
        open_ones = [score for score in candidates if score.turn_id not in self._kept]
        order = sorted(
            (score for score in open_ones if score.turn_id in self._values),
            key=lambda score: (-self._values[score.turn_id], -score.turn_id),
        )
        rest = choose(
            [Valued(score.turn_id, self._values[score.turn_id]) for score in order],
            eta=2.0 if self._fill else self._config.coverage.eta,
            take=lambda turn_id: self._take(turn_id, "cover", "evidence"),
        )
        worthless = [score.turn_id for score in open_ones if score.turn_id not in self._values]  # by weights of 0
        for turn_id in [*(each.turn_id for each in rest), *worthless]:
            self._drop(turn_id, "cover", "enough")

    def _evidence_elsewhere(self, candidates: Sequence[Score]) -> bool:
        """Return whether the best turn of all is of another topic and tells much more than any of the active one."""
        if not candidates or self._topic_of(candidates[0].turn_id) == self._judgement.verdict.active_topic:
            return False
        active = self._judgement.verdict.active_topic
        known = max((score.share for score in candidates if self._topic_of(score.turn_id) == active), default=0.0)
        return candidates[0].share - known >= self._config.plan.evidence_elsewhere

    def _by_topic(self, candidates: Sequence[Score]) -> None:
        """Take turns by the weight of their topic and their evidence, until neither is worth it."""
        plan, weights = self._config.plan, self._topic_weights(candidates)
        largest, active_floor = max(weights.values(), default=0.0), self._active_floor()
        for turn_id in sorted(weights, key=lambda turn: (-weights[turn], -turn)):
            topic, score = self._topic_of(turn_id), self._scores.get(turn_id)
            active = topic == self._judgement.verdict.active_topic
            floor = self._floor(max(active_floor if active else plan.other_floor, plan.relative_floor * largest))
            full = not self._fill and len(self._kept) >= self._config.retrieval.candidates
            if not full and (weights[turn_id] >= floor or self._fill or (score and score.whole)):
                why: Why = "active_topic" if active else "evidence" if score else "resumed_topic"
                self._take(turn_id, "cover" if why == "evidence" else "topic", why)
            elif score:
                self._drop(turn_id, "topic", "enough")

    def _active_floor(self) -> float:
        """Return the floor of the active topic: on ``switch`` the higher, the younger the conversation.

        A young one is mostly one topic, and a switch is taken at its word; in a longer one the topic may well go on.
        """
        plan = self._config.plan
        if self._judgement.verdict.decision == "continue":
            return plan.active_floor
        return min(1.0, plan.active_floor + plan.switch_floor * min(1.0, _YOUNG / max(1, self._turn_count)))

    def _topic_weights(self, candidates: Sequence[Score]) -> dict[int, float]:
        """Return by turn how likely it belongs to what the query is about, with a share for its own evidence."""
        active, best = self._topic_map.topic_count - 1, max((score.total for score in candidates), default=0.0)
        weights = {score.turn_id: score.total / best if best else 0.0 for score in candidates}
        probabilities, resumed = self._topic_probabilities(), self._judgement.verdict.resumed_topic
        for topic, probability in probabilities.items():
            if topic in (active, resumed) and (topic == active or probability >= self._config.plan.resumed_enough):
                weights.update((turn_id, weights.get(turn_id, 0.0)) for turn_id in self._newest_of(topic))
        for turn_id, evidence in weights.items():
            topic = self._topic_of(turn_id)
            if topic == active:
                share = self._config.plan.newest_decay ** (self._turn_count - 1 - turn_id)
            else:
                share = 0.8 + 0.2 * evidence
            weights[turn_id] = round(probabilities.get(topic, 0.0) * share + 0.2 * evidence, 6)
        return weights

    def _topic_probabilities(self) -> Mapping[int, float]:
        """Return by topic how likely it is the query's; the active one is out where the user says that he returns."""
        verdict, probabilities = self._judgement.verdict, self._judgement.probabilities
        if verdict.reason != "explicit_return":
            return probabilities
        earlier = {k: value for k, value in probabilities.items() if k != verdict.active_topic}
        total = sum(earlier.values())
        return {k: value / total for k, value in earlier.items()} if total else {}

    def _floor(self, at_default: float) -> float:
        """Return a floor of the plan at the ``eta`` in force: ``eta`` is the one knob between few turns and many."""
        return min(1.0, at_default * (1.0 - self._config.coverage.eta) / _DEFAULT_GAP)

    def _inherit(self) -> None:
        """Take the newest turns that a referring word points at; the first of them is cut rather than dropped."""
        for age in range(min(self._config.plan.referring_turns, self._turn_count)):
            self._take(self._turn_count - 1 - age, "inherit", "referring_word")

    def _newest(self, topic_id: int, weight: float, *, floor: float) -> None:
        """Take the newest turns of a topic, within their share of the budget, while their weight is enough."""
        active, plan = topic_id == self._judgement.verdict.active_topic, self._config.plan
        share = plan.newest_share if active else plan.resumed_share
        room = self._left if self._fill else min(self._left, int(self._budget * share))
        why: Why = "active_topic" if active else "resumed_topic"
        for turn_id in self._newest_of(topic_id):
            if weight < self._floor(floor) and not self._fill:
                return
            if turn_id not in self._kept:
                if self._excerpt(turn_id).tokens > room:
                    return
                if self._take(turn_id, "topic", why):
                    room -= self._kept[turn_id].tokens
            weight *= self._config.plan.newest_decay

    def _surroundings(self) -> None:
        """Take the turns next to the evidence, the most valuable evidence first.

        A larger budget keeps more evidence, whose own neighbours then come first: they count as offered before.
        """
        evidence = [turn_id for turn_id in self._kept if turn_id in self._values]
        evidence.sort(key=lambda turn_id: (-self._values[turn_id], -turn_id))
        reached = {near for turn_id in evidence for near in self._next_to(turn_id)}
        elsewhere = {near for turn_id in self._values for near in self._next_to(turn_id)} - reached
        self._offered += sum(self._records[near].tokens for near in elsewhere if near not in self._outcomes)
        for turn_id in evidence:
            for near in self._next_to(turn_id):
                self._take(near, "cover", "neighbour")

    def _next_to(self, turn_id: int) -> list[int]:
        return [near for near in (turn_id + 1, turn_id - 1) if 0 <= near < self._turn_count]

    def _overview(self) -> None:
        """Take the last and the first turn, then the first turn of each topic, newest topic first."""
        if not self._turn_count:
            return
        order = dict.fromkeys([self._turn_count - 1, 0, *reversed(self._starts)])
        allowance = max(_SMALLEST_CUT, self._budget // len(order))
        for turn_id in order:
            self._take(turn_id, "overview", "overview", allowance=allowance)

    def _newest_of(self, topic_id: int) -> Iterable[int]:
        """Return the newest 40 turns of a topic, newest first."""
        if topic_id < 0:
            return ()
        topic = self._topic_map.topic(topic_id)
        return range(topic.stop - 1, max(topic.start, topic.stop - 40) - 1, -1)

    # --- taking and dropping -----------------------------------------------------------------------------------------

    def _take(self, turn_id: int, stage: Stage, why: Why, *, allowance: int | None = None) -> bool:
        """Keep a turn if it fits, cut if need be, and return whether it was kept."""
        if turn_id in self._kept:
            return False
        if self._repeats_kept(turn_id):
            self._drop(turn_id, stage, "repeat")
            return False
        room = self._left if allowance is None else min(self._left, allowance)
        part = self._excerpt(turn_id)
        self._offered += part.tokens
        if part.tokens > room:
            cut = self._tight(turn_id, room) if self._trim else None
            part = cut if cut is not None else part
        if part.tokens > (room if self._kept else self._left):
            self._drop(turn_id, stage, "no_room")
            return False
        self._kept[turn_id] = part
        self._outcomes[turn_id] = _Outcome(stage, why, part.tokens, self._offered)
        self._left -= part.tokens
        return True

    def _tight(self, turn_id: int, room: int) -> Excerpt | None:
        whole, source = self._whole(turn_id), self._records[turn_id].source
        smallest = _SMALLEST_CUT if source else min(_SMALLEST_CUT, whole.tokens // 4)
        if room < smallest or self._stays_whole(turn_id):
            return None
        return tight_excerpt(
            whole,
            self._query,
            budget_tokens=room,
            config=self._config.trimming,
            count=self._count,
            source=source,
        )

    def _stays_whole(self, turn_id: int) -> bool:
        """Return whether a turn is the newest of a list of messages: it is sent as it is, if the budget can hold it."""
        record = self._records[turn_id]
        return turn_id == self._turn_count - 1 and record.source is not None and record.tokens <= self._budget

    def _repeats_kept(self, turn_id: int) -> bool:
        """Return whether a turn says nothing that a kept one does not: same shared anchors, nearly the same terms."""
        score = self._scores.get(turn_id)
        if score is None:
            return False
        for kept in self._kept:
            other = self._scores.get(kept)
            if other is not None and score.matched == other.matched and self._alike(turn_id, kept):
                return True
        return False

    def _alike(self, one: int, other: int) -> bool:
        lengths = sorted(len(self._records[turn].user) + len(self._records[turn].assistant) for turn in (one, other))
        if lengths[0] < _REPEAT_OVERLAP * lengths[1]:
            return False
        first, second = self._terms_of(one), self._terms_of(other)
        return len(first & second) >= _REPEAT_OVERLAP * len(first | second)

    def _terms_of(self, turn_id: int) -> frozenset[str]:
        if turn_id not in self._terms:
            record = self._records[turn_id]
            self._terms[turn_id] = frozenset(count_terms(record.user)) | frozenset(count_terms(record.assistant))
        return self._terms[turn_id]

    def _drop(self, turn_id: int, stage: Stage, why: Why) -> None:
        self._outcomes[turn_id] = _Outcome(stage, why, None, self._offered)

    # --- what is looked up -------------------------------------------------------------------------------------------

    def _topic_of(self, turn_id: int) -> int:
        return bisect_right(self._starts, turn_id) - 1

    def _texts(self, turn_id: int) -> tuple[str, str]:
        record = self._records[turn_id]
        return record.user, record.assistant

    def _whole(self, turn_id: int) -> Excerpt:
        record = self._records[turn_id]
        return Excerpt(record.user, record.assistant, record.tokens_user, record.tokens_assistant)

    def _excerpt(self, turn_id: int) -> Excerpt:
        if turn_id not in self._excerpts:
            part, source = self._whole(turn_id), self._records[turn_id].source
            if self._trim and not self._stays_whole(turn_id):
                part = excerpt(part, self._query, config=self._config.trimming, count=self._count, source=source)
            self._excerpts[turn_id] = part
        return self._excerpts[turn_id]

    def _shared(self, terms: frozenset[str]) -> tuple[str, ...]:
        """Return the anchors of the query that a set of its terms stands for, as the query writes them."""
        texts = [a.text for a in self._query.anchors if a.kind in _SHOWN_KINDS and a.term in terms]
        return tuple(dict.fromkeys(texts))

    def _written(self, turn_id: int, terms: frozenset[str]) -> tuple[str, ...]:
        """Return the words of a turn that a set of terms stands for, as the turn writes them."""
        if not terms:
            return ()
        words = (anchor for text in self._texts(turn_id) for anchor in extract_anchors(text, limit=MAX_TURN_ANCHORS))
        return tuple(dict.fromkeys(anchor.text for anchor in words if anchor.term in terms))

    # --- the account of it -------------------------------------------------------------------------------------------

    def decisions(self) -> tuple[Decision, ...]:
        """Return a decision for each candidate and each kept turn, by turn."""
        return tuple(self._decided(turn_id) for turn_id in sorted(self._outcomes))

    def decision(self, turn_id: int) -> Decision:
        """Return the decision on any turn, also on one that was no candidate."""
        return self._decided(turn_id) if turn_id in self._outcomes else self._undecided(turn_id)

    # --- the result --------------------------------------------------------------------------------------------------

    def _result(self, constraints: Mapping[str, str]) -> Selection:
        missing = [
            value
            for turn_id, value in self._values.items()
            if turn_id not in self._kept and self._why(turn_id) not in ("repeat", "not_a_candidate")
        ]
        turns = tuple(
            SelectedTurn(turn_id, part.user, part.assistant, part.tokens, part.trimmed, part.cuts)
            for turn_id, part in sorted(self._kept.items())
        )
        return Selection(
            query=self._query.text,
            turns=turns,
            tokens=sum(turn.tokens for turn in turns),
            token_budget=self._given_budget,
            history_tokens=self._history_tokens,
            turn_count=self._turn_count,
            gate=self._judgement.verdict,
            coverage=coverage_without(max(missing, default=0.0)),
            constraints=dict(constraints),
            smallest_needed_tokens=self._smallest_needed(),
            order=tuple(self._kept),
            **describe_counter(self._count),
            _account=self,
        )

    def _why(self, turn_id: int) -> Why | None:
        outcome = self._outcomes.get(turn_id)
        return outcome.why if outcome else None

    def _smallest_needed(self) -> int | None:
        """Return what the smallest candidate would have needed, where there are candidates and none fitted."""
        if self._kept:
            return None
        refused = [turn_id for turn_id, outcome in self._outcomes.items() if outcome.why == "no_room"]
        needed = min((self._excerpt(turn_id).tokens for turn_id in refused), default=None)
        return None if needed is None else budget_for(self._count, needed)

    def anchors(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the anchors of the query that the kept text holds, and those that it does not."""
        held: set[str] = set()
        for part in self._kept.values():
            held.update(count_terms(part.user), count_terms(part.assistant))
        folded = [f"{part.user}\n{part.assistant}".casefold() for part in self._kept.values()]
        covered: dict[str, None] = {}
        uncovered: dict[str, None] = {}
        for anchor in self._query.anchors:
            if anchor.kind not in _SHOWN_KINDS:
                continue
            found = anchor.term in held
            if anchor.kind in ("quote", "code"):
                found = any(has_whole(anchor.term, text) for text in folded)
            (covered if found else uncovered)[anchor.text] = None
        return tuple(covered), tuple(text for text in uncovered if text not in covered)

    def _decided(self, turn_id: int) -> Decision:
        """Return the decision on a turn that was a candidate or was kept."""
        stage, why, tokens, offered = self._outcomes[turn_id]
        score, value, part = self._scores.get(turn_id), self._values.get(turn_id), self._kept.get(turn_id)
        return Decision(
            turn_id=turn_id,
            outcome="dropped" if part is None else "trimmed" if part.trimmed else "kept",
            stage=stage,
            why=why,
            topic_id=self._topic_of(turn_id),
            tokens=self._excerpt(turn_id).tokens if tokens is None else tokens,
            shared=self._shared(score.matched if score else frozenset()),
            related=self._written(turn_id, score.related) if score else (),
            score=score,
            value=value,
            kept_from_tokens=budget_for(self._count, offered) if why == "no_room" else None,
            kept_from_eta=_eta_above(value) if why == "enough" and stage == "cover" else None,
        )

    def _undecided(self, turn_id: int) -> Decision:
        """Return the decision on a turn that was no candidate."""
        record, terms = self._records[turn_id], self._terms_of(turn_id)
        matched = frozenset(term for term in self._query.idf if term in terms)
        return Decision(
            turn_id=turn_id,
            outcome="dropped",
            stage="recall",
            why="not_a_candidate" if matched else "no_shared_anchor",
            topic_id=self._topic_of(turn_id),
            tokens=record.tokens,
            shared=self._shared(matched),
            kept_with=_telling_anchors(record),
        )


class _Outcome(NamedTuple):
    """What became of a turn: the stage and the reason, its tokens, and those of all turns offered up to it.

    The tokens of a turn that was dropped are worked out when they are asked for.
    """

    stage: Stage
    why: Why
    tokens: int | None
    offered: int


def _eta_above(value: float | None) -> float | None:
    """Return the smallest ``eta``, to four digits, that does not stop before a candidate of this value."""
    return None if value is None else min(1.0, round(coverage_without(value) + 0.0001, 4))


def _telling_anchors(record: Record) -> tuple[str, ...]:
    """Return up to three anchors of a turn that would find it, as they are written there, the most specific first."""
    common = background_frequencies()
    anchors = [
        anchor
        for text in (record.user, record.assistant)
        for anchor in extract_anchors(text)
        if anchor.kind in _SHOWN_KINDS and anchor.weight == 1.0
    ]
    anchors.sort(key=lambda anchor: (anchor.kind in ("word", "pair"), common.get(anchor.term, 0.0)))
    return tuple(dict.fromkeys(anchor.text for anchor in anchors))[:3]
