"""The topic map, which is the same however it came about."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.selection.cues import read_cues
from gatekeeper_core.selection.topic_map import Topic, TopicMap, _Window, topic_terms
from gatekeeper_core.selection.verdicts import Verdict

Step = tuple[dict[str, int], str, str, bool]

terms = st.dictionaries(st.sampled_from(["kafka", "raft", "缓存", "雪崩", "bread", "西湖", "v1.2"]), st.integers(1, 4))
openings = st.sampled_from(["", "hello", "谢谢", "by the way", "换个话题", "back to raft", "请问"])
reasons = st.sampled_from(["overlap", "ambiguous", "new_topic", "return", "explicit_switch", "explicit_return"])
histories = st.lists(st.tuples(terms, openings, reasons, st.booleans()), max_size=10)
SWITCHES = {"new_topic", "return", "explicit_switch", "explicit_return"}


def grow(topic_map: TopicMap, steps: list[Step]) -> TopicMap:
    for held, opening, reason, question_open in steps:
        judged = Verdict("switch" if reason in SWITCHES else "continue", reason, 0.5, 0.5)  # type: ignore[arg-type]
        topic_map.add(held, cues=read_cues(opening), verdict=judged, question_open=question_open)
    return topic_map


def state_of(topic_map: TopicMap) -> tuple[object, ...]:
    counts = {term: topic_map.count(term) for term in ("kafka", "raft", "缓存", "雪崩", "bread", "西湖", "v1.2")}
    sizes = (len(topic_map), topic_map.token_count, topic_map.mean_length, dict(topic_map.last_terms))
    return topic_map.topics, topic_map.columns(), dict(topic_map.term_counts), counts, sizes, topic_map.question_open


@given(histories)
def test_a_map_that_grew_is_one_that_was_built_anew(steps: list[Step]) -> None:
    """000-15: after each turn, incremental == rebuilt."""
    grown = TopicMap()
    for turn_count, step in enumerate(steps, 1):
        grow(grown, [step])
        assert state_of(grown) == state_of(grow(TopicMap(), steps[:turn_count]))


@given(histories, st.data())
def test_a_map_that_was_cut_is_one_that_was_built_anew(steps: list[Step], data: st.DataObject) -> None:
    """000-10, 000-15: and it grows on from there in the same way."""
    keep = data.draw(st.integers(0, len(steps)))
    more = data.draw(histories)
    topic_map = grow(TopicMap(), steps)
    topic_map.cut(
        keep, removed=[step[0] for step in steps[keep:]], window=[step[0] for step in steps[:keep][-TopicMap.WINDOW :]]
    )
    assert state_of(topic_map) == state_of(grow(TopicMap(), steps[:keep]))
    assert state_of(grow(topic_map, more)) == state_of(grow(TopicMap(), steps[:keep] + more))


@given(histories, histories)
def test_a_map_made_of_its_columns_is_the_map(steps: list[Step], more: list[Step]) -> None:
    """000-15: it answers alike, and grows and is cut back in the same way."""
    grown = grow(TopicMap(), steps)
    window = [step[0] for step in steps[-TopicMap.WINDOW :]]
    made = TopicMap.from_columns(grown.columns(), term_counts=grown.term_counts, window=window)
    assert state_of(made) == state_of(grown)
    assert state_of(grow(made, more)) == state_of(grow(TopicMap(), steps + more))
    made.cut(len(steps), removed=[step[0] for step in more], window=window)
    assert (state_of(made), made.columns()) == (state_of(grown), grown.columns())


@given(st.lists(terms, min_size=1, max_size=12), st.integers(1, 100), st.integers(0, 150))
def test_a_window_knows_what_repeated_terms_gain(turns: list[dict[str, int]], turn_count: int, cleared: int) -> None:
    """Against the definition, also where old turns went and where a border forgot all of them."""
    turns = [*islice(cycle(turns), turn_count)]
    window, counts = _Window(), Counter[str]()
    for turn_id, held in enumerate(turns):
        counts.update(held)
        if turn_id == cleared:
            window.clear()
        window.append(turn_id, held, counts)
    kept = [*enumerate(turns)][cleared if cleared < len(turns) else 0 :][-_Window.SIZE :]
    after, gains = Counter[str](), [0.0] * _Window.SIZE
    for turn_id, held in reversed(kept):
        for term, count in held.items():
            steps = range(after[term], after[term] + count)
            gains[turn_id % _Window.SIZE] += sum(math.log1p(step / (0.1 * (counts[term] + 0.5))) for step in steps)
            after[term] += count
    assert window.gains(0.1) == pytest.approx(gains)
    assert list(window.turns) == [held for _, held in kept]


def test_columns_that_do_not_belong_together_are_refused() -> None:
    """000-15: a column that is missing, too long or of another type."""
    columns = grow(TopicMap(), [({"raft": 2}, "", "overlap", True)] * 3).columns()
    for name, column in columns.items():
        rest = {key: value for key, value in columns.items() if key != name}
        longer = {} if name == "starts" else {name: column + column[:1]}  # any number of topics fits
        for wrong in ({}, longer, {name: array("h", [1] * len(column))}):
            with pytest.raises(ConfigError, match=r"must be an array\('\w'\) that fits"):
                TopicMap.from_columns({**rest, **wrong}, term_counts={}, window=[])


@given(histories)
def test_each_turn_knows_its_topic_and_the_starts_are_a_copy(steps: list[Step]) -> None:
    """000-15: by turn, as the topics say."""
    topic_map = grow(TopicMap(), steps)
    assert [topic_map.topic_of(turn) for turn in range(len(steps))] == list(topic_map.topic_ids)
    starts = topic_map.starts
    assert list(starts) == [topic.start for topic in topic_map.topics]
    starts.append(99)
    assert len(topic_map.starts) == topic_map.topic_count
    for turn in (-1, len(steps)):
        with pytest.raises(IndexError, match=f"turn {turn} lies outside"):
            topic_map.topic_of(turn)


@given(histories, st.data())
def test_the_start_of_a_topic_at_any_earlier_time_is_known(steps: list[Step], data: st.DataObject) -> None:
    """000-15: as the map of that time said."""
    topic_map = grow(TopicMap(), steps)
    turn_count = data.draw(st.integers(0, len(steps)))
    earlier = grow(TopicMap(), steps[:turn_count]).starts
    assert [topic_map.start_as_of(turn_count, topic_id) for topic_id in range(len(earlier))] == list(earlier)


@given(histories)
def test_the_topics_partition_the_turns(steps: list[Step]) -> None:
    """000-15: every turn stands in exactly one topic, in order."""
    topic_map = grow(TopicMap(), steps)
    covered = [turn for topic in topic_map.topics for turn in range(topic.start, topic.stop)]
    assert covered == list(range(len(steps)))
    assert [topic.topic_id for topic in topic_map.topics] == list(range(len(topic_map.topics)))
    assert all(topic.start < topic.stop for topic in topic_map.topics)
    ids = [next(t.topic_id for t in topic_map.topics if t.start <= turn < t.stop) for turn in range(len(steps))]
    assert list(topic_map.topic_ids) == ids


@given(histories)
def test_an_explicit_switch_or_return_is_always_a_border(steps: list[Step]) -> None:
    """000-15, 000-24: whatever the terms say, now and after all later turns."""
    starts = {topic.start for topic in grow(TopicMap(), steps).topics}
    explicit = {turn for turn, step in enumerate(steps) if step[2] in ("explicit_switch", "explicit_return")}
    assert explicit <= starts


def test_a_map_that_was_cut_beyond_its_window_is_one_that_was_built_anew() -> None:
    """000-15: a border is looked for in the newest forty turns."""
    vocabulary = ["kafka", "raft", "缓存", "雪崩", "bread", "西湖"]
    steps: list[Step] = [({vocabulary[turn // 9 % 6]: 3, "v1.2": 1}, "", "overlap", False) for turn in range(120)]
    topic_map = grow(TopicMap(), steps)
    topic_map.cut(55, removed=[step[0] for step in steps[55:]], window=[step[0] for step in steps[15:55]])
    assert state_of(topic_map) == state_of(grow(TopicMap(), steps[:55]))
    assert state_of(grow(topic_map, steps[55:])) == state_of(grow(TopicMap(), steps))


def test_a_conversation_without_any_terms_has_topics_too() -> None:
    """000-15: empty texts and mere particles."""
    topic_map = grow(TopicMap(), [({}, "", "overlap", False)] * 3)
    assert [turn for topic in topic_map.topics for turn in range(topic.start, topic.stop)] == [0, 1, 2]
    assert (TopicMap().topics, list(TopicMap().topic_ids), TopicMap().mean_length) == ((), [], 4.0)


def test_two_topics_without_any_cue_are_told_apart_by_their_words() -> None:
    """000-15: turns of one topic repeat one another's terms."""
    redis, bread = {"redis": 3, "port": 2, "server": 2, "缓存": 1}, {"bread": 3, "dough": 2, "oven": 2, "酵母": 1}
    steps: list[Step] = [(held, "", "overlap", False) for held in [redis] * 8 + [bread] * 8]
    assert grow(TopicMap(), steps).topics == (Topic(0, 0, 8), Topic(1, 8, 16))


