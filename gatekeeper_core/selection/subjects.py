"""Subjects: which topics of a conversation are about the same thing, read from all of their turns.

The gate judges the first question of a topic before there is an answer; here the topic is known. Made on demand;
selection never asks for it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from gatekeeper_core.selection.anchors import telling_terms
from gatekeeper_core.selection.information import LEAST_INFORMATION, information

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatekeeper_core.selection.index import TurnIndex
    from gatekeeper_core.selection.verdicts import Verdict

__all__ = ["earlier_topics"]

_ALIKE = 0.05
_LEAST = 2 * LEAST_INFORMATION
_MAX_HOLDERS = 20


def earlier_topics(
    segments: Sequence[Sequence[tuple[str, str]]], openings: Sequence[Verdict], index: TurnIndex
) -> tuple[int | None, ...]:
    """Return for each topic the last earlier one on the same subject, or None where its subject is new.

    A wording that goes back decides alone. Else a topic belongs to the subject that it is most like, where that is 0.05
    or more, the newest of equals; after a wording that opens a topic, not to the one before it. Likeness, over the
    topic's terms, where ``n`` of the subject's turns hold a term::

        2 * sum(information(term) * n / (n + turns)) / max(25.6, sum(information(term)))

    Of the subjects that hold a term, the newest 20 are read.

    Args:
        segments: by topic, its turns as (user's text, assistant's text), oldest first.
        openings: by topic, the verdict on its first turn.
        index: the same conversation.

    Source: ours, with the length normalisation of BM25 at b = 1 (Robertson and Zaragoza 2009);
    ``benchmarks.topics`` measures it.
    """
    turns = [[telling_terms(user) | telling_terms(assistant) for user, assistant in segment] for segment in segments]
    worth = information(set().union(*(terms for segment in turns for terms in segment)), index)
    holders: defaultdict[str, dict[int, int]] = defaultdict(dict)  # by term and subject, how many turns hold it
    sizes: list[int] = []
    subjects: list[int] = []
    newest: dict[int, int] = {}
    earlier: list[int | None] = []
    for topic, (segment, verdict) in enumerate(zip(turns, openings, strict=True)):
        counts = Counter(term for terms in segment for term in terms)
        resumed = verdict.resumed_topic
        if verdict.reason == "explicit_return" and resumed is not None and resumed < topic:
            subject = subjects[resumed]
        else:
            left = subjects[-1] if subjects and verdict.reason == "explicit_switch" else None
            subject = _most_alike(counts, worth, holders, sizes, without=left)
        if subject == len(sizes):
            sizes.append(0)
        earlier.append(newest.get(subject))
        for term, count in counts.items():
            holders[term][subject] = holders[term].pop(subject, 0) + count  # the newest last
        sizes[subject] += len(segment)
        subjects.append(subject)
        newest[subject] = topic
    return tuple(earlier)


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
        for subject in islice(reversed(turns), _MAX_HOLDERS):
            shared[subject] += worth[term] * turns[subject] / (turns[subject] + sizes[subject])
    least = _ALIKE / 2 * max(_LEAST, math.fsum(map(worth.__getitem__, counts)))
    alike = {subject: round(value, 6) for subject, value in shared.items() if value >= least and subject != without}
    return max(alike, key=lambda subject: (alike[subject], subject), default=len(sizes))
