"""The bill of builds: what is told inside the question is accounted for, and no prompt is paid for twice."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper_core.context.history.selector import POLICY_KIND
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import BudgetShares, ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.prompt.parts import SystemPrompt
from gatekeeper_core.context.prompt.result import BuiltContext
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.policy import CallBill
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.storage.base import RecordStore
from gatekeeper_core.storage.sqlite import InMemoryStore
from tests.loops import assistant, calls, result, user

TOPICS = ["Redis", "sourdough", "Bern", "invoice", "tomatoes", "violin", "passport", "glacier", "Kafka", "marathon"]
TALK = list(
    chain.from_iterable(
        (
            user(f"New topic: what about the {TOPICS[at % 10]} of district {at}?"),
            assistant(
                f"The {TOPICS[at % 10]} of district {at} has the number {6000 + at}. " + "It is as it was. " * 30
            ),
        )
        for at in range(60)
    )
)
PRICES = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75)
AT_ONCE = HistoryConfig(strategy="cache")
SMALL_CACHE = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75, min_cached_tokens=1)
UNFILLED = replace(AT_ONCE, prices=SMALL_CACHE)  # no body is filled up for the sake of a cache
CACHED = HistoryConfig(strategy="cache", keep_newest=3)
ONE = "Which number has the Redis of district 20?"


def bill_of(context: BuiltContext) -> CallBill:
    assert context.trace.view is not None
    assert context.trace.view.bill is not None
    return context.trace.view.bill


def builder_of(*, history: HistoryConfig = AT_ONCE, **changes: Any) -> ContextBuilder:
    merged = {"enable_summary": False, "locale": "en", **changes}
    return ContextBuilder(ContextBuilderConfig(history=history, **merged))


def contexts_of(builder: ContextBuilder, talk: list[Message], *questions: str, **arguments: Any) -> list[BuiltContext]:
    """Return the builds for questions that are each answered before the next one."""
    contexts = []
    for question in questions:
        contexts.append(builder.build(Thread("t1", tuple(talk)), question, "Be brief.", **arguments))
        talk = [*talk, user(question), assistant("So it is.")]
    return contexts


def test_what_is_told_inside_the_question_is_not_left_out_and_is_booked_with_the_turns() -> None:
    contexts = contexts_of(builder_of(history=UNFILLED), TALK, ONE, "And the violin of district 35?")
    trace, recalled = contexts[1].trace, bill_of(contexts[1]).recalled
    assert 35 in recalled
    fates = {seq: one.fate for one in trace.fates for seq in range(one.start, one.stop)}
    assert [fates[seq] for seq in (70, 71)] == ["recalled", "recalled"]
    assert len(fates) == len(TALK) + 2
    assert contexts[1].facts()["messages_recalled"] == 2 * len(recalled)
    assert contexts[1].facts()["policy_action"] == "kept"
    question, stats = next(part for part in trace.parts if part.part == "current_input"), contexts[1].token_stats
    assert stats.current_input < 30 < question.tokens
    assert sum(stats[:-1]) == stats.total == sum(one.tokens for one in trace.parts)


def test_the_prices_of_the_call_make_the_bill() -> None:
    bills = []
    for dollars in (1, 3):
        prices = ModelPrices(input=dollars, output=5, cache_read=dollars, cache_write=dollars)
        (context,) = contexts_of(builder_of(), TALK, "What number has the Redis of district 20?", prices=prices)
        bills.append(bill_of(context).dollars)
    assert bills[1] == pytest.approx(3 * bills[0])
    with pytest.raises(TypeError, match="prices must be a ModelPrices, got int"):
        builder_of().build(None, "?", "", prices=3)  # type: ignore[arg-type]


def test_what_is_kept_free_costs_nothing_and_what_the_caller_sends_besides_does() -> None:
    bills = []
    for tokens in (0, 500):
        for shares in (BudgetShares(), BudgetShares(recent_messages=450, reserved=100)):
            builder = builder_of(history=UNFILLED, total_budget=48_000, shares=shares)
            question = "What number has the Redis of district 20?"
            bills.append(bill_of(contexts_of(builder, TALK, question, reserve_tokens=tokens)[0]))
    assert bills[1] == bills[0]
    assert bills[3] == bills[2]
    assert bills[2].dollars - bills[0].dollars == pytest.approx(500 * PRICES.cache_write / 1e6)


def test_nothing_is_told_inside_a_question_that_the_caller_sends_itself() -> None:
    builder = builder_of()
    questions = "What number has the Redis of district 20?", "And the violin of district 35?"
    context = contexts_of(builder, TALK, *questions, recall=False)[1]
    assert context.trace.view is not None
    assert context.trace.view.recalled_text == ""
    assert 35 in context.trace.view.turns
    assert context.messages[-2].text == questions[1]


def test_a_build_that_begins_anew_without_a_part_is_paid_for_once() -> None:
    """What has no room is given up, and the turns are looked at again; one prompt is sent."""
    run = [user("Which port?"), calls("a"), result("a", "port 6003 " * 200)]
    builder = ContextBuilder(ContextBuilderConfig(total_budget=700, enable_summary=False), token_counter=len)
    builder.constraints.set(Thread("t1", tuple(run)), "style", "b" * 300)
    context = builder.build(Thread("t1", tuple(run)), "Which port?", "Be brief.")
    assert "constraints" in context.trace.given_up
    assert bill_of(context).paid == bill_of(context).dollars
    assert bill_of(context).everything_paid == bill_of(context).everything_dollars


# --- workers ----------------------------------------------------------------------------------------------------------


def test_what_the_provider_reports_corrects_the_account_for_every_worker() -> None:
    store = InMemoryStore()
    thread, one = Thread("t1", tuple(TALK[:80])), worker(store)
    one.build(thread, "The Redis of district 20?", "Be brief.", prices=PRICES)
    one.report(Usage(input_tokens=1_000_000, output_tokens=0), thread)
    grown = Thread("t1", tuple(TALK[:82]))
    bill = bill_of(worker(store).build(grown, "And the violin of district 35?", "Be brief.", prices=PRICES))
    assert bill.paid == pytest.approx(3.0 + bill.dollars)


def test_an_earlier_state_never_takes_the_place_of_a_later_one() -> None:
    store = InMemoryStore()
    early = worker(store)
    early.build(Thread("t1", tuple(TALK[:80])), "The Redis of district 20?", "Be brief.")
    worker(store).build(Thread("t1", tuple(TALK[:82])), "And the violin of district 35?", "Be brief.")
    later = store.load_record("default", "t1", POLICY_KIND)
    early.report(Usage(input_tokens=1_000_000, output_tokens=0), Thread("t1", tuple(TALK[:80])))
    assert store.load_record("default", "t1", POLICY_KIND) == later


@pytest.mark.parametrize("body", ["no JSON", "[]", "{}", '{"version": 1}'])
def test_a_stored_state_that_cannot_be_read_is_begun_anew(body: str) -> None:
    store = InMemoryStore()
    store.save_record("default", "t1", POLICY_KIND, body, upto_seq=-1, expected_version=0)
    context = worker(store).build(Thread("t1", tuple(TALK[:80])), "The Redis of district 20?", "Be brief.")
    assert bill_of(context).action == "rebuilt"
    record = store.load_record("default", "t1", POLICY_KIND)
    assert record is not None
    assert "body" in record.body


def worker(store: RecordStore) -> ContextBuilder:
    config = ContextBuilderConfig(history=AT_ONCE, enable_summary=False, locale="en", call_timeout_ms=20_000)
    return ContextBuilder(config, store=store)


# --- promises ---------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    budget=st.integers(300, 3_000),
    turns=st.lists(st.integers(0, 59), min_size=2, max_size=6).map(sorted),
    history=st.sampled_from([AT_ONCE, CACHED, HistoryConfig()]),
    flags=st.fixed_dictionaries({"cache_friendly": st.booleans(), "redistribute": st.booleans()}),
)
def test_no_build_of_a_thread_is_over_budget_or_out_of_order(
    budget: int, turns: list[int], history: HistoryConfig, flags: dict[str, bool]
) -> None:
    """Whatever was sent before; and no turn is both sent and told."""
    builder = builder_of(history=history, enable_summary=True, total_budget=budget, **flags)
    for at in turns:
        thread, question = Thread("t1", tuple(TALK[: 2 * at])), f"What number has the {TOPICS[at % 7]} of {at // 2}?"
        context = builder.build(thread, question, SystemPrompt("Be brief.", f"It is 12:{at}."))
        assert context.token_stats.total <= budget
        seqs = [part.seq for part in context.trace.parts if part.seq is not None]
        assert seqs == sorted(set(seqs))
        fates = {seq: one.fate for one in context.trace.fates for seq in range(one.start, one.stop)}
        assert len(fates) == len(thread.messages)
        assert not [seq for seq in seqs if fates[seq] == "recalled"]
