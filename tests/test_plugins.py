"""Calls of plug-ins are bounded in number and in time, and never hold up their caller."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from functools import partial

import pytest

from gatekeeper_core import plugins
from gatekeeper_core.plugins import Outcome, run_plugin, start_plugin
from tests.faults import PATIENCE, Hang, hanging, until

patient = partial(run_plugin, timeout_seconds=PATIENCE)


@pytest.fixture
def hang() -> Iterator[Hang]:
    with hanging() as hang:
        yield hang


def ends(error: type[BaseException]) -> None:
    raise error("text of the conversation")


@pytest.mark.parametrize("error", [RuntimeError, SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError])
def test_an_outcome_has_the_result_or_the_type_of_the_error(error: type[BaseException]) -> None:
    """Also of what would end a thread."""
    assert patient(ends, lambda: 1) == Outcome("done", 1)
    for _ in range(5):
        assert patient(ends, lambda: ends(error)) == Outcome("failed", None, error.__name__)


def test_a_call_that_hangs_is_late_and_its_answer_is_dropped(hang: Hang) -> None:
    """001-65, 001-80: nobody waits for it, and it changes nothing that was returned."""
    outcome = run_plugin(hang, hang, timeout_seconds=0.05)
    assert patient(hang, lambda: "here") == Outcome("done", "here")
    hang.let_go()
    until(lambda: hang.returned == 1)
    assert outcome == Outcome("late")


def test_where_all_calls_hang_a_further_one_is_refused_at_once_until_one_returns(hang: Hang) -> None:
    assert [run_plugin(hang, hang, timeout_seconds=0.0).status for _ in range(6)] == ["late"] * 4 + ["busy"] * 2
    assert not start_plugin(hang, hang)
    assert patient(Hang(), lambda: "another plug-in") == Outcome("done", "another plug-in")
    hang.let_go()
    until(lambda: patient(hang, lambda: "again") == Outcome("done", "again"))


def test_a_call_whose_turn_does_not_come_in_time_is_never_made(hang: Hang) -> None:
    """001-80: nobody waits for its answer any more."""
    calls = list[int]()
    assert all(start_plugin(hang, hang) for _ in range(4))
    assert run_plugin(hang, lambda: calls.append(1), timeout_seconds=0.0) == Outcome("late")
    hang.let_go()
    assert patient(hang, lambda: 2) == Outcome("done", 2)
    assert calls == []


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_where_the_system_has_no_thread_left_a_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    child = os.fork()  # which has no threads yet
    if child == 0:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", lambda self: ends(RuntimeError))
            refused = [patient(ends, lambda: 1) for _ in range(6)] == [Outcome("busy")] * 6
        os._exit(0 if refused and patient(ends, lambda: 1) == Outcome("done", 1) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_thread_ends_with_its_calls_and_keeps_nothing_of_a_callers() -> None:
    plugin = Hang()
    gone, worker = weakref.ref(plugin), patient(plugin, threading.current_thread).value
    del plugin
    until(lambda: gc.collect() >= 0 and gone() is None)
    worker.join(PATIENCE)
    assert not worker.is_alive()
    assert plugins._plugins == {}


def test_a_plugin_that_hangs_does_not_hold_up_the_end_of_the_process() -> None:
    program = (
        "import threading, gatekeeper_core.plugins as plugins\n"
        "hang = threading.Event().wait\n"
        "print([plugins.run_plugin(hang, hang, timeout_seconds=0.0).status for _ in range(5)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "['late', 'late', 'late', 'late', 'busy']\n"


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_starts_with_fresh_threads(hang: Hang) -> None:
    """Also where all calls of the parent hang, and another thread holds the lock."""
    assert [run_plugin(hang, hang, timeout_seconds=0.0).status for _ in range(5)] == ["late"] * 4 + ["busy"]
    with plugins._lock:
        child = os.fork()
    if child == 0:
        os._exit(0 if patient(hang, lambda: 2) == Outcome("done", 2) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run_plugin(hang, hang, timeout_seconds=0.0) == Outcome("busy")
