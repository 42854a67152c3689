"""The topics of a conversation, and the gate: whether a question continues the topic of the newest turns or switches.

The decision follows from the needs of :mod:`gatekeeper_core.selection.need`, so that verdict and choice never disagree.
``need`` is the probability that the question needs anything from the conversation, ``link`` that it needs the newest
turn. After a switch the newest turn is sent only for its evidence, like any older turn.

Explicit wordings decide first: a change of topic, a return, a word that points back. Otherwise ``overlap`` is the share
of the question's information in the newest turns of the active topic, ``new_ratio`` the share of its terms that are not
in them:

* ``overlap > 0.45`` continues;
* ``overlap < 0.20``, ``new_ratio > 0.70`` and ``link < 0.05`` together switch;
* all else continues.

A switch is a return if the best earlier turn holds at least 0.1 of that information, and more than the newest turn.

Source: the thresholds are the specification's (3.2). On their own they report a switch in every second turn of real
talk that stays on topic, hence the link; ``benchmarks.topics`` measures it. The share of a return is ours: in the
everyday conversations no return has less, and 31 of 40 topics wrongly called a return had less.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import Literal, NamedTuple

from gatekeeper_core.selection.anchors import query_terms, term_weight
from gatekeeper_core.selection.cues import Cues, asking_sentence, without_cues
from gatekeeper_core.selection.expansion import translated_terms
from gatekeeper_core.selection.index import TURN_BITS, TurnIndex
from gatekeeper_core.selection.information import LEAST_INFORMATION, RARE_WORD, surprise
from gatekeeper_core.selection.need import NeedWeights, Reading, question_needs
from gatekeeper_core.selection.settings import GatekeeperConfig

_MAX_POSTINGS = 400
_MAX_ALL_POSTINGS = 2_000
_TIE = 1e-9  # sums in another order may differ in their last digits
_PAIR = 0.4  # size of a Chinese pair in words, because many pairs cross two words
_LEAVING_SIZE = 0.5  # least size, in rare words, of a question after an opening that drops the topic
_LEAST_LINK = 0.05  # below this the newest turn is not needed
_RETURN_SHARE = 0.1


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


class Verdict(NamedTuple):
    """The topic decision on a query.

    Attributes:
        decision: ``continue`` or ``switch``.
        reason: the rule that decided.
        overlap: share of the query's information in the newest turns of the active topic, 0..1.
        new_ratio: share of the query's full-weight terms that are not in these turns, 0..1.
        cue: the wording that decided or contributed, or None.
        active_topic: id of the last topic of the conversation, or None if it is empty.
        resumed_topic: id of the earlier topic that a ``switch`` returns to, or None.
        need: probability that the query needs anything from the conversation, 0..1.
        link: probability that it needs the newest turn, 0..1.
    """

    decision: Literal["continue", "switch"]
    reason: GateReason
    overlap: float
    new_ratio: float
    cue: str | None = None
    active_topic: int | None = None
    resumed_topic: int | None = None
    need: float = 0.0
    link: float = 0.0


class Topic(NamedTuple):
    """A segment of the conversation on one topic.

    Attributes:
        topic_id: 0-based number.
        start: id of its first turn.
        stop: id of the turn after its last.
    """

    topic_id: int
    start: int
    stop: int


class TopicMap:
    """The topics of a growing conversation: the start of each, and the terms of the newest turns.

    A topic begins at each switch. The newest turns can be removed; the map does not depend on how it was built.

    Attributes:
        verdicts: the verdict on each turn's user text.
        starts: the first turn of each topic, ascending.
    """

    NEWEST = 3
    """Turns of the active topic that the gate compares a question with. Source: ours."""

    def __init__(self) -> None:
        self.verdicts: list[Verdict] = []
        self.starts: list[int] = []
        self._newest: list[Set[str]] = []

    @property
    def newest_turns(self) -> Sequence[Set[str]]:
        """The terms of the newest turns of the active topic, oldest first; at most three turns."""
        return self._newest[max(-self.NEWEST, self.starts[-1] - len(self.verdicts)) :] if self._newest else ()

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics, oldest first; the last one is active."""
        edges = [*self.starts, len(self.verdicts)]
        return tuple(Topic(number, *bounds) for number, bounds in enumerate(pairwise(edges)))

    def topic_of(self, turn_id: int) -> int:
        """Return the id of the topic of a turn."""
        return bisect_right(self.starts, turn_id) - 1

    def add(self, verdict: Verdict, terms: Set[str]) -> None:
        """Add the next turn, given the verdict on its user text and the terms of both sides."""
        if verdict.decision == "switch":
            self.starts.append(len(self.verdicts))
        self.verdicts.append(verdict)
        self._newest = [*self._newest, terms][-self.NEWEST :]

    def cut(self, turn_count: int, *, newest: Iterable[Set[str]]) -> None:
        """Keep the first ``turn_count`` turns, given the terms of the last three of them, oldest first."""
        del self.verdicts[turn_count:]
        del self.starts[bisect_left(self.starts, turn_count) :]
        self._newest = list(newest)[-self.NEWEST :]


