"""Calls that may hang are bounded in number and in time, and never hold up the caller."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from gatekeeper_core.context import bounded_calls
from gatekeeper_core.context.bounded_calls import BoundedCalls, Outcome
from gatekeeper_core.errors import ConfigError

PATIENCE = 20.0


@pytest.fixture
def hung() -> Iterator[threading.Event]:
    """Give an event that foreign code hangs on; set at the end, so that no thread is left."""
    event = threading.Event()
    yield event
    event.set()


def fails() -> None:
    raise RuntimeError("text of the conversation")


def test_each_call_says_what_came_of_it() -> None:
    outcomes = BoundedCalls().run([lambda: 1, fails, lambda: None], timeout_seconds=PATIENCE)
    assert outcomes == (Outcome("done", 1), Outcome("failed", None, "RuntimeError"), Outcome("done", None))


def test_a_call_that_hangs_is_late_and_its_answer_is_dropped(hung: threading.Event) -> None:
    """001-65, 001-80: nobody waits for it, and it changes nothing that was returned."""
    calls = BoundedCalls(max_workers=2)
    late, done = calls.run([hung.wait, lambda: "here"], timeout_seconds=0.2)
    assert (late, done) == (Outcome("late"), Outcome("done", "here"))
    hung.set()
    assert late == Outcome("late")


def test_where_all_workers_hang_a_further_call_is_refused_at_once(hung: threading.Event) -> None:
    calls = BoundedCalls(max_workers=2)
    assert calls.run([hung.wait, hung.wait], timeout_seconds=0.0) == (Outcome("late"), Outcome("late"))
    assert calls.run([lambda: 1], timeout_seconds=PATIENCE) == (Outcome("busy"),)
    assert calls.start(lambda: 1) is None


def test_a_worker_that_comes_back_is_used_again(hung: threading.Event) -> None:
    calls = BoundedCalls(max_workers=1)
    first = calls.start(hung.wait)
    assert first is not None
    hung.set()
    assert first.outcome(timeout_seconds=PATIENCE).status == "done"
    assert until_done(calls) == "again"


def until_done(calls: BoundedCalls) -> object:
    """Return what a call gives as soon as a worker is free: it is so a moment after its last answer."""
    while True:
        (outcome,) = calls.run([lambda: "again"], timeout_seconds=PATIENCE)
        if outcome.status != "busy":
            return outcome.value


def test_many_callers_share_the_workers_and_none_gets_the_answer_of_another() -> None:
    calls = BoundedCalls(max_workers=3)

    def ask(number: int) -> bool:
        (outcome,) = calls.run([lambda: number], timeout_seconds=PATIENCE)
        return outcome in (Outcome("done", number), Outcome("busy"))

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(400)))
    assert sum(thread.name == "gatekeeper-call" for thread in threading.enumerate()) >= 1


def test_idle_workers_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_calls, "_IDLE_SECONDS", 0.01)
    calls = BoundedCalls(max_workers=1)
    names: list[threading.Thread] = []
    calls.run([lambda: names.append(threading.current_thread())], timeout_seconds=PATIENCE)
    names[0].join(PATIENCE)
    assert not names[0].is_alive()
    assert until_done(calls) == "again"


def test_workers_are_daemons_that_do_not_hold_up_the_end_of_the_process() -> None:
    (outcome,) = BoundedCalls().run([lambda: threading.current_thread().daemon], timeout_seconds=PATIENCE)
    assert outcome.value is True


def test_a_call_sees_the_context_of_whoever_asked() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")
    name.set("asker")
    (outcome,) = BoundedCalls().run([name.get], timeout_seconds=PATIENCE)
    assert outcome.value == "asker"


def test_after_a_fork_workers_start_anew() -> None:
    calls = BoundedCalls(max_workers=1)
    calls.run([lambda: 1], timeout_seconds=PATIENCE)
    child = os.fork()
    if child == 0:
        outcome = calls.run([lambda: 2], timeout_seconds=PATIENCE)[0]
        os._exit(0 if outcome == Outcome("done", 2) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("limit", [-1.0, float("nan")])
def test_a_limit_below_zero_is_refused(limit: float) -> None:
    with pytest.raises(ConfigError, match="timeout_seconds"):
        BoundedCalls().run([], timeout_seconds=limit)


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="max_workers"):
        BoundedCalls(max_workers=0)
    with pytest.raises(TypeError, match="clock"):
        BoundedCalls(clock=7)  # type: ignore[arg-type]
