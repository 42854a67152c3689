"""Subjects: topics about the same thing are told by what all of their turns say, in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_cli.conversation import CONVERSATION
from gatekeeper_core import ContextGatekeeper
from tests.conversations import long_talk

CACHE = ("我们的 Redis 缓存用哪个端口？", "Redis 用 6380 端口，缓存过期时间 900 秒。")
CACHE_AGAIN = ("缓存在 Redis 里的过期时间怎么改？", "改 Redis 的缓存配置，端口 6380 不变。")
BREAD = ("How do I bake a sourdough loaf in a pot?", "Preheat the pot, score the sourdough, bake the loaf 40 minutes.")
BREAD_AGAIN = (
    "My sourdough loaf is dense, why?",
    "The sourdough was underproofed; let the loaf rise in the pot longer.",
)
MOVE = ("换个话题，搬家公司怎么选？", "找三家搬家公司报价，看保险。")
TAX = ("New topic: when is the tax return due?", "File the return by the end of January.")


def returns(turns: list[tuple[str, str]]) -> list[int | None]:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(turns)
    return [topic.returns_to for topic in gatekeeper.topics]


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
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(CONVERSATION)
    labels = "RRRRRRRLLLLLLLSSSSSRRRIIIIIIILLSSIIPPPPPP"
    first: list[int] = []
    kinds: dict[int, set[str]] = {}
    for topic in gatekeeper.topics:
        first.append(topic.topic_id if topic.returns_to is None else first[topic.returns_to])
        kinds.setdefault(first[-1], set()).update(labels[topic.start : topic.stop])
    assert all(len(found) == 1 for found in kinds.values())
    assert len(kinds) <= 6


def test_a_question_that_shares_a_word_or_two_with_an_old_turn_is_no_return() -> None:
    """000-20: bread that shares "ordinary" with the cache, a bug and a piano: new; bread and the bug again: returns."""
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(CONVERSATION)
    assert {gatekeeper.verdicts[at].reason for at in (14, 22, 35)} == {"explicit_switch", "new_topic"}
    assert {gatekeeper.verdicts[at].reason for at in (31, 33)} == {"return"}


def test_topics_of_one_subject_have_one_title() -> None:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync([CACHE, TAX, CACHE_AGAIN])
    cache, tax, again = gatekeeper.topics
    assert cache.title == again.title != tax.title


sides = st.sampled_from([text for turn in (CACHE, BREAD, MOVE, TAX, CACHE_AGAIN) for text in turn] + ["", "ok", "好的"])


@given(st.lists(st.tuples(sides, sides), max_size=8))
def test_a_topic_names_an_earlier_one_and_the_same_however_the_turns_came(turns: list[tuple[str, str]]) -> None:
    found = returns(turns)
    assert all(back is None or 0 <= back < topic for topic, back in enumerate(found))
    gatekeeper = ContextGatekeeper()
    for turn in turns:
        gatekeeper.add_turn(*turn)
        assert len(gatekeeper.topics) <= len(gatekeeper.turns)
    assert [topic.returns_to for topic in gatekeeper.topics] == found


def test_a_long_talk_does_not_fall_into_one_subject() -> None:
    found = returns(long_talk(120))
    assert sum(back is None for back in found) > 1 or len(found) == 1
