"""The planner of one selection: which turns go along, and how much of each.

One :class:`Planner` serves one query. Each candidate has a need (:mod:`gatekeeper_core.selection.need`), and one price
per token decides what is sent of it, the most needed turn first. With the strategy ``gate`` the price follows from the
coverage that the user asks for, and rises until the budget holds all that is worth it. With ``fill`` it falls until the
budget is used; turns beside the evidence and the newest ones take what is left.

A turn that says again what a newer one says needs nothing, and what is much like a sent turn needs less.
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
from gatekeeper_core.selection.need import (
    coverage_at,
    older_signs,
    price_of,
    probability,
    shares,
    smallest_form,
    tokens_worth,
)
from gatekeeper_core.selection.retrieval import RetrievalConfig, score_turns
from gatekeeper_core.selection.topics import GateConfig
from gatekeeper_core.selection.trimming import Forms, Trimmer
from gatekeeper_core.token_estimate import budget_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gatekeeper_core.selection.cues import Cues
    from gatekeeper_core.selection.index import TurnIndex
    from gatekeeper_core.selection.meaning import Meaning
    from gatekeeper_core.selection.need import NeedWeights, Reading, Signs
    from gatekeeper_core.selection.records import Records
    from gatekeeper_core.selection.result import Stage, Why
    from gatekeeper_core.selection.retrieval import Query, Score
    from gatekeeper_core.selection.trimming import Excerpt, Sentences
    from gatekeeper_core.selection.verdicts import Verdict

__all__ = ["GatekeeperConfig", "Planner", "Reason"]

_LOWEST_PRICE, _SLACK = 1e-9, 0.006  # the slack is a little more than the last step of the search for a price
_FILLING_TOKENS = 40  # of the budget for each candidate of ``fill``
_PRICE_STEPS = 12  # halvings of the logarithm of the price: to half a per cent
_LEAST_NEED = 0.2  # of a turn of the topic at hand, times the share that may be missing
_LEAST_ELSEWHERE = 0.55  # of a turn of another topic, likewise
_LEAST_AFTER_WORDS = 0.25  # of any turn where the question opens a new topic in so many words
_POINTED_AT = 0.1  # of questions that point back need the turn before the newest as well; of the newest no fewer
_LIKELY = 0.5  # need from which on a turn that cannot be cut is sent whole
_MISSES = 8  # turns that do not fit before the budget counts as full
_RESTATED = 0.6  # likeness from which on the newer turn stands for the older
_REPEATED = 0.5  # novelty below which a turn that is not sent counts as a repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class GatekeeperConfig:
    """All settings of a gatekeeper, each group declared beside its stage.

    Attributes:
        strategy: ``gate`` sends what the question needs, ``fill`` uses the budget, most needed turns first.
        trim: whether long messages are cut to the sentences that matter.
        coverage: the share of what the answer needs that ``gate`` sends, 0..1, in the mean over questions. Source:
            specification 3.4 (there ``eta``, 0.85).
        constraint_tokens: cap of the rendered constraints, >= 1. Source: ours; the specification says "small".
        retrieval: weights of the score, candidates.
        gate: thresholds of the topic gate.
    """

    strategy: Literal["gate", "fill"] = "gate"
    trim: bool = True
    coverage: float = 0.85
    constraint_tokens: int = CONSTRAINT_TOKENS
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    gate: GateConfig = field(default_factory=GateConfig)

    def __post_init__(self) -> None:
        check_range(self, "coverage", low=0, high=1)
        check_range(self, "constraint_tokens", low=1, whole=True)
        if self.strategy not in ("gate", "fill"):
            raise ConfigError(f'GatekeeperConfig.strategy must be "gate" or "fill", got {self.strategy!r}')


class Reason(NamedTuple):
    """The stage that kept or dropped a turn, and why."""

    stage: Stage
    why: Why


@dataclass(slots=True, kw_only=True, eq=False)
class Planner:
    """Chooses the turns for one query; see the module for the order.

    Attributes:
        query: what is looked for, expanded.
        cues: those of its wording.
        verdict: the gate's verdict on it.
        reading: its terms, read against the conversation.
        starts: the first turn of each topic, ascending.
        history_tokens: what all turns cost.
        token_budget: what the chosen ones may cost.
        sentences: those of texts that were cut before, and the token counter.
        weights: of the need.
        meaning: how near the turns are to it, where there is an embedder.
        scores: those of the turns that were scored in full.
        signs: those of the candidates as older turns.
        needs: the needs of the candidates.
        price: of a token, in needed turns.
        kept: the chosen turns as they are sent, the most needed first.
        reasons: one for each candidate and each chosen turn.
    """

    query: Query
    cues: Cues
    verdict: Verdict
    reading: Reading | None
    starts: Sequence[int]
    index: TurnIndex
    records: Records
    history_tokens: int
    token_budget: int
    config: GatekeeperConfig
    sentences: Sentences
    weights: NeedWeights
    meaning: Meaning | None = None
    scores: dict[int, Score] = field(default_factory=dict, init=False)
    signs: dict[int, Signs] = field(default_factory=dict, init=False)
    needs: dict[int, float] = field(default_factory=dict, init=False)
    price: float = field(default=0.0, init=False)
    kept: dict[int, Excerpt] = field(default_factory=dict, init=False)
    reasons: dict[int, Reason] = field(default_factory=dict, init=False)
    forms: Forms = field(init=False)
    room: int = field(init=False)
    _left: int = field(init=False)
    _wanted: list[tuple[float, int]] = field(default_factory=list, init=False)  # what is needed enough, and its tokens
    _novelties: dict[int, tuple[int, float]] = field(default_factory=dict, init=False)
    _terms: dict[int, frozenset[str]] = field(default_factory=dict, init=False)
    _alike: dict[frozenset[str], set[int]] = field(default_factory=dict, init=False)  # turns by what they share with it

    def __post_init__(self) -> None:
        self.room = self._left = budget_within(self.sentences.count, self.token_budget)
        trimmer, two_people = Trimmer(self.query, known=self.sentences), self.index.speakers.are_two_people()
        self.forms = Forms(trimmer, self.records, trim=self.config.trim, two_people=two_people)

    @property
    def goes_on_from(self) -> int | None:
        """The turn that the question goes on from: the newest one, or the last one of the topic that it resumes."""
        topic = self.verdict.resumed_topic
        if self.verdict.decision == "continue":
            return len(self.records) - 1
        return self.starts[topic + 1] - 1 if topic is not None and self.verdict.reason == "explicit_return" else None

    def choose(self) -> None:
        """Choose the turns; call it once."""
        if not self.records:
            return
        with stage(CANDIDATES) as seen:
            self._candidates()
            seen.tell(lambda: {"turn_count": len(self.records), "candidates": len(self.needs)})
        with stage(COVER) as seen:
            asked = 0.0 if self._fill else price_of(self.config.coverage)
            self.price = self._price_within(asked)
            self._send(asked)
            if self._fill and self.verdict.reason != "explicit_switch":
                self._surroundings()
            seen.tell(lambda: {"turns_kept": len(self.kept), "tokens": self.room - self._left})

    @property
    def _fill(self) -> bool:
        return self.config.strategy == "fill"

    def _least(self, turn_id: int) -> float:
        """Return the need below which a turn is not sent, however cheap it is."""
        if self.verdict.reason == "explicit_switch":
            return _LEAST_AFTER_WORDS
        return 0.0 if self._fill else self._least_share(turn_id) * (1 - self.config.coverage)

    def _least_share(self, turn_id: int) -> float:
        """Return the least need of a turn over the share that may be missing; turns of another topic need more."""
        active = len(self.starts) - 1 if self.verdict.decision == "continue" else self.verdict.resumed_topic
        return _LEAST_NEED if self._gathers or self.topic_of(turn_id) == active else _LEAST_ELSEWHERE

    @property
    def _gathers(self) -> bool:
        """Return whether the question asks for all of something, or for what was said."""
        return bool(self.cues.gathers or self.cues.asked_before or self.cues.about_conversation)

    # --- what each turn is needed for ------------------------------------------------------------------------------

    def _candidates(self) -> None:
        """Find the need of the best turns; where few share anything with the question, of the newest ones as well.

        After a switch a turn that shares nothing does not compete.
        """
        limit, count = self.config.retrieval.candidates, len(self.records)
        if self._fill:
            limit = max(limit, self._left // _FILLING_TOKENS)
        config, texts = self.config.retrieval, self.records.text_of
        scores = score_turns(self.query, self.index, config=config, depth=limit, texts=texts, meaning=self.meaning)
        for score in scores:
            self.scores[score.turn_id] = score
            self._alike.setdefault(score.matched, set()).add(score.turn_id)
        self._drop([score.turn_id for score in scores[limit:]], "recall", "not_a_candidate")
        turn_ids = [score.turn_id for score in scores[:limit]]
        newest = range(count - 1, -1, -1) if self.verdict.decision == "continue" else ()
        others = (turn_id for turn_id in newest if turn_id not in self.scores)
        turn_ids += islice(others, max(0, limit - len(turn_ids)))
        self.signs = older_signs(turn_ids, scores, shares(self.query, scores, self.index), gathers=self._gathers)
        nearest = max(map(self.meaning.strength, self.signs), default=0.0) if self.meaning else 0.0
        anything = max(self.verdict.need, min(1.0, nearest) ** 2)  # as evidence nearness counts its square
        for turn_id, signs in self.signs.items():
            if self.meaning and self.meaning.cosine(turn_id) is not None:
                signs |= {"meaning": self.meaning.strength(turn_id), "embedded": 1.0}
            least = _POINTED_AT if self.cues.about_conversation else 0.0
            self.needs[turn_id] = round(anything * max(least, probability(self.weights.older, signs)), 6)
        self._go_on()
        tokens = self.forms.whole(count - 1).tokens
        is_loose = not self.records[-1].assistant and tokens == smallest_form(tokens)
        if is_loose and self.verdict.reason != "explicit_switch":
            self.needs[count - 1] = 1.0  # a short message without an answer belongs to the one after it
        wanted = [at for at, need in self.needs.items() if need >= self._least(at)]
        self._wanted = [(self.needs[at], self.forms.whole(at).tokens) for at in wanted]

    def _go_on(self) -> None:
        """Set the need of the turn that the question goes on from, and of the turn before it where the wording points.

        The newest turn has a regression of its own; the last turn of a resumed topic is needed at least as much.
        """
        turn_id, link = self.goes_on_from, self.verdict.link
        if turn_id is None:
            return
        self.needs[turn_id] = link if turn_id == len(self.records) - 1 else max(link, self.needs.get(turn_id, 0.0))
        points = self.verdict.reason in ("referring_word", "no_anchors")
        for near in range(turn_id, max(self.starts[self.topic_of(turn_id)], turn_id - 1) - 1, -1) if points else ():
            self.needs[near] = max(round(_POINTED_AT * self.verdict.need, 6), self.needs.get(near, 0.0))

    def _price_within(self, price: float) -> float:
        """Return a price, or the lowest higher one at which the budget holds all that is worth sending."""
        if self.tokens_at(price) <= self._left:
            return price
        low, high = max(price, _LOWEST_PRICE), 1.0
        for _ in range(_PRICE_STEPS):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.tokens_at(middle) <= self._left else (middle, high)
        return high

    # --- taking and dropping ---------------------------------------------------------------------------------------

    def _send(self, asked: float) -> None:
        """Send what is worth the price asked for, the most needed first; what lacks room takes what is left, cut."""
        heap, waiting = [], []
        for turn_id, need in self.needs.items():
            whole = self.forms.whole(turn_id).tokens
            if need < self._least(turn_id) or not tokens_worth(need, whole, asked):
                self._leave(turn_id, "low_need")
            elif tokens_worth(need, whole, self.price):
                heap.append((-need, -turn_id))
            elif self._fill:
                self._leave(turn_id, "no_room")
            else:
                waiting.append((-need, -turn_id))
        self._send_all(heap)
        self.price = asked
        self._send_all(waiting)

    def _send_all(self, heap: list[tuple[float, int]]) -> None:
        """Send what is worth it at the price and fits, given negative needs and negative turns."""
        heapify(heap)
        while heap:
            turn_id, need = self._most_needed(heap)
            whole = self.forms.whole(turn_id).tokens
            tokens = tokens_worth(need, whole, self.price)
            part = self.forms.at_most(turn_id, tokens) if tokens else self.forms.whole(turn_id)
            if not self._is_worth(part.tokens, need, whole):
                part = self.forms.at_most(turn_id, smallest_form(whole))
            if self._is_worth(part.tokens, need, whole):
                self._take(turn_id, part, *self._reason(turn_id))
            else:
                self._leave(turn_id, "low_need")

    def _is_worth(self, tokens: int, need: float, whole: int) -> bool:
        """Return whether a part of a turn earns its price; what cannot be cut need not, where it is likely needed."""
        return need >= _LIKELY or need * math.sqrt(tokens / whole) >= self.price * tokens

    def _reason(self, turn_id: int) -> Reason:
        """Return why a turn is sent."""
        score = self.scores.get(turn_id)
        if turn_id == self.goes_on_from:
            return Reason("link", "newest_turn" if turn_id == len(self.records) - 1 else "earlier_turn")
        if score and (score.matched or score.related):
            return Reason("cover", "evidence")
        if score:
            return Reason("cover", "meaning")
        asks_for_all = self.cues.about_conversation or self.cues.asked_before
        return Reason("overview", "overview") if asks_for_all else Reason("link", "earlier_turn")

    def _most_needed(self, heap: list[tuple[float, int]]) -> tuple[int, float]:
        """Take the most needed turn out of a heap, with its need; the newest of those that say nearly the same.

        Each waits by a need that it cannot exceed and is looked at again when it comes up: novelty only falls. Source:
        Minoux 1978, "Accelerated greedy algorithms for maximizing submodular set functions".

        Args:
            heap: not empty: negative needs and negative turns.
        """
        while True:
            bound, negative = heappop(heap)
            need = self.needs[-negative] * self.novelty(-negative)
            if need < -bound and heap and (-need, negative) > heap[0]:
                heappush(heap, (-need, negative))
                continue
            alike = self._alike_with(-negative)
            newer = [entry for entry in heap if entry[1] < negative and -entry[1] in alike]
            newer = [entry for entry in newer if self._restates(-entry[1], -negative)]
            if not newer:
                return -negative, need
            newest = min(newer, key=lambda entry: entry[1])
            heap.remove(newest)
            heappush(heap, (-need, negative))
            heapify(heap)
            return -newest[1], max(need, self.needs[-newest[1]])

    def novelty(self, turn_id: int) -> float:
        """Return what the sent turns leave of a turn's need, 0..1."""
        kept = list(self.kept)
        seen, novelty = self._novelties.get(turn_id, (0, 1.0))
        same_hits = self._alike_with(turn_id)
        for other in kept[seen:]:
            if other in same_hits and other != turn_id and (alike := self._likeness(turn_id, other)):
                novelty *= 0.0 if self._restates(other, turn_id) else 1.0 - alike**2
        self._novelties[turn_id] = len(kept), novelty
        return novelty

    def _alike_with(self, turn_id: int) -> set[int]:
        score = self.scores.get(turn_id)
        return self._alike[score.matched] if score else set()

    def _restates(self, turn_id: int, other: int) -> bool:
        """Return whether a turn says again, or with a newer value, what an older one says."""
        if turn_id < other or self._likeness(turn_id, other) < _RESTATED:
            return False
        return len(self.terms_of(turn_id)) >= len(self.terms_of(other))

    def _likeness(self, turn_id: int, other: int) -> float:
        """Return the Jaccard index of two turns' terms, 0..1; 0.0 where one is more than twice as long."""
        tokens, others = self.records.tokens_of(turn_id), self.records.tokens_of(other)
        if 2 * tokens < others or 2 * others < tokens:
            return 0.0
        first, second = self.terms_of(turn_id), self.terms_of(other)
        return len(first & second) / (len(first | second) or 1)

    def _surroundings(self) -> None:
        """Fill the budget: further candidates, the turns next to the evidence, then the newest ones."""
        rest = sorted(self.needs, key=lambda turn_id: (-self.needs[turn_id] * self.novelty(turn_id), -turn_id))
        near = [at for turn_id in self.kept for at in (turn_id + 1, turn_id - 1) if 0 <= at < len(self.records)]
        misses = 0
        for at in chain(rest, near, range(len(self.records) - 1, -1, -1)):
            misses += at not in self.kept and not self._take(at, self.forms.whole(at), "cover", "neighbour")
            if misses > _MISSES:
                return

    def _take(self, turn_id: int, part: Excerpt, where: Stage, why: Why) -> bool:
        """Send a part of a turn if it fits, cut further if need be, and return whether it is sent."""
        if part.tokens > self._left:
            part = self.forms.at_most(turn_id, self._left)
        if part.tokens > self._left:
            self._drop([turn_id], where, "no_room")
            return False
        self.kept[turn_id] = part
        self.reasons[turn_id] = Reason(where, why)
        self._left -= part.tokens
        return True

    def _leave(self, turn_id: int, why: Why) -> None:
        """Note why a candidate is not sent; one that shares nothing with the question never was a likely one."""
        if turn_id in self.scores or turn_id == self.goes_on_from or why == "no_room":
            self._drop([turn_id], "cover", why)

    def _drop(self, turn_ids: Iterable[int], where: Stage, why: Why) -> None:
        self.reasons.update(dict.fromkeys(turn_ids, Reason(where, why)))

    # --- what the decisions ask ------------------------------------------------------------------------------------

    @property
    def coverage(self) -> float:
        """The share of what is needed that is sent, 0..1, by the needs and the law of what a cut keeps."""
        total = math.fsum(self.needs.values())
        sent = math.fsum(
            self.needs.get(turn_id, 0.0) * math.sqrt(part.tokens / self.forms.whole(turn_id).tokens)
            for turn_id, part in self.kept.items()
        )
        return round(min(1.0, sent / total), 4) if total else 1.0

    def tokens_at(self, price: float) -> int:
        """Return the tokens of all that is worth sending at a price."""
        return sum(tokens_worth(need, tokens, price) for need, tokens in self._wanted)

    def smallest_tokens(self, turn_id: int) -> int:
        """Return the tokens that the smallest form of a turn needs."""
        tokens = smallest_form(self.forms.whole(turn_id).tokens)
        return max(tokens, self.forms.at_most(turn_id, tokens).tokens)

    def highest_price(self, turn_id: int) -> float:
        """Return the highest price at which a turn is worth sending in some form, beside what is sent."""
        need, whole = self.needs.get(turn_id, 0.0) * self.novelty(turn_id), self.forms.whole(turn_id).tokens
        return (1 - _SLACK) * need / math.sqrt(self.smallest_tokens(turn_id) * whole)

    def coverage_to_keep(self, turn_id: int) -> float | None:
        """Return the smallest coverage, to four digits, that sends a turn; None where none does."""
        need = self.needs.get(turn_id, 0.0) * self.novelty(turn_id)
        if not need or (self.verdict.reason == "explicit_switch" and need < _LEAST_AFTER_WORDS):
            return None
        coverage = max(coverage_at(self.highest_price(turn_id)), 1 - need / self._least_share(turn_id))
        return min(1.0, math.ceil(1e4 * coverage + 0.01) / 1e4)

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
        """Return whether a candidate says mostly what the sent turns say."""
        return self.novelty(turn_id) < _REPEATED
