"""Compaction of a tool loop: both limits, the low-water mark, exact counts, the rules of every provider."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.rounds import counts_of, read_rounds
from gatekeeper_core.context.history.tool_loop import Compaction, compact_in_place, compact_messages
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.token_estimate import TokenEstimator, budget_for, budget_within
from gatekeeper_core.tokens import checked_counter, count_messages
from tests.loops import (
    PROVIDERS,
    call_count,
    calls,
    compressed,
    conversations,
    loop,
    pointer,
    system,
    three_scripts,
    user,
    violations,
)


def head(question: str = "修复部署") -> list[Message]:
    return [system(), user(question)]


def chars(messages: Sequence[Message]) -> int:
    return count_messages(messages, token_counter=len)


def compacted(messages: Sequence[Message], **arguments: Any) -> Compaction:
    return compact_messages(messages, **{"token_counter": len, "locale": "zh", **arguments})


# --- when


def test_within_the_limits_nothing_happens() -> None:
    """002-18, 002-19: the list is looked at whenever it is built, and within the limits comes back equal."""
    messages = [*head(), *loop(5, "x" * 10)]
    compaction = compacted(messages, max_tokens=chars(messages))
    assert compaction.messages == messages
    assert compaction.messages is not messages
    assert (compaction.strategy, compaction.prefix_changed, compaction.over_limit) == ("none", False, False)
    assert compaction.same_beginning == len(messages)


def test_the_limits_of_the_specification_are_the_defaults() -> None:
    """002-18, 002-22."""
    parameters = inspect.signature(compact_messages).parameters
    names = ("max_chars", "max_tokens", "keep_recent_rounds", "low_water")
    assert [parameters[name].default for name in names] == [80_000, 20_000, 3, 0.6]
    assert compact_messages([*head(), *loop(9, "x " * 4_400)], token_counter=lambda _: 0).strategy == "none"
    assert compact_messages([*head(), *loop(10, "x " * 4_400)], token_counter=lambda _: 0).strategy == "summary"


@three_scripts
def test_the_limit_that_is_reached_first_decides(text: str) -> None:
    """002-18, C18: characters mean little in Chinese, so tokens are counted as well."""
    messages = [*head(), *loop(10, text * 10)]
    by_chars = compact_messages(messages, max_chars=chars(messages) - 1, token_counter=lambda _: 0)
    by_tokens = compact_messages(messages, max_tokens=9, token_counter=lambda text: 1)
    assert by_chars.strategy == by_tokens.strategy == "summary"
    assert by_chars.chars_after <= 0.6 * (chars(messages) - 1)


# --- what


@three_scripts
def test_the_margin_of_an_estimate_is_kept_free(text: str) -> None:
    """An estimate may lie a margin below what the model counts; an exact counter has none."""
    messages, counter = [*head(), *loop(9, text * 30)], TokenEstimator(margin=0.25)
    tokens = count_messages(messages, token_counter=counter)
    assert compacted(messages, max_tokens=budget_for(counter, tokens), token_counter=counter).strategy == "none"
    assert compacted(messages, max_tokens=budget_for(counter, tokens) - 1, token_counter=counter).strategy == "summary"
    assert compacted(messages, max_tokens=tokens, token_counter=lambda text: counter(text)).strategy == "none"


def test_the_newest_rounds_stay_whole_and_the_rest_is_one_line() -> None:
    """C4, 002-11, 002-13 to 002-15, 002-20, 002-22, 002-27: three rounds by default."""
    messages = [*head(), *loop(10, "x" * 100)]
    compaction = compacted(messages, max_tokens=400)
    assert compaction.messages[:2] == messages[:2]
    assert compaction.messages[2].text == "[已执行 7 次工具调用,最近结果见下文]"
    assert compaction.messages[3:] == messages[-6:]
    assert all(new is old for new, old in zip(compaction.messages[3:], messages[-6:], strict=True))
    assert (compaction.rounds_folded, compaction.calls_folded, compaction.calls_total) == (7, 7, 7)
    assert (compaction.strategy, compaction.same_beginning) == ("summary", 2)


def test_no_more_is_folded_than_the_low_water_mark_asks_for() -> None:
    """002-32."""
    messages = [*head(), *loop(10, "x" * 92)]  # about 100 characters a round
    folded = [compacted(messages, max_tokens=1_000, low_water=share).rounds_folded for share in (0.0, 0.5, 0.8, 0.9)]
    assert folded == [7, 6, 3, 2]


def test_after_a_compaction_there_is_room_for_a_while() -> None:
    """002-32: a loop of 60 rounds is compacted a few times, not at every step."""
    messages = head()
    changed = 0
    for step in range(60):
        compaction = compacted([*messages, *loop(1, "x" * 90, start=step)], max_tokens=1_500)
        messages = compaction.messages
        changed += compaction.prefix_changed
        assert compaction.tokens_after <= 1_500
    assert changed <= 60 // 5
    assert counts_of(messages[2]).calls + call_count(messages) == 60


def test_where_the_recent_rounds_are_too_large_their_results_are_cut_oldest_first() -> None:
    """002-26, 002-29: whole rounds, each cut marked with the bytes that are gone, head and tail kept."""
    messages = [*head(), *loop(4, f"{'a' * 3_000}{'z' * 3_000}")]
    compaction = compacted(messages, max_tokens=11_000)
    results = [one.text for one in compaction.messages if one.role == "tool"]
    assert [len(text) < 6_000 for text in results] == [True, True, False]
    assert all(text.startswith("a") and text.endswith("z") for text in results)
    assert "字节]" in results[0]
    assert (compaction.strategy, compaction.results_shortened) == ("truncate", 2)
    assert compaction.tokens_after <= 6_600


def test_what_must_stay_may_be_over_the_limit_and_is_said_so() -> None:
    """002-26: system and user messages are never cut; the linear flow of the compressor comes next."""
    messages = [system("s" * 500), user("u" * 500), *loop(4, "x")]
    compaction = compacted(messages, max_tokens=100)
    assert compaction.over_limit
    assert compaction.messages[:2] == messages[:2]


def test_a_compressor_of_results_goes_first_and_sees_each_result_once() -> None:
    seen: list[str] = []

    def first_word(message: Message, context: ResultContext) -> str:
        seen.append(message.tool_call_id or "")
        return message.text.partition(" ")[0]

    messages = [*head(), *loop(6, "failed " * 20)]
    once = compacted(messages, max_tokens=700, compress_result=first_word)
    assert (once.rounds_folded, once.results_shortened, once.strategy) == (0, 4, "truncate")
    again = compacted([*once.messages, *loop(3, "failed " * 20, start=6)], max_tokens=700, compress_result=first_word)
    assert again.rounds_folded == 0
    assert len(seen) == len(set(seen))


def test_a_summarizer_that_is_too_long_gives_way_to_the_placeholder() -> None:
    """002-21."""
    messages = [*head(), *loop(9, "x" * 100)]
    short = compacted(messages, max_tokens=500, summarizer=lambda _: "磁盘满了")
    assert (short.failure, "磁盘满了" in short.messages[2].text) == ("", True)
    long = compacted(messages, max_tokens=500, summarizer=lambda _: "长" * 500)
    assert (long.failure, long.messages[2].text) == ("too_long", "[已执行 6 次工具调用,最近结果见下文]")


def put_aside(count: int, *, start: int = 0) -> list[Message]:
    """Return rounds whose results carry a pointer each."""
    numbers = range(start, start + count)
    return [
        one for number in numbers for one in (calls(f"c{number}"), compressed(f"c{number}", f"{pointer(number)} 失败"))
    ]


def kept_pointers(compaction: Compaction) -> str:
    lines = next(message.text for message in compaction.messages if is_summary(message)).split("\n")
    return lines[1] if len(lines) > 1 else ""


def test_a_summary_that_is_too_long_loses_its_text_then_its_oldest_pointers_then_all() -> None:
    """002-12, 002-21: the limit holds, the placeholder stays."""
    messages = [*head(), *put_aside(7), *loop(3, "x" * 50, start=7)]
    sizes = {}
    for limit in range(225, chars(messages)):
        compaction = compacted(messages, max_tokens=limit, low_water=0.0, summarizer=lambda _: "磁盘满了")
        assert compaction.tokens_after <= limit
        assert compaction.messages[2].text.startswith("[已执行 7 次工具调用,最近结果见下文]")
        kept = kept_pointers(compaction).split()
        assert kept == [pointer(number) for number in range(7)][7 - len(kept) :]
        assert compaction.failure == ("" if "磁盘满了" in compaction.messages[2].text else "too_long")
        sizes[limit] = (len(kept), compaction.failure)
    assert [size for _, size in sorted(sizes.items())] == sorted(
        sizes.values(), key=lambda size: (size[0], not size[1])
    )
    assert {size for size, _ in sizes.values()} == set(range(8))
    assert (7, "") in sizes.values()


@pytest.mark.parametrize("text", ["磁盘满了", "disk is full ", "磁盘 disk "])
def test_a_further_round_is_folded_before_a_pointer_is_dropped(text: str) -> None:
    messages = [*head(), *put_aside(9), *loop(6, text * 9, start=9)]
    for limit in range(480, chars(messages)):
        compaction = compacted(messages, max_tokens=limit, low_water=1.0)
        count = min(compaction.rounds_folded, 9)
        assert compaction.tokens_after <= limit
        if compaction.rounds_folded < 15 - 3:
            assert kept_pointers(compaction).split() == [pointer(number) for number in range(count)]


def test_a_list_can_be_compacted_in_its_place() -> None:
    """002-23."""
    messages = [*head(), *loop(10, "x" * 100)]
    before = list(messages)
    compaction = compact_in_place(messages, max_tokens=400, token_counter=len)
    assert messages == compaction.messages == compacted(before, max_tokens=400).messages
    with pytest.raises(TypeError, match="must be a list"):
        compact_in_place(tuple(messages))  # type: ignore[arg-type]


# --- promises

limits = st.integers(1, 3_000)
keeps = st.integers(0, 4)
shares = st.sampled_from([0.0, 0.6, 1.0])
counters = st.sampled_from([None, len, lambda text: len(text.encode("utf-8", "surrogatepass"))])


@given(conversations(), limits, limits, keeps, shares, counters)
def test_a_compacted_list_keeps_the_rules_of_every_provider(
    messages: list[Message], max_chars: int, max_tokens: int, keep: int, share: float, counter: Any
) -> None:
    """002-25, 002-31: wherever the input kept them; and nothing but the oldest rounds and some texts differs."""
    before = list(messages)
    settings = {"max_chars": max_chars, "max_tokens": max_tokens, "keep_recent_rounds": keep, "low_water": share}
    compaction = compact_messages(messages, token_counter=counter, **settings)
    assert messages == before
    for provider in PROVIDERS:
        if not violations(messages, provider):
            assert violations(compaction.messages, provider) == []
    assert compaction.tokens_after == count_messages(compaction.messages, token_counter=counter)
    assert compaction.chars_after == chars(compaction.messages)
    limit = budget_within(checked_counter(counter), max_tokens)
    over = compaction.tokens_after > limit or compaction.chars_after > max_chars
    assert compaction.over_limit is over
    for at, message in zip(compaction.sources, compaction.messages, strict=True):
        assert is_summary(message) if at is None else message.role == "tool" or message is messages[at]
    answered = [one for one in read_rounds(messages) if one.answered]
    assert compaction.rounds_folded <= max(0, len(answered) - keep)
    assert compact_messages(messages, token_counter=counter, **settings) == compaction


@given(st.lists(conversations(open_run=False), min_size=5, max_size=5), limits, keeps)
def test_the_number_of_calls_is_exact_after_five_compactions(
    steps: list[list[Message]], max_tokens: int, keep: int
) -> None:
    """002-20: calls in the list and in its one summary are all that were made."""
    messages: list[Message] = []
    total = 0
    for step in steps:
        total += call_count(step)
        messages = compacted([*messages, *step], max_tokens=max_tokens, keep_recent_rounds=keep).messages
        summaries = [message for message in messages if is_summary(message)]
        assert len(summaries) <= 1
        assert call_count(messages) + sum(counts_of(one).calls for one in summaries) == total
