"""The summary as a value: sections, text, JSON, and the digest of what it was made of."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.summary_record import (
    SECTIONS,
    SHARES,
    Summary,
    SummaryItem,
    fit_summary,
    merged,
    render_items,
)
from gatekeeper_core.context.memory.summary_sentences import Speaker
from gatekeeper_core.errors import CorruptionError
from tests.case_files import from_file

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
        *(json.dumps({**BODY, **change}) for change in ({"format": 1}, {"upto_seq": 10**40})),
        *(json.dumps({**BODY, "items": [["topics", "x", seqs, "user", []]]}) for seqs in ([], [True])),
    ],
)
def test_a_damaged_or_foreign_body_is_a_corruption_error(body: str) -> None:
    with pytest.raises(CorruptionError, match="build it again"):
        Summary.from_json(body)


def decision(text: str, seq: int = 0, **fields: object) -> SummaryItem:
    return SummaryItem("decisions", text, (seq,), "user")._replace(**fields)  # type: ignore[arg-type]


def detail(text: str, seq: int = 0) -> SummaryItem:
    return SummaryItem("details", text, (seq,), "assistant")


@from_file("earlier", "later")
def test_a_later_decision_about_the_same_thing_replaces_the_earlier(earlier: str, later: str) -> None:
    """004-31: what is new is merged with what is old."""
    (kept,) = merged([decision(earlier, 3)], [decision(later, 8)])
    assert (kept.text, kept.seqs, kept.replaces) == (later, (8,), (3,))


def test_what_was_replaced_is_remembered_over_many_corrections() -> None:
    kept = merged([], [decision(f"预算改为 {at}000 元。", at) for at in range(1, 30)])
    assert [(item.text, item.replaces) for item in kept] == [("预算改为 29000 元。", tuple(range(13, 29)))]


@from_file("earlier", "later")
def test_decisions_about_different_things_stay_side_by_side(earlier: str, later: str) -> None:
    assert [item.text for item in merged([decision(earlier, 3)], [decision(later, 8)])] == [earlier, later]


def test_a_corrected_detail_goes_and_a_list_of_alike_details_stays() -> None:
    (kept,) = merged([detail("The cache port is 6380.", 1)], [decision("Change the cache port to 6381.", 4)])
    assert kept.replaces == (1,)
    rows = [detail("Node alpha has 16 cores.", 1), detail("Node beta has 32 cores.", 1)]
    assert len(merged([], rows)) == 2


def test_what_an_assistant_says_never_replaces_what_the_user_said() -> None:
    echo = decision("The cache is now switched to Memcached, as agreed on.", 4, speaker="assistant")
    assert merged([decision("Let's use Redis for the cache.", 1)], [echo])[0].text == "Let's use Redis for the cache."


def test_a_sentence_that_is_said_again_is_one_item_with_both_places() -> None:
    (kept,) = merged([decision("Let's use Redis.", 1)], [decision("Let's use Redis.", 7)])
    assert kept.seqs == (1, 7)
    (often,) = merged([], [decision("Let's use Redis.", seq) for seq in range(50)])
    assert often.seqs == (0, *range(43, 50))


def test_the_assistants_echo_is_no_item_of_its_own() -> None:
    item = decision("Let's use Redis 7 for the session cache.", 1)
    echo = SummaryItem("decisions", "So we decided to use Redis for the cache.", (2,), "assistant")
    assert merged([item], [echo]) == (item,)


def test_a_topic_that_is_listed_is_not_listed_again() -> None:
    first = SummaryItem("topics", "Which port does the Redis cache use?", (1,), "user")
    again = SummaryItem("topics", "And the Redis cache, which port does it use?", (9,), "user")
    assert merged([first], [again]) == (first,)


def fact(text: str, seq: int = 0, speaker: Speaker = "user") -> SummaryItem:
    return SummaryItem("facts", text, (seq,), speaker)


def test_a_fact_that_was_told_is_not_told_again() -> None:
    first = fact("I went to the harbour festival in Oslo.", 1)
    assert merged([first], [fact("So I went to that festival in the Oslo harbour!", 9)]) == (first,)
    other = fact("I adopted a greyhound in Oslo.", 9)
    assert merged([first], [other]) == (first, other)


def test_the_users_and_the_later_of_two_facts_is_kept() -> None:
    facts = [fact("We sail to Bergen on Monday.", 1), fact("We sail to Malmo on Monday.", 8)]
    answered = fact("We sail to Aarhus on Monday.", 8, "assistant")
    (kept,) = fit_summary(Summary(items=(*facts, answered), upto_seq=9), 45, token_counter=len).items
    assert kept == facts[1]


@given(st.integers(1, 400), st.integers(0, 20), st.integers(0, 5))
def test_facts_never_make_a_summary_longer_than_a_third_of_what_it_covers(
    covered: int, facts: int, others: int
) -> None:
    fact_items = [fact(f"I painted lighthouse{at} in harbour{at}.", at) for at in range(facts)]
    decided = [decision(f"We decided to use tool{at}.", at) for at in range(others)]
    summary = Summary(items=merged([], [*decided, *fact_items]), upto_seq=20, covered_tokens=covered)
    kept = fit_summary(summary, 1000, token_counter=len)
    assert len(kept.decisions) == others, "what was settled is there, however short the talk"
    assert not kept.facts or kept.tokens <= covered / 3
    assert fit_summary(kept, 1000, token_counter=len) == kept


def test_every_section_has_a_share_of_the_room() -> None:
    assert sum(SHARES.values()) == pytest.approx(1)
    decisions = [decision(f"We decided to use tool{at} for job{at}.", at) for at in range(60)]
    topics = [SummaryItem("topics", f"What about subject{at}?", (at,), "user") for at in range(60)]
    kept = fit_summary(Summary(items=merged([], [*decisions, *topics]), upto_seq=60), 400, token_counter=len)
    assert len(kept.topics) >= 2
    assert len(kept.decisions) > len(kept.topics)


_items = st.builds(
    SummaryItem,
    st.sampled_from(SECTIONS),
    st.sampled_from(
        ["决定用 Redis。", "Let's use Redis 7.2.", "端口是 6380。", "I like tea.", "x" * 90, "？", "\ud800"]
    ).flatmap(lambda text: st.integers(0, 9).map(lambda number: f"{text}{number}")),
    st.lists(st.integers(0, 30), min_size=1, max_size=3, unique=True).map(lambda seqs: tuple(sorted(seqs))),
    st.sampled_from(["user", "assistant"]),
)
_counters = st.sampled_from(
    [len, lambda text: len(text.encode("utf-8", "surrogatepass")), lambda text: 7, lambda text: 0]
)


@given(st.lists(_items, max_size=30), st.integers(0, 600), st.sampled_from(["", "They chose Redis."]), _counters)
def test_what_is_kept_fits_and_keeps_its_order(
    items: list[SummaryItem], budget: int, written: str, counter: object
) -> None:
    """004-31: the merge is bounded by ``max_summary_tokens``."""
    summary = Summary(items=merged([], items), upto_seq=30, model_text=written, model_upto_seq=9)
    kept = fit_summary(summary, budget, token_counter=counter)  # type: ignore[arg-type]
    assert kept.tokens <= budget
    assert kept.tokens == (counter(kept.text) if kept.text else 0)  # type: ignore[operator]
    assert [item for item in summary.items if item in kept.items] == list(kept.items)
    if kept.source == "model":
        assert kept.text.startswith(written)
    assert fit_summary(kept, budget, token_counter=counter).text == kept.text  # type: ignore[arg-type]


def test_a_models_text_is_shown_whole_or_not_at_all() -> None:
    item = decision("Let's use Redis.", 5)
    summary = Summary(items=(item,), upto_seq=9, model_text="They spoke of caches at length.", model_upto_seq=9)
    assert fit_summary(summary, 100, token_counter=len).text == "They spoke of caches at length."
    assert fit_summary(summary, 30, token_counter=len).text == "重要决定：\n- Let's use Redis."
    late = replace(summary, model_upto_seq=3)
    assert fit_summary(late, 40, token_counter=len).source == "extractive"
