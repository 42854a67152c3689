"""A conversation made to fit its limit: three steps, whole rounds, a hard limit or a typed error, one record a call."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gatekeeper_core.context.history.conversation import ContextCompressor
from gatekeeper_core.context.history.rounds import read_rounds
from gatekeeper_core.errors import BudgetError, GatekeeperError
from gatekeeper_core.events import COMPRESSION_STEP
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.token_estimate import budget_for, budget_within
from gatekeeper_core.tokens import checked_counter, count_messages, estimate_text_tokens
from tests.case_files import from_file
from tests.loops import (
    PROVIDERS,
    assistant,
    calls,
    conversations,
    loop,
    result,
    system,
    three_scripts,
    user,
    violations,
)


def compressor(max_tokens: int, **settings: Any) -> ContextCompressor:
    """Return a compressor that counts characters."""
    return ContextCompressor(max_tokens, **{"token_counter": len, "locale": "zh", **settings})


def talk(count: int, text: str) -> list[Message]:
    """Return a system message and turns of a question and an answer."""
    pairs = [(user(f"{text} {number}?"), assistant(f"{text} {number}.")) for number in range(count)]
    return [system(), *(message for pair in pairs for message in pair)]


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages]


# --- the steps


@three_scripts
def test_compress_gives_a_short_conversation_back_as_the_same_object(text: str) -> None:
    """003-48, 003-49, 003-59: also where the headroom is used up already."""
    messages = talk(3, text)
    limit = count_messages(messages, token_counter=len)
    assert compressor(limit).compress(messages) is messages
    assert compressor(limit).should_compress(messages)
    assert compressor(limit - 1).compress(messages) is not messages


@three_scripts
def test_compress_folds_what_is_old_and_keeps_the_recent_messages(text: str) -> None:
    """003-50, 003-56, 003-60: system, one summary, the three newest messages, each the caller's own."""
    messages = talk(10, text)
    compaction = compressor(150).explain(messages)
    assert compaction.strategy == "summary"
    assert compaction.messages[0] is messages[0]
    assert is_summary(compaction.messages[1])
    assert compaction.messages[1].text == "[已省略 17 条较早的消息]"
    assert all(new is old for new, old in zip(compaction.messages[2:], messages[-3:], strict=True))


def test_compress_keeps_the_users_messages_where_folding_the_rest_is_enough() -> None:
    """002-28, 003-60."""
    messages = [user("一"), *loop(4, "x" * 100), assistant("答"), user("二"), *loop(3, "y" * 100, start=4)]
    compaction = compressor(300).explain(messages)
    assert compaction.strategy == "summary"
    assert texts(compaction.messages)[:3] == ["一", "[已执行 5 次工具调用,最近结果见下文;已省略 1 条较早的消息]", "二"]


def test_aggressive_reads_the_original_messages_and_no_summary_of_this_call() -> None:
    """003-51, 003-65: no summary of a summary."""
    seen: list[Sequence[Message]] = []

    def summarizer(messages: Sequence[Message]) -> str:
        seen.append(messages)
        return "x" * (200 if len(seen) == 1 else 10)

    messages = [*talk(6, "x" * 20), user("u" * 30), assistant("a" * 30), assistant("b" * 30)]
    compressor(190, summarizer=summarizer).compress(messages)
    assert seen
    for read in seen:
        assert all(any(one is original for original in messages) for one in read)


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_aggressive_keeps_as_many_messages_as_it_is_told(keep: int) -> None:
    """003-61, 003-55, 003-93: one by default, 2 where it should be safer."""
    messages = [*talk(6, "x" * 20), user("u"), *(assistant(letter * 50) for letter in "abcde")]
    compaction = compressor(250, keep_recent=5, aggressive_keep=keep).explain(messages)
    assert compaction.strategy == "aggressive"
    assert texts(compaction.messages)[-keep:] == texts(messages)[-keep:]
    assert len(compaction.messages) == 3 + keep
    assert inspect.signature(ContextCompressor).parameters["aggressive_keep"].default == 1


