"""What is kept of a thread is looked up within one limit; each thing that could not be had is named once."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from gatekeeper_core.context.prompt.lookups import Derived, DerivedRecords, LookUp, MemorySearch
from gatekeeper_core.context.prompt.result import Miss
from gatekeeper_core.context.summary.summary import ThreadSummary
from gatekeeper_core.context.task.tracker import TaskTracker
from gatekeeper_core.context.thread.constraints import ThreadConstraints
from gatekeeper_core.context.thread.thread import Thread
from gatekeeper_core.storage.in_memory import InMemoryRecordStore
from gatekeeper_core.workers import BoundedCalls, CallLanes, call_lanes
from tests.faults import ANN, PATIENCE, FaultyMemory, Hang, Remote, hanging, raising, with_tea
from tests.loops import assistant, calls, result, user

SEARCH = MemorySearch(3, ("user_preference",))
TALK = tuple([user("请帮我部署 Redis"), assistant("好的。")] * 6)
THREAD = Thread("t1", TALK, user="ann")


@pytest.fixture
def hang() -> Iterator[Hang]:
    with hanging() as hang:
        yield hang


def records_of(
    store: Any = None,
    *,
    memory: Any = None,
    summarizer: Any = None,
    extractor: Any = None,
    lanes: CallLanes | None = None,
) -> DerivedRecords:
    store = InMemoryRecordStore() if store is None else store
    return DerivedRecords(
        store,
        summaries=ThreadSummary(store, summarizer=summarizer),
        tasks=TaskTracker(store),
        constraints=ThreadConstraints(store),
        memory=memory,
        extractor=extractor,
        has_summarizer=summarizer is not None,
        lanes=lanes or call_lanes(8),
    )


def looked_up(
    records: DerivedRecords, look: LookUp, thread: Thread = THREAD, prompt: str = "Which tea?", **changes: Any
) -> Derived:
    wanted: dict[str, Any] = {"summary_before": 12, "task": True, "search": SEARCH, **changes}
    return records.look_up(look, thread, prompt, **wanted)


def until_noted(records: DerivedRecords, thread: Thread = THREAD) -> tuple[Miss, ...]:
    """Return what the next look-up names once the work behind the last one is done."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        look = LookUp(timeout_seconds=PATIENCE)
        records.look_up(look, thread, "", summary_before=None, task=False, search=None)
        if look.misses:
            return look.misses
        time.sleep(0.001)
    return ()


# --- the calls of one build -------------------------------------------------------------------------------------------


def test_a_call_without_a_lane_is_made_on_the_callers_thread(hang: Hang) -> None:
    look = LookUp(timeout_seconds=0.0)
    assert look.ask("task", None, threading.current_thread) is threading.current_thread()
    assert look.ask("task", BoundedCalls(), hang) is None
    assert look.misses == (Miss("task", "late"),)


def test_a_part_is_missed_once_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """001-66: the first reason stays, and no record holds text."""
    look = LookUp(timeout_seconds=PATIENCE)
    with caplog.at_level(logging.WARNING, logger="gatekeeper.builder"):
        assert look.ask("task", None, raising) is None
        assert look.ask("task", None, lambda: 1 / 0) is None
        look.miss("summary", "degraded", "conflict")
    assert look.misses == (Miss("task", "failed", "RuntimeError"), Miss("summary", "degraded", "conflict"))
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
    assert "secret" not in str([vars(record) for record in caplog.records])


def test_what_failed_is_asked_again_and_what_was_late_is_not(hang: Hang) -> None:
    """001-66: no part is waited for twice."""
    look, lane, asked = LookUp(timeout_seconds=0.01), BoundedCalls(max_workers=2), list[int]()
    look.ask("summary", None, raising)
    assert look.ask("summary", None, lambda: 7) == 7
    look.ask("task", lane, hang)
    assert look.ask("task", lane, lambda: asked.append(1)) is None
    assert asked == []


def test_the_last_call_has_time_of_its_own(hang: Hang) -> None:
    """001-50: a search that hangs does not take what is asked after it along."""
    look, lanes = LookUp(timeout_seconds=2.0), call_lanes(4)
    assert look.ask("retrieved", lanes.memory, hang) is None
    look.ask("task", lanes.store, partial(time.sleep, 0.02), last=True)
    assert look.misses == (Miss("retrieved", "late"),)


# --- what is looked up ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("remote", [False, True])
def test_everything_that_is_kept_of_a_thread_is_found(remote: bool) -> None:
    """001-68 to 001-71: in this process or behind a protocol, the same."""
    store = InMemoryRecordStore()
    ThreadConstraints(store).set(THREAD, "language", "Chinese")
    TaskTracker(store).update(THREAD)
    memory = with_tea(Remote if remote else None)
    records, look = records_of(Remote(store) if remote else store, memory=memory), LookUp(timeout_seconds=PATIENCE)
    found = looked_up(records, look)
    assert look.misses == ()
    assert found.constraints == {"language": "Chinese"}
    assert found.summary
    assert found.summary.covered_messages == 12
    assert found.task
    assert found.task.goal
    assert [hit.memory.text for hit in found.memories] == ["I prefer green tea"]


