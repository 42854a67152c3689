"""The parts that are no messages of a thread say what they should, fenced, within their limit."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.memory.summary_record import Summary, SummaryItem
from gatekeeper_core.context.prompt.parts import HEADINGS, PartRenderer
from gatekeeper_core.fences import fence

KEY = b"0123456789abcdef"
SENTENCES = ["Let's go with Redis.", "我们用 6380 端口。", "The cache lives on host kestrel."]


def sections(**settings: Any) -> PartRenderer:
    return PartRenderer(**{"locale": "zh", "fencing": True, "session_key": None, "count": len, **settings})


def summary_of(*texts: str) -> Summary:
    items = tuple(SummaryItem("decisions", text, (at,), "user") for at, text in enumerate(texts))
    return Summary(items=items, upto_seq=len(texts), covered_messages=len(texts))


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
