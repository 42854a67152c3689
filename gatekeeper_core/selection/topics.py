"""The topic map of a conversation and the gate that reads a query against it.

The **topic map** cuts the conversation into segments, one topic each. A segment holds together as far as its turns
repeat one another's terms; a border costs a price, less where a turn greets, thanks, asks for something new or says
that the topic changes. The cheapest cut of all turns so far is found incrementally, one turn at a time.

The **gate** weighs three hypotheses for a query: it *stays* in the last segment (the active topic), it *returns* to an
earlier one, or it opens something *new*. Each has a prior, the cues of the query's wording, and the likelihood of the
query's terms under the segment's own term counts. Outside there are only ``continue`` and ``switch``:

* ``overlap = P / (P + 18 (1 - P))``, with ``P`` the probability of staying,
* ``new_ratio`` = share of the query's informative terms that the active topic does not hold,
* ``overlap > 0.45`` continues; ``overlap < 0.20`` together with ``new_ratio > 0.70`` switches; all else continues.

The active topic decays by itself: its term counts fade against the background as the segment grows, and the terms of
its newest turn count more.

Source: the thresholds are the specification's (3.2). The measures behind them, the segmentation (after Utiyama and
Isahara 2001, "A statistical model for domain-independent text segmentation", with adaptive counts) and the likelihoods
(Dirichlet smoothing after Zhai and Lafferty 2004) are ours; the constants are one set for all conversations.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.selection.anchors import term_weight
from gatekeeper_core.selection.background import background_frequencies

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gatekeeper_core.selection.cues import Cues
    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["GateConfig", "GateReason", "Judgement", "Topic", "TopicMap", "Verdict", "judge", "topic_terms"]

GateReason = Literal[
    "first_turn",
    "no_anchors",
    "about_conversation",
    "explicit_switch",
    "explicit_return",
    "referring_word",
    "overlap",
    "ambiguous",
    "new_topic",
    "return",
]

_MAX_EARLIER_TOPICS = 64
_MAX_POSTINGS = 400
_MAX_ALL_POSTINGS = 2_000
_OCCURRENCES = tuple((fields >> 4) + (fields & 15) for fields in range(256))  # by the low byte of a posting
_UNLISTED_FREQUENCY = 3e-5
_BACKGROUND_TOKENS = 2_000.0
_OVERLAP_ODDS = 18.0  # overlap 0.45 is a probability of staying of 0.94, 0.20 is 0.82
_RARE_WORD = 6.4  # nats that an unlisted word tells above the commonest, -ln(3e-5) - 4


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """The thresholds of the gate.

    Attributes:
        continue_above: overlap above which a query continues, 0..1. Source: specification 3.2.
        switch_below: overlap below which a query may switch, 0..1. Source: specification 3.2.
        new_above: share of new terms above which it does, 0..1. Source: specification 3.2.
        staying_prior: probability of staying before anything is read, 0.05..0.9; lower finds more returns and costs
            more false switches. Source: ours.
        evidence_share: on a switch, a turn stays a candidate only if it holds this share of the query's idf, or a whole
            identifier, version, quote or piece of code of it, 0..1; half of it where the query returns to a topic,
            twice where the user says that the topic is new. A topic is returned to only if one of its turns holds half
            of this share of what the query's terms tell. Source: ours.
    """

    continue_above: float = 0.45
    switch_below: float = 0.20
    new_above: float = 0.70
    staying_prior: float = 0.80
    evidence_share: float = 0.2

    def __post_init__(self) -> None:
        check_range(self, "continue_above", "switch_below", "new_above", "evidence_share", low=0, high=1)
        check_range(self, "staying_prior", low=0.05, high=0.9)
        if self.switch_below > self.continue_above:
            raise ConfigError("GateConfig.switch_below must not be above continue_above")


class Topic(NamedTuple):
    """One segment of the conversation: turns ``start`` to ``stop - 1``; ``topic_id`` counts from 0.

    Attributes:
        topic_id: 0-based number.
        start: its first turn.
        stop: the turn after its last.
        title: up to three of its anchors as written, the most telling first; empty where only the borders were asked.
        returns_to: the earlier topic that it goes back to, or None.
    """

    topic_id: int
    start: int
    stop: int
    title: tuple[str, ...] = ()
    returns_to: int | None = None


class Verdict(NamedTuple):
    """What the gate says of a query.

    Attributes:
        decision: ``continue`` or ``switch``.
        reason: which rule decided.
        overlap: how much speaks for staying in the active topic, 0..1.
        new_ratio: share of the query's informative terms that the active topic does not hold, 0..1.
        cue: the wording that decided or spoke along, or None.
        active_topic: id of the last topic of the conversation, or None in an empty one.
        resumed_topic: id of the earlier topic that a ``switch`` goes back to, or None.
        staying: probability of staying, 0..1.
    """

    decision: Literal["continue", "switch"]
    reason: GateReason
    overlap: float
    new_ratio: float
    cue: str | None = None
    active_topic: int | None = None
    resumed_topic: int | None = None
    staying: float = 0.0


class Judgement(NamedTuple):
    """A verdict with the probabilities behind it.

    Attributes:
        verdict: what is reported.
        topic_map: the segments.
        probabilities: by topic id, how likely the query belongs to it; topics that are not listed have none.
    """

    verdict: Verdict
    topic_map: TopicMap
    probabilities: Mapping[int, float] = MappingProxyType({})


_THANKED, _BORDER, _SWITCHED, _QUESTION_OPEN = 1, 2, 4, 8
_COLUMNS: Mapping[str, tuple[str, int | None]] = MappingProxyType(
    {
        "bests": ("d", 1),
        "backs": ("I", 1),
        "ends": ("Q", 1),
        "border_prices": ("d", 0),
        "flags": ("B", 0),
        "starts": ("I", None),
    }
)
"""The columns of a topic map: the type of their items, and how many more there are than turns."""


class _Window:
    """The newest turns, back to the last sure border, and how often each of their terms is repeated after it.

    An occurrence that is repeated later in the window has a cell in its turn: how many occurrences of its term come
    after it, for each time that the term stands in the conversation. A new turn changes the cells of its own terms
    alone.
    """

    SIZE = 40

    __slots__ = ("_cells", "_earlier", "_newest", "turns")

    def __init__(self) -> None:
        self.turns: list[Mapping[str, int]] = []  # a deque takes 700 bytes more, and 40 are moved at once
        self._newest: dict[str, int] = {}  # by term: the slot (turn id modulo SIZE) of its newest occurrence
        self._earlier: dict[str, list[int]] = {}  # by term: the places of the cells of the others, oldest first
        self._cells: dict[int, list[float]] = {}  # by slot

    def append(self, turn_id: int, terms: Mapping[str, int], counts: Mapping[str, int]) -> None:
        """Take in the next turn; the oldest one goes where there are too many.

        Args:
            turn_id: the turn.
            terms: how often each term stands in it.
            counts: the same for the whole conversation, this turn included.
        """
        slot = turn_id % self.SIZE
        if len(self.turns) == self.SIZE:
            self._forget_oldest(slot)
        self.turns.append(terms)
        newest, earlier = self._newest, self._earlier
        for term, occurrences in terms.items():
            before = newest.get(term)
            newest[term] = slot
            if before is None and occurrences == 1:
                continue
            places = earlier.get(term)
            if places is None:
                places = earlier[term] = []
            if before is not None:
                places.append(self._new_cell(before))
            for _ in range(occurrences - 1):
                places.append(self._new_cell(slot))
            self._number(places, counts[term] + 0.5)

    def gains(self, scale: float) -> list[float]:
        """Return by slot what the occurrences in a turn gain from those in the turns after it.

        The sums are exact, so that it does not matter how the window came about.

        Args:
            scale: tokens that smooth a count, for each time that the term stands in the conversation.
        """
        log1p, gains = math.log1p, [0.0] * self.SIZE
        for slot, cells in self._cells.items():
            gains[slot] = math.fsum([log1p(cell / scale) for cell in cells])
        return gains

    def clear(self) -> None:
        """Forget all turns."""
        for held in (self.turns, self._newest, self._earlier, self._cells):
            held.clear()

    def _new_cell(self, slot: int) -> int:
        """Make a cell in a turn and return its place."""
        cells = self._cells.get(slot)
        if cells is None:
            cells = self._cells[slot] = []
        cells.append(0.0)
        return (len(cells) - 1) * self.SIZE + slot

    def _number(self, places: list[int], smoothed_count: float) -> None:
        """Write into the cells of a term, oldest first, how many occurrences come after each."""
        cells, size, after = self._cells, self.SIZE, len(places)
        for place in places:
            cells[place % size][place // size] = after / smoothed_count
            after -= 1

    def _forget_oldest(self, slot: int) -> None:
        newest, earlier = self._newest, self._earlier
        for term, occurrences in self.turns.pop(0).items():
            if newest[term] == slot:
                del newest[term]
                earlier.pop(term, None)
                continue
            places = earlier[term]
            del places[:occurrences]
            if not places:
                del earlier[term]
        self._cells.pop(slot, None)


class TopicMap:
    """The segments of a growing conversation.

    Adding a turn looks at the last 40 turns and nothing else; the map after ``n`` turns is the same however it came
    about. The newest turns can be taken back. It holds 33 bytes a turn, 4 bytes a topic and a count for each different
    term.
    """

    WINDOW = _Window.SIZE
    """How many of the newest turns a border is looked for in. Source: ours."""

    __slots__ = ("_backs", "_bests", "_border_prices", "_counts", "_ends", "_flags", "_starts", "_topic_ids", "_window")

    def __init__(self) -> None:
        self._bests = array("d", [0.0])
        self._backs = array("I", [0])
        self._ends = array("Q", [0])
        self._border_prices = array("d")
        self._flags = array("B")
        self._counts: dict[str, int] = {}
        self._window = _Window()
        self._starts = array("I")
        self._topic_ids = array("I")

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self._border_prices)

    @property
    def token_count(self) -> int:
        """Terms of all turns together, repetitions counted."""
        return self._ends[-1]

    @property
    def mean_length(self) -> float:
        """Terms of a turn on average, at least 4."""
        return max(4.0, self._ends[-1] / len(self._flags)) if self._flags else 4.0

    @property
    def last_terms(self) -> Mapping[str, int]:
        """The terms of the newest turn."""
        return self._window.turns[-1] if self._window.turns else {}

    @property
    def question_open(self) -> bool:
        """Whether the newest turn ended with a question."""
        return bool(self._flags and self._flags[-1] & _QUESTION_OPEN)

    @property
    def topic_count(self) -> int:
        """How many segments there are; the last one is the active topic."""
        return len(self._starts)

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The segments, oldest first; the last one is the active topic."""
        return tuple(self.topic(topic_id) for topic_id in range(self.topic_count))

    @property
    def starts(self) -> array[int]:
        """The first turn of each topic, ascending; a copy, 4 bytes a topic."""
        return self._starts[:]

    @property
    def topic_ids(self) -> array[int]:
        """The id of the topic of each turn; a live view that grows and changes with the conversation."""
        return self._topic_ids

    @property
    def term_counts(self) -> Mapping[str, int]:
        """How often each term stands in the conversation; a live view."""
        return MappingProxyType(self._counts)

    @property
    def active_share(self) -> float:
        """Which part of all terms the active topic holds, 0..1; 1 where there is one topic only."""
        if len(self._starts) < 2:
            return 1.0
        return self.tokens_between(self._starts[-1], len(self)) / max(1, self.token_count)

    @property
    def topic_before_switch(self) -> int | None:
        """The topic that was active before the newest turn, where that turn switched away from it; else None."""
        newest = len(self) - 1
        if newest < 1 or not self._flags[-1] & _SWITCHED or self._starts[-1] != newest:
            return None
        return len(self._starts) - 2

    def topic(self, topic_id: int) -> Topic:
        """Return one segment."""
        last = topic_id + 1 == len(self._starts)
        return Topic(topic_id, self._starts[topic_id], len(self) if last else self._starts[topic_id + 1])

    def topic_of(self, turn_id: int) -> int:
        """Return the id of the topic of a turn.

        Raises:
            IndexError: there is no such turn.
        """
        if not 0 <= turn_id < len(self):
            raise IndexError(f"turn {turn_id} lies outside a conversation of {len(self)} turns")
        return self._topic_ids[turn_id]

    def start_as_of(self, turn_count: int, topic_id: int) -> int:
        """Return where a topic began when the conversation had so many turns.

        Args:
            turn_count: how many turns there were.
            topic_id: the topic's id in the map of that time; a later map may number it otherwise.
        """
        late, kept = self._changed_since(turn_count)
        return self._starts[topic_id] if topic_id < kept else late[kept - 1 - topic_id]

    def fades(self, topic_ids: Iterable[int], prior: float) -> dict[int, float]:
        """Return by topic how much the share of any one term falls in a topic of its length, as a logarithm, at most 0.

        Args:
            topic_ids: the topics.
            prior: tokens that smooth their counts, > 0.
        """
        starts, ends, log, last = self._starts, self._ends, math.log, len(self._starts) - 1
        found = {}
        for topic_id in topic_ids:
            tokens = ends[-1 if topic_id == last else starts[topic_id + 1]] - ends[starts[topic_id]]
            found[topic_id] = log(prior / (tokens + prior))
        return found

    def tokens_between(self, start: int, stop: int) -> int:
        """Return how many terms the turns ``start`` to ``stop - 1`` hold together."""
        return self._ends[stop] - self._ends[start]

    def count(self, term: str) -> int:
        """Return how often a term stands in the conversation."""
        return self._counts.get(term, 0)

    def add(self, terms: Mapping[str, int], *, cues: Cues, verdict: Verdict, question_open: bool) -> None:
        """Add the next turn.

        Args:
            terms: its :func:`topic_terms`, both sides together.
            cues: the cues of its user's text.
            verdict: the gate's verdict on its user's text: a switch makes a border cheaper, an explicit one sure.
            question_open: whether the last words said in it are a question.
        """
        after_thanks = bool(self._flags and self._flags[-1] & _THANKED)
        price = _border_price(cues, verdict, share=self.active_share, after_thanks=after_thanks)
        is_border = verdict.reason in ("explicit_switch", "explicit_return")
        counts = self._counts
        for term, occurrences in terms.items():
            counts[term] = counts.get(term, 0) + occurrences
        if is_border:
            self._window.clear()
        self._window.append(len(self), terms, counts)
        self._border_prices.append(price)
        self._ends.append(self._ends[-1] + sum(terms.values()))
        self._flags.append(
            _THANKED * (cues.thanks is not None)
            | _BORDER * is_border
            | _SWITCHED * (verdict.decision == "switch")
            | _QUESTION_OPEN * question_open
        )
        best, back = self._best_cut()
        self._bests.append(best)
        self._backs.append(back)
        self._follow_back()

    def cut(
        self, turn_count: int, *, removed: Iterable[Mapping[str, int]], window: Iterable[Mapping[str, int]]
    ) -> None:
        """Keep only the first turns.

        Args:
            turn_count: how many turns stay.
            removed: the terms of the turns that go.
            window: the terms of the last 40 turns that stay, oldest first.
        """
        counts = self._counts
        for terms in removed:
            for term, occurrences in terms.items():
                counts[term] -= occurrences
                if not counts[term]:
                    del counts[term]
        for column in (self._bests, self._backs, self._ends):
            del column[turn_count + 1 :]
        for flags in (self._border_prices, self._flags):
            del flags[turn_count:]
        self._fill_window(window)
        del self._starts[bisect_left(self._starts, turn_count) :]
        self._follow_back()

    def columns(self) -> dict[str, array[Any]]:
        """Return copies of what the map holds by turn and by topic, for a snapshot.

        Shapes, for ``n`` turns: ``bests`` (``d``), ``backs`` (``I``) and ``ends`` (``Q``) have ``n + 1`` items,
        ``border_prices`` (``d``) and ``flags`` (``B``) have ``n``, ``starts`` (``I``) one for each topic. The rest of
        the map, :attr:`term_counts` and the terms of the newest turns, belongs to :meth:`from_columns` too.
        """
        return {name: getattr(self, f"_{name}")[:] for name in _COLUMNS}

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, array[Any]],
        *,
        term_counts: Mapping[str, int],
        window: Iterable[Mapping[str, int]],
    ) -> TopicMap:
        """Return the map whose columns these are; it grows and is cut like the one that gave them.

        Args:
            columns: those of :meth:`columns`; they are copied.
            term_counts: how often each term stands in the conversation: the sums of the turns' :func:`topic_terms`.
            window: the :func:`topic_terms` of the last 40 turns, oldest first (of all turns, where there are fewer).

        Raises:
            ConfigError: a column is missing, is of another type or has another length than the others ask for.
        """
        made = cls()
        turn_count = len(columns.get("flags", ()))
        for name, (typecode, more) in _COLUMNS.items():
            column = columns.get(name)
            if column is None or column.typecode != typecode or (more is not None and len(column) != turn_count + more):
                raise ConfigError(f"columns[{name!r}] must be an array({typecode!r}) that fits {turn_count} turns")
            setattr(made, f"_{name}", column[:])
        made._counts = dict(term_counts)
        for topic in made.topics:
            made._topic_ids.extend([topic.topic_id] * (topic.stop - topic.start))
        made._fill_window(window)
        return made

    def _fill_window(self, window: Iterable[Mapping[str, int]]) -> None:
        self._window.clear()
        newest = tuple(window)[-self.WINDOW :]
        for turn_id, terms in enumerate(newest, len(self) - len(newest)):
            if self._flags[turn_id] & _BORDER:
                self._window.clear()
            self._window.append(turn_id, terms, self._counts)

    def _changed_since(self, turn_count: int) -> tuple[list[int], int]:
        """Return the starts at the time of so many turns that differ from those now, newest first, and how many do not.

        Where the way back of that time meets a start of now, all before it is the same.
        """
        late: list[int] = []
        at = turn_count
        while at > 0:
            at = self._backs[at]
            kept = bisect_left(self._starts, at)
            if kept < len(self._starts) and self._starts[kept] == at:
                return late, kept + 1
            late.append(at)
        return late, 0

    def _follow_back(self) -> None:
        """Bring the segments up to date."""
        fresh, kept = self._changed_since(len(self))
        del self._starts[kept:]
        self._starts.extend(reversed(fresh))
        first = max(0, kept - 1)  # the last one that is kept may have another end now
        del self._topic_ids[self._starts[first] if self._starts else 0 :]
        for topic_id in range(first, len(self._starts)):
            _, start, stop, *_ = self.topic(topic_id)
            self._topic_ids.extend([topic_id] * (stop - start))

    def _best_cut(self) -> tuple[float, int]:
        """Return the value of the best segmentation of all turns and where its last segment begins.

        A segment's cohesion is the log likelihood of its tokens under its own growing counts, smoothed by the
        conversation's, against the conversation's alone; it does not depend on the order of the tokens. Going back from
        the newest turn, each start adds what its own terms gain, and the first occurrence of a term gains log(1).
        """
        last, tokens, ends, bests = len(self) - 1, self._ends[-1], self._ends, self._bests
        prior = 16.0 * self.mean_length
        price = 1.4 * math.sqrt(self.mean_length)
        gains = self._window.gains(prior / max(1.0, tokens + 0.5 * len(self._counts)))
        lgamma, log_prior, base = math.lgamma, math.log(prior), math.lgamma(prior)
        gain, best, back = 0.0, -math.inf, last
        for start in range(last, last - len(self._window.turns), -1):
            gain += gains[start % self.WINDOW]
            total = tokens - ends[start]
            cohesion = gain - (lgamma(prior + total) - base - total * log_prior)
            value = bests[start] + 0.5 * cohesion - (price * self._border_prices[start] if start else 0.0)
            if value > best and round(value, 6) > round(best, 6):
                best, back = value, start
        return round(best, 6), back


