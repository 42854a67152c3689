from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import MediaPart, Message, TextPart, ToolCall
from gatekeeper_core.token_estimate import TokenEstimator, budget_for, budget_within
from gatekeeper_core.tokens import (
    MEDIA_TOKENS,
    checked_counter,
    count_message,
    count_messages,
    describe_counter,
    estimate_text_tokens,
)
from tests.case_files import from_file

EDGES = "\u303f\u3040\u30ff\u3100\u4dff\u4e00\u9fff\ua000\uabff\uac00\ud7af\ud7b0\ud7ff\ud800\udfff\ue000，。、ａ😀𠀀 a1\n\x00"

texts = st.text(st.characters()) | st.text(st.sampled_from(EDGES))  # lone surrogates included
three_scripts = pytest.mark.parametrize(
    "text",
    ["缓存穿透怎么解决？" * 9, "how do I fix the cache? " * 9, "用 Redis 缓存。" * 9],
    ids=["chinese", "english", "both"],
)


def plain_estimate(text: str) -> int:
    cjk = 0
    for character in text:
        if "\u4e00" <= character <= "\u9fff" or "\u3040" <= character <= "\u30ff" or "\uac00" <= character <= "\ud7af":
            cjk += 1
    return cjk + (len(text) - cjk) // 4


# --- the estimate


@from_file("text", "tokens")
def test_the_estimate_is_the_specifications_in_cjk_mixed_kana_and_hangul(text: str, tokens: int) -> None:
    """003-39, 003-81, 003-09, 003-10, 003-34, 003-35, 003-36, 003-37, 003-38, 003-42, C2: 11 / 4 = 2.75 gives 2."""
    assert estimate_text_tokens(text) == tokens


@given(texts)
def test_the_estimate_equals_the_plain_loop_on_cjk_and_any_other_text(text: str) -> None:
    """003-29, 003-30."""
    assert estimate_text_tokens(text) == plain_estimate(text)


# --- counters


def test_without_a_counter_the_estimate_counts() -> None:
    """C1: one default counter; the specification's rule can be passed and is used as it is."""
    assert checked_counter(None) == TokenEstimator()
    assert checked_counter(None) is checked_counter(None)
    cl100k = TokenEstimator("cl100k")
    assert checked_counter(cl100k) is cl100k
    assert checked_counter(estimate_text_tokens) is estimate_text_tokens


@pytest.mark.parametrize("result", [-1, 1.5, True, None, "3"])
def test_a_counter_that_gives_no_count_is_named_with_its_result_each_time(result: Any) -> None:
    def odd_counter(text: str) -> int:
        return result  # type: ignore[no-any-return]

    counter = checked_counter(odd_counter)
    for _ in range(2):
        with pytest.raises(ConfigError, match=rf"odd_counter returned {result!r}: it must return an int >= 0"):
            counter("text")


def test_what_is_no_message_is_refused_with_its_place() -> None:
    with pytest.raises(TypeError, match=r"messages\[1\] must be a Message, got dict: read_messages\(\) reads"):
        count_messages([Message("user", "端口"), {"role": "user"}])  # type: ignore[list-item]


# --- the margin


@given(st.integers(0, 10**7), st.floats(0, 4))
def test_what_is_kept_within_a_budget_leaves_the_margin_free(budget: int, margin: float) -> None:
    """003-23: the margin takes the place of a fixed headroom."""
    within = budget_within(TokenEstimator(margin=margin), budget)
    assert 0 <= within <= budget
    assert within * (1 + margin) <= budget * (1 + 1e-9)
    assert (within + 1) * (1 + margin) > budget * (1 - 1e-9)


@given(st.integers(0, 10**7), st.floats(0, 4))
def test_the_budget_for_some_tokens_is_the_smallest_that_holds_them(tokens: int, margin: float) -> None:
    counter = TokenEstimator(margin=margin)
    budget = budget_for(counter, tokens)
    assert budget_within(counter, budget) == tokens
    assert budget == 0 or budget_within(counter, budget - 1) < tokens


def test_statistics_name_what_counted() -> None:
    """C1: the profile and the margin, or the name of the function."""
    assert describe_counter(TokenEstimator("qwen", margin=0.2)) == {"counter": "qwen", "margin": 0.2}
    assert describe_counter(TokenEstimator("qwen", margin=0.0, factor=1.5))["counter"] == "qwen x 1.5"
    assert describe_counter(checked_counter(len)) == {"counter": "len", "margin": 0.0}
    assert describe_counter(estimate_text_tokens) == {"counter": "estimate_text_tokens", "margin": 0.0}
    for ours in (estimate_text_tokens, TokenEstimator("qwen")):
        assert checked_counter(ours) is ours


# --- messages


def test_each_text_of_a_message_is_counted_once_and_media_have_a_fixed_cost() -> None:
    """003-31, 000-06, 000-07, 000-08: names and arguments of calls, and the name field; ids and roles are free."""
    seen: list[str] = []
    call = ToolCall("id-1", "get_weather", '{"city": "北京"}')
    content = (TextPart("看看"), MediaPart("image"), TextPart("hello"), MediaPart("audio"), MediaPart("other", 7))
    message = Message("assistant", content, tool_calls=(call,), tool_call_id="id-0", name="ann", id="m1")
    media = MEDIA_TOKENS["image"] + MEDIA_TOKENS["audio"] + 7
    assert count_message(message, token_counter=lambda text: seen.append(text) or 1) == 5 + media  # type: ignore[func-returns-value]
    assert sorted(seen) == sorted(["看看", "hello", "get_weather", '{"city": "北京"}', "ann"])


def test_an_overhead_per_message_can_be_added() -> None:
    """003-31: option 4, default 0."""
    messages = [Message("user", "你好"), Message("assistant", "")]
    assert count_messages(messages) == 2
    assert count_messages(messages, per_message_tokens=4) == 10


# --- counts that are remembered


class Recorder:
    """A real counter that notes what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> int:
        self.texts.append(text)
        return len(text)


@three_scripts
def test_a_counter_counts_each_text_once(text: str) -> None:
    recorder = Recorder()
    counter = checked_counter(recorder)
    assert [counter(text), counter("x"), counter(text), counter("x")] == [len(text), 1, len(text), 1]
    assert recorder.texts == [text, "x"]
