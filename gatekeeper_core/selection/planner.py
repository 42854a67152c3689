"""The planner of one selection: which turns go along, in which order and form.

One :class:`Planner` serves one query. In ``minimal`` mode it takes, in this order:

1. **the newest turn**, by the link that the gate has read: its excerpt, a snippet, or nothing;
2. **the turns before it**, as far back as the question points: each link of the chain weakens it;
3. **evidence**, by value, until the rest is not worth its tokens; a turn that holds little of the question goes as a
   snippet;
4. **what follows the evidence**: the turns that go on with it, where the question asks for the newest state, and the
   answer, where it ends with a question;
5. **an overview**, where the question asks what was said: a snippet of each turn.

In ``fill`` mode the same turns come first and the rest of the budget is filled with their surroundings.
:mod:`gatekeeper_core.selection.decisions` explains each choice.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.events import CANDIDATES, COVER
from gatekeeper_core.observation import stage
from gatekeeper_core.selection.anchors import terms_in
from gatekeeper_core.selection.constraints import CONSTRAINT_TOKENS
from gatekeeper_core.selection.coverage import coverage_without, likeness, value_of, worths
from gatekeeper_core.selection.information import LEAST_INFORMATION, information, is_generic
from gatekeeper_core.selection.records import ends_open
from gatekeeper_core.selection.retrieval import RetrievalConfig, score_turns
from gatekeeper_core.selection.topics import GateConfig
from gatekeeper_core.selection.trimming import Forms, Trimmer, TrimmingConfig
from gatekeeper_core.token_estimate import budget_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gatekeeper_core.selection.cues import Cues
    from gatekeeper_core.selection.index import TurnIndex
    from gatekeeper_core.selection.meaning import Meaning
    from gatekeeper_core.selection.records import Records
    from gatekeeper_core.selection.result import Stage, Why
    from gatekeeper_core.selection.retrieval import Query, Score
    from gatekeeper_core.selection.trimming import Excerpt, Sentences
    from gatekeeper_core.selection.verdicts import Verdict

__all__ = ["GatekeeperConfig", "Planner", "Reason", "chain_of_links"]

# All ours, fitted on conversations with labelled needs (benchmarks.everyday) and on LoCoMo (benchmarks.selection).
_WHOLE_ABOVE = 0.30  # link from which on a turn is sent as its excerpt
_SNIPPET_ABOVE = 0.12  # link from which on a snippet of the newest turn is sent
_CHAIN_STEP = 0.7  # what the need for a turn keeps of the need for the turn after it, if that hangs on it wholly
_CHAIN_TURNS = 3
_EVIDENCE_SHARE = 0.08  # of the query's information, from which on a turn is evidence
_FORMED_ABOVE = 0.0225  # value from which on a turn goes as its excerpt: that of a coverage of 0.85
_STATE_LINK = 0.4
_FOLLOWED = 2  # of the best evidence
_WEAK_SHARE = 0.01  # of the query's information, with each doubling of the turns: more of them share a word by chance
_WEAK_TURNS = 2
_NEWEST_TOKENS = 350
_UNCUT_TOKENS = 1_000  # up to which a turn that cannot be cut is taken in place of a snippet
_OVERVIEW_TOKENS = 40
_MISSES = 8  # turns that do not fit before the budget counts as full
_RESTATED = 0.6  # likeness from which on the newer turn stands for the older
_REPEATED = 0.5  # novelty below which a turn that was not taken counts as a repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class GatekeeperConfig:
    """All settings of a gatekeeper, each group declared beside its stage.

    Attributes:
        mode: ``minimal`` gives the smallest set, ``fill`` uses the budget, best turns first.
        trim: whether long messages are cut to the sentences that matter.
        eta: the coverage at which ``minimal`` stops, 0..1; lower gives fewer turns. Source: specification 3.4.
        constraint_tokens: cap of the rendered constraints, >= 1. Source: ours; the specification says "small".
        retrieval: weights of the score, candidates.
        gate: thresholds of the topic gate.
        trimming: how much is left of long turns.
    """

    mode: Literal["minimal", "fill"] = "minimal"
    trim: bool = True
    eta: float = 0.85
    constraint_tokens: int = CONSTRAINT_TOKENS
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    trimming: TrimmingConfig = field(default_factory=TrimmingConfig)

    def __post_init__(self) -> None:
        check_range(self, "eta", low=0, high=1)
        check_range(self, "constraint_tokens", low=1, whole=True)
        if self.mode not in ("minimal", "fill"):
            raise ConfigError(f'GatekeeperConfig.mode must be "minimal" or "fill", got {self.mode!r}')


def chain_of_links(link: float, newest: int, links: Callable[[int], float]) -> Iterator[tuple[int, float]]:
    """Yield the turns that a question goes on from, the newest first, with how firmly it needs each.

    Args:
        link: how firmly the question hangs on the newest turn, 0..1.
        newest: the newest turn.
        links: gives how firmly a turn hung on the turn before it, 0..1.
    """
    while newest >= 0 and link >= _WHOLE_ABOVE:
        yield newest, link
        link *= _CHAIN_STEP * links(newest)
        newest -= 1


class Reason(NamedTuple):
    """The reason for keeping or dropping a turn, with the tokens of all turns offered up to this one."""

    stage: Stage
    why: Why
    offered: int


@dataclass(slots=True, kw_only=True, eq=False)
class Planner:
    """Chooses the turns for one query; see the module for the order.

    Attributes:
        query: what is looked for, expanded.
        cues: those of its wording.
        verdict: the gate's verdict on it.
        starts: the first turn of each topic, ascending.
        links: gives how firmly the user's text of a turn hung on the turn before it, 0..1.
        history_tokens: what all turns cost.
        token_budget: what the chosen ones may cost.
        sentences: those of texts that were cut before, and the token counter.
        meaning: how near the turns are to it, where there is an embedder.
        scores: those of the turns that were scored in full.
        kept: the chosen turns as they are sent, in the order in which they were taken.
        reasons: one for each candidate and each chosen turn.
        values: what the cover ranked turns by.
        missing: the value of the most valuable turn that was not taken.
    """

    query: Query
    cues: Cues
    verdict: Verdict
    starts: Sequence[int]
    links: Callable[[int], float]
    index: TurnIndex
    records: Records
    history_tokens: int
    token_budget: int
    trim: bool
    config: GatekeeperConfig
    sentences: Sentences
    meaning: Meaning | None = None
    scores: dict[int, Score] = field(default_factory=dict, init=False)
    kept: dict[int, Excerpt] = field(default_factory=dict, init=False)
    reasons: dict[int, Reason] = field(default_factory=dict, init=False)
    values: dict[int, float] = field(default_factory=dict, init=False)
    missing: float = field(default=0.0, init=False)
    forms: Forms = field(init=False)
    _fill: bool = field(init=False)
    _newest: int = field(init=False)
    _left: int = field(init=False)
    _offered: int = field(default=0, init=False)
    _worths: dict[int, float] = field(default_factory=dict, init=False)
    _weak: set[int] = field(default_factory=set, init=False)
    _as_snippet: set[int] = field(default_factory=set, init=False)
    _novelties: dict[int, tuple[int, float]] = field(default_factory=dict, init=False)
    _open: list[tuple[float, int]] = field(default_factory=list, init=False)
    _covered: tuple[int, ...] = field(default=(), init=False)
    _terms: dict[int, frozenset[str]] = field(default_factory=dict, init=False)
    _alike: dict[frozenset[str], set[int]] = field(default_factory=dict, init=False)  # turns by what they hold of it

    def __post_init__(self) -> None:
        self._fill = self.config.mode == "fill"
        self._newest = len(self.records) - 1
        self._left = budget_within(self.sentences.count, self.token_budget)
        self.forms = Forms(
            Trimmer(self.query, neighbours=self.config.trimming.neighbours, known=self.sentences),
            self.records,
            trim=self.trim,
            two_people=self.index.speakers.are_two_people(),
            room=self._left,
        )

    def choose(self) -> None:
        """Choose the turns; call it once."""
        room, looks_back = self._left, self.cues.about_conversation or self.cues.asked_before
        with stage(CANDIDATES) as seen:
            self._candidates()
            seen.tell(lambda: {"turn_count": len(self.records), "candidates": len(self._worths)})
        with stage(COVER) as seen:
            if self._newest >= 0:
                self._continuity(in_full=not looks_back)  # an overview has room for a snippet of each
                self._what_follows(self._cover())
                if looks_back:
                    self._overview()
                if self._fill and self.verdict.reason != "explicit_switch":
                    self._surroundings()
            seen.tell(lambda: {"turns_kept": len(self.kept), "tokens": room - self._left})

    # --- who may compete -----------------------------------------------------------------------------------------

    def _candidates(self) -> None:
        """Score the turns, and set apart those that hold little of the question and those beyond the cap."""
        limit = self.config.retrieval.candidates
        if self._fill and self.records:
            limit = max(limit, 2 * self._left * len(self.records) // max(1, self.history_tokens))
        config, texts = self.config.retrieval, self.records.text_of
        scores = score_turns(self.query, self.index, config=config, depth=limit, texts=texts, meaning=self.meaning)
        for score in scores:
            self.scores[score.turn_id] = score
            self._alike.setdefault(score.matched, set()).add(score.turn_id)
        told, worth = self._told_by(scores), worths(scores)
        enough, least = self._floors(scores, told)
        hangs = not self._fill and self.verdict.link >= _WHOLE_ABOVE
        for place, score in enumerate(scores):
            turn_id = score.turn_id
            if place >= limit:
                self._drop([score.turn_id for score in scores[place:]], "recall", "not_a_candidate")
                break
            # What hangs on the newest turn shares generic words with turns of other topics by chance.
            elsewhere = hangs and not score.related and self.topic_of(turn_id) < len(self.starts) - 1
            by_chance = elsewhere and all(map(is_generic, score.matched))
            unlike = self.meaning is not None and told[turn_id] < enough and self.meaning.is_unlike(turn_id)
            if not score.whole and (told[turn_id] < least or by_chance or unlike):
                self._drop([turn_id], "cover", "little_evidence")
                continue
            self._worths[turn_id] = worth.get(turn_id, 0.0)
            if not score.whole and told[turn_id] < enough:
                self._weak.add(turn_id)

    def _told_by(self, scores: Sequence[Score]) -> dict[int, float]:
        """Return by turn the share of the query's information that it holds, 0..1; a related term counts its credit.

        What is near in meaning holds at least the square of its strength, of what is evidence.
        """
        worth = information((term for term in self.query.idf if term not in self.query.earlier), self.index)
        mass = max(math.fsum(worth.values()), LEAST_INFORMATION)
        credit_of = {related.term: (related.stands_for, related.credit) for related in self.query.related}
        told: dict[int, float] = {}
        shares: dict[tuple[frozenset[str], frozenset[str]], float] = {}  # most turns hold what another one holds
        for score in scores:
            hits = score.matched, score.related
            if hits not in shares:
                held = {term: worth[term] for term in score.matched if term in worth}
                for term in score.related:
                    stands_for, credit = credit_of[term]
                    for own in stands_for:
                        if own in worth:
                            held[own] = max(held.get(own, 0.0), credit * worth[own])
                shares[hits] = round(math.fsum(held.values()) / mass, 6)
            told[score.turn_id] = shares[hits]
            if self.meaning:
                near = self.meaning.strength(score.turn_id)
                told[score.turn_id] = max(shares[hits], round(_EVIDENCE_SHARE * near**2, 6))
        return told

    def _floors(self, scores: Sequence[Score], told: Mapping[int, float]) -> tuple[float, float]:
        """Return the share of the query that is evidence, and the share that is worth a snippet.

        Evidence is half of the share where another turn has as much or the user returns to an earlier topic, and thrice
        where the user says that the topic is new.
        """
        enough = _EVIDENCE_SHARE
        if self.verdict.reason == "explicit_switch":
            return 3 * enough, 3 * enough
        if self._fill:
            return 0.0, 0.0  # what is left of the budget costs nothing
        others = (score for score in scores if score.turn_id != self._newest)
        if self.cues.back or any(score.whole or told[score.turn_id] >= enough for score in others):
            enough /= 2
        return enough, min(enough, _WEAK_SHARE * math.log2(len(self.records) + 1))

    # --- the ways to choose --------------------------------------------------------------------------------------

    def _continuity(self, *, in_full: bool) -> None:
        """Take the newest turn and those before it, as firmly as the question hangs on them."""
        link, newest = self.verdict.link, self._newest
        if link < _SNIPPET_ABOVE:
            return
        if self.verdict.decision == "switch":  # for its evidence or not at all
            if newest in self._worths:
                self._take(newest, self._form(newest), "cover", "evidence")
            return
        if link < _WHOLE_ABOVE or not in_full:
            self._take_snippet(newest, "link", "newest_turn")
            return
        part = self.forms.at_most(self.forms.excerpt(newest), newest, _NEWEST_TOKENS)
        self._take(newest, part, "link", "newest_turn")
        vague = not self.verdict.overlap or self.cues.referring or self.cues.said
        if vague and newest > self.starts[-1]:  # it may point further back
            self._take_snippet(newest - 1, "link", "earlier_turn")
        for turn_id, _ in islice(chain_of_links(link, newest, self.links), 1, 1 + _CHAIN_TURNS):
            self._take(turn_id, self._form(turn_id), "link", "earlier_turn")

    def _cover(self) -> list[int]:
        """Take the evidence, by value, until it is covered; return what was offered, the most valuable first."""
        eta = 2.0 if self._fill else self.config.eta
        two_people = self.index.speakers.are_two_people()
        for turn_id, worth in self._worths.items():
            if turn_id not in self.kept:  # it waits by its highest value: new, and at the price of its cheapest form
                cheap = self.trim and not self._fill and (two_people or self.forms.is_long(turn_id))
                self._open.append((-value_of(worth, 1 if cheap else self.records.tokens_of(turn_id)), -turn_id))
        heapify(self._open)
        offered: list[int] = []  # with or without room, or a larger budget would offer others before the rest
        weak = 0
        while self._open:
            turn_id, value = self._most_valuable(self._open, list(self.kept))
            if coverage_without(value) >= eta:
                heappush(self._open, (-value, -turn_id))
                self.missing = value
                break
            weak += turn_id in self._weak
            if turn_id in self._weak and weak > _WEAK_TURNS:
                self._drop([turn_id], "cover", "little_evidence")
            else:
                offered.append(turn_id)
                score = self.scores[turn_id]
                why: Why = "evidence" if score.matched or score.related else "meaning"
                if not self._take(turn_id, self._form(turn_id), "cover", why):
                    self.missing = max(self.missing, value)
        self._covered = tuple(self.kept)
        self._drop([-negative for _, negative in self._open], "cover", "enough")
        return offered

    def _most_valuable(self, candidates: list[tuple[float, int]], told: Sequence[int]) -> tuple[int, float]:
        """Take the candidate of the highest value out of a heap; the newest of those that say nearly the same.

        Each waits by a value that it cannot exceed and is valued again when it comes up: novelty only falls. Source:
        Minoux 1978, "Accelerated greedy algorithms for maximizing submodular set functions".

        Args:
            candidates: the heap, not empty: negative values and negative turns.
            told: the turns that are kept.
        """
        while True:
            bound, negative = heappop(candidates)
            value = self._value(-negative, told)
            if value < -bound and candidates and (-value, negative) > candidates[0]:
                heappush(candidates, (-value, negative))
                continue
            alike = self._alike[self.scores[-negative].matched]
            newer = [entry for entry in candidates if entry[1] < negative and -entry[1] in alike]
            newer = [entry for entry in newer if self._restates(-entry[1], -negative)]
            if newer:
                heappush(candidates, (-value, negative))
                newest = min(newer, key=lambda entry: entry[1])
                candidates.remove(newest)
                heapify(candidates)
                negative = newest[1]
            self.values[-negative] = value
            return -negative, value

    def _value(self, turn_id: int, told: Sequence[int]) -> float:
        """Return the value of a candidate beside the turns that are kept, and note what is to be sent of it."""
        worth = self._worths[turn_id] * self._novelty(turn_id, told)
        long = self.forms.is_long(turn_id)
        may_be_formed = turn_id not in self._weak and (self._fill or value_of(worth, 1) > _FORMED_ABOVE)
        if may_be_formed or not long:
            self._as_snippet.discard(turn_id)
            value = value_of(worth, self._price(turn_id))
            if self._fill or not long or value > _FORMED_ABOVE:
                return value
        self._as_snippet.add(turn_id)
        return value_of(worth, self._price(turn_id))

    def _price(self, turn_id: int) -> int:
        """Return what a candidate costs at most in the form that it has now."""
        if self._fill:
            return self.records.tokens_of(turn_id)
        if self.records.source_of(turn_id) is not None:  # not every message can be cut
            return self._form(turn_id).tokens
        if turn_id in self._as_snippet:
            return self.forms.least(turn_id)
        return min(self.forms.excerpt(turn_id).tokens, self.config.trimming.max_tokens)

    def _novelty(self, turn_id: int, told: Sequence[int]) -> float:
        """Return what the kept turns leave of a turn's worth, 0..1; a longer row of them goes on with the last one."""
        seen, novelty = self._novelties.get(turn_id, (0, 1.0))
        same_hits = self._alike[self.scores[turn_id].matched]
        for other in told[seen:]:
            if other in same_hits and (alike := self._likeness(turn_id, other)):
                novelty *= 0.0 if self._restates(other, turn_id) else 1.0 - alike**2
        self._novelties[turn_id] = len(told), novelty
        return novelty

    def _restates(self, turn_id: int, other: int) -> bool:
        """Return whether a turn says again, or with a newer value, what an older one says."""
        if turn_id < other or self._likeness(turn_id, other) < _RESTATED:
            return False
        return len(self.terms_of(turn_id)) >= len(self.terms_of(other))

    def _likeness(self, turn_id: int, other: int) -> float:
        """Return how alike two turns with the same hits are, 0..1; 0.0 where one is more than twice as long."""
        tokens, others = self.records.tokens_of(turn_id), self.records.tokens_of(other)
        if 2 * tokens < others or 2 * others < tokens:
            return 0.0
        return likeness(self.terms_of(turn_id), self.terms_of(other))

    def _what_follows(self, evidence: Sequence[int]) -> None:
        """Take what belongs to the best evidence and comes after it.

        Where the user goes back to a topic of which nothing is evidence, its newest turn. Where the question asks for
        the newest state of a thing, the turns that go on with it: a draft is in the turn that changed it last. Where a
        turn ends with a question, the turn that answers it.
        """
        topic = self.verdict.resumed_topic
        if topic is not None and self.verdict.reason == "explicit_return":
            last = self.starts[topic + 1] - 1
            if not any(self.starts[topic] <= turn_id <= last for turn_id in (*self.kept, *self._worths)):
                self._take(last, self._form(last), "link", "earlier_turn")
        for turn_id in evidence[:_FOLLOWED] if self.cues.newest_state else ():
            for later in range(turn_id + 1, min(self._newest, turn_id + _CHAIN_TURNS) + 1):
                if self.links(later) < _STATE_LINK:
                    break
                self._take(later, self._form(later), "link", "later_turn")
        for turn_id in evidence[: 2 * _FOLLOWED]:
            if turn_id < self._newest and ends_open(self.records[turn_id]):
                self._take_snippet(turn_id + 1, "link", "later_turn")

    def _overview(self) -> None:
        """Take a snippet of each turn, as far as candidates go: both ends, what opens a topic, then the newest."""
        limit = self.config.retrieval.candidates
        openings, newest = self.starts[: -limit - 1 : -1], range(self._newest, self._newest - limit, -1)
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
            if turn_id not in self.kept and not self._take(turn_id, self.forms.excerpt(turn_id), "cover", "neighbour"):
                misses += 1
                if misses > _MISSES:
                    return

    # --- taking and dropping -------------------------------------------------------------------------------------

    def _form(self, turn_id: int) -> Excerpt:
        """Return what is sent of a turn: its excerpt, or a snippet where its value asks for that."""
        if turn_id in self._as_snippet:
            return self.forms.snippet(turn_id)
        part = self.forms.excerpt(turn_id)
        return part if self._fill else self.forms.at_most(part, turn_id, self.config.trimming.max_tokens)

    def _take(self, turn_id: int, part: Excerpt, where: Stage, why: Why) -> bool:
        """Keep a part of a turn if it fits, cut further if need be, and return whether it was kept."""
        if turn_id in self.kept:
            return False
        self._offered += part.tokens
        part = self.forms.at_most(part, turn_id, self._left)
        if part.tokens > self._left:
            self._drop([turn_id], where, "no_room")
            return False
        self.kept[turn_id] = part
        self.reasons[turn_id] = Reason(where, why, self._offered)
        self._left -= part.tokens
        return True

    def _take_snippet(self, turn_id: int, where: Stage, why: Why, *, tokens: int | None = None) -> None:
        """Keep the best of a turn, or a turn that cannot be cut where it is not long."""
        part = self.forms.snippet(turn_id, tokens)
        if part.tokens <= _UNCUT_TOKENS:
            self._take(turn_id, part, where, why)

    def _drop(self, turn_ids: Iterable[int], where: Stage, why: Why) -> None:
        self.reasons.update(dict.fromkeys(turn_ids, Reason(where, why, self._offered)))

    # --- what the decisions ask ----------------------------------------------------------------------------------

    def topic_of(self, turn_id: int) -> int:
        """Return the id of the topic of a turn."""
        return bisect_right(self.starts, turn_id) - 1

    def terms_of(self, turn_id: int) -> frozenset[str]:
        """Return the indexed terms of a turn, without dates and amounts."""
        if turn_id not in self._terms:
            texts = self.records.text_of(turn_id)
            self._terms[turn_id] = frozenset().union(*(terms_in(text, with_quantities=False) for text in texts))
        return self._terms[turn_id]

    def is_repeat(self, turn_id: int) -> bool:
        """Return whether a candidate says mostly what the turns say that were kept when the cover stopped."""
        return self._novelty(turn_id, self._covered) < _REPEATED

    def next_values(self) -> list[tuple[int, float]]:
        """Return the candidates that were enough without, in the order in which they would come, with their values."""
        before = dict(self.values), dict(self._novelties), set(self._as_snippet)
        rest, told, found = list(self._open), list(self._covered), []
        while rest:
            turn_id, value = self._most_valuable(rest, told)
            found.append((turn_id, value))
            told.append(turn_id)
        self.values, self._novelties, self._as_snippet = before  # what might have been changes nothing that was
        return found