def test_truncate_forces_what_is_left_below_the_limit() -> None:
    """003-52, 003-62: results of tools first, and each cut says so."""
    messages = [system(), user("q"), *loop(3, "x" * 500), calls("a", text="t" * 80), result("a", "y" * 500)]
    compaction = compressor(300).explain(messages)
    assert compaction.strategy == "truncate"
    assert compaction.tokens_after <= 300
    last = compaction.messages[-2:]
    assert last[0].text == "t" * 80
    assert last[1].text.startswith("y")
    assert "已省略" in last[1].text
    assert violations(compaction.messages, "anthropic") == []


@three_scripts
def test_truncate_counts_with_the_counter_of_the_compressor(text: str) -> None:
    """003-97, C15: four characters a token would let Chinese text be four times too long."""
    messages = [system(), user("q"), calls("a"), result("a", text * 500)]
    for counter in (estimate_text_tokens, len, lambda text: len(text.encode())):
        compaction = ContextCompressor(500, token_counter=counter).explain(messages)
        assert compaction.strategy == "truncate"
        assert 400 < compaction.tokens_after <= 500
        assert compaction.tokens_after == count_messages(compaction.messages, token_counter=counter)


def test_truncate_never_cuts_the_newest_question_or_the_system_prompt() -> None:
    """003-68."""
    messages = [system("s" * 100), user("old " * 50), assistant("a" * 300), user("u" * 100), assistant("b" * 300)]
    compaction = compressor(250).explain(messages)
    assert compaction.strategy in ("aggressive", "truncate")
    assert "s" * 100 in texts(compaction.messages)
    assert "u" * 100 in texts(compaction.messages)


@three_scripts
def test_compress_cuts_one_long_message(text: str) -> None:
    """003-62: whoever wrote it; its beginning, its end and a mark are left."""
    for message in (user(text * 100), assistant(text * 100)):
        compaction = compressor(120, locale="en").explain([system(), message])
        assert (compaction.strategy, compaction.tokens_after) == ("truncate", 120)
        assert (compaction.messages[0].text, compaction.messages[1].role) == ("be brief", message.role)
        assert compaction.messages[1].text.startswith(text)
        assert "bytes omitted" in compaction.messages[1].text


def test_compress_raises_what_must_be_sent_and_the_limit() -> None:
    messages = [system("s" * 60), user("old"), assistant("a"), user("u" * 30), calls("a", arguments="{}")]
    with pytest.raises(BudgetError) as raised:
        compressor(67).compress(messages)
    assert (raised.value.needed_tokens, raised.value.available_tokens) == (60 + len("search{}"), 67)
    assert isinstance(raised.value, GatekeeperError)
    assert compressor(68).explain(messages).tokens_after == 68


# --- the interface


def test_compress_takes_no_depth() -> None:
    """003-04, 003-13, 003-25, 003-26, 003-58, 003-64, 003-83: there is no recursion to limit."""
    with pytest.raises(TypeError, match="_compression_depth"):
        compressor(100).compress([], _compression_depth=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="_compression_depth"):
        ContextCompressor(100, _compression_depth=1)  # type: ignore[call-arg]


def test_compress_starts_when_the_headroom_is_used_up() -> None:
    """003-05, 003-15, 003-49."""
    assert not compressor(100).should_compress([user("x" * 80)])
    assert compressor(100).should_compress([user("x" * 81)])
    assert not compressor(100, headroom=1.0).should_compress([user("x" * 100)])


@three_scripts
def test_compress_estimates_with_its_own_counter(text: str) -> None:
    """003-84, 003-40, 003-06, 003-15, 003-28: the same count everywhere, never four characters a token."""
    messages = talk(3, text)
    assert compressor(10).estimate_tokens(messages) == sum(map(len, texts(messages)))
    assert ContextCompressor(10).estimate_tokens(messages) == count_messages(messages)


