"""The planner of one selection: which turns are sent, and how much of each.

One :class:`Planner` serves one query. Each candidate has a need (:mod:`gatekeeper_core.selection.need`), and one price
per token decides how much of it is sent, the most needed turn first. With the strategy ``gate`` the price follows from
the requested coverage, and rises until all that is worth it fits the budget. With ``fill`` it falls until the budget is
used; turns next to the evidence and the newest ones fill the rest. A turn that a newer one restates is not needed, and
similarity to a sent turn lowers the need. :mod:`gatekeeper_core.selection.result` explains each choice.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain, islice
from typing import Literal, NamedTuple

from gatekeeper_core.events import CANDIDATES, COVER
from gatekeeper_core.observation import stage
from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.blocks import Block
from gatekeeper_core.selection.cues import Cues
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.meaning import Meaning
from gatekeeper_core.selection.need import (
    NeedWeights,
    Reading,
    Signs,
    coverage_at,
    older_signs,
    price_of,
    probability,
    smallest_form,
    tokens_worth,
)
from gatekeeper_core.selection.retrieval import Query, Score, score_turns
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.selection.topics import Verdict
from gatekeeper_core.selection.trimming import Excerpt, Forms, Sentences, Trimmer
from gatekeeper_core.token_estimate import budget_for, budget_within

_LOWEST_PRICE, _SLACK = 1e-9, 0.006  # the slack is a little more than the last step of the search for a price
_FILLING_TOKENS = 40  # of the budget per candidate of ``fill``
_PRICE_STEPS = 12  # halvings of the logarithm of the price: to half a per cent
_LEAST_NEED = 0.2  # of a turn of the current topic, times the share that may be missing
_LEAST_ELSEWHERE = 0.55  # the same for a turn of another topic
_LEAST_AFTER_WORDS = 0.25  # of any turn if the question explicitly opens a new topic
_POINTED_AT = 0.1  # share of questions pointing back that need the turn before the newest; no less for the newest
_LIKELY = 0.5  # need at which a turn that cannot be cut is sent whole
_MISSES = 8  # turns that do not fit before the budget counts as full
_RESTATED = 0.6  # likeness at which the newer turn replaces the older
_REPEATED = 0.5  # novelty below which a turn that is not sent counts as a repeat


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


class Reason(NamedTuple):
    """The stage that kept or dropped a turn, and why."""

    stage: Stage
    why: Why


class Question(NamedTuple):
    """A question, read against the conversation.

    Attributes:
        query: its terms, with the related ones.
        cues: the cues of its wording.
        reading: its terms as the gate reads them; None in an empty conversation.
        verdict: the topic decision.
        weights: weights of the need.
        meaning: similarities of the turns to it; None without an embedder.
    """

    query: Query
    cues: Cues
    reading: Reading | None
    verdict: Verdict
    weights: NeedWeights
    meaning: Meaning | None = None

    @property
    def gathers(self) -> bool:
        """Whether it asks for all of something, or for what was said."""
        return bool(self.cues.gathers) or self.asks_what_was_said

    @property
    def asks_what_was_said(self) -> bool:
        """Whether it asks about the conversation itself."""
        return bool(self.cues.asked_before or self.cues.about_conversation)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation at the moment of a question.

    Attributes:
        blocks: the turns, oldest first; more may be appended later.
        turn_count: number of turns at that moment.
        tokens: cost of all of them.
        index: index of their terms.
        starts: first turn of each topic, ascending.
        sentences: cached sentences of texts, and the token counter.
    """

    blocks: Sequence[Block]
    turn_count: int
    tokens: int
    index: TurnIndex
    starts: tuple[int, ...]
    sentences: Sentences

    def topic_of(self, turn_id: int) -> int:
        """Return the id of the topic of a turn."""
        return bisect_right(self.starts, turn_id) - 1


