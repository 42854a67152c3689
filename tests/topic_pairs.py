"""Ten short conversations in each language, and sessions in which one of them follows another without a cue.

Each conversation has four turns. Its first question is complete in itself; the others are as people ask them: some
share no word with what they hang on, some have a pronoun, some name their subject. ``recall`` asks again for a fact of
one of the first three turns, in words of that turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.case_files import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

Turns = tuple[tuple[str, str], ...]


class Topic(NamedTuple):
    """A conversation on one topic: its turns, a question that goes back to it, and the turn that answers that."""

    name: str
    turns: Turns
    recall: str
    evidence: int


class Session(NamedTuple):
    """A conversation that leaves one topic for another.

    Attributes:
        name: the topic that is left and the new one.
        before: the turns before the switch: earlier topics whole, the last one without its last turn.
        old: the topic that is left.
        old_at: the position of its first turn.
        new: the topic that begins.
    """

    name: str
    before: Turns
    old: Topic
    old_at: int
    new: Topic


def sessions(language: str, *, topics_before: int = 1) -> Iterator[Session]:
    """Yield a session for every ordered pair of topics of a language.

    Args:
        language: ``zh`` or ``en``.
        topics_before: topics before the switch, the one that is left among them, 1 to 9.
    """
    topics = TOPICS[language]
    for at, old in enumerate(topics):
        others = topics[at + 1 :] + topics[:at]
        for new in others:
            earlier = [topic for topic in others if topic is not new][: topics_before - 1]
            head = tuple(turn for topic in earlier for turn in topic.turns)
            yield Session(f"{old.name} > {new.name}", (*head, *old.turns[:-1]), old, len(head), new)


TOPICS: dict[str, list[Topic]] = {}
"""By language ten topics that have nothing to do with each other."""

for _language, _name, _turns, _recall, _evidence in rows("topic_pairs", "topics"):
    _topic = Topic(_name, tuple((user, assistant) for user, assistant in _turns), _recall, _evidence)
    TOPICS.setdefault(_language, []).append(_topic)
