"""Calls that may hang, kept off the caller's thread: so many at once, and an answer that comes too late is dropped.

A store, a model or an embedder of the user's own is called here. Nothing can stop a thread that hangs in foreign code:
it is left behind, as a daemon that does not hold up the end of the process, and counts against the number of workers
until it returns. Where all of them hang, a further call is refused at once instead of waiting.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Literal, NamedTuple

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.tokens import check_tokens

__all__ = ["BoundedCalls", "Call", "CallStatus", "Outcome"]

CallStatus = Literal["done", "late", "failed", "busy"]

_IDLE_SECONDS = 30.0


class Outcome(NamedTuple):
    """What came of a call.

    Attributes:
        status: ``done``; ``late`` (no answer yet); ``failed`` (it raised); ``busy`` (all workers hang or work).
        value: what it returned, None where it returned nothing.
        reason: the type of the error where it failed: no message, which may hold text of the conversation.
    """

    status: CallStatus
    value: Any = None
    reason: str = ""


class Call:
    """A call under way."""

    __slots__ = ("_done", "_outcome", "_run")

    def __init__(self, function: Callable[[], object]) -> None:
        context = copy_context()
        self._run: Callable[[], object] = lambda: context.run(function)
        self._done = threading.Event()
        self._outcome = Outcome("late")

    def outcome(self, *, timeout_seconds: float) -> Outcome:
        """Return what came of it, after waiting no longer than this; 0 and less do not wait."""
        self._done.wait(max(0.0, timeout_seconds))
        return self._outcome

    def run(self) -> None:
        """Make the call, on the thread of this worker."""
        try:
            self._outcome = Outcome("done", self._run())
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything: who asked for the outcome is told
            self._outcome = Outcome("failed", None, type(error).__name__)
        finally:
            self._done.set()


class BoundedCalls:
    """Workers for calls that may hang; safe to use from several threads, and after a fork.

    Args:
        max_workers: calls under way at once, at least 1; workers start when they are needed and end when idle.
        clock: gives a time in seconds that only grows.

    Raises:
        ConfigError: ``max_workers`` is below 1.
        TypeError: an argument has the wrong type.

    >>> calls = BoundedCalls(max_workers=1)
    >>> calls.run([lambda: 6 * 7], timeout_seconds=5.0)
    (Outcome(status='done', value=42, reason=''),)
    """

    def __init__(self, *, max_workers: int = 4, clock: Callable[[], float] = time.monotonic) -> None:
        check_tokens("max_workers", max_workers, at_least=1)
        if not callable(clock):
            raise TypeError(f"clock must be callable, got {type(clock).__name__}")
        self._max_workers = max_workers
        self._clock = clock
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._waiting: queue.SimpleQueue[Call] = queue.SimpleQueue()
        self._workers = self._free = 0

    def start(self, function: Callable[[], object]) -> Call | None:
        """Start a call and return it, or None where all workers are taken."""
        call = Call(function)
        with self._lock:
            if self._process != os.getpid():
                self._begin()  # a fork takes no threads along
            if self._free:
                self._free -= 1
                self._waiting.put(call)
                return call
            if self._workers == self._max_workers:
                return None
            self._workers += 1
        threading.Thread(target=self._work, args=(call, self._waiting), name="gatekeeper-call", daemon=True).start()
        return call

    def run(self, functions: list[Callable[[], object]], *, timeout_seconds: float) -> tuple[Outcome, ...]:
        """Make calls side by side, and return what came of each within one limit for all of them.

        Raises:
            ConfigError: the limit is below 0.
        """
        if not timeout_seconds >= 0:
            raise ConfigError(f"timeout_seconds must be 0 or more, got {timeout_seconds!r}")
        deadline = self._clock() + timeout_seconds
        calls = [self.start(function) for function in functions]
        return tuple(
            call.outcome(timeout_seconds=deadline - self._clock()) if call else Outcome("busy") for call in calls
        )

    def _work(self, call: Call, waiting: queue.SimpleQueue[Call]) -> None:
        while True:
            call.run()
            with self._lock:
                if waiting is self._waiting:
                    self._free += 1
            try:
                call = waiting.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if waiting.empty():  # a call may have been given to this worker in between
                        if waiting is self._waiting:
                            self._free -= 1
                            self._workers -= 1
                        return
                call = waiting.get()
