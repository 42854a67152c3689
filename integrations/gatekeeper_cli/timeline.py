"""The topics of a conversation over its turns: which turns each topic holds, returns among them, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_cli.showable import visible
from gatekeeper_cli.topics import topics_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_cli.texts import Texts
    from gatekeeper_cli.topics import Topic
    from gatekeeper_core.selection.gatekeeper import ContextGatekeeper

__all__ = ["Subject", "Timeline", "subject_name", "subject_numbers", "timeline_of"]


class Subject(NamedTuple):
    """A topic with every later one on the same subject.

    Attributes:
        topic_ids: its segments, oldest first.
        title: up to three of its anchors.
        turn_ids: its turns, oldest first.
        tokens: what they cost together.
    """

    topic_ids: tuple[int, ...]
    title: tuple[str, ...]
    turn_ids: tuple[int, ...]
    tokens: int


class Timeline(NamedTuple):
    """A conversation by topics.

    Attributes:
        topics: the segments, oldest first.
        subjects: the topics without repetition, by their first turn.
        turn_tokens: what each turn costs.
        topic_ids: the segment of each turn.
    """

    topics: tuple[Topic, ...]
    subjects: tuple[Subject, ...]
    turn_tokens: tuple[int, ...]
    topic_ids: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, without any message."""
        return {
            "turn_count": len(self.turn_tokens),
            "history_tokens": sum(self.turn_tokens),
            "topics": [{**topic._asdict(), "title": list(topic.title)} for topic in self.topics],
            "turns": [
                {"turn_id": turn_id, "topic_id": topic_id, "tokens": tokens}
                for turn_id, (topic_id, tokens) in enumerate(zip(self.topic_ids, self.turn_tokens, strict=True))
            ],
        }


def timeline_of(gatekeeper: ContextGatekeeper) -> Timeline:
    """Return the timeline of a gatekeeper's conversation."""
    topics, tokens = topics_of(gatekeeper), gatekeeper.turn_tokens
    topic_ids = tuple(topic.topic_id for topic in topics for _ in range(topic.start, topic.stop))
    return Timeline(topics, tuple(_subjects(topics, tokens)), tokens, topic_ids)


def subject_numbers(topics: Sequence[Topic]) -> list[int]:
    """Return by topic the number of its subject, counted from 0 by their first turns: the rows of a timeline."""
    numbers: list[int] = []
    for topic in topics:
        new = max(numbers, default=-1) + 1
        numbers.append(new if topic.returns_to is None else numbers[topic.returns_to])
    return numbers


def subject_name(subject: Subject, texts: Texts) -> str:
    """Return the title of a subject; where it has none, the number of its first topic."""
    return texts("comma").join(map(visible, subject.title)) or texts("untitled", topic=subject.topic_ids[0])


def _subjects(topics: Sequence[Topic], tokens: Sequence[int]) -> list[Subject]:
    members: dict[int, list[Topic]] = {}
    for topic, number in zip(topics, subject_numbers(topics), strict=True):
        members.setdefault(number, []).append(topic)
    subjects = []
    for segments in members.values():
        turn_ids = tuple(turn_id for topic in segments for turn_id in range(topic.start, topic.stop))
        cost = sum(tokens[turn_id] for turn_id in turn_ids)
        subjects.append(Subject(tuple(topic.topic_id for topic in segments), segments[0].title, turn_ids, cost))
    return subjects
