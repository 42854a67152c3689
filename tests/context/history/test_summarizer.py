"""A summarizer of the user: which functions fit, and what they are given to read, by the one counter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, wraps
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.conversation import ContextCompressor
from gatekeeper_core.context.history.rounds import Counts, summary_of
from gatekeeper_core.context.history.summarizer import Answer, ask, check_summarizer, readable
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.token_estimate import TokenEstimator, budget_within
from gatekeeper_core.tokens import TokenCounter, count_messages, estimate_text_tokens
from tests.loops import assistant, calls, conversations, result, three_scripts, user

COUNTERS: list[TokenCounter] = [len, estimate_text_tokens, TokenEstimator()]


# --- which functions fit


class Model:
    """A summarizer with state, called as the whole protocol says."""

    def __call__(self, messages: Sequence[Message], previous: str | None, max_tokens: int, /) -> str:
        return f"{len(messages)} {previous} {max_tokens}"

    def of_messages(self, messages: Sequence[Message]) -> str:
        return f"{len(messages)} alone"


def with_defaults(messages: Sequence[Message], previous: str | None = None, max_tokens: int = 9) -> str:
    return f"{len(messages)} {previous} {max_tokens}"


def with_settings(messages: Sequence[Message], model: str = "small", temperature: float = 0.1) -> str:
    return f"{len(messages)} alone" if (model, temperature) == ("small", 0.1) else "set"


@wraps(with_settings)
def wrapped(*arguments: Any) -> str:
    return with_settings(*arguments)


@pytest.mark.parametrize(
    ("summarizer", "answer"),
    [
        (Model(), "2 so far 30"),
        (with_defaults, "2 so far 30"),
        (lambda *given: f"{len(given[0])} {given[1]} {given[2]}", "2 so far 30"),
        (partial(lambda extra, messages, previous, limit: f"{len(messages)} {previous} {limit}", 1), "2 so far 30"),
        (Model().of_messages, "3 alone"),
        (lambda messages: f"{len(messages)} alone", "3 alone"),
        (lambda messages, *, model="small": f"{len(messages)} alone", "3 alone"),
        (with_settings, "3 alone"),
        (wrapped, "3 alone"),
    ],
)
def test_a_summarizer_is_called_with_all_or_with_the_messages_and_the_summary_before_them(
    summarizer: Any, answer: str
) -> None:
    """A default of the caller's own is never overwritten by what the library hands over."""
    check_summarizer(summarizer)
    assert ask(summarizer, [user(), assistant()], "so far", 30) == Answer(answer)


async def later(messages: Sequence[Message]) -> str:
    return "told"


class Later:
    async def __call__(self, messages: Sequence[Message]) -> str:
        return "told"


def of_a_text(text: str) -> str:
    return text[:100]


@pytest.mark.parametrize(
    "summarizer",
    [
        "gpt",
        7,
        later,
        Later(),
        of_a_text,
        lambda: "told",
        lambda messages, previous: "told",
        lambda messages, previous, limit, model: "told",
        lambda *, messages: "told",
    ],
)
def test_what_cannot_be_called_so_is_refused_by_name(summarizer: Any) -> None:
    with pytest.raises(TypeError, match="summarizer must"):
        check_summarizer(summarizer)


# --- what it reads


class Reader:
    """A summarizer that keeps what it was given."""

    def __init__(self) -> None:
        self.read: list[Sequence[Message]] = []
        self.limits: list[int] = []

    def __call__(self, messages: Sequence[Message], previous: str | None, max_tokens: int, /) -> str:
        before = [user(previous)] if previous else []
        self.read.append([*before, *messages])
        self.limits.append(max_tokens)
        return "told"


@pytest.mark.parametrize("counter", COUNTERS, ids=["characters", "rule", "estimate"])
@three_scripts
def test_a_summarizer_reads_no_more_than_its_limit_in_cjk_as_in_english(text: str, counter: TokenCounter) -> None:
    """003-32, 003-41: counted as everything else is, so that Chinese is not cut four times too late."""
    reader = Reader()
    messages = [message for at in range(30) for message in (user(f"{text} {at}?"), assistant(text * 900))]
    total = count_messages(messages, token_counter=counter)
    compressor = ContextCompressor(total // 2, summarizer=reader, token_counter=counter)
    assert any("told" in message.text for message in compressor.compress(messages))
    limit = budget_within(counter, 24_000)
    for read in reader.read:
        assert 0.7 * limit < count_messages(read, token_counter=counter) <= limit


def test_only_the_longest_texts_are_cut_and_say_so() -> None:
    """003-41: a short message beside a long result stays whole."""
    messages = [user("deploy?"), calls("a", arguments="{}"), result("a", "x" * 5_000 + "disk full"), assistant("ok")]
    read = readable(messages, 200, token_counter=len, locale="en")
    assert [read[at] is messages[at] for at in range(4)] == [True, True, False, True]
    assert "bytes omitted" in read[2].text
    assert read[2].text.endswith("disk full")


def test_the_oldest_messages_are_left_out_last_of_all_a_summary() -> None:
    """003-41: names and arguments of calls are not cut, so a limit may leave room for a few rounds only."""
    earlier = summary_of(Counts(2, 2), "zh")
    rounds = [message for at in range(40) for message in (calls(f"c{at}"), result(f"c{at}", "done"))]
    read = readable([earlier, *rounds], 100, token_counter=len, locale="zh")
    assert is_summary(read[0])
    assert 1 < len(read) < 20
    assert count_messages(read, token_counter=len) <= 100
    assert [one.tool_calls[0].id for one in read if one.tool_calls][-1] == "c39"


@given(conversations(), st.integers(1, 400), st.sampled_from(COUNTERS))
def test_whatever_is_read_is_within_the_limit_and_in_order(
    messages: list[Message], limit: int, counter: TokenCounter
) -> None:
    """003-41."""
    read = readable(messages, limit, token_counter=counter, locale="zh")
    assert count_messages(read, token_counter=counter) <= limit
    shape = [(one.role, one.tool_calls, one.tool_call_id) for one in messages]
    kept = [(one.role, one.tool_calls, one.tool_call_id) for one in read]
    assert kept == shape[len(shape) - len(kept) :]
