"""Titles of topics: what was written there, the most telling first, in every script; and returns between topics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper
from gatekeeper_core.selection.titles import TITLE_ANCHORS, titles

REDIS = (
    ("Which port does Redis listen on?", "Redis listens on port 6379."),
    ("How do I set a Redis password?", "Set requirepass in redis.conf and restart Redis."),
)
WEST_LAKE = (
    ("西湖要门票吗？", "西湖免费，灵隐寺要门票。"),
    ("西湖边住哪里方便？", "湖滨路离西湖和断桥近。"),
)
TOKYO = (
    ("东京 hotel 怎么选？", "新宿 station 附近的 hotel 方便。"),
    ("新宿的 hotel 一晚多少钱？", "大约 15000 日元。"),
)


@pytest.mark.parametrize(
    ("turns", "best"), [(REDIS, "Redis"), (WEST_LAKE, "西湖"), (TOKYO, "hotel")], ids=["english", "chinese", "mixed"]
)
def test_a_title_begins_with_what_the_turns_share_and_others_do_not(
    turns: tuple[tuple[str, str], ...], best: str
) -> None:
    made = dict(zip((REDIS, WEST_LAKE, TOKYO), titles([REDIS, WEST_LAKE, TOKYO]), strict=True))
    assert made[turns][0] == best
    assert len(made[turns]) <= TITLE_ANCHORS


def test_no_two_anchors_of_a_title_say_the_same() -> None:
    for title in titles([REDIS, WEST_LAKE, TOKYO]):
        folded = [anchor.casefold() for anchor in title]
        assert not any(one in other for one in folded for other in folded if one is not other)


@pytest.mark.parametrize(
    "turns",
    [
        [("这次博物馆要提前几天预约？", "博物馆提前三天预约。"), ("博物馆的门票多少钱？", "博物馆门票六十元。")],
        [
            ("周末去博物馆要排队吗？", "上午去博物馆不用排队。"),
            ("故宫博物馆也要预约吗？", "要，故宫博物馆提前七天预约。"),
        ],
    ],
)
def test_a_chinese_title_holds_whole_words(turns: list[tuple[str, str]]) -> None:
    (title,) = titles([turns])
    assert "博物馆" in title
    assert set(title) <= {"博物馆", "预约", "门票", "故宫", "周末", "上午", "排队"}


def test_a_title_holds_no_decimal_number_and_no_short_form() -> None:
    (title,) = titles([[("Ms. Hart wants 1.7 times the dose of 2.14.3", "Ms. Hart said 1.7 is fine.")]])
    assert "Hart" in title
    assert not {"Ms", "1.7"} & set(title)


@pytest.mark.parametrize("turns", [[], [("", "")], [("ok", "好的")], [("的了吗", "???")]])
def test_a_segment_without_anything_telling_has_an_empty_title(turns: list[tuple[str, str]]) -> None:
    assert titles([turns]) == ((),)


texts = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    ["Redis 缓存", "西湖门票", "\ud800"]
)


@given(st.lists(st.lists(st.tuples(texts, texts), max_size=4), max_size=4))
def test_any_text_has_a_title_and_always_the_same(segments: list[list[tuple[str, str]]]) -> None:
    made = titles(segments)
    assert made == titles(segments)
    assert len(made) == len(segments)
    assert all(len(title) <= TITLE_ANCHORS and all(title) for title in made)


@pytest.mark.parametrize(
    ("first", "second", "back"),
    [
        (REDIS, WEST_LAKE, "Back to Redis: which file holds the password?"),
        (WEST_LAKE, REDIS, "说回西湖，灵隐寺要门票吗？"),
        (TOKYO, REDIS, "回到东京的 hotel，新宿的一晚多少钱？"),
    ],
)
def test_a_topic_that_goes_back_names_the_one_it_goes_back_to(
    first: tuple[tuple[str, str], ...], second: tuple[tuple[str, str], ...], back: str
) -> None:
    gatekeeper = ContextGatekeeper()
    opening = ("New topic: " + second[0][0], second[0][1])
    gatekeeper.sync([*first, opening, *second[1:], (back, "")])
    assert [topic.returns_to for topic in gatekeeper.topics] == [None, None, 0]
    assert [(topic.start, topic.stop) for topic in gatekeeper.topics] == [(0, 2), (2, 4), (4, 5)]