class Repeats:
    """Likeness of turns: which of them repeat others."""

    def __init__(self, blocks: Sequence[Block], scores: Sequence[Score] = ()) -> None:
        self._blocks = blocks
        self._terms: dict[int, frozenset[str]] = {}
        self._novelties: dict[int, tuple[int, float]] = {}
        sharing: dict[frozenset[str], set[int]] = {}
        for score in scores:
            sharing.setdefault(score.matched, set()).add(score.turn_id)
        self._candidates = {score.turn_id: sharing[score.matched] for score in scores}

    def novelty(self, turn_id: int, kept: Sequence[int]) -> float:
        """Return the share of a turn's need that remains given the sent turns, 0..1; ``kept`` may only grow."""
        seen, novelty = self._novelties.get(turn_id, (0, 1.0))
        alike_turns = self.candidates_of(turn_id)
        for other in kept[seen:]:
            if other in alike_turns and other != turn_id and (alike := self._likeness(turn_id, other)):
                novelty *= 0.0 if self.restates(other, turn_id) else 1.0 - alike**2
        self._novelties[turn_id] = len(kept), novelty
        return novelty

    def candidates_of(self, turn_id: int) -> set[int]:
        """Return the turns that share the same terms with the question: only these can repeat each other."""
        return self._candidates.get(turn_id, set())

    def restates(self, turn_id: int, other: int) -> bool:
        """Return whether a turn repeats what an older one says, perhaps with a newer value."""
        if turn_id < other or self._likeness(turn_id, other) < _RESTATED:
            return False
        return len(self.terms_of(turn_id)) >= len(self.terms_of(other))

    def _likeness(self, turn_id: int, other: int) -> float:
        """Return the Jaccard index of two turns' terms, 0..1; 0.0 if one is more than twice as long."""
        tokens, others = self._blocks[turn_id].tokens, self._blocks[other].tokens
        if 2 * tokens < others or 2 * others < tokens:
            return 0.0
        first, second = self.terms_of(turn_id), self.terms_of(other)
        return len(first & second) / (len(first | second) or 1)

    def terms_of(self, turn_id: int) -> frozenset[str]:
        """Return the indexed terms of a turn, without dates and amounts."""
        if turn_id not in self._terms:
            texts = self._blocks[turn_id].texts
            self._terms[turn_id] = frozenset().union(*(count_terms(text, with_quantities=False) for text in texts))
        return self._terms[turn_id]


