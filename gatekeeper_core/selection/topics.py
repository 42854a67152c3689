"""The gate that reads a query against the topic map of a conversation (:mod:`gatekeeper_core.selection.topic_map`).

It weighs three hypotheses for a query: it *stays* in the last segment (the active topic), it *returns* to an earlier
one, or it opens something *new*. Each has a prior, the cues of the query's wording, and the likelihood of the
query's terms under the segment's own term counts. Outside there are only ``continue`` and ``switch``:

* ``overlap = P / (P + 18 (1 - P))``, with ``P`` the probability of staying,
* ``new_ratio`` = share of the query's informative terms that the active topic does not hold,
* ``overlap > 0.45`` continues; ``overlap < 0.20`` together with ``new_ratio > 0.70`` switches; all else continues.

The active topic decays by itself: its term counts fade against the background as the segment grows, and the terms of
its newest turn count more.

Source: the thresholds are the specification's (3.2). The measures behind them and the likelihoods (Dirichlet smoothing
after Zhai and Lafferty 2004) are ours; the constants are one set for all conversations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.selection.anchors import term_weight
from gatekeeper_core.selection.background import background_frequencies
from gatekeeper_core.selection.topic_map import Topic, TopicMap, topic_terms
from gatekeeper_core.selection.verdicts import GateReason, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gatekeeper_core.selection.cues import Cues
    from gatekeeper_core.selection.index import TurnIndex

__all__ = ["GateConfig", "GateReason", "Judgement", "Topic", "TopicMap", "Verdict", "judge", "topic_terms"]

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