def topic_terms(user_terms: Mapping[str, int], assistant_terms: Mapping[str, int]) -> dict[str, int]:
    """Return the terms of a turn that tell its topic: those of both sides, single Han characters left out."""
    terms = {term: count for term, count in user_terms.items() if len(term) > 1 or term.isascii()}
    for term, count in assistant_terms.items():
        if len(term) > 1 or term.isascii():
            terms[term] = terms.get(term, 0) + count
    return terms


def judge(
    terms: Collection[str], cues: Cues, topic_map: TopicMap, index: TurnIndex, *, config: GateConfig
) -> Judgement:
    """Return the verdict on a query, with the probability of every topic that it may belong to.

    Args:
        terms: the indexed terms of what it asks about.
        cues: those of its wording.
        topic_map: the segments of the conversation.
        index: the same conversation.
        config: the thresholds.
    """
    if not len(topic_map):
        return Judgement(Verdict("switch", "first_turn", overlap=0.0, new_ratio=1.0), topic_map)
    active = topic_map.topic_count - 1
    evidence = _weigh(terms, topic_map, index)
    staying, earlier = _posterior(cues, evidence, topic_map, config)
    overlap = round(staying / (staying + _OVERLAP_ODDS * (1 - staying)), 4)
    measured = Verdict(
        decision="continue",
        reason="overlap",
        overlap=overlap,
        new_ratio=round(1 - evidence.held, 4),
        active_topic=active,
        staying=round(staying, 4),
    )
    corrected = cues.correction is not None and topic_map.topic_before_switch is not None
    verdict = _decide(measured, cues, evidence, earlier, config, corrected=corrected)
    return Judgement(verdict, topic_map, {active: staying, **earlier})


