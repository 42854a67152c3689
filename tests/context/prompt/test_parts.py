"""The parts that are no messages of a thread say what they should, fenced, within their limit."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.search import MemoryHit
from gatekeeper_core.context.prompt.parts import HEADINGS, Sections
from gatekeeper_core.context.summary.record import Summary, SummaryItem
from gatekeeper_core.fences import fence
from gatekeeper_core.storage.base import Memory

KEY = b"0123456789abcdef"
SENTENCES = ["Let's go with Redis.", "我们用 6380 端口。", "The cache lives on host kestrel."]


def sections(**settings: Any) -> Sections:
    return Sections(**{"locale": "zh", "fencing": True, "session_key": None, "token_counter": len, **settings})


def summary_of(*texts: str) -> Summary:
    items = tuple(SummaryItem("decisions", text, (at,), "user") for at, text in enumerate(texts))
    return Summary(items=items, upto_seq=len(texts), covered_messages=len(texts))


def hit(text: str, similarity: float = 0.5) -> MemoryHit:
    return MemoryHit(Memory("m1", text, "user_preference"), similarity, "sparse")


@pytest.mark.parametrize(("locale", "heading"), [("zh", "[对话背景摘要]"), ("en", "[Conversation summary]")])
def test_a_summary_stands_under_its_heading_in_a_fence(locale: str, heading: str) -> None:
    """001-22, C17."""
    message = sections(locale=locale).summary(summary_of(*SENTENCES), limit=1000)
    assert message
    assert message.role == "system"
    assert message.text.startswith(f"{heading}\n<summary-")
    assert re.search(r"\n</summary-\d{12}>\Z", message.text)
    assert all(sentence in message.text for sentence in SENTENCES)


@pytest.mark.parametrize("summary", [None, Summary()])
def test_without_a_summary_there_is_no_section(summary: Summary | None) -> None:
    assert sections().summary(summary, limit=1000) is None


def test_a_heading_is_never_cut_the_section_is_left_out_instead() -> None:
    """001-78: a literal builder cuts through the heading where the budget is small."""
    whole = sections().summary(summary_of("x" * 20, "y" * 20), limit=1000)
    assert whole
    for limit in range(len(whole.text) + 1):
        message = sections().summary(summary_of("x" * 20, "y" * 20), limit=limit)
        assert message is None or message.text.startswith(HEADINGS["zh"]["summary"] + "\n<summary-")
        assert message is None or len(message.text) <= limit
    overhead = len(f"{HEADINGS['zh']['summary']}\n{fence('', tag='summary')}")
    assert sections().summary(summary_of("x"), limit=overhead + 15) is None


@given(st.lists(st.sampled_from(SENTENCES), max_size=6, unique=True), st.integers(0, 300), st.booleans(), st.booleans())
def test_a_summary_is_within_its_limit_and_of_whole_sentences(
    texts: list[str], limit: int, fencing: bool, keyed: bool
) -> None:
    """001-22."""
    made = sections(fencing=fencing, session_key=KEY if keyed else None).summary(summary_of(*texts), limit=limit)
    if made:
        assert len(made.text) <= limit
        said = [line.removeprefix("- ") for line in made.text.splitlines() if line.startswith("- ")]
        assert said
        assert set(said) <= set(texts)


@pytest.mark.parametrize(("locale", "label"), [("zh", "相关度"), ("en", "relevance")])
def test_a_memory_is_a_line_with_its_similarity(locale: str, label: str) -> None:
    """001-27."""
    message, count = sections(locale=locale, fencing=False).memories(
        [hit("likes tea", 0.876), hit("住在 Oslo")], limit=99
    )
    assert message
    assert message.text == f"{HEADINGS['zh' if locale == 'zh' else 'en']['retrieved']}\n" + (
        f"- likes tea ({label}: 0.88)\n- 住在 Oslo ({label}: 0.50)"
    )
    assert count == 2


def test_the_least_similar_memories_go_first_where_there_is_no_room() -> None:
    """001-29: a literal builder checks the total alone, and sends all or none."""
    hits = [hit("best " * 4), hit("second " * 4), hit("third " * 4)]
    whole, _ = sections().memories(hits, limit=1000)
    assert whole
    message, count = sections().memories(hits, limit=len(whole.text) - 1)
    assert message
    assert count == 2
    assert "second" in message.text
    assert "third" not in message.text
    assert sections().memories(hits, limit=20) == (None, 0)
    assert sections().memories([], limit=1000) == (None, 0)


@pytest.mark.parametrize("text", ["two\nlines", "a\u2028b\r\nc", "  spaces \t "])
def test_a_memory_stays_on_its_line(text: str) -> None:
    """001-27, 001-76."""
    message, _ = sections(fencing=False).memories([hit(text)], limit=1000)
    assert message
    assert len(message.text.splitlines()) == 2


def test_constraints_stand_under_their_heading_and_only_the_values_are_fenced() -> None:
    """001-76."""
    message = sections().constraints({"语言": "中文", "style": "short\nand plain"})
    assert message
    lines = "- 语言: 中文\n- style: short\n  and plain"
    assert message.text == f"Constraints:\n{fence(lines, tag='constraints')}"
    assert sections().constraints({}) is None


@pytest.mark.parametrize("text", ["", "x", "</summary>", "\ud800", "中\x00文\u202e"])
def test_a_fence_can_be_switched_off_and_changes_nothing_then(text: str) -> None:
    """001-76."""
    assert sections(fencing=False, session_key=KEY).fenced(text, "summary") == text
    assert sections().fenced(text, "summary").startswith("<summary-")


@given(st.text(), st.text())
def test_a_key_names_fences_by_what_they_hold(first: str, second: str) -> None:
    """001-76: the same text has the same fence, so that a cache of the prompt's beginning holds."""
    made = [sections(session_key=KEY).fenced(text, "task").partition("\n")[0] for text in (first, second, first)]
    assert made[0] == made[2]
    assert (made[0] == made[1]) == (first == second)
    assert made[0] != sections(session_key=KEY[::-1]).fenced(first, "task").partition("\n")[0]


def test_steps_stand_in_one_fence_oldest_first() -> None:
    """002-07."""
    message = sections(locale="en").steps(["first", "second"])
    assert message.text == f"[Finished steps]\n{fence(f'first{chr(10)}second', tag='steps')}"
