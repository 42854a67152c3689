"""The plan of one selection: which turns go along, in which order and form, and what becomes of the rest.

One :class:`Planner` serves one query. In ``minimal`` mode it takes, in this order:

1. **the newest turn**, by the link that the gate has read: its excerpt, a snippet, or nothing;
2. **the turns before it**, as far back as the question points: each link of the chain weakens it;
3. **evidence**, by value, until the rest is not worth its tokens; a turn that holds little of the question goes as a
   snippet;
4. **what follows the evidence**: the turns that go on with it, where the question asks for the newest state, and the
   answer, where it ends with a question;
5. **an overview**, where the question asks what was said: a snippet of each turn.

In ``fill`` mode the same turns come first and the rest of the budget is filled with their surroundings.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.events import CANDIDATES, COVER
from gatekeeper_core.observation import stage
from gatekeeper_core.selection.anchors import MAX_TURN_ANCHORS, count_terms, extract_anchors, has_whole
from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.constraints import ConstraintConfig
from gatekeeper_core.selection.coverage import CoverageConfig, coverage_without, likeness, value_of, worths
from gatekeeper_core.selection.information import LEAST_INFORMATION, information, is_generic
from gatekeeper_core.selection.records import Record, ends_open
from gatekeeper_core.selection.result import Decision, SelectedTurn, Selection
from gatekeeper_core.selection.retrieval import RetrievalConfig, Score, score_turns
from gatekeeper_core.selection.topics import GateConfig
from gatekeeper_core.selection.trimming import Excerpt, TrimmingConfig, excerpt, one_side, tight_excerpt
from gatekeeper_core.token_estimate import budget_for, budget_within
from gatekeeper_core.tokens import describe_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gatekeeper_core.selection.cues import Cues
    from gatekeeper_core.selection.index import TurnIndex
    from gatekeeper_core.selection.result import Stage, Why
    from gatekeeper_core.selection.retrieval import Query
    from gatekeeper_core.selection.verdicts import Verdict
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["GatekeeperConfig", "Planner"]

_FORMED_ABOVE = 0.0225  # value from which on a turn goes as its excerpt: that of a coverage of 0.85
CHAIN_STEP = 0.7
"""What the need for a turn keeps of the need for the turn after it, if that hangs on it wholly. Source: ours."""

_CHAIN_ABOVE = 0.3
_CHAIN_TURNS = 3
_STATE_LINK = 0.4
_FOLLOWED = 2  # of the best evidence
_WEAK_SHARE = 0.01  # of the query's information, with each doubling of the turns: more of them share a word by chance
_WEAK_TURNS = 2
_NEWEST_TOKENS = 350
_UNCUT_TOKENS = 1_000  # up to which a turn that cannot be cut is taken in place of a snippet
_OVERVIEW_TOKENS = 40
_SMALLEST_CUT = 40  # tokens; less of a turn made of messages says nothing
_MISSES = 8  # turns that do not fit before the budget counts as full
_RESTATED = 0.6  # likeness from which on the newer turn stands for the older
_REPEATED = 0.5  # novelty below which a turn that was not taken counts as a repeat
_SHOWN_KINDS = frozenset({"word", "number", "identifier", "version", "pair", "date", "amount", "quote", "code"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GatekeeperConfig:
    """All settings of a gatekeeper, each beside its stage.

    Attributes:
        mode: ``minimal`` gives the smallest set, ``fill`` uses the budget, best turns first.
        trim: whether long messages are cut to the sentences that matter.
        retrieval: weights of the score, candidates.
        gate: thresholds of the topic gate and of the link to the newest turn.
        coverage: what counts as evidence, where selection stops, what length costs.
        trimming: what counts as long, and how much is left of it.
        constraints: cap of the constraint zone.
    """

    mode: Literal["minimal", "fill"] = "minimal"
    trim: bool = True
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    coverage: CoverageConfig = field(default_factory=CoverageConfig)
    trimming: TrimmingConfig = field(default_factory=TrimmingConfig)
    constraints: ConstraintConfig = field(default_factory=ConstraintConfig)

    def __post_init__(self) -> None:
        if self.mode not in ("minimal", "fill"):
            raise ConfigError(f'GatekeeperConfig.mode must be "minimal" or "fill", got {self.mode!r}')


class Planner:
    """Chooses the turns for one query; see the module for the order.

    Args:
        query: what is looked for, expanded.
        cues: those of its wording.
        verdict: the gate's verdict on it, with its link to the newest turn.
        starts: the first turn of each topic, ascending.
        links: gives how firmly the user's text of a turn hung on the turn before it, 0..1.
        index: the conversation's index.
        records: its turns.
        history_tokens: what all turns cost.
        token_budget: what the chosen ones may cost.
        trim: whether long messages are cut.
        config: the settings.
        count: the token counter.
    """

    def __init__(
        self,
        *,
        query: Query,
        cues: Cues,
        verdict: Verdict,
        starts: Sequence[int],
        links: Callable[[int], float],
        index: TurnIndex,
        records: Sequence[Record],
        history_tokens: int,
        token_budget: int,
        trim: bool,
        config: GatekeeperConfig,
        count: TokenCounter,
    ) -> None:
        self._query = query
        self._cues = cues
        self._verdict = verdict
        self._starts = starts
        self._links = links
        self._index = index
        self._records = records
        self._history_tokens = history_tokens
        self._given_budget = token_budget
        self._budget = budget_within(count, token_budget)
        self._trim = trim
        self._fill = config.mode == "fill"
        self._config = config
        self._count = count
        self._newest = len(records) - 1
        self._left = self._budget
        self._offered = 0
        self._kept: dict[int, Excerpt] = {}
        self._excerpts: dict[int, Excerpt] = {}
        self._cuts: dict[tuple[int, int], Excerpt | None] = {}
        self._terms: dict[int, frozenset[str]] = {}
        self._scores: dict[int, Score] = {}
        self._worths: dict[int, float] = {}
        self._weak: frozenset[int] = frozenset()
        self._as_snippet: set[int] = set()
        self._novelties: dict[int, tuple[int, float]] = {}
        self._open: list[tuple[float, int]] = []
        self._told: tuple[int, ...] = ()
        self._missing = 0.0
        self._etas: dict[int, float] | None = None
        self._values: dict[int, float] = {}
        self._outcomes: dict[int, _Outcome] = {}
        self._looks_back = self._cues.about_conversation or self._cues.asked_before

    def selection(self, constraints: Mapping[str, str]) -> Selection:
        """Return the selection of this query; call it once."""
        with stage(CANDIDATES) as seen:
            self._candidates()
            seen.tell(lambda: {"turn_count": len(self._records), "candidates": len(self._worths)})
        with stage(COVER) as seen:
            if self._newest >= 0:
                self._continuity()
                evidence = self._cover()
                self._resumed()
                self._what_follows(evidence)
                if self._looks_back:
                    self._overview()
                if self._fill and not self._cues.switch:
                    self._surroundings()
            seen.tell(lambda: {"turns_kept": len(self._kept), "tokens": self._budget - self._left})
        return self._result(constraints)

    # --- who may compete -----------------------------------------------------------------------------------------

    def _candidates(self) -> None:
        """Score the turns, and set apart those that hold little of the question and those beyond the cap."""
        limit = self._config.retrieval.candidates
        if self._fill and self._records:
            limit = max(limit, 2 * self._budget * len(self._records) // max(1, self._history_tokens))
        scores = score_turns(self._query, self._index, config=self._config.retrieval, depth=limit, texts=self._texts)
        self._scores = {score.turn_id: score for score in scores}
        told = self._told_by(scores)
        enough, least = self._floors(scores, told)
        for score in scores[limit:]:
            self._drop(score.turn_id, "recall", "not_a_candidate")
        worth = worths(scores, sharpness=self._config.coverage.sharpness)
        for score in scores[:limit]:
            if score.whole or (told[score.turn_id] >= least and not self._shares_by_chance(score)):
                self._worths[score.turn_id] = worth.get(score.turn_id, 0.0)
            else:
                self._drop(score.turn_id, "cover", "little_evidence")
        whole = {score.turn_id for score in scores if score.whole}
        self._weak = frozenset(turn_id for turn_id in self._worths if told[turn_id] < enough and turn_id not in whole)

    def _told_by(self, scores: Sequence[Score]) -> dict[int, float]:
        """Return by turn the share of the query's information that it holds, 0..1; a related term counts its credit."""
        worth = information((term for term in self._query.idf if term not in self._query.earlier), self._index)
        mass = max(math.fsum(worth.values()), LEAST_INFORMATION)
        credit_of = {related.term: (related.stands_for, related.credit) for related in self._query.related}
        told = {}
        for score in scores:
            held = dict.fromkeys(score.matched, 1.0)
            for term in score.related:
                own, credit = credit_of[term]
                held[own] = max(held.get(own, 0.0), credit)
            told[score.turn_id] = round(
                math.fsum(worth.get(term, 0.0) * credit for term, credit in held.items()) / mass, 6
            )
        return told

    def _floors(self, scores: Sequence[Score], told: Mapping[int, float]) -> tuple[float, float]:
        """Return the share of the query that is evidence, and the share that is worth a snippet."""
        enough = self._config.coverage.evidence_share
        if self._cues.switch:
            return min(1.0, 3 * enough), min(1.0, 3 * enough)
        if self._fill:
            return 0.0, 0.0  # what is left of the budget costs nothing
        if self._cues.back or any(
            score.whole or told[score.turn_id] >= enough for score in scores if score.turn_id != self._newest
        ):
            enough /= 2
        return enough, min(enough, _WEAK_SHARE * math.log2(len(self._records) + 1))

    def _shares_by_chance(self, score: Score) -> bool:
        """Return whether a turn of another topic shares only generic terms with a question that hangs on the newest."""
        if self._fill or self._verdict.link < self._config.gate.whole_above or score.related:
            return False
        return self._topic_of(score.turn_id) < len(self._starts) - 1 and all(map(is_generic, score.matched))

    # --- the ways to choose ----------------------------------------------------------------------------------------

    def _continuity(self) -> None:
        """Take the newest turn and those before it, as firmly as the question hangs on them."""
        gate, need = self._config.gate, self._verdict.link
        if self._cues.switch or need < gate.snippet_above:
            return
        if need < gate.whole_above or self._looks_back:  # an overview has room for a snippet of each
            self._take_snippet(self._newest, "link", "newest_turn")
            return
        whole = self._excerpt(self._newest)
        self._take(self._newest, self._at_most(whole, self._newest, _NEWEST_TOKENS), "link", "newest_turn")
        vague = not self._verdict.overlap or self._cues.referring or self._cues.said
        if vague and self._newest > self._starts[-1]:  # it may point further back
            self._take_snippet(self._newest - 1, "link", "earlier_turn")
        for turn_id in range(self._newest - 1, max(-1, self._newest - 1 - _CHAIN_TURNS), -1):
            need *= CHAIN_STEP * self._links(turn_id + 1)
            if need < _CHAIN_ABOVE:
                return
            self._take(turn_id, self._form(turn_id), "link", "earlier_turn")

    def _cover(self) -> list[int]:
        """Take the evidence, by value, until it is covered; return what was offered, the most valuable first."""
        eta = 2.0 if self._fill else self._config.coverage.eta
        self._open = [(-self._bound(turn_id), -turn_id) for turn_id in self._worths if turn_id not in self._kept]
        heapify(self._open)
        offered: list[int] = []  # with or without room, or a larger budget would offer others before the rest
        weak = 0
        while self._open:
            turn_id, value = self._most_valuable(self._open, list(self._kept))
            if coverage_without(value) >= eta:
                heappush(self._open, (-value, -turn_id))
                self._missing = value
                break
            weak += turn_id in self._weak
            if turn_id in self._weak and weak > _WEAK_TURNS:
                self._drop(turn_id, "cover", "little_evidence")
            else:
                offered.append(turn_id)
                if not self._take(turn_id, self._form(turn_id), "cover", "evidence"):
                    self._missing = max(self._missing, value)
        self._told = tuple(self._kept)
        for _, negative in self._open:
            self._drop(-negative, "cover", "enough")
        return offered

    def _most_valuable(self, candidates: list[tuple[float, int]], told: Sequence[int]) -> tuple[int, float]:
        """Take the candidate of the highest value out of a heap; the newest of those that say nearly the same.

        Each waits by a value that it cannot exceed and is valued again when it comes up: novelty only falls. Source:
        Minoux 1978, "Accelerated greedy algorithms for maximizing submodular set functions".

        Args:
            candidates: the heap, not empty: negative values and turns.
            told: the turns that are kept.
        """
        while True:
            bound, negative = heappop(candidates)
            value = self._value(-negative, told)
            if value < -bound and candidates and (-value, negative) > candidates[0]:
                heappush(candidates, (-value, negative))
                continue
            newer = [other for other in candidates if self._restates(-other[1], -negative)]
            if newer:
                heappush(candidates, (-value, negative))
                candidates.remove(min(newer, key=itemgetter(1)))
                heapify(candidates)
                negative = min(other for _, other in newer)
            self._values[-negative] = value
            return -negative, value

    def _restates(self, turn_id: int, other: int) -> bool:
        """Return whether a turn says again, or with a newer value, what an older one says."""
        if turn_id < other or not self._may_repeat(turn_id, other):
            return False
        terms, old = self._terms_of(turn_id), self._terms_of(other)
        return len(terms) >= len(old) and likeness(terms, old) >= _RESTATED

    def _value(self, turn_id: int, told: Sequence[int]) -> float:
        """Return the value of a candidate beside the turns that are kept, and note what is to be sent of it."""
        alpha, worth = self._config.coverage.alpha, self._worths[turn_id] * self._novelty(turn_id, told)
        if turn_id not in self._weak or not self._long(turn_id):
            self._as_snippet.discard(turn_id)
            value = value_of(worth, self._price(turn_id), alpha=alpha)
            if self._fill or not self._long(turn_id) or value > _FORMED_ABOVE:
                return value
        self._as_snippet.add(turn_id)
        return value_of(worth, self._price(turn_id), alpha=alpha)

    def _price(self, turn_id: int) -> int:
        """Return what a candidate costs in the form that is noted for it, at most."""
        record, trimming = self._records[turn_id], self._config.trimming
        if self._fill:
            return record.tokens
        if record.source is not None:  # not every message can be cut
            return self._form(turn_id).tokens
        return (
            self._least(turn_id)
            if turn_id in self._as_snippet
            else min(self._excerpt(turn_id).tokens, trimming.max_tokens)
        )

    def _bound(self, turn_id: int) -> float:
        """Return the value that a turn has at most: new, and at the price of its cheapest form."""
        cheap = self._trim and not self._fill and (self._long(turn_id) or self._index.speakers.are_two_people())
        return value_of(
            self._worths[turn_id], 1 if cheap else self._records[turn_id].tokens, alpha=self._config.coverage.alpha
        )

    def _novelty(self, turn_id: int, told: Sequence[int]) -> float:
        """Return what the kept turns leave of a turn's worth, 0..1; a longer row of them goes on with the last one."""
        seen, novelty = self._novelties.get(turn_id, (0, 1.0))
        for other in told[seen:]:
            if self._restates(other, turn_id):
                novelty = 0.0
            elif self._may_repeat(turn_id, other):
                novelty *= 1.0 - likeness(self._terms_of(turn_id), self._terms_of(other)) ** 2
        self._novelties[turn_id] = len(told), novelty
        return novelty

    def _may_repeat(self, turn_id: int, other: int) -> bool:
        """Return whether two turns may be alike: with the same hits, and neither twice as long as the other."""
        score, kept = self._scores.get(turn_id), self._scores.get(other)
        if score is None or kept is None or score.matched != kept.matched:
            return False
        short, long = sorted(self._records[turn].tokens for turn in (turn_id, other))
        return 2 * short >= long

    def _resumed(self) -> None:
        """Take the newest turn of the topic that the user goes back to, where nothing of it is evidence."""
        topic = self._verdict.resumed_topic
        if topic is None or self._verdict.reason != "explicit_return":
            return
        start, stop = self._starts[topic], self._starts[topic + 1]
        if not any(start <= turn_id < stop for turn_id in self._kept):
            self._take(stop - 1, self._form(stop - 1), "link", "earlier_turn")

    def _what_follows(self, evidence: Sequence[int]) -> None:
        """Take what belongs to the best evidence and comes after it.

        Where the question asks for the newest state of a thing, the turns that go on with it: a draft is in the turn
        that changed it last. Where a turn ends with a question, the turn that answers it.
        """
        for turn_id in evidence[:_FOLLOWED] if self._cues.newest_state else ():
            for later in range(turn_id + 1, min(self._newest, turn_id + _CHAIN_TURNS) + 1):
                if self._links(later) < _STATE_LINK:
                    break
                self._take(later, self._form(later), "link", "later_turn")
        for turn_id in evidence[: 2 * _FOLLOWED]:
            if turn_id < self._newest and ends_open(self._records[turn_id]):
                self._take_snippet(turn_id + 1, "link", "later_turn")

    def _overview(self) -> None:
        """Take a snippet of each turn, as far as candidates go: both ends, what opens a topic, then the newest."""
        limit = self._config.retrieval.candidates
        openings, newest = self._starts[: -limit - 1 : -1], range(self._newest, self._newest - limit, -1)
        order = dict.fromkeys([self._newest, 0, *openings, *(turn_id for turn_id in newest if turn_id > 0)])
        for turn_id in list(order)[:limit]:
            self._take_snippet(turn_id, "overview", "overview", tokens=_OVERVIEW_TOKENS)

    def _surroundings(self) -> None:
        """Fill the budget: the newest turn, the turns next to the evidence, then the newest ones.

        The order is that of all candidates, kept or not, so that a larger budget offers nothing else first.
        """
        evidence = sorted(self._worths, key=lambda turn: (-self._worths[turn], -turn))
        near = [beside for turn_id in evidence for beside in (turn_id + 1, turn_id - 1)]
        near = [turn_id for turn_id in near if 0 <= turn_id <= self._newest]
        misses = 0
        for turn_id in chain([self._newest], near, range(self._newest, -1, -1)):
            if turn_id not in self._kept and not self._take(turn_id, self._excerpt(turn_id), "cover", "neighbour"):
                misses += 1
                if misses > _MISSES:
                    return

    # --- what is sent of a turn --------------------------------------------------------------------------------------

    def _form(self, turn_id: int) -> Excerpt:
        """Return what is sent of a turn: its excerpt, or a snippet where it is noted for that."""
        if turn_id in self._as_snippet:
            return self._snippet(turn_id)
        part = self._excerpt(turn_id)
        return part if self._fill else self._at_most(part, turn_id, self._config.trimming.max_tokens)

    def _excerpt(self, turn_id: int) -> Excerpt:
        if turn_id not in self._excerpts:
            part, source = self._whole(turn_id), self._records[turn_id].source
            if self._trim and not self._stays_whole(turn_id):
                part = excerpt(part, self._query, config=self._config.trimming, count=self._count, source=source)
                if source is None and self._index.speakers.are_two_people():
                    part = one_side(part, self._query)
            self._excerpts[turn_id] = part
        return self._excerpts[turn_id]

    def _snippet(self, turn_id: int, tokens: int | None = None) -> Excerpt:
        """Return the best of a long turn, of a short one all of it."""
        return self._at_most(self._whole(turn_id), turn_id, self._least(turn_id) if tokens is None else tokens)

    def _at_most(self, part: Excerpt, turn_id: int, tokens: int) -> Excerpt:
        """Return what is sent of a turn cut to some tokens, where it can be cut."""
        return part if part.tokens <= tokens else self._tight(turn_id, tokens) or part

    def _least(self, turn_id: int) -> int:
        """Return what the smallest form of a turn costs at most."""
        return self._config.trimming.snippet_tokens if self._long(turn_id) else self._records[turn_id].tokens

    def _long(self, turn_id: int) -> bool:
        return self._trim and self._records[turn_id].tokens > self._config.trimming.min_tokens

    def _tight(self, turn_id: int, room: int) -> Excerpt | None:
        """Return the best of a turn within some tokens, or None where it cannot be cut to them."""
        record = self._records[turn_id]
        least = _SMALLEST_CUT if record.source else min(_SMALLEST_CUT, record.tokens // 4)
        if not self._trim or room < max(1, least) or self._stays_whole(turn_id):
            return None
        if (turn_id, room) not in self._cuts:
            self._cuts[turn_id, room] = tight_excerpt(
                self._whole(turn_id),
                self._query,
                budget_tokens=room,
                config=self._config.trimming,
                count=self._count,
                source=record.source,
            )
        return self._cuts[turn_id, room]

    def _stays_whole(self, turn_id: int) -> bool:
        """Return whether a turn is the newest of a list of messages: it is sent as it is, if the budget can hold it."""
        record = self._records[turn_id]
        return turn_id == self._newest and record.source is not None and record.tokens <= self._budget

    def _whole(self, turn_id: int) -> Excerpt:
        record = self._records[turn_id]
        return Excerpt(record.user, record.assistant, record.tokens_user, record.tokens_assistant)

    # --- taking and dropping -----------------------------------------------------------------------------------------

    def _take(self, turn_id: int, part: Excerpt, where: Stage, why: Why) -> bool:
        """Keep a part of a turn if it fits, cut further if need be, and return whether it was kept."""
        if turn_id in self._kept:
            return False
        self._offered += part.tokens
        if part.tokens > self._left:
            part = self._tight(turn_id, self._left) or part
        if part.tokens > self._left:
            self._drop(turn_id, where, "no_room")
            return False
        self._kept[turn_id] = part
        self._outcomes[turn_id] = _Outcome(where, why, part.tokens, self._offered)
        self._left -= part.tokens
        return True

    def _take_snippet(self, turn_id: int, where: Stage, why: Why, *, tokens: int | None = None) -> None:
        """Keep the best of a turn, or a turn that cannot be cut where it is not long."""
        part = self._snippet(turn_id, tokens)
        if part.tokens <= _UNCUT_TOKENS:
            self._take(turn_id, part, where, why)

    def _drop(self, turn_id: int, where: Stage, why: Why) -> None:
        self._outcomes[turn_id] = _Outcome(where, why, None, self._offered)

    # --- what is looked up -------------------------------------------------------------------------------------------

    def _topic_of(self, turn_id: int) -> int:
        return bisect_right(self._starts, turn_id) - 1

    def _texts(self, turn_id: int) -> tuple[str, str]:
        record = self._records[turn_id]
        return record.user, record.assistant

    def _terms_of(self, turn_id: int) -> frozenset[str]:
        if turn_id not in self._terms:
            texts = self._texts(turn_id)
            self._terms[turn_id] = frozenset().union(*(count_terms(text, with_quantities=False) for text in texts))
        return self._terms[turn_id]

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

    def _result(self, constraints: Mapping[str, str]) -> Selection:
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
            turn_count=len(self._records),
            gate=self._verdict,
            coverage=coverage_without(self._missing),
            constraints=dict(constraints),
            smallest_needed_tokens=self._smallest_needed(),
            order=tuple(self._kept),
            **describe_counter(self._count),
            _account=self,
        )

    def _smallest_needed(self) -> int | None:
        """Return what the smallest candidate would have needed, where there are candidates and none fitted."""
        if self._kept:
            return None
        refused = [turn_id for turn_id, outcome in self._outcomes.items() if outcome.why == "no_room"]
        needed = min((self._excerpt(turn_id).tokens for turn_id in refused), default=None)
        return None if needed is None else budget_for(self._count, needed)

    def _decided(self, turn_id: int) -> Decision:
        """Return the decision on a turn that was a candidate or was kept."""
        where, why, tokens, offered = self._outcomes[turn_id]
        score, part = self._scores.get(turn_id), self._kept.get(turn_id)
        if why == "enough" and self._novelty(turn_id, self._told) < _REPEATED:
            why = "repeat"
        return Decision(
            turn_id=turn_id,
            outcome="dropped" if part is None else "trimmed" if part.trimmed else "kept",
            stage=where,
            why=why,
            topic_id=self._topic_of(turn_id),
            tokens=self._excerpt(turn_id).tokens if tokens is None else tokens,
            shared=self._shared(score.matched if score else frozenset()),
            related=self._written(turn_id, score.related) if score else (),
            score=score,
            value=self._values.get(turn_id),
            kept_from_tokens=budget_for(self._count, offered) if why == "no_room" else None,
            kept_from_eta=self._sooner().get(turn_id) if why == "enough" else None,
        )

    def _sooner(self) -> Mapping[int, float]:
        """Return by turn that was enough without the smallest ``eta``, to four digits, that does not stop before it."""
        if self._etas is None:
            before = dict(self._values), dict(self._novelties), set(self._as_snippet)
            rest, told, least, etas = list(self._open), list(self._told), 1.0, {}
            while rest:
                turn_id, value = self._most_valuable(rest, told)
                least = min(least, value)
                etas[turn_id] = min(1.0, round(coverage_without(least) + 0.0001, 4))
                told.append(turn_id)
            self._values, self._novelties, self._as_snippet = before  # what might have been changes no account
            self._etas = etas
        return self._etas

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