class _Evidence(NamedTuple):
    """What the query's terms say; by topic id, the log likelihoods and the share that its best turn holds."""

    terms: int
    likelihood: dict[int, float]
    best_share: dict[int, float]
    held: float
    fresh: float
    absent_from_last: float
    relative_length: float


def _decide(
    measured: Verdict,
    cues: Cues,
    evidence: _Evidence,
    earlier: Mapping[int, float],
    config: GateConfig,
    *,
    corrected: bool,
) -> Verdict:
    """Return the verdict: explicit wordings first, then words that point back, then the thresholds.

    Args:
        measured: the measures.
        cues: those of the query.
        evidence: what its terms say.
        earlier: by earlier topic, how likely it is the query's.
        config: the thresholds.
        corrected: whether the user says that the last turn, a switch, took him wrong.
    """
    topic = max(zip(earlier.values(), earlier, strict=True), default=(0.0, None))[1]
    new = max(0.0, 1.0 - measured.staying - sum(earlier.values()))
    known = topic is not None and evidence.best_share.get(topic, 0.0) >= config.evidence_share / 2
    resumed = topic if topic is not None and known and earlier[topic] > new else None
    if cues.about_conversation:
        return measured._replace(decision="continue", reason="about_conversation", cue=cues.about_conversation)
    if cues.switch:
        return measured._replace(decision="switch", reason="explicit_switch", cue=cues.switch)
    if corrected:
        return measured._replace(decision="switch", reason="explicit_return", cue=cues.correction, resumed_topic=topic)
    likelier = known and topic is not None and earlier[topic] > measured.staying
    if (likelier and (cues.back or cues.said)) or (cues.back and earlier and not evidence.terms):
        cue = cues.back or cues.said
        return measured._replace(decision="switch", reason="explicit_return", cue=cue, resumed_topic=topic)
    if cues.referring or cues.said:
        return measured._replace(decision="continue", reason="referring_word", cue=cues.referring or cues.said)
    if not evidence.terms and not cues.about_you:
        return measured._replace(decision="continue", reason="no_anchors", cue=cues.acknowledgement)
    if measured.overlap > config.continue_above:
        return measured._replace(decision="continue", reason="overlap", cue=cues.back or cues.acknowledgement)
    if measured.overlap < config.switch_below and measured.new_ratio > config.new_above:
        return measured._replace(
            decision="switch", reason="return" if resumed is not None else "new_topic", resumed_topic=resumed
        )
    return measured._replace(decision="continue", reason="ambiguous")


