"""A clock that goes back, or was ahead for a while: nothing that is stored is lost, reordered or frozen."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.memory import LongTermMemory
from gatekeeper_core.context.memory.thread import StoredThreads, Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.context.tool_results.working_memory import WorkingMemory
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.policy import PolicyState
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore
from tests.loops import assistant, user

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PRICES = ModelPrices(input=3, output=15, cache_read=0.3, cache_write=3.75)
NOON, HOUR, YEAR = 1_800_000_000.0, 3_600.0, 31_557_600.0
ANN = MemoryScope("acme", "ann")
SHOPS = ("kestrel", "苍鹭", "osprey", "falcon 隼", "merlin", "雨燕", "kite", "eagle", "hobby", "鹪鹩")
JUMPS = {"an hour back": -HOUR, "a year back": -YEAR, "to the same second": 0.0, "a second before": -1.0}
each_jump = pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


def shop_talk(turn_count: int) -> Thread:
    turns = ((user(f"When does the {shop} open?"), assistant(f"The {shop} opens at nine. " * 9)) for shop in SHOPS * 9)
    messages = [message for turn in turns for message in turn]
    return Thread("t1", messages[: 2 * turn_count])


def billed_builder(store: Any, clock: Clock) -> ContextBuilder:
    history = HistoryConfig(strategy="gate", passthrough_below=0, prices=PRICES)
    config = ContextBuilderConfig(history=history, enable_summary=False, call_timeout_ms=60_000)
    builder = ContextBuilder(config, store=store)
    builder._parts.selector._clock = clock
    return builder


@each_jump
def test_the_account_of_a_thread_counts_every_call_whatever_the_clock_says(jump: float) -> None:
    """In the process that made them, in its store, and for the worker that goes on."""
    store, clock = InMemoryStore(), Clock()
    builder, paid = billed_builder(store, clock), 0.0
    for at in range(6):
        clock.now += HOUR if at != 2 else jump
        context = builder.build(shop_talk(30 + at), f"When does the {SHOPS[at]} open?", "Be brief.")
        bill = context.trace.view.bill
        assert bill.paid == pytest.approx(paid + bill.dollars)
        paid = bill.paid
        kept = PolicyState.from_dict(json.loads(store.load_record("default", "t1", "prompt_policy").body))
        assert (kept.ledger.questions, kept.cache.called_at, kept.ledger.paid) == (at + 1, clock.now, paid)
    other = billed_builder(store, clock).build(shop_talk(36), "When does the 雨燕 open?", "Be brief.")
    assert other.trace.view.bill.paid == pytest.approx(paid + other.trace.view.bill.dollars)


@each_jump
def test_what_was_said_last_about_a_user_holds_whatever_the_clock_says(jump: float) -> None:
    clock = Clock()
    memory = LongTermMemory(InMemoryStore(), clock=clock)
    first = memory.add(ANN, "I live in Paris", category="fact", key="residence")
    clock.now += jump
    last = memory.add(ANN, "我搬到了北京", category="fact", key="residence")
    assert [each.text for each in memory.newest(ANN)] == ["我搬到了北京"]
    assert [each.text for each in memory.history(ANN, last.id)] == ["我搬到了北京", "I live in Paris"]
    assert [hit.memory.id for hit in memory.search(ANN, "北京 or Paris?")] == [last.id]
    assert memory.get(ANN, first.id).superseded_by == last.id
    assert memory.update(ANN, last.id, "我住在北京 Chaoyang").earlier[0].text == "我搬到了北京"


@each_jump
def test_nothing_that_was_put_aside_expires_early_and_the_quota_holds(jump: float) -> None:
    clock = Clock()
    memory = WorkingMemory(InMemoryBlobStore(), b"key of one thread", 100, ttl_seconds=60, clock=clock)
    first = memory.offload("日志 " * 5)
    clock.now += jump
    second = memory.offload("a log " * 5)
    assert memory.load(first.text) == "日志 " * 5
    clock.now += 61
    assert memory.offload("x" * 40, live=(second.text,)) is not None
    assert memory.load(second.text) == "a log " * 5
    assert memory.offload("y" * 60) is not None  # whatever was used longest ago gives way
    assert memory.used_bytes <= 100


@pytest.mark.parametrize("make", [lambda _: InMemoryStore(), lambda folder: SQLiteStore(folder / "store.db")])
def test_messages_stand_in_the_order_of_their_appends_whatever_times_they_carry(
    tmp_path: Path, make: Callable[[Path], Any]
) -> None:
    store, noon = make(tmp_path), datetime(2026, 11, 23, 12, tzinfo=timezone.utc)
    threads = StoredThreads(store)
    texts = [f"{shop}: 九点开门, opens at {at}." for at, shop in enumerate(SHOPS)]
    for at, text in enumerate(texts):
        message = Message("user", text, id=f"m{at}", created_at=noon - timedelta(hours=at))
        assert threads.append("t1", [message], expected_seq=at - 1) == at
    thread = threads.load("t1", min_seq=len(texts) - 1)
    assert [message.text for message in thread.messages] == texts
    context = ContextBuilder(store=store).build(thread, "When does the kite open?", "Be brief.")
    assert [message.text for message in context.messages if message.text in texts] == texts
