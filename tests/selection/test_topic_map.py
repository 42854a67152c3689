"""The topic map, which is the same however it came about, and which never disagrees with the verdicts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.topic_map import Topic, TopicMap
from gatekeeper_core.selection.verdicts import Verdict

Step = tuple[frozenset[str], str]

SWITCHES = {"first_turn", "new_topic", "return", "explicit_switch", "explicit_return"}

terms = st.frozensets(st.sampled_from(["kafka", "raft", "缓存", "雪崩", "bread", "西湖", "v1.2"]))
reasons = st.sampled_from(["overlap", "ambiguous", "new_topic", "return", "explicit_switch", "explicit_return"])


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Draw turns as terms and reason; the first one is the first turn."""
    steps: list[Step] = draw(st.lists(st.tuples(terms, reasons), max_size=12))
    return [(held, reason if at else "first_turn") for at, (held, reason) in enumerate(steps)]


def verdict_of(step: Step) -> Verdict:
    _, reason = step
    decision = "switch" if reason in SWITCHES else "continue"
    return Verdict(decision, reason, 0.5, 0.5)  # type: ignore[arg-type]


def grow(topic_map: TopicMap, steps: list[Step]) -> TopicMap:
    for step in steps:
        topic_map.add(verdict_of(step), step[0])
    return topic_map


def state_of(topic_map: TopicMap) -> tuple[object, ...]:
    return (
        *(topic_map.topics, list(topic_map.starts), topic_map.topic_count, len(topic_map)),
        *(list(topic_map.newest_turns), topic_map.topic_before_switch),
    )


# --- the same however it came about


@given(histories(), histories(), st.data())
def test_a_map_that_was_cut_is_one_that_was_built_anew(
    steps: list[Step], more: list[Step], data: st.DataObject
) -> None:
    """000-10, 000-15: and it grows on from there in the same way."""
    keep = data.draw(st.integers(0, len(steps)))
    if keep:
        more = [step for step in more if step[1] != "first_turn"]
    topic_map = grow(TopicMap(), steps)
    topic_map.cut(keep, newest=[step[0] for step in steps[:keep]])
    assert state_of(topic_map) == state_of(grow(TopicMap(), steps[:keep]))
    assert state_of(grow(topic_map, more)) == state_of(grow(TopicMap(), steps[:keep] + more))


def test_the_borders_are_a_copy() -> None:
    topic_map = grow(TopicMap(), [(frozenset(), "first_turn")])
    topic_map.starts.append(9)
    assert topic_map.topics == (Topic(0, 0, 1),)


# --- topics are where the verdicts open them


@given(histories())
def test_a_topic_begins_with_each_verdict_that_opens_one_and_nowhere_else(steps: list[Step]) -> None:
    """000-15, 000-24: map and verdicts never disagree, and no later turn moves a border."""
    topic_map = grow(TopicMap(), steps)
    opened = [turn for turn, step in enumerate(steps) if verdict_of(step).decision == "switch"]
    assert [topic.start for topic in topic_map.topics] == list(topic_map.starts) == opened


@given(histories())
def test_the_topics_partition_the_turns(steps: list[Step]) -> None:
    """000-15: every turn stands in exactly one topic, in order, and knows which."""
    topic_map = grow(TopicMap(), steps)
    covered = [turn for topic in topic_map.topics for turn in range(topic.start, topic.stop)]
    assert covered == list(range(len(steps)))
    assert [topic.topic_id for topic in topic_map.topics] == list(range(topic_map.topic_count))
    ids = [next(t.topic_id for t in topic_map.topics if t.start <= turn < t.stop) for turn in range(len(steps))]
    assert [topic_map.topic_of(turn) for turn in range(len(steps))] == ids


def test_an_empty_conversation_has_no_topic() -> None:
    """000-15."""
    empty = TopicMap()
    assert (empty.topics, empty.topic_count, len(empty), list(empty.newest_turns)) == ((), 0, 0, [])
    assert empty.topic_before_switch is None


# --- what the gate reads of the newest turns


@given(histories())
def test_the_newest_turns_are_the_last_three_of_the_active_topic(steps: list[Step]) -> None:
    """000-15: the terms of an earlier topic are never read as those of the active one."""
    topic_map = grow(TopicMap(), steps)
    start = topic_map.starts[-1] if steps else 0
    assert list(topic_map.newest_turns) == [held for held, _ in steps[start:]][-3:]


@given(histories())
def test_the_topic_before_a_switch_is_known_only_right_after_it(steps: list[Step]) -> None:
    """000-30: where the user says that the switch was wrong."""
    topic_map = grow(TopicMap(), steps)
    just_opened = len(steps) > 1 and verdict_of(steps[-1]).decision == "switch"
    assert topic_map.topic_before_switch == (topic_map.topic_count - 2 if just_opened else None)