def _weigh(asked: Collection[str], topic_map: TopicMap, index: TurnIndex) -> _Evidence:
    """Return what the query's terms say for each topic that holds one of them."""
    terms = {term: term_weight(term) for term in asked if len(term) > 1 or term.isascii()}
    probability = _probabilities(terms, topic_map)
    informative = {term: weight * max(0.0, -math.log(probability[term]) - 4.0) for term, weight in terms.items()}
    absent = sum(weight if topic_map.count(term) else 0.8 * weight for term, weight in terms.items())
    newest = _newest_postings(terms, index)
    best = _nearest_topics(_shares(informative, newest), topic_map)
    likelihood, held = _likelihoods(terms, probability, absent, newest, best, topic_map)
    mass = sum(informative.values()) or 1.0
    return _Evidence(
        terms=len(terms),
        likelihood=likelihood,
        best_share={k: share / mass for k, share in best.items()},
        held=sum([informative[term] for term in held]) / mass,
        fresh=_fresh(informative, held),
        absent_from_last=len(terms.keys() - topic_map.last_terms.keys()) / max(1, len(terms)),
        relative_length=max(-2.0, min(1.5, math.log(max(1, len(asked)) / index.mean_user_length))),
    )


def _fresh(informative: Mapping[str, float], held: Collection[str]) -> float:
    """Return how many rare words a query brings that the active topic does not know, 0 where it knows one.

    A pair of characters counts as 0.4 of a word, for the pairs across two words. Source: ours.
    """
    words = {term: nats / _RARE_WORD / (1.0 if term.isascii() else 2.5) for term, nats in informative.items()}
    known = sum(words[term] for term in held)
    return sum(words.values()) if known < 0.07 * sum(words.values()) else 0.0


