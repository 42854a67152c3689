"""The engine behind the three entries: each step no further than it must, and its books right after each."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.compaction.ledger import Ledger
from gatekeeper_core.context.compaction.rounds import Counts, FoldingConfig, read_rounds, summary_of
from gatekeeper_core.context.compaction.shrink import Shrinking, compress, drop_pointers
from gatekeeper_core.context.tool_results.context import ToolResults
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.messages import Message, is_summary
from gatekeeper_core.tokens import count_messages
from tests.loops import calls, conversations, pointer, result, user

LOOP = [user("q"), *(one for at in range(4) for one in (calls(f"c{at}", arguments=""), result(f"c{at}", "x" * 90)))]


def ledger_of(messages: list[Message], max_tokens: int) -> Ledger:
    return Ledger(messages, token_counter=len, max_tokens=max_tokens)


@pytest.mark.parametrize("text", ["磁盘满了 " * 9, "disk is full " * 9, "disk 满了 " * 9])
def test_a_result_is_compressed_only_where_that_makes_it_cost_less(text: str) -> None:
    messages = [user("q"), calls("a"), result("a", text)]
    results = ToolResults(messages, lambda message, _: message.text[:4])
    ledger = ledger_of(messages, 1)
    assert compress(ledger, results, [0, 1, 2], age_rounds=0) == 1
    assert (ledger.messages[2].text, ledger.tokens) == (text[:4], count_messages(ledger.messages, token_counter=len))
    dearer = Ledger(messages, token_counter=lambda said: 1_000 - len(said), max_tokens=1)
    assert compress(dearer, results, [0, 1, 2], age_rounds=0) == 0
    assert dearer.messages[2] is messages[2]


@given(st.integers(0, 6), st.integers(1, 300))
def test_as_few_pointers_go_as_it_takes_and_the_oldest_first(count: int, limit: int) -> None:
    ids = [pointers_in(pointer(number))[0] for number in range(count)]
    summary = summary_of(Counts(2, 3), "en", pointers=ids)
    ledger = ledger_of([summary], limit)
    if not ledger.is_over():
        return
    drop_pointers(ledger, 0)
    kept = pointers_in(ledger.messages[0].text)
    assert list(kept) == ids[count - len(kept) :]
    if len(kept) < count:
        one_more = summary_of(Counts(2, 3), "en", pointers=ids[count - len(kept) - 1 :])
        assert count_messages([one_more], token_counter=len) > limit
    assert ledger.tokens == count_messages(ledger.messages, token_counter=len)


def test_a_text_that_has_no_room_goes_and_the_reason_is_told() -> None:
    for limit, failure in ((350, ""), (250, "too_long")):
        shrinking = Shrinking(LOOP, ledger_of(LOOP, limit), FoldingConfig(summarizer=lambda _: "磁盘满了"))
        shrinking.fold(read_rounds(LOOP)[:2])
        compaction = shrinking.compaction("summary")
        assert (compaction.failure, "磁盘满了" in compaction.messages[1].text) == (failure, not failure)
        assert compaction.tokens_after <= limit


@given(conversations(), st.integers(0, 4), st.integers(1, 900))
def test_what_is_told_of_a_shrinking_is_right_and_the_list_of_the_caller_is_only_read(
    messages: list[Message], count: int, limit: int
) -> None:
    before = list(messages)
    rounds = [one for one in read_rounds(messages) if one.answered][:count]
    shrinking = Shrinking(messages, ledger_of(messages, limit), FoldingConfig())
    shrinking.fold(rounds)
    shrinking.cut(range(len(shrinking.ledger.messages)))
    compaction = shrinking.compaction("truncate")
    assert messages == before
    assert compaction.tokens_before == count_messages(messages, token_counter=len)
    assert compaction.tokens_after == count_messages(compaction.messages, token_counter=len)
    assert compaction.over_limit is (compaction.tokens_after > limit)
    changed = sum(
        source is not None and message != messages[source]
        for source, message in zip(compaction.sources, compaction.messages, strict=True)
    )
    cut_summary = any(map(is_summary, compaction.messages))
    assert changed <= compaction.results_shortened <= changed + cut_summary
    assert compaction.rounds_folded == len(rounds)


def test_what_joins_and_what_leaves_the_books_is_counted() -> None:
    ledger = Ledger((), token_counter=len, max_tokens=100)
    for at, message in enumerate(LOOP):
        ledger.add(message, 10 + at, len(message.text) + 6 * len(message.tool_calls))
    assert (ledger.tokens, ledger.chars) == (count_messages(LOOP, token_counter=len),) * 2
    assert ledger.sources == [*range(10, 10 + len(LOOP))]
    ledger.drop([2])
    assert ledger.tokens == count_messages([*LOOP[:2], *LOOP[3:]], token_counter=len)
    assert ledger.measures[0].limit == math.inf