@pytest.mark.parametrize("opening", ["hello", "你好", "by the way", "对了"])
def test_a_cue_makes_a_border_cheaper_than_none(opening: str) -> None:
    """000-15: the same words, with a greeting or a change marker at the border."""
    redis, bread = {"redis": 2, "port": 2, "server": 1}, {"bread": 2, "dough": 1, "oven": 1, "redis": 2}
    plain: list[Step] = [(held, "", "overlap", False) for held in [redis] * 8 + [bread] * 8]
    marked = [*plain[:8], (bread, opening, "overlap", False), *plain[9:]]
    assert len(grow(TopicMap(), plain).topics) == 1
    assert grow(TopicMap(), marked).topics == (Topic(0, 0, 8), Topic(1, 8, 16))


def test_the_terms_of_a_topic_are_those_of_both_sides_without_single_characters() -> None:
    """000-15: half a word tells no topic."""
    assert topic_terms({"缓存": 1, "缓": 1, "c": 1}, {"缓存": 2, "存": 1, "redis": 1}) == {
        "缓存": 3,
        "c": 1,
        "redis": 1,
    }


def test_the_map_counts_terms_and_tokens() -> None:
    """000-15: over the whole conversation and between two turns."""
    topic_map = grow(TopicMap(), [({"raft": 2}, "", "overlap", True), ({"raft": 1, "缓存": 4}, "", "overlap", False)])
    assert (topic_map.count("raft"), topic_map.count("zanzibar"), topic_map.token_count) == (3, 0, 7)
    assert (topic_map.tokens_between(0, 1), topic_map.tokens_between(1, 2)) == (2, 5)
    assert (topic_map.last_terms, topic_map.question_open) == ({"raft": 1, "缓存": 4}, False)