class Planner:
    """A planner that chooses the turns for one question; see the module for the order.

    Args:
        question: the question.
        conversation: its turns.
        config: the settings.
        token_budget: token limit of the chosen turns.

    Attributes:
        scores: scores of the turns that were scored in full.
        signs: signs of the candidates as older turns.
        needs: needs of the candidates.
        kept: the chosen turns as sent, most needed first.
        reasons: reasons of the scored turns, the chosen ones, and those without room.
        forms: the forms in which a turn can be sent.
    """

    def __init__(
        self, question: Question, conversation: Conversation, config: GatekeeperConfig, *, token_budget: int
    ) -> None:
        self.question = question
        self.conversation = conversation
        self.config = config
        self.token_budget = token_budget
        self.scores: dict[int, Score] = {}
        self.signs: dict[int, Signs] = {}
        self.needs: dict[int, float] = {}
        self.kept: dict[int, Excerpt] = {}
        self.reasons: dict[int, Reason] = {}
        self.repeats = Repeats(conversation.blocks)
        self.forms = Forms(
            Trimmer(question.query, sentences=conversation.sentences),
            conversation.blocks,
            trim=config.trim,
            two_people=conversation.index.speakers.are_two_people(),
        )
        self._left = self.room

    @property
    def room(self) -> int:
        """The tokens of the budget that may be used: all but the margin of the counter."""
        return budget_within(self.conversation.sentences.count, self.token_budget)

    @property
    def goes_on_from(self) -> int | None:
        """The turn that the question continues: the newest, or the last of the topic that it explicitly resumes."""
        verdict = self.question.verdict
        if verdict.decision == "continue":
            return self.conversation.turn_count - 1
        topic = verdict.resumed_topic if verdict.reason == "explicit_return" else None
        return None if topic is None else self.conversation.starts[topic + 1] - 1

    def choose(self) -> None:
        """Choose the turns; call it once."""
        if not self.conversation.turn_count:
            return
        with stage(CANDIDATES) as seen:
            self._find_candidates()
            seen.tell(lambda: {"turn_count": self.conversation.turn_count, "candidates": len(self.needs)})
        with stage(COVER) as seen:
            self._send()
            if self._fill and not self._opens_topic:
                self._surroundings()
            seen.tell(lambda: {"turns_kept": len(self.kept), "tokens": self.room - self._left})

    @property
    def _fill(self) -> bool:
        return self.config.strategy == "fill"

    @property
    def _opens_topic(self) -> bool:
        return self.question.verdict.reason == "explicit_switch"

    def _least(self, turn_id: int) -> float:
        """Return the need below which a turn is not sent, at any price."""
        if self._opens_topic:
            return _LEAST_AFTER_WORDS
        return 0.0 if self._fill else self._least_share(turn_id) * (1 - self.config.coverage)

    def _least_share(self, turn_id: int) -> float:
        """Return the least need of a turn per share that may be missing; it is higher for other topics."""
        verdict, conversation = self.question.verdict, self.conversation
        active = len(conversation.starts) - 1 if verdict.decision == "continue" else verdict.resumed_topic
        return _LEAST_NEED if self.question.gathers or conversation.topic_of(turn_id) == active else _LEAST_ELSEWHERE

    # --- what each turn is needed for ------------------------------------------------------------------------------

    def _find_candidates(self) -> None:
        """Set the need of the best turns, and of the newest to fill up the candidates, except after a switch."""
        (query, cues, _, verdict, weights, meaning), blocks = self.question, self.conversation.blocks
        config, index, newest = self.config, self.conversation.index, self.conversation.turn_count - 1
        limit = max(config.candidates, self._left // _FILLING_TOKENS) if self._fill else config.candidates
        texts = lambda turn_id: blocks[turn_id].texts  # noqa: E731
        scores = score_turns(query, index, config=config, depth=limit, texts=texts, meaning=meaning)
        self.scores = {score.turn_id: score for score in scores}
        self.repeats = Repeats(blocks, scores)
        self.reasons = {score.turn_id: Reason("recall", "not_a_candidate") for score in scores[limit:]}
        turn_ids = [score.turn_id for score in scores[:limit]]
        others = range(newest, -1, -1) if verdict.decision == "continue" else ()
        turn_ids += islice((at for at in others if at not in self.scores), max(0, limit - len(turn_ids)))
        self.signs = older_signs(turn_ids, scores, query, index, gathers=self.question.gathers)
        nearest = max(map(meaning.strength, self.signs), default=0.0) if meaning else 0.0
        anything = max(verdict.need, min(1.0, nearest) ** 2)  # as evidence, strength counts its square
        least = _POINTED_AT if cues.about_conversation else 0.0
        for turn_id, signs in self.signs.items():
            if meaning and meaning.cosine(turn_id) is not None:
                signs |= {"meaning": meaning.strength(turn_id), "embedded": 1.0}
            self.needs[turn_id] = round(anything * max(least, probability(weights.older, signs)), 6)
        self._go_on()
        tokens = self.forms.full(newest).tokens
        if not blocks[newest].assistant_text and tokens == smallest_form(tokens) and not self._opens_topic:
            self.needs[newest] = 1.0  # a short message without an answer belongs to the one after it

    def _go_on(self) -> None:
        """Set the need of the turn that the question continues, and of the one before it if the wording points back."""
        turn_id, verdict, conversation = self.goes_on_from, self.question.verdict, self.conversation
        if turn_id is None:
            return
        is_newest = turn_id == conversation.turn_count - 1
        self.needs[turn_id] = verdict.link if is_newest else max(verdict.link, self.needs.get(turn_id, 0.0))
        if verdict.reason in ("referring_word", "no_anchors"):
            start = conversation.starts[conversation.topic_of(turn_id)]
            for near in range(turn_id, max(start, turn_id - 1) - 1, -1):
                self.needs[near] = max(round(_POINTED_AT * verdict.need, 6), self.needs.get(near, 0.0))

    # --- taking and dropping ---------------------------------------------------------------------------------------

    def _send(self) -> None:
        """Send what is worth the coverage's price, most needed first; turns that lack room share the rest, cut."""
        coverage_price = 0.0 if self._fill else price_of(self.config.coverage)
        price = self._price_within(coverage_price)
        heap, waiting = [], []
        for turn_id, need in self.needs.items():
            full = self.forms.full(turn_id).tokens
            if need < self._least(turn_id) or not tokens_worth(need, full, coverage_price):
                self._leave(turn_id, "low_need")
            elif tokens_worth(need, full, price):
                heap.append((-need, -turn_id))
            elif self._fill:
                self._leave(turn_id, "no_room")
            else:
                waiting.append((-need, -turn_id))
        self._send_all(heap, price)
        self._send_all(waiting, coverage_price)

    def _price_within(self, price: float) -> float:
        """Return the price, or the lowest higher one at which all that is worth sending fits the budget."""
        worth = self._worth_sending()
        if _tokens_at(price, worth) <= self._left:
            return price
        low, high = max(price, _LOWEST_PRICE), 1.0
        for _ in range(_PRICE_STEPS):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if _tokens_at(middle, worth) <= self._left else (middle, high)
        return high

    def _worth_sending(self) -> list[tuple[float, int]]:
        return [(need, self.forms.full(at).tokens) for at, need in self.needs.items() if need >= self._least(at)]

    def _send_all(self, heap: list[tuple[float, int]], price: float) -> None:
        """Send what is worth its price and fits, given (-need, -turn) pairs."""
        heapify(heap)
        while heap:
            turn_id, need = self._most_needed(heap)
            full = self.forms.full(turn_id)
            tokens = tokens_worth(need, full.tokens, price)
            part = self.forms.at_most(turn_id, tokens) if tokens else full
            if not _is_worth(part.tokens, need, full.tokens, price):
                part = self.forms.at_most(turn_id, smallest_form(full.tokens))
            if _is_worth(part.tokens, need, full.tokens, price):
                self._take(turn_id, part, self._reason(turn_id))
            else:
                self._leave(turn_id, "low_need")

    def _reason(self, turn_id: int) -> Reason:
        score = self.scores.get(turn_id)
        if turn_id == self.goes_on_from:
            return Reason("link", "newest_turn" if turn_id == self.conversation.turn_count - 1 else "earlier_turn")
        if score:
            return Reason("cover", "evidence" if score.matched or score.related else "meaning")
        return Reason("overview", "overview") if self.question.asks_what_was_said else Reason("link", "earlier_turn")

    def _most_needed(self, heap: list[tuple[float, int]]) -> tuple[int, float]:
        """Pop the most needed turn and its need from a non-empty heap; of turns that restate each other, the newest.

        Each turn waits with an upper bound of its need and is checked again at the top: novelty only falls. Source:
        Minoux 1978, "Accelerated greedy algorithms for maximizing submodular set functions".
        """
        while True:
            bound, negative = heappop(heap)
            need = self._remaining_need(-negative)
            if need < -bound and heap and (-need, negative) > heap[0]:
                heappush(heap, (-need, negative))
                continue
            alike = self.repeats.candidates_of(-negative)
            newer = [entry for entry in heap if entry[1] < negative and -entry[1] in alike]
            newer = [entry for entry in newer if self.repeats.restates(-entry[1], -negative)]
            if not newer:
                return -negative, need
            newest = min(newer, key=lambda entry: entry[1])
            heap.remove(newest)
            heappush(heap, (-need, negative))
            heapify(heap)
            return -newest[1], max(need, self.needs[-newest[1]])

    def _remaining_need(self, turn_id: int) -> float:
        return self.needs.get(turn_id, 0.0) * self.repeats.novelty(turn_id, [*self.kept])

    def _surroundings(self) -> None:
        """Fill the budget with further candidates, the turns next to the evidence, then the newest ones."""
        count = self.conversation.turn_count
        rest = sorted(self.needs, key=lambda turn_id: (-self._remaining_need(turn_id), -turn_id))
        near = [at for turn_id in self.kept for at in (turn_id + 1, turn_id - 1) if 0 <= at < count]
        misses = 0
        for at in chain(rest, near, range(count - 1, -1, -1)):
            misses += at not in self.kept and not self._take(at, self.forms.full(at), Reason("cover", "neighbour"))
            if misses > _MISSES:
                return

    def _take(self, turn_id: int, part: Excerpt, reason: Reason) -> bool:
        """Send a part of a turn if it fits, cut further if needed, and return whether it is sent."""
        if part.tokens > self._left:
            part = self.forms.at_most(turn_id, self._left)
        if part.tokens > self._left:
            self.reasons[turn_id] = Reason(reason.stage, "no_room")
            return False
        self.kept[turn_id] = part
        self.reasons[turn_id] = reason
        self._left -= part.tokens
        return True

    def _leave(self, turn_id: int, why: Why) -> None:
        """Record why a candidate is not sent; one that shares nothing with the question needs no reason."""
        if turn_id in self.scores or turn_id == self.goes_on_from or why == "no_room":
            self.reasons[turn_id] = Reason("cover", why)

    # --- figures for the decisions ---------------------------------------------------------------------------------

    @property
    def coverage(self) -> float:
        """The share of what is needed that is sent, 0..1; a cut keeps the square root of its share of tokens."""
        total = math.fsum(self.needs.values())
        sent = math.fsum(
            self.needs.get(turn_id, 0.0) * math.sqrt(part.tokens / self.forms.full(turn_id).tokens)
            for turn_id, part in self.kept.items()
        )
        return round(min(1.0, sent / total), 4) if total else 1.0

    def smallest_tokens(self, turn_id: int) -> int:
        """Return the tokens of the smallest form of a turn."""
        tokens = smallest_form(self.forms.full(turn_id).tokens)
        return max(tokens, self.forms.at_most(turn_id, tokens).tokens)

    def _highest_price(self, turn_id: int) -> float:
        """Return the highest price at which some form of a turn is worth sending, given the sent turns."""
        full = self.forms.full(turn_id).tokens
        return (1 - _SLACK) * self._remaining_need(turn_id) / math.sqrt(self.smallest_tokens(turn_id) * full)

    def coverage_to_keep(self, turn_id: int) -> float | None:
        """Return the smallest coverage, to four digits, that sends a turn; None if no coverage does."""
        need = self._remaining_need(turn_id)
        if not need or (self._opens_topic and need < _LEAST_AFTER_WORDS):
            return None
        coverage = max(coverage_at(self._highest_price(turn_id)), 1 - need / self._least_share(turn_id))
        return min(1.0, math.ceil(1e4 * coverage + 0.01) / 1e4)

    def budget_to_keep(self, turn_id: int) -> int:
        """Return a budget that holds a turn and all more needed ones, or the whole history if it has no need."""
        tokens = self.conversation.tokens
        if turn_id in self.needs:
            needed_more = _tokens_at(self._highest_price(turn_id), self._worth_sending())
            tokens = max(needed_more, self.smallest_tokens(turn_id))
        return budget_for(self.conversation.sentences.count, max(tokens, self.room + 1))

    def is_repeat(self, turn_id: int) -> bool:
        """Return whether a candidate mostly repeats the sent turns."""
        return self.repeats.novelty(turn_id, [*self.kept]) < _REPEATED


def _tokens_at(price: float, worth: Sequence[tuple[float, int]]) -> int:
    return sum(tokens_worth(need, tokens, price) for need, tokens in worth)


def _is_worth(tokens: int, need: float, full: int, price: float) -> bool:
    """Return whether a part of a turn earns its price; a likely needed turn need not."""
    return need >= _LIKELY or need * math.sqrt(tokens / full) >= price * tokens
