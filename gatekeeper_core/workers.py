"""Calls that may hang, kept off the caller's thread: so many at once, and an answer that comes too late is dropped.

A store, a model or an embedder of the user's own is called here. Nothing can stop a thread that hangs in foreign code:
it is left behind, as a daemon that does not hold up the end of the process, and counts against the number of workers
until it returns.

::

    a worker is free, or may be started ──> the call is made at once
    all are at work                     ──> it waits for its turn, as long as whoever asked waits for the answer
    all hang: their answers are late    ──> it is refused at once

What one dependency does must not keep another one waiting, so each has workers of its own (:class:`CallLanes`).
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Literal, NamedTuple

from gatekeeper_core.tokens import check_tokens

__all__ = ["BoundedCalls", "Call", "CallLanes", "CallStatus", "Outcome", "call_lanes"]

CallStatus = Literal["done", "late", "failed", "busy"]

_IDLE_SECONDS = 30.0

_MAX_WAITING = 64
"""Calls that wait for a worker; a further one is refused. Source: ours; what waits holds its arguments in memory."""


class Outcome(NamedTuple):
    """What came of a call.

    Attributes:
        status: ``done``; ``late`` (no answer yet); ``failed`` (it raised); ``busy`` (all workers hang, or too many
            calls wait for one).
        value: what it returned, None where it returned nothing.
        reason: the type of the error where it failed: no message, which may hold text of the conversation.
    """

    status: CallStatus
    value: Any = None
    reason: str = ""


class Call:
    """A call under way.

    Args:
        function: what is called, in the context of whoever makes this.
        give_up: told when the answer is late.
    """

    __slots__ = ("_done", "_give_up", "_outcome", "_run")

    def __init__(self, function: Callable[[], object], give_up: Callable[[Call], object] | None = None) -> None:
        context = copy_context()
        self._run: Callable[[], object] | None = lambda: context.run(function)
        self._give_up = give_up
        self._done = threading.Event()
        self._outcome = Outcome("late")

    def outcome(self, *, timeout_seconds: float) -> Outcome:
        """Return what came of it, after waiting no longer than this; 0 and less do not wait."""
        if not self._done.wait(max(0.0, timeout_seconds)) and self._give_up:
            self._give_up(self)
        return self._outcome

    def run(self) -> None:
        """Make the call, once, on the thread of the caller."""
        run, self._run = self._run, None  # what it was made of is not held any longer than it takes
        if run is None:
            return
        try:
            self.end(Outcome("done", run()))
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything: who asked for the outcome is told
            self.end(Outcome("failed", None, type(error).__name__))

    def end(self, outcome: Outcome) -> None:
        """Note what came of it, and tell whoever waits."""
        self._outcome = outcome
        self._done.set()


class BoundedCalls:
    """Workers for calls that may hang; safe to use from several threads, and after a fork.

    Args:
        max_workers: calls under way at once, at least 1; workers start when they are needed, and end when they are idle
            for long or when nobody holds this any more.

    Raises:
        ConfigError: ``max_workers`` is below 1.
        TypeError: it is no whole number.

    >>> call = BoundedCalls(max_workers=1).start(lambda: 6 * 7)
    >>> call.outcome(timeout_seconds=5.0)
    Outcome(status='done', value=42, reason='')
    """

    def __init__(self, *, max_workers: int = 4) -> None:
        check_tokens("max_workers", max_workers, at_least=1)
        self._workers = _Workers(max_workers)
        # Their threads hold the workers, not this: so it goes when its owner goes, and takes the idle ones along.
        weakref.finalize(self, self._workers.close)

    def start(self, function: Callable[[], object]) -> Call | None:
        """Start a call and return it, or None where all workers hang, or too many calls wait for one."""
        return self._workers.start(function)


class _Workers:
    """The threads, and the calls that they make."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._waiting: deque[Call] = deque()
        self._hung: set[Call] = set()
        self._at_work: set[Call] = set()
        self._started = self._free = 0

    def close(self) -> None:
        """Let the idle workers end, and the others when they are done."""
        with self._lock:
            self._closed = True
            self._wake.notify_all()

    def start(self, function: Callable[[], object]) -> Call | None:
        """Start a call; see ``BoundedCalls.start``."""
        if self._process != os.getpid():
            self._begin()  # a fork takes no threads along, and perhaps a lock that nobody releases
        call = Call(function, self._given_up)
        with self._lock:
            if len(self._hung) >= self._most or len(self._waiting) >= _MAX_WAITING:
                return None
            self._waiting.append(call)
            if len(self._waiting) <= self._free:
                self._wake.notify()
                return call
            if self._started == self._most:
                return call
            self._started += 1
        worker = threading.Thread(target=self._work, name="gatekeeper-call", daemon=True)
        try:
            worker.start()
        except RuntimeError:  # the system has no thread left
            with self._lock:
                self._started -= 1
                if call in self._waiting:
                    self._waiting.remove(call)
                    return None
        return call

    def _given_up(self, call: Call) -> None:
        """Note that nobody waits for a call any more: it is not begun, or the worker that is at it hangs."""
        with self._lock:
            if call in self._waiting:
                self._waiting.remove(call)
            elif call in self._at_work:
                self._hung.add(call)

    def _work(self) -> None:
        while (call := self._next()) is not None:
            try:
                call.run()
            except BaseException as error:  # noqa: BLE001 - SystemExit or CancelledError would end the worker unseen
                call.end(Outcome("failed", None, type(error).__name__))
            with self._lock:
                self._at_work.discard(call)
                self._hung.discard(call)
            del call  # an idle worker holds nothing of anybody's

    def _next(self) -> Call | None:
        """Return the call that waits longest, or None where none came for a while: the worker ends."""
        with self._lock:
            while not self._waiting:
                self._free += 1
                woken = not self._closed and self._wake.wait(_IDLE_SECONDS)
                self._free -= 1
                if not woken and not self._waiting:
                    self._started -= 1
                    return None
            call = self._waiting.popleft()
            self._at_work.add(call)
            return call


class CallLanes(NamedTuple):
    """Workers by what they wait for, so that a model that hangs does not keep a store from being asked.

    Attributes:
        store: records of threads.
        memory: searches of long-term memory.
        results: compressors of tool results, and what they put aside.
        models: what runs for the next build; nobody waits for it.
    """

    store: BoundedCalls
    memory: BoundedCalls
    results: BoundedCalls
    models: BoundedCalls


def call_lanes(max_workers: int) -> CallLanes:
    """Return lanes with so many workers together: a quarter for each, the rest for the store; below 4 all share them.

    Raises:
        ConfigError: ``max_workers`` is below 1.
        TypeError: it is no whole number.
    """
    check_tokens("max_workers", max_workers, at_least=1)
    each, rest = divmod(max_workers, 4)
    if each == 0:
        return CallLanes(*[BoundedCalls(max_workers=max_workers)] * 4)
    return CallLanes(BoundedCalls(max_workers=each + rest), *(BoundedCalls(max_workers=each) for _ in range(3)))