def _newest_postings(terms: Iterable[str], index: TurnIndex) -> dict[str, Sequence[int]]:
    """Return the postings of each term that are read: the newest 400, what stands in more tells topics apart no longer.

    Where the terms have more than 2,000 of them together, the most frequent ones are only read as far back as the
    active topic can reach, so that a query costs the same at any length of the conversation.
    """
    newest: dict[str, Sequence[int]] = {term: index.newest_postings(term, _MAX_POSTINGS) for term in terms}
    left = _MAX_ALL_POSTINGS - sum(map(len, newest.values()))
    if left < 0:
        for term in sorted(newest, key=lambda term: (-len(newest[term]), term)):
            left += len(newest[term])
            newest[term] = newest[term][-TopicMap.WINDOW :]
            left -= len(newest[term])
            if left >= 0:
                break
    return newest


def _shares(informative: Mapping[str, float], newest: Mapping[str, Sequence[int]]) -> dict[int, float]:
    """Return by turn how much information it holds, given the newest postings of each term."""
    shares: dict[int, float] = {}
    for term, information in informative.items():
        for posting in newest[term]:
            turn_id = posting >> 8
            if turn_id in shares:
                shares[turn_id] += information
            else:
                shares[turn_id] = information
    return shares


def _nearest_topics(shares: Mapping[int, float], topic_map: TopicMap) -> dict[int, float]:
    """Return by earlier topic what its best turn holds: at most 64 that hold a term, best first; of equals the newest.

    Args:
        shares: by turn, how much information it holds.
        topic_map: the segments.
    """
    topic_ids, active = topic_map.topic_ids, topic_map.topic_count - 1
    alike: dict[float, list[int]] = {}  # most turns hold one term: many have the same share
    for turn_id, share in shares.items():
        if share in alike:
            alike[share].append(turn_id)
        else:
            alike[share] = [turn_id]
    best: dict[int, float] = {}
    for share in sorted(alike, reverse=True):
        for turn_id in sorted(alike[share], reverse=True):
            topic_id = topic_ids[turn_id]
            if topic_id not in best and topic_id != active:
                best[topic_id] = share
                if len(best) == _MAX_EARLIER_TOPICS:
                    return best
    return best


