"""The gate: how a question stands to the newest turn, and whether it continues the topic or switches.

Two numbers are read from the question's terms and wording, each a logistic of a few signs:

* the **link**, how firmly the question hangs on the newest turn. It decides whether that turn goes along;
* **staying**, how likely the question stays with the active topic.

Outside there are only ``continue`` and ``switch``. ``overlap`` is the share of the question's information that the
newest turns of the active topic hold, ``new_ratio`` the share of its terms that they do not hold:

* ``overlap > 0.45`` continues;
* ``overlap < 0.20`` together with ``new_ratio > 0.70`` switches, where staying is the less likely of the two or a
  complete question shares no term with any turn, unless the wording edits something;
* all else continues.

After a switch nothing goes along for its place alone, only what is evidence.

A switch is a return where the best earlier turn holds 0.1 or more of that information, and more than the newest turn.

Source: the thresholds are the specification's (3.2). Read alone they call a switch in every second turn of real talk
that stays, hence the third condition. The signs and their weights are ours: logistic fits, rounded, over user-assistant
chats (link) and, at equal weights, these, English chit-chat and Chinese travel dialogues (staying);
``benchmarks.everyday`` and ``benchmarks.topics`` measure both. The share of a return is ours, too: in the everyday
conversations no return has less, and 31 of 40 topics that were called one, wrongly, had less.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.errors import ConfigError, check_range
from gatekeeper_core.selection.anchors import term_weight
from gatekeeper_core.selection.index import TURN_BITS, postings_among
from gatekeeper_core.selection.information import LEAST_INFORMATION, LEAST_RARITY, RARE_WORD, information, surprise
from gatekeeper_core.selection.translating import translated_terms
from gatekeeper_core.selection.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence, Set

    from gatekeeper_core.selection.cues import Cues
    from gatekeeper_core.selection.index import TurnIndex
    from gatekeeper_core.selection.topic_map import TopicMap

__all__ = ["GateConfig", "judge", "mended"]

_MAX_POSTINGS = 400
_MAX_ALL_POSTINGS = 2_000
_SLACK, _TIE = 1e-6, 1e-9  # sums in another order may differ in their last digits
_PAIR = 0.4  # of a word, for the pairs across two words
_POINTING = -0.7  # log odds: a third
_POINTING_BACK = -2.1  # a ninth: a snippet
_NAMED_ELSEWHERE = 0.1
_NAMES_ITSELF = 3.0  # rare words from which on a question holds itself what its pronouns stand for
_LEAVING_SIZE = 0.5  # rare words that a text tells at least after the words that leave what was said
_MENDING_SHARE = 0.15
_RETURN_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """The thresholds of the gate.

    Attributes:
        continue_above: overlap above which a question continues, 0..1. Source: specification 3.2.
        switch_below: overlap below which a question may switch, 0..1. Source: specification 3.2.
        new_above: share of new terms above which it does, 0..1. Source: specification 3.2.
    """

    continue_above: float = 0.45
    switch_below: float = 0.20
    new_above: float = 0.70

    def __post_init__(self) -> None:
        check_range(self, "continue_above", "switch_below", "new_above", low=0, high=1)
        if self.switch_below > self.continue_above:
            raise ConfigError("GateConfig.switch_below must not be above continue_above")


class _Signs(NamedTuple):
    """The signs in a question's terms; shares are of its information, 0..1.

    Attributes:
        terms: how many indexed terms it has.
        size: what it tells in everyday talk, in rare words.
        newest: what the newest turn holds.
        near: what the newest turns of the active topic hold.
        elsewhere: what the best earlier turn holds.
        topic: the earlier topic of that turn, or None.
        new_ratio: share of its terms of full weight that the newest turns of the active topic do not hold.
    """

    terms: int
    size: float
    newest: float
    near: float
    elsewhere: float
    topic: int | None
    new_ratio: float


def judge(terms: Collection[str], cues: Cues, topic_map: TopicMap, index: TurnIndex, *, config: GateConfig) -> Verdict:
    """Return the verdict on a question, with its link to the newest turn.

    Args:
        terms: the indexed terms of what it asks about.
        cues: those of its wording.
        topic_map: the topics of the conversation.
        index: the same conversation.
        config: the thresholds.
    """
    if not len(topic_map):
        return Verdict("switch", "first_turn", overlap=0.0, new_ratio=1.0)
    signs = _read(terms, topic_map, index)
    link = _link(signs, cues)
    staying = 3.0 + 0.6 * link + 1.4 * topic_map.question_open - 1.85 * min(1.0, signs.size / 4)
    staying -= 0.9 * bool(cues.asks) + 0.55 * bool(cues.request)
    staying -= 1.5 * bool(cues.about_you) + bool(cues.small_talk)
    measured = Verdict(
        "continue",
        "ambiguous",
        overlap=round(signs.near, 4),
        new_ratio=round(signs.new_ratio, 4),
        active_topic=topic_map.topic_count - 1,
        staying=round(_logistic(staying), 4),
        link=round(_logistic(link), 4),
    )
    return _decided(measured, signs, cues, topic_map, config)


def _link(signs: _Signs, cues: Cues) -> float:
    """Return the log odds that a question cannot do without the newest turn."""
    ahead = (signs.elsewhere - signs.newest) * min(1.0, signs.size / 3)
    z = -2.4 + 5.2 * math.sqrt(signs.newest) + 2.2 / (1 + signs.size) - 4.5 * ahead
    z += 1.5 * bool(cues.continues) + 0.6 * bool(cues.edit) - 0.2 * bool(cues.asks)
    z -= 1.2 * bool(cues.switch or cues.back or cues.change or cues.small_talk)
    complete = not (cues.continues or cues.pointer) and signs.terms > 0
    z -= 0.7 * complete * (1 - signs.near) * min(1.0, max(0.0, (signs.size - 1) / 3))
    if cues.back or cues.switch or not (cues.referring or cues.said):
        return z
    return max(z + 0.8, _POINTING if ahead < _NAMED_ELSEWHERE and signs.size < _NAMES_ITSELF else _POINTING_BACK)


def _decided(measured: Verdict, signs: _Signs, cues: Cues, topic_map: TopicMap, config: GateConfig) -> Verdict:
    """Return the verdict: explicit wordings first, then the thresholds."""
    if cues.about_conversation:
        return measured._replace(reason="about_conversation", cue=cues.about_conversation)
    if cues.switch:
        return measured._replace(decision="switch", reason="explicit_switch", cue=cues.switch)
    hangs = cues.pointer or cues.back or cues.continues or cues.asked_before
    if cues.leaving and not hangs and signs.new_ratio == 1 and signs.size >= _LEAVING_SIZE:
        return measured._replace(decision="switch", reason="explicit_switch", cue=cues.leaving)
    before = topic_map.topic_before_switch
    if cues.correction and before is not None:
        return measured._replace(decision="switch", reason="explicit_return", cue=cues.correction, resumed_topic=before)
    ahead = signs.elsewhere > signs.newest
    earlier = signs.topic if signs.terms else topic_map.topic_count - 2
    if cues.back and ahead >= bool(signs.terms) and earlier is not None and earlier >= 0:
        return measured._replace(decision="switch", reason="explicit_return", cue=cues.back, resumed_topic=earlier)
    if pointer := cues.referring or cues.said or cues.back:
        return measured._replace(reason="referring_word", cue=pointer)
    if not signs.terms:
        return measured._replace(reason="no_anchors", cue=cues.acknowledgement)
    if measured.overlap > config.continue_above:
        return measured._replace(reason="overlap", cue=cues.acknowledgement)
    few, many = measured.overlap < config.switch_below, measured.new_ratio > config.new_above
    complete = cues.asks and not (hangs or cues.edit) and signs.terms > 1 and signs.size >= 1
    alien = not (signs.near or signs.elsewhere or topic_map.question_open)
    leaves = measured.staying < 0.5 or (complete and alien)
    edits = cues.edit and signs.size < _NAMES_ITSELF
    if few and many and leaves and not edits:
        resumed = signs.topic if ahead and signs.elsewhere >= _RETURN_SHARE else None
        return measured._replace(
            decision="switch", reason="new_topic" if resumed is None else "return", resumed_topic=resumed
        )
    return measured


def mended(verdict: Verdict, terms: Mapping[str, int], topic_map: TopicMap, index: TurnIndex) -> Verdict:
    """Return the verdict on a finished turn, mended where its answer shows that the switch was none.

    A switch that no wording says is taken back where the newest turns of the topic before hold 0.15 or more of the
    information of the turn's terms, question and answer together. Source: ours.
    """
    if verdict.reason not in ("new_topic", "return"):
        return verdict
    near = terms.keys() & set().union(*topic_map.newest_turns)
    others = terms.keys() - near
    worth = information(near, index)
    held = math.fsum(worth.values())
    if held < _MENDING_SHARE * (held + LEAST_RARITY * math.fsum(map(surprise, others))):
        return verdict  # however often the conversation says the others
    whole = math.fsum([*worth.values(), *information(others, index).values()])
    return verdict._replace(mended=held >= _MENDING_SHARE * whole)


def _read(terms: Collection[str], topic_map: TopicMap, index: TurnIndex) -> _Signs:
    """Return the signs in the terms of a question."""
    worth, translated = information(terms, index), _translated(terms, index)
    for term, others in translated.items():
        worth[term] = min(worth[term], max(information(others, index).values()))
    mass = max(math.fsum(worth.values()), LEAST_INFORMATION)
    *_, newest = near = [_held(worth, turn, translated) for turn in topic_map.newest_turns]
    times = Counter(chain.from_iterable(near))
    # What two of them hold is what the topic is about, however often the conversation says it.
    told = [max(worth[term], surprise(term)) if count > 1 else worth[term] for term, count in times.items()]
    telling = [term for term in worth if term_weight(term) == 1.0]
    best, held = _best_earlier(worth, _found(worth, translated, index), newest_turn=len(index) - 1)
    earlier = None if best is None else topic_map.topic_of(best)
    return _Signs(
        terms=len(worth),
        size=math.fsum([surprise(term) * (1.0 if term.isascii() else _PAIR) for term in worth]) / RARE_WORD,
        newest=math.fsum([worth[term] for term in newest]) / mass,
        near=min(1.0, math.fsum(told) / mass),
        elsewhere=held / mass,
        topic=None if earlier == topic_map.topic_count - 1 else earlier,
        new_ratio=1 - sum(term in times for term in telling) / len(telling) if telling else 0.0,
    )


def _translated(terms: Collection[str], index: TurnIndex) -> dict[str, set[str]]:
    """Return by term that the conversation does not know what it has of its word in the other language."""
    unknown = {term for term in terms if not index.document_frequency(term)}
    found: dict[str, set[str]] = {}
    for translation in translated_terms(terms, index, among=unknown) if unknown else ():
        for term in unknown.intersection(translation.stands_for):
            found.setdefault(term, set()).add(translation.term)
    return found


def _held(terms: Mapping[str, float], turn: Set[str], translated: Mapping[str, Set[str]]) -> set[str]:
    """Return the terms that a turn holds, itself or in the other language."""
    return (terms.keys() & turn).union(term for term, others in translated.items() if not others.isdisjoint(turn))


def _found(
    worth: Mapping[str, float], translated: Mapping[str, Set[str]], index: TurnIndex
) -> dict[str, Sequence[int]]:
    """Return by term, in their order, the postings of the turns that hold it, oldest turn first.

    Of each term the newest 400 postings are read, and of all together 2,000 or little more: a question costs the same
    at any length of the conversation, and the most frequent terms give way first.
    """
    found: dict[str, Sequence[int]] = {term: index.postings(term)[-_MAX_POSTINGS:] for term in worth}
    for term, others in translated.items():
        turns = {posting >> TURN_BITS for other in others for posting in index.postings(other)[-_MAX_POSTINGS:]}
        found[term] = [turn << TURN_BITS for turn in sorted(turns)[-_MAX_POSTINGS:]]
    left = _MAX_ALL_POSTINGS - sum(map(len, found.values()))
    for term in sorted(found, key=lambda term: (-len(found[term]), term)) if left < 0 else ():
        if left >= 0:
            break
        left += len(found[term])
        found[term] = ()
    return {term: postings for term, postings in found.items() if postings}


def _best_earlier(
    worth: Mapping[str, float], found: Mapping[str, Sequence[int]], *, newest_turn: int
) -> tuple[int | None, float]:
    """Return the turn before the newest with most information of the terms, and how much; the newest of equals.

    The terms that tell most are read first, the others only in the turns that can still come first.
    """
    shares: dict[int, float] = {}
    most, left = 0.0, math.fsum([worth[term] for term in found])
    for term in sorted(found, key=worth.__getitem__, reverse=True):
        value, postings = worth[term], found[term]
        if most > left:
            shares = {turn: share for turn, share in shares.items() if share + left > most - _SLACK}
            postings = postings_among(postings, sorted(shares), shares)
        for posting in postings:
            turn = posting >> TURN_BITS
            if turn in shares:
                shares[turn] += value
            elif turn < newest_turn:
                shares[turn] = value
        most, left = max(shares.values(), default=0.0), left - value
    best = max((turn for turn, share in shares.items() if share > most - _TIE), default=None)
    return best, 0.0 if best is None else shares[best]


def _logistic(z: float) -> float:
    return 1.0 / (1.0 + math.exp(-z))
