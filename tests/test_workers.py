"""Calls that may hang are bounded in number and in time, and never hold up the caller."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from gatekeeper_core import workers as bounded_calls
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.workers import BoundedCalls, Call, Outcome, call_lanes

PATIENCE = 20.0


@pytest.fixture
def hung() -> Iterator[threading.Event]:
    """Give an event that foreign code hangs on; set at the end, so that no thread is left."""
    event = threading.Event()
    yield event
    event.set()


def outcomes_of(
    calls: BoundedCalls, functions: Sequence[Callable[[], object]], *, timeout_seconds: float
) -> tuple[Outcome, ...]:
    """Make calls side by side, and return what came of each within one limit for all of them."""
    deadline = time.monotonic() + timeout_seconds
    started = [calls.start(function) for function in functions]
    left = (call.outcome(timeout_seconds=deadline - time.monotonic()) if call else None for call in started)
    return tuple(outcome or Outcome("busy") for outcome in left)


def fails() -> None:
    raise RuntimeError("text of the conversation")


def test_each_call_says_what_came_of_it() -> None:
    outcomes = outcomes_of(BoundedCalls(), [lambda: 1, fails, lambda: None], timeout_seconds=PATIENCE)
    assert outcomes == (Outcome("done", 1), Outcome("failed", None, "RuntimeError"), Outcome("done", None))


def test_a_call_that_hangs_is_late_and_its_answer_is_dropped(hung: threading.Event) -> None:
    """001-65, 001-80: nobody waits for it, and it changes nothing that was returned."""
    calls = BoundedCalls(max_workers=2)
    late, done = outcomes_of(calls, [hung.wait, lambda: "here"], timeout_seconds=0.2)
    assert (late, done) == (Outcome("late"), Outcome("done", "here"))
    hung.set()
    assert late == Outcome("late")


def test_where_all_workers_hang_a_further_call_is_refused_at_once(hung: threading.Event) -> None:
    calls = BoundedCalls(max_workers=2)
    assert outcomes_of(calls, [hung.wait, hung.wait], timeout_seconds=0.0) == (Outcome("late"), Outcome("late"))
    assert outcomes_of(calls, [lambda: 1], timeout_seconds=PATIENCE) == (Outcome("busy"),)
    assert calls.start(lambda: 1) is None


def test_a_worker_that_comes_back_is_used_again(hung: threading.Event) -> None:
    calls = BoundedCalls(max_workers=1)
    first = calls.start(hung.wait)
    assert first is not None
    hung.set()
    assert first.outcome(timeout_seconds=PATIENCE).status == "done"
    assert outcomes_of(calls, [lambda: "again"], timeout_seconds=PATIENCE) == (Outcome("done", "again"),)


def test_many_callers_share_the_workers_and_none_gets_the_answer_of_another() -> None:
    calls = BoundedCalls(max_workers=3)

    def ask(number: int) -> bool:
        return outcomes_of(calls, [lambda: number], timeout_seconds=PATIENCE) == (Outcome("done", number),)

    before = set(threading.enumerate())
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(400)))
        started = [one for one in set(threading.enumerate()) - before if one.name == "gatekeeper-call"]
    assert 1 <= len(started) <= 3


def test_more_calls_than_workers_each_get_their_turn() -> None:
    """001-66: a store that is slow, and in time, loses nothing."""
    outcomes = outcomes_of(
        BoundedCalls(max_workers=1), [partial(int, at) for at in range(20)], timeout_seconds=PATIENCE
    )
    assert [outcome.value for outcome in outcomes] == list(range(20))


def test_a_call_whose_turn_does_not_come_in_time_is_never_made(hung: threading.Event) -> None:
    """001-80: nobody waits for its answer any more."""
    calls, made = BoundedCalls(max_workers=1), list[int]()
    first = calls.start(hung.wait)
    late = calls.start(lambda: made.append(1))
    assert late is not None
    assert late.outcome(timeout_seconds=0.0) == Outcome("late")
    hung.set()
    assert first is not None
    assert first.outcome(timeout_seconds=PATIENCE).status == "done"
    assert outcomes_of(calls, [lambda: 2], timeout_seconds=PATIENCE) == (Outcome("done", 2),)
    assert made == []


def test_so_many_calls_wait_and_no_more(hung: threading.Event) -> None:
    calls = BoundedCalls(max_workers=1)
    started = [calls.start(hung.wait) for _ in range(200)]
    assert 64 <= sum(call is not None for call in started) <= 65
    assert started[-1] is None


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError])
def test_what_would_end_a_worker_is_a_failure_of_its_call_alone(error: type[BaseException]) -> None:
    calls = BoundedCalls(max_workers=1)

    def ends() -> None:
        raise error

    for _ in range(3):
        (outcome,) = outcomes_of(calls, [ends], timeout_seconds=PATIENCE)
        assert outcome == Outcome("failed", None, error.__name__)


def test_where_the_system_has_no_thread_left_a_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = BoundedCalls(max_workers=1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", lambda self: (_ for _ in ()).throw(RuntimeError("can't start")))
        assert outcomes_of(calls, [lambda: 1] * 3, timeout_seconds=PATIENCE) == (Outcome("busy"),) * 3
    assert outcomes_of(calls, [lambda: 1], timeout_seconds=PATIENCE) == (Outcome("done", 1),)


def test_an_idle_worker_holds_nothing_of_a_callers() -> None:
    calls = BoundedCalls(max_workers=1)

    class Held:
        pass

    kept = [Held()]
    gone = weakref.ref(kept[0])
    call = calls.start(kept.pop)
    assert call is not None
    assert call.outcome(timeout_seconds=PATIENCE).status == "done"
    del call
    deadline = time.monotonic() + PATIENCE / 4
    while gone() is not None and time.monotonic() < deadline:
        time.sleep(0.001)
        gc.collect()
    assert gone() is None


def test_a_call_is_made_once() -> None:
    made: list[int] = []
    call = Call(lambda: made.append(1))
    call.run()
    call.run()
    assert made == [1]


@pytest.mark.parametrize("max_workers", [1, 3, 4, 5, 8, 11])
def test_lanes_have_so_many_workers_together(max_workers: int, hung: threading.Event) -> None:
    """001-66: what hangs in one lane leaves the others, and the sum is bounded."""
    lanes = call_lanes(max_workers)
    before = set(threading.enumerate())
    for lane in lanes:
        for _ in range(20):
            lane.start(hung.wait)
    started = [one for one in set(threading.enumerate()) - before if one.name == "gatekeeper-call"]
    assert len(started) == max_workers
    assert (len({id(lane) for lane in lanes}) == 4) == (max_workers >= 4)


def test_a_lane_that_hangs_leaves_the_others(hung: threading.Event) -> None:
    lanes = call_lanes(4)
    assert outcomes_of(lanes.memory, [hung.wait, hung.wait], timeout_seconds=0.0)[0] == Outcome("late")
    assert lanes.memory.start(lambda: 1) is None
    assert outcomes_of(lanes.store, [lambda: 1], timeout_seconds=PATIENCE) == (Outcome("done", 1),)


def test_idle_workers_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_calls, "_IDLE_SECONDS", 0.01)
    calls = BoundedCalls(max_workers=1)
    names: list[threading.Thread] = []
    outcomes_of(calls, [lambda: names.append(threading.current_thread())], timeout_seconds=PATIENCE)
    names[0].join(PATIENCE)
    assert not names[0].is_alive()
    assert outcomes_of(calls, [lambda: "again"], timeout_seconds=PATIENCE) == (Outcome("done", "again"),)


def test_workers_are_daemons_that_do_not_hold_up_the_end_of_the_process() -> None:
    (outcome,) = outcomes_of(BoundedCalls(), [lambda: threading.current_thread().daemon], timeout_seconds=PATIENCE)
    assert outcome.value is True


def test_a_call_sees_the_context_of_whoever_asked() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")
    name.set("asker")
    (outcome,) = outcomes_of(BoundedCalls(), [name.get], timeout_seconds=PATIENCE)
    assert outcome.value == "asker"


def test_after_a_fork_workers_start_anew() -> None:
    calls = BoundedCalls(max_workers=1)
    outcomes_of(calls, [lambda: 1], timeout_seconds=PATIENCE)
    child = os.fork()
    if child == 0:
        outcome = outcomes_of(calls, [lambda: 2], timeout_seconds=PATIENCE)[0]
        os._exit(0 if outcome == Outcome("done", 2) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="max_workers"):
        BoundedCalls(max_workers=0)
    with pytest.raises(ConfigError, match="max_workers"):
        call_lanes(0)


def test_workers_end_with_whoever_had_them() -> None:
    calls = BoundedCalls(max_workers=2)
    names: list[threading.Thread] = []
    outcomes_of(calls, [lambda: names.append(threading.current_thread())], timeout_seconds=PATIENCE)
    assert names[0].is_alive()
    del calls
    gc.collect()
    names[0].join(PATIENCE)
    assert not names[0].is_alive()


def test_calls_under_way_are_finished_by_workers_that_nobody_holds(hung: threading.Event) -> None:
    calls = BoundedCalls(max_workers=1)
    first, second = calls.start(hung.wait), calls.start(lambda: "second")
    assert first is not None
    assert second is not None
    del calls
    gc.collect()
    hung.set()
    assert second.outcome(timeout_seconds=PATIENCE) == Outcome("done", "second")