def judge(
    reading: Reading | None,
    cues: Cues,
    topic_map: TopicMap,
    *,
    newest_tokens: int,
    config: GatekeeperConfig,
    weights: NeedWeights,
) -> Verdict:
    """Return the verdict on a question, with its needs: explicit wordings first, then the thresholds."""
    if reading is None:
        return Verdict("switch", "first_turn", overlap=0.0, new_ratio=1.0)
    need, link = question_needs(reading, cues, newest_tokens, weights)
    measured = Verdict(
        "continue",
        "ambiguous",
        overlap=round(reading.near, 4),
        new_ratio=round(reading.new_ratio, 4),
        active_topic=len(topic_map.starts) - 1,
        need=round(need, 4),
        link=round(link, 4),
    )
    if cues.about_conversation:
        return measured._replace(reason="about_conversation", cue=cues.about_conversation)
    if cues.switch:
        return measured._replace(decision="switch", reason="explicit_switch", cue=cues.switch)
    hangs = cues.pointer or cues.back or cues.asked_before
    if cues.leaving and not hangs and reading.new_ratio == 1 and reading.size >= _LEAVING_SIZE:
        return measured._replace(decision="switch", reason="explicit_switch", cue=cues.leaving)
    previous = len(topic_map.starts) - 2
    if cues.correction and previous >= 0 and topic_map.starts[-1] == len(topic_map.verdicts) - 1:
        cue = cues.correction
        return measured._replace(decision="switch", reason="explicit_return", cue=cue, resumed_topic=previous)
    ahead = reading.elsewhere > reading.newest
    earlier = reading.topic if reading.terms else previous
    if cues.back and ahead >= bool(reading.terms) and earlier is not None and earlier >= 0:
        return measured._replace(decision="switch", reason="explicit_return", cue=cues.back, resumed_topic=earlier)
    if pointer := cues.referring or cues.said or cues.back:
        return measured._replace(reason="referring_word", cue=pointer)
    if not reading.terms:
        return measured._replace(reason="no_anchors", cue=cues.acknowledgement)
    if measured.overlap > config.continue_above:
        return measured._replace(reason="overlap", cue=cues.acknowledgement)
    few, many = measured.overlap < config.switch_below, measured.new_ratio > config.new_above
    if few and many and measured.link < _LEAST_LINK:
        resumed = reading.topic if ahead and reading.elsewhere >= _RETURN_SHARE else None
        reason: GateReason = "new_topic" if resumed is None else "return"
        return measured._replace(decision="switch", reason=reason, resumed_topic=resumed)
    return measured


def read_question(text: str, terms: Collection[str], topic_map: TopicMap, index: TurnIndex) -> Reading | None:
    """Return the reading of a question against the conversation; None if the conversation is empty."""
    if not topic_map.verdicts:
        return None
    reading = _read_terms(terms, topic_map, index)
    sentence = asking_sentence(text)
    if sentence is None:
        return reading
    question = _read_terms(query_terms(without_cues(sentence)), topic_map, index)
    return reading._replace(last_question=max(question.newest, question.elsewhere))


def _read_terms(terms: Collection[str], topic_map: TopicMap, index: TurnIndex) -> Reading:
    worth = index.information(terms)
    unknown = {term for term in terms if not index.document_frequency(term)}
    translated: dict[str, set[str]] = {}  # translations of an unknown word that the conversation contains
    for translation, originals, _ in translated_terms(terms, index, among=unknown) if unknown else ():
        for term in unknown.intersection(originals):
            translated.setdefault(term, set()).add(translation)
    for term, others in translated.items():
        worth[term] = min(worth[term], max(index.information(others).values()))
    mass = max(math.fsum(worth.values()), LEAST_INFORMATION)
    near = [
        (worth.keys() & turn).union(term for term, others in translated.items() if not others.isdisjoint(turn))
        for turn in topic_map.newest_turns
    ]
    times = Counter(chain.from_iterable(near))
    # A term in two of them is a subject of the topic, however frequent it is in the conversation.
    near_weights = [max(worth[term], surprise(term)) if count > 1 else worth[term] for term, count in times.items()]
    telling = [term for term in worth if term_weight(term) == 1.0]
    best, most_elsewhere = _best_earlier(worth, translated, index)
    earlier = None if best is None else topic_map.topic_of(best)
    return Reading(
        terms=len(worth),
        size=math.fsum([surprise(term) * (1.0 if term.isascii() else _PAIR) for term in worth]) / RARE_WORD,
        newest=math.fsum([worth[term] for term in near[-1]]) / mass,
        near=min(1.0, math.fsum(near_weights) / mass),
        elsewhere=most_elsewhere / mass,
        topic=None if earlier == len(topic_map.starts) - 1 else earlier,
        new_ratio=1 - sum(term in times for term in telling) / len(telling) if telling else 0.0,
    )


def _best_earlier(
    worth: Mapping[str, float], translated: Mapping[str, Set[str]], index: TurnIndex
) -> tuple[int | None, float]:
    """Return the turn before the newest with most information of the terms, and how much; the newest of equals.

    At most the newest 400 postings of each term are read, and 2,000 in total (the most frequent terms are dropped
    first), so the cost of a question does not grow with the conversation.
    """
    postings_of: dict[str, Sequence[int]] = {term: index.postings(term)[-_MAX_POSTINGS:] for term in worth}
    for term, others in translated.items():
        turns = {posting >> TURN_BITS for other in others for posting in index.postings(other)[-_MAX_POSTINGS:]}
        postings_of[term] = [turn << TURN_BITS for turn in sorted(turns)[-_MAX_POSTINGS:]]
    too_many = sum(map(len, postings_of.values())) - _MAX_ALL_POSTINGS
    for term in sorted(postings_of, key=lambda term: (-len(postings_of[term]), term)) if too_many > 0 else ():
        if too_many > 0:
            too_many -= len(postings_of[term])
            postings_of[term] = ()
    shares: dict[int, float] = {}
    for term in sorted(worth, key=worth.__getitem__, reverse=True):
        for posting in postings_of[term]:
            turn = posting >> TURN_BITS
            shares[turn] = shares.get(turn, 0.0) + worth[term]
    shares.pop(len(index) - 1, None)
    most = max(shares.values(), default=0.0)
    best = max((turn for turn, share in shares.items() if share > most - _TIE), default=None)
    return best, 0.0 if best is None else shares[best]
