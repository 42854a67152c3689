"""What was made of results is remembered within a bound, for equal texts only."""

from __future__ import annotations

import copy
import pickle

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.tool_results.memo import Made, ResultMemo, text_digest


def test_the_results_used_longest_ago_are_forgotten_first() -> None:
    memo = ResultMemo(max_bytes=10_000)
    for number in range(4):
        memo.put(number, Made("x" * 1_500, None))
    assert memo.get(0) == Made("x" * 1_500, None)
    memo.put(4, Made("长" * 1_000, "id"))
    assert [memo.get(number) is not None for number in range(5)] == [True, False, True, True, True]
    memo.put(2, Made("again", None))
    assert (len(memo), memo.get(2)) == (4, Made("again", None))


def test_a_result_that_is_remembered_again_takes_no_more_room() -> None:
    memo = ResultMemo(max_bytes=2_000)
    memo.put("a", Made("x", None))
    for _ in range(9):
        memo.put("b", Made("y", None))
    assert memo.get("a") == Made("x", None)


def test_a_result_that_is_too_large_by_itself_pushes_nothing_out() -> None:
    memo = ResultMemo(max_bytes=2_000)
    memo.put("small", Made("x", None))
    memo.put("large", Made("x" * 3_000, None))
    assert (len(memo), memo.get("small"), memo.get("large")) == (1, Made("x", None), None)


@given(st.lists(st.tuples(st.integers(0, 5), st.text(max_size=400) | st.none()), max_size=40))
def test_what_is_remembered_is_right_and_within_the_bound(steps: list[tuple[int, str | None]]) -> None:
    memo, latest = ResultMemo(max_bytes=3_000), {}
    for key, text in steps:
        memo.put(key, Made(text, None))
        latest[key] = Made(text, None)
        held = {key: made for key in latest if (made := memo.get(key)) is not None}
        assert held == {key: latest[key] for key in held}
        assert sum(len((made.text or "").encode()) for made in held.values()) <= 3_000


@given(st.text(), st.text())
def test_only_equal_texts_have_one_digest(text: str, other: str) -> None:
    assert (text_digest(text) == text_digest(other)) is (text == other)


def test_a_digest_takes_any_text() -> None:
    assert text_digest("\ud800\x00") != text_digest("\udc00\x00")


def test_a_copy_starts_empty() -> None:
    memo = ResultMemo(max_bytes=600)
    memo.put("key", Made("text", None))
    for again in (copy.deepcopy(memo), pickle.loads(pickle.dumps(memo))):  # noqa: S301 - our own bytes
        assert len(again) == 0
        again.put("key", Made("x" * 600, None))
        assert len(again) == 0