def test_only_what_is_wanted_is_asked_for() -> None:
    asked: list[str] = []
    store = InMemoryRecordStore()

    def load(tenant: str, thread: str, kind: str) -> Any:
        asked.append(kind)
        return store.load_record(tenant, thread, kind)

    records = records_of(Remote(store, load_record=load), memory=FaultyMemory(raising))
    look = LookUp(timeout_seconds=PATIENCE)
    assert looked_up(records, look, summary_before=None, task=False, search=None) == Derived()
    assert asked == ["constraints"]
    assert look.misses == ()


@pytest.mark.parametrize(("thread", "prompt"), [(THREAD, " \n"), (Thread("t1", TALK), "Which tea?")])
def test_without_a_question_or_a_user_no_memory_is_asked_for(thread: Thread, prompt: str) -> None:
    """001-74, 001-73."""
    look = LookUp(timeout_seconds=PATIENCE)
    assert looked_up(records_of(memory=FaultyMemory(raising, inline=True)), look, thread, prompt).memories == ()
    assert look.misses == ()


def test_what_the_user_said_is_found_by_the_same_build_where_nothing_can_hang() -> None:
    """004-35, 004-55."""
    thread = Thread("t2", (user("I prefer black coffee."), assistant("ok")), user="ann")
    found = looked_up(records_of(memory=with_tea()), LookUp(timeout_seconds=PATIENCE), thread, "Which coffee?")
    assert [hit.memory.text for hit in found.memories] == ["I prefer black coffee"]


def test_memories_behind_a_protocol_are_made_behind_the_build() -> None:
    """004-55."""
    memory = with_tea(Remote)
    records = records_of(memory=memory)
    thread = Thread("t2", (user("I prefer black coffee."), assistant("ok")), user="ann")
    looked_up(records, LookUp(timeout_seconds=PATIENCE), thread)
    deadline = time.monotonic() + PATIENCE
    while len(memory.newest(ANN)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_task_is_read_on_with_the_newest_request() -> None:
    """001-38."""
    task = records_of().update_task(LookUp(timeout_seconds=PATIENCE), THREAD, None)
    assert task
    assert task.goal
    assert "Redis" in task.goal.text


# --- what works behind a build ----------------------------------------------------------------------------------------


def test_what_fails_behind_a_build_is_told_by_the_next_one_of_that_thread() -> None:
    """001-51, 004-54: once, and to nobody else."""
    records = records_of(summarizer=raising)
    looked_up(records, LookUp(timeout_seconds=PATIENCE))
    records.follow_up(THREAD)
    assert until_noted(records) == (Miss("summary_model", "degraded", "error: RuntimeError"),)
    for thread in (THREAD, Thread("t2", TALK)):
        look = LookUp(timeout_seconds=PATIENCE)
        looked_up(records, look, thread)
        assert look.misses == ()


def test_a_store_that_fails_behind_a_build_is_told_as_well() -> None:
    """004-55."""
    memory = with_tea(lambda inner: Remote(inner, put_memories=raising))
    records = records_of(memory=memory)
    thread = Thread("t2", (user("I prefer black coffee."), assistant("ok")), user="ann")
    looked_up(records, LookUp(timeout_seconds=PATIENCE), thread)
    assert until_noted(records, thread) == (Miss("extraction", "failed", "RuntimeError"),)


def test_a_model_that_works_leaves_no_miss() -> None:
    """004-60."""
    records = records_of(summarizer=lambda messages, previous, limit: "部署 Redis")
    looked_up(records, LookUp(timeout_seconds=PATIENCE))
    records.follow_up(THREAD)
    deadline = time.monotonic() + PATIENCE
    while records.summaries.model_due(THREAD):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    look = LookUp(timeout_seconds=PATIENCE)
    found = looked_up(records, look)
    assert found.summary
    assert found.summary.text == "部署 Redis"
    assert look.misses == ()


def test_where_all_models_hang_the_next_ones_are_not_started(hang: Hang) -> None:
    """004-54: and the trace of the thread says so."""
    records = records_of(summarizer=hang, lanes=call_lanes(4))
    looked_up(records, LookUp(timeout_seconds=PATIENCE))
    for _ in range(100):
        records.follow_up(THREAD)
    assert until_noted(records) == (Miss("summary_model", "busy"),)
    assert hang.returned == 0


@pytest.mark.parametrize("in_thread", [True, False])
def test_what_a_model_writes_during_a_run_waits_for_the_next_question(in_thread: bool) -> None:
    """001-51, 003-90."""
    records = records_of(summarizer=lambda messages, previous, limit: "The user deploys Redis.")
    asked = THREAD.continued([user("Which port?")] if in_thread else [])
    look = partial(LookUp, timeout_seconds=PATIENCE)
    first = looked_up(records, look(), asked).summary
    assert records.summaries.run_model(asked).status == "updated"
    step = asked.continued([calls("a"), result("a")])
    assert looked_up(records, look(), step).summary == first
    answered = step.continued([assistant("6380"), user("And the host?")])
    assert looked_up(records, look(), answered).summary != first
    again = looked_up(records, look(), asked).summary
    assert again is not None
    assert again.model_text == "The user deploys Redis."
