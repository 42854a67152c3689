"""What a summarizer is given to read: within its limit by the one counter, short messages whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.compaction.bounded_summarizer import bounded_summarizer
from gatekeeper_core.context.compaction.conversation import ContextCompressor
from gatekeeper_core.context.compaction.rounds import Counts, summary_of
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.token_estimate import TokenEstimator, budget_within
from gatekeeper_core.tokens import TokenCounter, count_messages, estimate_text_tokens
from tests.loops import assistant, calls, conversations, result, user

SCRIPTS = {"chinese": "部署失败磁盘已满", "english": "deploy failed, disk full", "mixed": "deploy 失败 disk 已满"}
COUNTERS: list[TokenCounter] = [len, estimate_text_tokens, TokenEstimator()]


class Reader:
    """A summarizer that keeps what it was given."""

    def __init__(self) -> None:
        self.read: list[Sequence[Message]] = []

    def __call__(self, messages: Sequence[Message]) -> str:
        self.read.append(messages)
        return "told"


@pytest.mark.parametrize("counter", COUNTERS, ids=["characters", "rule", "estimate"])
@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_a_summarizer_reads_no_more_than_its_limit_in_cjk_as_in_english(text: str, counter: TokenCounter) -> None:
    """003-32, 003-41: counted as everything else is, so that Chinese is not cut four times too late."""
    reader = Reader()
    messages = [message for at in range(30) for message in (user(f"{text} {at}?"), assistant(text * 40))]
    assert bounded_summarizer(reader, 1_000, token_counter=counter)(messages) == "told"
    tokens = count_messages(reader.read[0], token_counter=counter)
    limit = budget_within(counter, 1_000)
    assert 0.7 * limit < tokens <= limit


def test_messages_within_the_limit_are_handed_on_as_they_are() -> None:
    reader = Reader()
    messages = [user("端口是多少?"), assistant("6380")]
    bounded_summarizer(reader, 10, token_counter=len)(messages)
    assert all(read is given for read, given in zip(reader.read[0], messages, strict=True))


def test_only_the_longest_texts_are_cut_and_say_so() -> None:
    """003-41: a short message beside a long result stays whole."""
    reader = Reader()
    messages = [user("deploy?"), calls("a", arguments="{}"), result("a", "x" * 5_000 + "disk full"), assistant("ok")]
    bounded_summarizer(reader, 200, token_counter=len, locale="en")(messages)
    read = reader.read[0]
    assert [read[at] is messages[at] for at in range(4)] == [True, True, False, True]
    assert "bytes omitted" in read[2].text
    assert read[2].text.endswith("disk full")


def test_the_oldest_messages_are_left_out_last_of_all_a_summary() -> None:
    """003-41: names and arguments of calls are not cut, so a limit may leave room for a few rounds only."""
    reader = Reader()
    earlier = summary_of(Counts(2, 2), "zh")
    rounds = [message for at in range(40) for message in (calls(f"c{at}"), result(f"c{at}", "done"))]
    bounded_summarizer(reader, 100, token_counter=len)([earlier, *rounds])
    read = reader.read[0]
    assert is_summary(read[0])
    assert 1 < len(read) < 20
    assert count_messages(read, token_counter=len) <= 100
    assert [one.tool_calls[0].id for one in read if one.tool_calls][-1] == "c39"


@given(conversations(), st.integers(1, 400), st.sampled_from(COUNTERS))
def test_whatever_is_read_is_within_the_limit_and_in_order(
    messages: list[Message], limit: int, counter: TokenCounter
) -> None:
    """003-41."""
    reader = Reader()
    bounded_summarizer(reader, limit, token_counter=counter)(messages)
    read = list(reader.read[0])
    assert count_messages(read, token_counter=counter) <= budget_within(counter, limit)
    shape = [(one.role, one.tool_calls, one.tool_call_id) for one in messages]
    kept = [(one.role, one.tool_calls, one.tool_call_id) for one in read]
    assert kept == shape[len(shape) - len(kept) :]


def test_it_is_a_summarizer_for_a_compressor() -> None:
    """003-32."""
    reader = Reader()
    messages = [message for at in range(20) for message in (user(f"{at}?"), assistant("长" * 100))]
    summarizer = bounded_summarizer(reader, 300, token_counter=len)
    compressed = ContextCompressor(500, summarizer=summarizer, token_counter=len).compress(messages)
    assert any("told" in message.text for message in compressed)
    assert all(count_messages(read, token_counter=len) <= 300 for read in reader.read)


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (TypeError, {"summarizer": "gpt"}),
        (TypeError, {"max_tokens": 2.5}),
        (ConfigError, {"max_tokens": 0}),
        (ConfigError, {"locale": "fr"}),
        (TypeError, {"token_counter": 7}),
    ],
)
def test_impossible_arguments_are_refused(error: type[Exception], arguments: dict[str, Any]) -> None:
    with pytest.raises(error, match=next(iter(arguments))):
        bounded_summarizer(**{"summarizer": Reader(), "max_tokens": 9, **arguments})
