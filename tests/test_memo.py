"""What was made of results is remembered within a bound, for equal texts only."""

from __future__ import annotations

import copy
import pickle

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.results.memo import Made, ResultMemo, text_digest


def test_the_result_used_longest_ago_is_forgotten_first() -> None:
    memo = ResultMemo()
    for number in range(256):
        memo.put(number, Made(str(number), None))
    assert memo.get(0) == Made("0", None)
    memo.put(256, Made("256", "id"))
    assert (len(memo), memo.get(0), memo.get(1)) == (256, Made("0", None), None)
    memo.put(2, Made("again", None))
    assert (len(memo), memo.get(2)) == (256, Made("again", None))


@given(st.text(), st.text())
def test_only_equal_texts_have_one_digest(text: str, other: str) -> None:
    assert (text_digest(text) == text_digest(other)) is (text == other)


def test_a_digest_takes_any_text() -> None:
    assert text_digest("\ud800\x00") != text_digest("\udc00\x00")


def test_a_copy_starts_empty() -> None:
    memo = ResultMemo()
    memo.put("key", Made("text", None))
    assert len(copy.deepcopy(memo)) == len(pickle.loads(pickle.dumps(memo))) == 0  # noqa: S301 - our own bytes