def _likelihoods(
    terms: Mapping[str, float],
    probability: Mapping[str, float],
    absent: float,
    newest: Mapping[str, Sequence[int]],
    earlier: Iterable[int],
    topic_map: TopicMap,
) -> tuple[dict[int, float], list[str]]:
    """Return by topic the damped log likelihood of the query's terms, against the whole conversation, -6..6.

    Args:
        terms: the query's terms with their weights.
        probability: of each term in the whole conversation, smoothed by the background.
        absent: sum of the weights, of terms that the conversation does not know at 0.8.
        newest: by term, the postings that are read.
        earlier: the topics that are asked about beside the active one.
        topic_map: the conversation.

    Returns:
        The likelihoods, the active topic's first, and the terms that the active topic holds.
    """
    prior, active, topic_ids, known = 8.0 * topic_map.mean_length, topic_map.topic_count - 1, topic_map.topic_ids, []
    values = {topic_id: fade * absent for topic_id, fade in topic_map.fades((active, *earlier), prior).items()}
    for term, weight in terms.items():
        counts: dict[int, int] = {}
        for posting in newest[term]:
            topic_id = topic_ids[posting >> 8]
            if topic_id in values:
                counts[topic_id] = counts.get(topic_id, 0) + _OCCURRENCES[posting & 255]
        if active in counts:
            known.append(term)
            counts[active] += 2 * (term in topic_map.last_terms)
        pseudo = prior * probability[term]
        gains = {count: weight * math.log1p(count / pseudo) for count in set(counts.values())}
        for topic_id, count in counts.items():
            values[topic_id] += gains[count]
    damping = 0.3 * math.sqrt(min(1.0, 8.0 / len(terms))) if terms else 0.0
    return {topic_id: max(-6.0, min(6.0, damping * value)) for topic_id, value in values.items()}, known


