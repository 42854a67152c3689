"""Topics for people to read: which of them are about the same subject, and a title for each subject."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_cli.words import words_of
from gatekeeper_core.selection.anchors import telling_terms
from gatekeeper_core.selection.information import LEAST_INFORMATION, LEAST_RARITY, surprise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gatekeeper_cli.words import Word
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

__all__ = ["TITLE_WORDS", "Topic", "topics_of"]

TITLE_WORDS = 3
"""Words of a title at most. Source: ours."""

_ALIKE = 0.05
_ASKED = 1.5
_NEWEST_SUBJECTS = 20  # of those that hold a term


class Topic(NamedTuple):
    """One segment of the conversation: turns ``start`` to ``stop - 1``; ``topic_id`` counts from 0.

    Attributes:
        topic_id: 0-based number.
        start: its first turn.
        stop: the turn after its last.
        title: up to three words of all topics on its subject, the most telling first.
        returns_to: the last earlier topic on the same subject, or None.
    """

    topic_id: int
    start: int
    stop: int
    title: tuple[str, ...] = ()
    returns_to: int | None = None


def topics_of(gatekeeper: ContextGatekeeper) -> tuple[Topic, ...]:
    """Return the topics of a conversation with titles and returns, oldest first; the last one is active.

    A wording that goes back decides alone. Else a topic belongs to the subject that it is most like, where that is 0.05
    or more, the newest of equals; after a wording that opens a topic, not to the one before it. Likeness, over the
    topic's terms, where ``n`` of the subject's turns hold a term::

        2 * sum(information(term) * n / (n + turns)) / max(25.6, sum(information(term)))

    Source: ours, with the length normalisation of BM25 at b = 1 (Robertson and Zaragoza 2009);
    ``benchmarks.topics`` measures it.
    """
    turns = [(block.user_text, block.assistant_text) for block in gatekeeper.turns]
    terms = [telling_terms(user) | telling_terms(assistant) for user, assistant in turns]
    worth = _information(terms)
    holders: defaultdict[str, dict[int, int]] = defaultdict(dict)  # by term and subject, how many turns hold it
    subjects: list[int] = []
    members: list[list[int]] = []  # by subject, its topics
    turns_of: list[list[tuple[str, str]]] = []  # by subject, its turns
    verdicts = gatekeeper.verdicts
    for topic_id, start, stop in gatekeeper.topics:
        counts = Counter(term for held in terms[start:stop] for term in held)
        resumed, reason = verdicts[start].resumed_topic, verdicts[start].reason
        if reason == "explicit_return" and resumed is not None and resumed < topic_id:
            subject = subjects[resumed]
        else:
            before = subjects[-1] if subjects and reason == "explicit_switch" else None
            subject = _most_alike(counts, worth, holders, list(map(len, turns_of)), without=before)
        if subject == len(members):
            members.append([])
            turns_of.append([])
        members[subject].append(topic_id)
        turns_of[subject] += turns[start:stop]
        subjects.append(subject)
        for term, count in counts.items():
            holders[term][subject] = holders[term].pop(subject, 0) + count  # the newest last
    titles = _titles(turns_of)
    earlier = {topic: back for of_one in members for back, topic in zip([None, *of_one], of_one, strict=False)}
    return tuple(
        Topic(*topic, title=titles[subject], returns_to=earlier[topic.topic_id])
        for topic, subject in zip(gatekeeper.topics, subjects, strict=True)
    )


def _most_alike(
    counts: Mapping[str, int],
    worth: Mapping[str, float],
    holders: Mapping[str, dict[int, int]],
    sizes: Sequence[int],
    *,
    without: int | None,
) -> int:
    """Return the subject that a topic with these terms is most like, or the number of the next new one."""
    shared: defaultdict[int, float] = defaultdict(float)
    for term in counts:
        turns = holders.get(term, {})
        for subject in islice(reversed(turns), _NEWEST_SUBJECTS):
            shared[subject] += worth[term] * turns[subject] / (turns[subject] + sizes[subject])
    least = _ALIKE / 2 * max(2 * LEAST_INFORMATION, math.fsum(map(worth.__getitem__, counts)))
    alike = {subject: round(value, 6) for subject, value in shared.items() if value >= least and subject != without}
    return max(alike, key=lambda subject: (alike[subject], subject), default=len(sizes))


def _information(turns: Sequence[Iterable[str]]) -> dict[str, float]:
    """Return by term what it tells; see :mod:`gatekeeper_core.selection.information`."""
    count, scale = len(turns) + 1, math.log(len(turns) + 1) or 1.0
    frequencies = Counter(term for terms in turns for term in terms)
    return {
        term: surprise(term) * max(LEAST_RARITY, math.log(count / (frequency + 0.5)) / scale)
        for term, frequency in frequencies.items()
    }


def _titles(subjects: Sequence[Sequence[tuple[str, str]]]) -> list[tuple[str, ...]]:
    """Return a title for each subject, given its turns.

    A word is worth how many of the subject's turns hold it, times how much it tells against everyday talk, times the
    share of its turns that lie in the subject; half as much again where the user says it.
    """
    words = [[words_of(*turn) for turn in turns] for turns in subjects]
    everywhere = Counter(term for turns in words for turn in turns for term in turn)
    return [_title(turns, everywhere) for turns in words]


def _title(turns: Sequence[Mapping[str, Word]], everywhere: Mapping[str, int]) -> tuple[str, ...]:
    counts = Counter(term for turn in turns for term in turn)
    written = {term: word for turn in reversed(turns) for term, word in turn.items()}
    asked = {term for turn in turns for term, word in turn.items() if word.is_asked}
    worth = {
        term: round(
            count * count / everywhere[term] * _telling(written[term].text) * (_ASKED if term in asked else 1), 6
        )
        for term, count in counts.items()
        if count > 1 or not written[term].is_guess
    }
    title: dict[str, str] = {}
    for term in sorted(worth, key=lambda term: (-worth[term], -len(term))):  # of equals the one that comes first
        if worth[term] > 0 and len(title) < TITLE_WORDS and not any(term in other or other in term for other in title):
            title[term] = written[term].text
    return tuple(title.values())


def _telling(word: str) -> float:
    """Return how much a word tells in everyday talk, in nats above the commonest; one without spaces by its pairs."""
    terms = telling_terms(word)
    return math.fsum(map(surprise, terms)) / len(terms) if terms else 0.0