@from_file("limit", "strategy", "level", "steps")
def test_compress_logs_one_record_a_call(
    limit: int, strategy: str, level: str, steps: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """003-14, 003-26, 003-53, 003-54, 003-63: figures and the strategy, never text; at DEBUG each step that folds."""
    messages = [user("geheim"), *loop(9, "geheim" * 20), assistant("geheim" * 20)]
    with caplog.at_level(logging.DEBUG, logger="gatekeeper"):
        compacted = compressor(limit).explain(messages)
    records = [record for record in caplog.records if record.getMessage() == "context compressed"]
    assert [record.levelname for record in records] == [level]
    figures = {
        "tokens_before": compacted.tokens_before,
        "tokens_after": compacted.tokens_after,
        "ratio": round(compacted.tokens_after / compacted.tokens_before, 4),
        "message_count": len(compacted.messages),
        "strategy": strategy,
    }
    assert {name: vars(records[0])[f"gatekeeper_{name}"] for name in figures} == figures
    folds = [record for record in caplog.records if record.getMessage() == COMPRESSION_STEP.message]
    assert [(vars(record)["gatekeeper_strategy"], record.levelname) for record in folds] == [
        (step, "DEBUG") for step in steps
    ]
    if steps == [strategy]:
        assert vars(folds[-1])["gatekeeper_tokens"] == compacted.tokens_after
    assert all("geheim" not in str(vars(record)) for record in caplog.records)


# --- promises

limits = st.one_of(st.integers(1, 300), st.integers(1, 3_000))
counters = st.sampled_from([None, len, lambda text: len(text.encode("utf-8", "surrogatepass"))])


def needed(messages: Sequence[Message], counter: Any) -> int:
    """Return the limit that system messages and the calls without a result need, and the name of the newest user."""
    opened = [messages[one.positions[0]] for one in read_rounds(messages) if not one.answered]
    systems = [one for one in messages if one.role == "system"]
    users = [replace(one, content="") for one in messages if one.role == "user"][-1:]
    return budget_for(checked_counter(counter), count_messages([*systems, *users, *opened], token_counter=counter))


@given(conversations(), limits, st.integers(0, 4), st.integers(0, 3), counters)
def test_compress_holds_the_limit_or_says_what_is_needed(
    messages: list[Message], limit: int, keep: int, aggressive: int, counter: Any
) -> None:
    """003-57, 003-55, 003-62, 003-66: and the list stays one that the providers take, wherever it was; the input is only read."""
    before = list(messages)
    settings = {"keep_recent": keep, "aggressive_keep": aggressive, "token_counter": counter}
    small = ContextCompressor(limit, **settings)
    if needed(messages, counter) > limit:
        with pytest.raises(BudgetError) as raised:
            small.compress(messages)
        assert raised.value.needed_tokens == needed(messages, counter)
        return
    compaction = small.explain(messages)
    assert messages == before
    assert count_messages(compaction.messages, token_counter=counter) == compaction.tokens_after
    assert compaction.tokens_after <= budget_within(checked_counter(counter), limit)
    for provider in PROVIDERS:
        if not violations(messages, provider):
            assert violations(compaction.messages, provider) == []
    kept = {at for at in compaction.sources if at is not None}
    assert {at for at, one in enumerate(messages) if one.role == "system"} <= kept
    assert {at for one in read_rounds(messages) if not one.answered for at in one.positions} <= kept
    for one in read_rounds(messages):
        assert len(kept & set(one.positions)) in (0, len(one.positions))


@given(conversations(), limits, st.integers(0, 4), st.integers(0, 3), counters)
def test_compress_is_a_function_of_its_messages_and_leaves_its_own_result_alone(
    messages: list[Message], limit: int, keep: int, aggressive: int, counter: Any
) -> None:
    assume(needed(messages, counter) <= limit)
    settings = {"keep_recent": keep, "aggressive_keep": aggressive, "token_counter": counter}
    once = ContextCompressor(limit, **settings).explain(messages)
    assert ContextCompressor(limit, **settings).explain(list(messages)) == once
    again = ContextCompressor(limit, **settings).compress(once.messages)
    assert again is once.messages
