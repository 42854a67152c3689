"""The summary as a value: sections, text, JSON, and the digest of what it was made of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.summary_record import SECTIONS, Summary, SummaryItem, render_items
from gatekeeper_core.errors import CorruptionError

ITEMS = (
    SummaryItem("topics", "Which cache do we take?", (1,), "user"),
    SummaryItem("decisions", "缓存改用 Redis。", (3, 9), "user", (1,)),
    SummaryItem("details", "It listens on port 6380.", (4,), "assistant"),
)
SUMMARY = Summary(items=ITEMS, upto_seq=9, covered_messages=9, tokens=40, checkpoints=((5, "aa"), (9, "bb")))


def test_the_text_has_a_heading_for_each_section_that_holds_something() -> None:
    """004-30: topics, decisions, preferences and technical details, in this order, and what else was told."""
    assert SUMMARY.text.splitlines() == [
        *("主要话题：", "- Which cache do we take?"),
        *("重要决定：", "- 缓存改用 Redis。"),
        *("技术细节：", "- It listens on port 6380."),
    ]
    every = [SummaryItem(section, "x", (0,), "user") for section in SECTIONS]
    assert [line for line in render_items(every, "zh").splitlines() if line != "- x"] == [
        "主要话题：",
        "重要决定：",
        "用户偏好：",
        "技术细节：",
        "其他事实：",
    ]
    assert [line for line in render_items(every, "en").splitlines() if line != "- x"] == [
        "Main topics:",
        "Important decisions:",
        "User preferences:",
        "Technical details:",
        "Other facts:",
    ]


def test_each_section_can_be_read_by_itself() -> None:
    assert [len(SUMMARY.topics), len(SUMMARY.decisions), len(SUMMARY.preferences), len(SUMMARY.details)] == [1, 1, 0, 1]
    assert [len(SUMMARY.facts), len(Summary(items=(ITEMS[0]._replace(section="facts"),)).facts)] == [0, 1]


def test_an_empty_summary_is_an_empty_text() -> None:
    assert Summary().text == ""


def test_a_models_text_stands_before_the_sentences_that_came_after_it() -> None:
    summary = Summary(items=ITEMS, upto_seq=9, source="model", model_text="They chose Redis.", model_upto_seq=4)
    assert summary.text == "They chose Redis.\n重要决定：\n- 缓存改用 Redis。"


_texts = st.text(st.characters(), max_size=20)
_seqs = st.lists(st.integers(0, 9), min_size=1, max_size=4).map(tuple)
_items = st.builds(SummaryItem, st.sampled_from(SECTIONS), _texts, _seqs, st.sampled_from(["user", "assistant"]), _seqs)


@given(st.lists(_items, max_size=4).map(tuple), _texts, st.integers(-1, 9), st.sampled_from(["zh", "en"]))
def test_what_is_written_as_json_reads_as_the_same_summary(
    items: tuple[SummaryItem, ...], written: str, upto: int, locale: Any
) -> None:
    summary = Summary(
        items=items,
        upto_seq=9,
        covered_tokens=120,
        source="model" if written else "extractive",
        model_text=written,
        model_upto_seq=upto,
        locale=locale,
        checkpoints=((9, "bb"),),
        version=3,
    )
    body = summary.to_json()
    assert body.isascii()
    assert Summary.from_json(body, version=3) == summary


BODY = json.loads(SUMMARY.to_json())


@pytest.mark.parametrize(
    "body",
    [
        *("", "{", "null", "[]", "7", '"text"', "{}", "[" * 100_000, "\ud800"),
        *(json.dumps({**BODY, key: value}) for key in BODY for value in (None, 7.5, True, {"a": 1}, [7], 1e400)),
        *(json.dumps({key: value for key, value in BODY.items() if key != gone}) for gone in BODY),
        *(
            json.dumps({**BODY, "items": [[*item]]})
            for item in [
                ("surprise", "x", [1], "user", []),
                ("topics", 7, [1], "user", []),
                ("topics", "x", [], "user", []),
                ("topics", "x", [10], "user", []),
                ("topics", "x", [-1], "user", []),
                ("topics", "x", [True], "user", []),
                ("topics", "x", [1], "tool", []),
                ("topics", "x", [1], "user"),
            ]
        ),
        json.dumps({**BODY, "format": 1}),
        json.dumps({**BODY, "upto_seq": 10**40}),
        json.dumps({**BODY, "model_upto_seq": 10}),
    ],
)
def test_a_damaged_or_foreign_body_is_a_corruption_error(body: str) -> None:
    with pytest.raises(CorruptionError, match="make it anew"):
        Summary.from_json(body)


def test_a_body_that_is_no_text_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="body must be"):
        Summary.from_json(b"{}")  # type: ignore[arg-type]