def _probabilities(terms: Iterable[str], topic_map: TopicMap) -> dict[str, float]:
    """Return by term its probability in the whole conversation, smoothed by the background."""
    background, total = background_frequencies(), topic_map.token_count + _BACKGROUND_TOKENS
    return {
        term: (topic_map.count(term) + _BACKGROUND_TOKENS * background.get(term, _UNLISTED_FREQUENCY)) / total
        for term in terms
    }


def _posterior(
    cues: Cues, evidence: _Evidence, topic_map: TopicMap, config: GateConfig
) -> tuple[float, dict[int, float]]:
    """Return the probability of staying and, by topic id, of returning; the rest is the probability of a new topic.

    Source: ours; the weights of the cues are one set for user turns and for utterances of either side, in Chinese and
    in English, rounded from a logistic fit over dialogues with labelled shifts and adjusted by what is then selected.
    """
    active = topic_map.topic_count - 1
    before = topic_map.topic_before_switch if cues.correction else None
    back = 2.0 if cues.back or before is not None else 0.5 if cues.said else 0.0
    stay = math.log(config.staying_prior) - back + evidence.likelihood[active]
    stay += 0.5 * bool(cues.referring) + bool(cues.pronoun) + 1.2 * topic_map.question_open
    stay += 0.2 * bool(cues.acknowledgement and not cues.change) + 1.4 * bool(cues.thanks)
    new = math.log(0.06) + 1.2 * bool(cues.change or cues.switch) + bool(cues.greeting)
    new += (2.0 * bool(cues.request) + 2.6 * bool(cues.about_you)) * evidence.absent_from_last
    new += 3.0 * bool(cues.small_talk and evidence.held < 0.1) + 0.5 * evidence.relative_length
    new += _news(cues, evidence, topic_map)
    returning = math.log(0.94 - config.staying_prior) - 0.3 * math.log(max(1, active)) + back
    logs = {
        k: returning + evidence.likelihood[k] + max(0.0, share - evidence.held)
        for k, share in evidence.best_share.items()
    }
    if before is not None:
        logs[before] = logs.get(before, returning) + 2.0
    if cues.back and active and not logs:
        logs = {active - 1: returning}
    top = max(stay, new, *logs.values()) if logs else max(stay, new)
    weights = {k: math.exp(value - top) for k, value in logs.items()}
    total = math.exp(stay - top) + math.exp(new - top) + sum(weights.values())
    return round(math.exp(stay - top) / total, 6), {k: round(weight / total, 6) for k, weight in weights.items()}


