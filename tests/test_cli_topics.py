"""Topics for people to read: which are about the same subject, and their titles, in every script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_cli.conversation import CONVERSATION
from gatekeeper_cli.topics import Timeline, Topic, subject_numbers, topics_of
from gatekeeper_core import ContextGatekeeper
from tests.case_files import from_file
from tests.conversations import PAIRS, long_talk

if TYPE_CHECKING:
    from collections.abc import Sequence

CACHE = ("我们的 Redis 缓存用哪个端口？", "Redis 用 6380 端口，缓存过期时间 900 秒。")
CACHE_AGAIN = ("缓存在 Redis 里的过期时间怎么改？", "改 Redis 的缓存配置，端口 6380 不变。")
BREAD = ("How do I bake a sourdough loaf in a pot?", "Preheat the pot, score the sourdough, bake the loaf 40 minutes.")
BREAD_AGAIN = (
    "My sourdough loaf is dense, why?",
    "The sourdough was underproofed; let the loaf rise in the pot longer.",
)
MOVE = ("换个话题，搬家公司怎么选？", "找三家搬家公司报价，看保险。")
TAX = ("New topic: when is the tax return due?", "File the return by the end of January.")


def topics(turns: Sequence[tuple[str, str]]) -> tuple[Topic, ...]:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(turns)
    return topics_of(gatekeeper)


def returns(turns: Sequence[tuple[str, str]]) -> list[int | None]:
    return [topic.returns_to for topic in topics(turns)]


@pytest.mark.parametrize(
    ("first", "between", "again"),
    [(CACHE, MOVE, CACHE_AGAIN), (BREAD, TAX, BREAD_AGAIN), (CACHE, TAX, CACHE_AGAIN)],
    ids=["chinese", "english", "mixed"],
)
def test_a_topic_on_a_subject_of_before_names_it_though_no_wording_says_so(
    first: tuple[str, str], between: tuple[str, str], again: tuple[str, str]
) -> None:
    assert returns([first, between, again]) == [None, None, 0]


@pytest.mark.parametrize("turns", [[CACHE, MOVE, TAX], [BREAD, TAX, MOVE], [BREAD, MOVE, TAX]])
def test_a_topic_on_a_subject_of_its_own_names_none(turns: list[tuple[str, str]]) -> None:
    assert returns(turns) == [None, None, None]


def test_after_a_wording_that_opens_a_topic_the_one_before_it_is_not_named() -> None:
    worded = ("换个话题，" + CACHE_AGAIN[0], CACHE_AGAIN[1])
    assert returns([CACHE, worded]) == [None, None]
    assert returns([CACHE, TAX, worded]) == [None, None, 0]


def test_the_five_topics_of_the_demo_are_told_apart() -> None:
    """A trip, a cache, bread, a bug and a piano: no turn stands with one of another."""
    labels = "RRRRRRRLLLLLLLSSSSSRRRIIIIIIILLSSIIPPPPPP"
    first: list[int] = []
    kinds: dict[int, set[str]] = {}
    for topic in topics(CONVERSATION):
        first.append(topic.topic_id if topic.returns_to is None else first[topic.returns_to])
        kinds.setdefault(first[-1], set()).update(labels[topic.start : topic.stop])
    assert all(len(found) == 1 for found in kinds.values())
    assert len(kinds) <= 6


def test_a_question_that_shares_a_word_or_two_with_an_old_turn_is_no_return() -> None:
    """000-20: bread that shares "ordinary" with the cache, a bug and a piano: new; bread and the bug again: returns."""
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(CONVERSATION)
    assert {gatekeeper.verdicts[at].reason for at in (14, 22, 35)} == {"new_topic"}
    assert {gatekeeper.verdicts[at].reason for at in (31, 33)} == {"return"}


sides = st.sampled_from([text for turn in (CACHE, BREAD, MOVE, TAX, CACHE_AGAIN) for text in turn] + ["", "ok", "好的"])


@given(st.lists(st.tuples(sides, sides), max_size=8))
def test_a_topic_names_an_earlier_one_and_the_same_however_the_turns_came(turns: list[tuple[str, str]]) -> None:
    found = topics(turns)
    assert all(topic.returns_to is None or 0 <= topic.returns_to < topic.topic_id for topic in found)
    gatekeeper = ContextGatekeeper()
    for turn in turns:
        gatekeeper.add_turn(*turn)
    assert [topic[:3] for topic in found] == [*gatekeeper.topics]
    assert topics_of(gatekeeper) == found


def test_a_long_talk_does_not_fall_into_one_subject() -> None:
    found = returns(long_talk(120))
    assert sum(back is None for back in found) > 1 or len(found) == 1


@pytest.mark.parametrize("pairs", [*PAIRS.values(), list(CONVERSATION), long_talk(120), []])
def test_every_turn_stands_in_one_topic_and_one_subject_and_costs_are_all_there(pairs: list[tuple[str, str]]) -> None:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(pairs)
    shown, topics = Timeline.of(gatekeeper), topics_of(gatekeeper)
    assert sorted(turn for subject in shown.subjects for turn in subject.turn_ids) == list(range(len(pairs)))
    assert sum(subject.tokens for subject in shown.subjects) == sum(gatekeeper.turn_tokens)
    numbers = subject_numbers(topics)
    for row, subject in enumerate(shown.subjects):
        assert {numbers[topic] for topic in subject.topic_ids} == {row}
        assert list(subject.turn_ids) == sorted(subject.turn_ids)
        assert subject.title == topics[subject.topic_ids[0]].title
    for topic in topics:
        (subject,) = [subject for subject in shown.subjects if topic.topic_id in subject.topic_ids]
        assert topic.returns_to is None or topic.returns_to in subject.topic_ids
    value = shown.to_dict()
    for turn in value["turns"]:
        assert topics[turn["topic_id"]].start <= turn["turn_id"] < topics[turn["topic_id"]].stop
    assert [turn["tokens"] for turn in value["turns"]] == list(gatekeeper.turn_tokens)


# --- titles


@from_file("turns", "words")
def test_a_title_holds_what_the_turns_of_the_subject_share(turns: list[tuple[str, str]], words: list[str]) -> None:
    title = topics([TAX, ("New topic. " + turns[0][0], turns[0][1]), *turns[1:]])[-1].title
    assert {*words} <= {*title}
    assert len(title) <= 3
    assert bool(words) == bool(title)


texts = st.text(st.characters(exclude_categories=())) | st.sampled_from(["Redis 缓存", "西湖门票", "\ud800"])


@given(st.lists(st.tuples(texts, texts), max_size=4))
def test_no_two_words_of_a_title_say_the_same(turns: list[tuple[str, str]]) -> None:
    for topic in topics(turns):
        folded = [word.casefold() for word in topic.title]
        assert not any(one in other for one in folded for other in folded if one is not other)
