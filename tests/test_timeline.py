"""The topics of a conversation over its turns."""

from __future__ import annotations

import json

import pytest

from gatekeeper_cli.conversation import CONVERSATION
from gatekeeper_cli.timeline import Timeline, subject_numbers, timeline_of
from gatekeeper_cli.topics import topics_of
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from tests.conversations import PAIRS, long_talk


def timeline(pairs: list[tuple[str, str]]) -> tuple[ContextGatekeeper, Timeline]:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(pairs)
    return gatekeeper, timeline_of(gatekeeper)


@pytest.mark.parametrize("pairs", [*PAIRS.values(), list(CONVERSATION), long_talk(120), []])
def test_every_turn_stands_in_one_topic_and_one_subject_and_costs_are_all_there(pairs: list[tuple[str, str]]) -> None:
    gatekeeper, shown = timeline(pairs)
    assert sorted(turn for subject in shown.subjects for turn in subject.turn_ids) == list(range(len(pairs)))
    assert sum(subject.tokens for subject in shown.subjects) == sum(gatekeeper.turn_tokens)
    topics = topics_of(gatekeeper)
    assert all(topics[topic].start <= at < topics[topic].stop for at, topic in enumerate(shown.topic_ids))
    assert len(shown.topic_ids) == len(pairs)


def test_a_topic_that_comes_back_is_one_subject_with_the_first() -> None:
    gatekeeper, shown = timeline(list(CONVERSATION))
    returns = [topic for topic in topics_of(gatekeeper) if topic.returns_to is not None]
    assert returns
    for topic in returns:
        subject = next(subject for subject in shown.subjects if topic.topic_id in subject.topic_ids)
        assert topic.returns_to in subject.topic_ids
        assert topic.start in subject.turn_ids
    assert len(shown.subjects) == len(topics_of(gatekeeper)) - len(returns)


def test_a_subject_has_the_title_of_its_first_topic_and_its_turns_in_order() -> None:
    gatekeeper, shown = timeline(list(CONVERSATION))
    topics = topics_of(gatekeeper)
    for subject in shown.subjects:
        assert subject.title == topics[subject.topic_ids[0]].title
        assert list(subject.turn_ids) == sorted(subject.turn_ids)


def test_the_json_holds_figures_and_titles_and_no_message() -> None:
    _, shown = timeline(list(CONVERSATION))
    value = json.loads(json.dumps(shown.to_dict()))
    assert value["history_tokens"] == sum(turn["tokens"] for turn in value["turns"])
    assert set(value["turns"][0]) == {"turn_id", "topic_id", "tokens"}
    assert CONVERSATION[0][0] not in json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("pairs", [*PAIRS.values(), list(CONVERSATION), long_talk(120), []])
def test_the_numbers_of_subjects_are_the_rows_of_the_timeline(pairs: list[tuple[str, str]]) -> None:
    gatekeeper, shown = timeline(pairs)
    numbers = subject_numbers(topics_of(gatekeeper))
    for row, subject in enumerate(shown.subjects):
        assert {numbers[topic] for topic in subject.topic_ids} == {row}