def _news(cues: Cues, evidence: _Evidence, topic_map: TopicMap) -> float:
    """Return how much the rare words that a question brings speak for a new topic, 0..4.

    It counts by the active topic's share of the conversation: where there is one topic only, no other segment's
    likelihood is there to compare with, and the words must speak for themselves.
    """
    if not cues.asks:
        return 0.0
    linked = cues.referring or cues.pronoun or cues.acknowledgement or cues.thanks or cues.said or cues.back
    return (0.3 if linked else 2.0) * topic_map.active_share * min(2.0, max(0.0, evidence.fresh - 0.8))


def _border_price(cues: Cues, verdict: Verdict, *, share: float, after_thanks: bool) -> float:
    """Return which share of its price a border before a turn costs, 0..1: the surer a switch, the less.

    Args:
        cues: those of its user's text.
        verdict: the gate's verdict on it.
        share: of the terms so far, how many the last topic holds, 0..1. Where there are several topics, the terms
            themselves tell the borders.
        after_thanks: whether the turn before it thanked.
    """
    discount = 0.8 * math.sqrt(share) * (1.0 - verdict.staying) if verdict.decision == "switch" else 0.0
    discount += 0.5 * bool(cues.greeting) + 0.35 * after_thanks + 0.35 * bool(cues.change)
    discount += 0.25 * bool(cues.back) + 0.2 * bool(cues.request)
    return max(0.0, 1.0 - discount)
